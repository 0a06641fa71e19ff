/* Bytes that are put aside during a run and read back at its end: in a temporary file without a name, so that long runs do not grow; in memory where that cannot be had,
 * or its disk is full. */
#ifndef LUABENCH_RUN_SPOOL_H
#define LUABENCH_RUN_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct spool {
    int fd;         /* -1: none */
    uint64_t end;   /* bytes in the file */
    struct buf memory;
};

/* Where bytes are. */
struct spooled {
    uint64_t at;
    size_t length;
    bool in_memory;
};

void spool_init(struct spool *spool);
void spool_free(struct spool *spool);
struct spooled spool_put(struct spool *spool, const char *data, size_t length);
/* Appends them to `out`, which must have no maximum. False when the file cannot be read; `out` is then as it was. */
bool spool_get(const struct spool *spool, struct spooled spooled, struct buf *out);

#endif
