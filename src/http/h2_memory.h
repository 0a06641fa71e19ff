/* Memory for nghttp2: for every stream it takes some small pieces and gives them back, many streams at a time, which is more than malloc's fast paths hold. Each
 * connection keeps what it has needed once, by size, until it ends. */
#ifndef LUABENCH_HTTP_H2_MEMORY_H
#define LUABENCH_HTTP_H2_MEMORY_H

#include <stddef.h>

enum { H2_MEMORY_STEP = 64, H2_MEMORY_SIZES = 8 }; /* pieces of up to 512 bytes are kept */

struct h2_piece_head;

/* Zeroed, it has nothing. */
struct h2_memory {
    struct h2_piece_head *kept[H2_MEMORY_SIZES];
};

/* In the form of nghttp2_mem, with the h2_memory as `context`. */
void *h2_memory_take(size_t size, void *context);
void *h2_memory_take_zeroed(size_t count, size_t size, void *context);
void *h2_memory_resize(void *pointer, size_t size, void *context);
void h2_memory_give(void *pointer, void *context);
/* Releases what is kept; all that was taken has been given back. */
void h2_memory_free(struct h2_memory *memory);

#endif
