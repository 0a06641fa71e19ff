/* An ordered set of names: each has an index, counted from 0 in order of first use. After `limit` names, further ones share the name "(other)", so that
 * URLs or check names made up at run time cannot fill the memory; nor can long ones, whose first line is cut. The set owns the texts; they stay where they are until names_free. */
#ifndef LUABENCH_METRICS_NAMES_H
#define LUABENCH_METRICS_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define NAMES_OTHER "(other)"

enum { NAMES_LONGEST = 500 }; /* bytes of a name's first line */

struct names {
    char **texts; /* NUL-terminated; [limit] is "(other)" if that was needed */
    size_t count, limit;
    uint16_t *slots; /* hash table, linear probing: index + 1, or 0 */
    size_t slot_count;
};

/* `limit` is at least 1 and below 2^15. */
void names_init(struct names *names, size_t limit);
void names_free(struct names *names);
/* The index of the name, which ends at `length` or at its first NUL. It is added when new: then the index is what `count` was before. */
size_t names_index(struct names *names, const char *text, size_t length);

#endif
