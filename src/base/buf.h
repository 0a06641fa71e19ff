/* A growable run of bytes that carries its own maximum. The memory belongs to the buf until buf_free; pointers into it
 * are valid until the next call that appends. */
#ifndef LUABENCH_BASE_BUF_H
#define LUABENCH_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buf {
    char *data;      /* NULL until something is appended */
    size_t length;   /* bytes in use */
    size_t capacity; /* bytes allocated */
    size_t maximum;  /* length never exceeds it; 0: no limit */
};

/* Makes room for `more` bytes after the present ones. False, and nothing changed, when that would pass the maximum. */
bool buf_reserve(struct buf *buf, size_t more);
/* Appends `length` bytes. False, and nothing appended, when that would pass the maximum. */
bool buf_append(struct buf *buf, const void *data, size_t length);
/* Appends as printf would. False as above. */
__attribute__((format(printf, 2, 3))) bool buf_printf(struct buf *buf, const char *format, ...);
/* Empties the buf; gives its memory back when it holds more than `keep` bytes. */
void buf_clear(struct buf *buf, size_t keep);
/* Takes the first `length` bytes off. */
void buf_consume(struct buf *buf, size_t length);
/* Releases the memory; the buf is empty and usable. */
void buf_free(struct buf *buf);

#endif
