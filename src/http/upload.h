/* The body of a request that does not lie in memory as one: pieces of memory and files, one behind the other, of which files are read as they are sent. */
#ifndef LUABENCH_HTTP_UPLOAD_H
#define LUABENCH_HTTP_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upload_part {
    const char *data; /* NULL: it is a file */
    int fd;           /* of a regular file, sent from its beginning */
    uint64_t length;  /* not 0 */
};

/* Belongs to the submitter, and to one exchange at a time. Memory and descriptors must stay until that has come back. */
struct upload {
    uint64_t length; /* of all parts */
    size_t count;
    char *window;    /* bytes read of a file; NULL until needed */
    uint64_t from;   /* where in the body they are */
    size_t size;     /* how many */
    const char *why; /* a file could not be read to the end it had: in words; NULL: all is well */
    struct upload_part parts[];
};

/* For at most `count` parts. Never fails; released with upload_rest and free(). */
struct upload *upload_new(size_t count);
/* Adds a part; one of no length is left out. */
void upload_add(struct upload *upload, const struct upload_part *part);
/* The bytes that lie together at `offset`, which is below upload->length, and how many; *file: they are in the window, and stay only until other bytes of a file are asked
 * for. NULL: upload->why. */
const char *upload_at(struct upload *upload, uint64_t offset, size_t *length, bool *file);
/* Copies bytes. False: upload->why. */
bool upload_read(struct upload *upload, uint64_t offset, char *into, size_t length);
/* Gives back the window. */
void upload_rest(struct upload *upload);

#endif
