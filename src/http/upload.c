#include "http/upload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { WINDOW = 64 * 1024 };

struct upload *upload_new(size_t count)
{
    return mem_zero(sizeof(struct upload) + count * sizeof(struct upload_part));
}

void upload_add(struct upload *upload, const struct upload_part *part)
{
    if (!part->length)
        return;
    upload->parts[upload->count++] = *part;
    upload->length += part->length;
}

/* The part at *offset, which becomes the offset in it. */
static const struct upload_part *part_at(const struct upload *upload, uint64_t *offset)
{
    const struct upload_part *part = upload->parts;
    while (*offset >= part->length)
        *offset -= part++->length;
    return part;
}

static bool read_file(struct upload *upload, const struct upload_part *part, uint64_t offset, char *into, size_t length)
{
    while (length) {
        ssize_t count = pread(part->fd, into, length, (off_t)offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            upload->why = count ? "a file could not be read while it was sent" : "a file became shorter while it was sent";
            return false;
        }
        into += count;
        offset += (uint64_t)count;
        length -= (size_t)count;
    }
    return true;
}

const char *upload_at(struct upload *upload, uint64_t offset, size_t *length, bool *file)
{
    uint64_t within = offset;
    const struct upload_part *part = part_at(upload, &within);
    *file = !part->data;
    *length = (size_t)(part->length - within);
    if (part->data)
        return part->data + within;
    if (offset < upload->from || offset >= upload->from + upload->size) {
        if (!upload->window)
            upload->window = mem_resize(NULL, WINDOW);
        upload->from = offset;
        upload->size = *length < WINDOW ? *length : WINDOW;
        if (!read_file(upload, part, within, upload->window, upload->size)) {
            upload->size = 0;
            return NULL;
        }
    }
    *length = (size_t)(upload->from + upload->size - offset);
    return upload->window + (offset - upload->from);
}

bool upload_read(struct upload *upload, uint64_t offset, char *into, size_t length)
{
    while (length) {
        uint64_t within = offset;
        const struct upload_part *part = part_at(upload, &within);
        size_t left = (size_t)(part->length - within), taken = left < length ? left : length;
        if (part->data)
            memcpy(into, part->data + within, taken);
        else if (!read_file(upload, part, within, into, taken))
            return false;
        into += taken;
        offset += taken;
        length -= taken;
    }
    return true;
}

void upload_rest(struct upload *upload)
{
    free(upload->window);
    upload->window = NULL;
    upload->size = 0;
}
