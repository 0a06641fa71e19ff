#define _GNU_SOURCE
#include "run/spool.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int open_unnamed(void)
{
    const char *folder = getenv("TMPDIR");
    int fd = open(folder && *folder ? folder : P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    FILE *file = tmpfile(); /* where the file system has no files without names */
    fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;
    if (file)
        fclose(file);
    return fd;
}

void spool_init(struct spool *spool)
{
    *spool = (struct spool){ .fd = open_unnamed() };
}

void spool_free(struct spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    buf_free(&spool->memory);
    *spool = (struct spool){ .fd = -1 };
}

struct spooled spool_put(struct spool *spool, const char *data, size_t length)
{
    struct spooled spooled = { spool->end, length, false };
    if (spool->fd >= 0 && pwrite(spool->fd, data, length, (off_t)spool->end) == (ssize_t)length) {
        spool->end += length;
        return spooled;
    }
    spooled = (struct spooled){ spool->memory.length, length, true };
    buf_append(&spool->memory, data, length);
    return spooled;
}

bool spool_get(const struct spool *spool, struct spooled spooled, struct buf *out)
{
    if (spooled.in_memory)
        return buf_append(out, spool->memory.data + spooled.at, spooled.length);
    if (!buf_reserve(out, spooled.length) || pread(spool->fd, out->data + out->length, spooled.length, (off_t)spooled.at) != (ssize_t)spooled.length)
        return false;
    out->length += spooled.length;
    return true;
}
