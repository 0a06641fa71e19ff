#define _GNU_SOURCE
#include "script/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { KEPT_SCRATCH = 65536, READ_AT_ONCE = 64 << 20 };

/* All files and sources of the process; `lock` guards the lists, and lets one thread alone index a file. What is in them does not change any more. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rows_file *files;
static struct rows_source *sources;

/* Mapping */

static bool map(struct rows_file *file, char *why, size_t size)
{
    struct stat status;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool known = fd >= 0 && fstat(fd, &status) == 0;
    if (!known) {
        snprintf(why, size, "%s", strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        snprintf(why, size, "not a regular file");
    } else if (status.st_size == 0) {
        snprintf(why, size, "the file is empty");
    } else {
        void *text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        file->all = (struct rows_span){ text == MAP_FAILED ? NULL : text, (size_t)status.st_size };
        if (text == MAP_FAILED)
            snprintf(why, size, "%s", strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    return file->all.text != NULL;
}

/* Takes a byte order mark off; false for text that is not UTF-8. */
static bool check_encoding(struct rows_file *file, char *why, size_t size)
{
    struct rows_span *all = &file->all;
    if (all->length >= 2 && (!memcmp(all->text, "\xff\xfe", 2) || !memcmp(all->text, "\xfe\xff", 2))) {
        snprintf(why, size, "the file is UTF-16; save it as UTF-8");
        return false;
    }
    if (all->length >= 3 && !memcmp(all->text, "\xef\xbb\xbf", 3))
        *all = (struct rows_span){ all->text + 3, all->length - 3 };
    return true;
}

/* Lines and rows of a CSV */

/* Behind the line end of the row that begins at `at`; NULL: a quoted field is not closed. */
static const char *skip_csv(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *stop = newline ? newline + 1 : end;
    if (!memchr(at, '"', (size_t)(stop - at)))
        return stop;
    bool inside = false, fresh = true; /* fresh: a quote here opens a quoted field */
    for (; at < end; at++) {
        if (inside) {
            if (*at == '"' && at + 1 < end && at[1] == '"')
                at++;
            else if (*at == '"')
                inside = false;
            continue;
        }
        if (*at == '\n')
            return at + 1;
        inside = fresh && *at == '"';
        fresh = *at == ',';
    }
    return inside ? NULL : end;
}

static const char *skip_line(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline ? newline + 1 : end;
}

/* A row without its line end. */
static struct rows_span trimmed(const char *at, const char *stop)
{
    if (stop > at && stop[-1] == '\n')
        stop--;
    if (stop > at && stop[-1] == '\r')
        stop--;
    return (struct rows_span){ at, (size_t)(stop - at) };
}

/* Behind a CSV's empty lines. */
static const char *skip_blank(const char *at, const char *end)
{
    while (at < end && (*at == '\n' || (*at == '\r' && (at + 1 == end || at[1] == '\n'))))
        at++;
    return at;
}

/* Where the row behind the one at `at` begins; `end`: there is none; NULL: a quoted field is not closed. */
static const char *next_row(const struct rows_file *file, const char *at, const char *end)
{
    if (file->format == ROWS_JSON)
        return rows_json_next(at, end);
    if (file->format == ROWS_LINES)
        return skip_line(at, end);
    const char *stop = skip_csv(at, end);
    return stop ? skip_blank(stop, end) : NULL;
}

/* The index */

static const char *first_row(struct rows_file *file, char *why, size_t size)
{
    const char *end = file->all.text + file->all.length;
    if (file->format == ROWS_JSON)
        return rows_json_begin(file->all, why, size);
    return file->format == ROWS_LINES ? file->all.text : skip_blank(file->all.text, end);
}

static void add_mark(struct rows_file *file, size_t *room, const char *at)
{
    size_t used = file->count / ROWS_STRIDE;
    if (file->count++ % ROWS_STRIDE)
        return;
    if (used == *room) {
        *room = *room ? 2 * *room : 64;
        file->marks = mem_resize(file->marks, *room * sizeof *file->marks);
    }
    file->marks[used] = (uint64_t)(at - file->all.text);
}

/* Where the mapping begins: a byte order mark may stand before the text. */
static const char *mapping_of(const struct rows_file *file)
{
    return (const char *)((uintptr_t)file->all.text & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1));
}

/* Gives the pages before `at` back, now and then: the kernel keeps what it has of the file, and the process needs no memory for all of it. `*from` is where
 * what was not given back begins, at first the start of the mapping. */
static void give_back(const char **from, const char *at)
{
    size_t passed = (size_t)(at - *from);
    if (passed < READ_AT_ONCE)
        return;
    passed -= passed % READ_AT_ONCE; /* a multiple of any page size */
    madvise((void *)*from, passed, MADV_DONTNEED);
    *from += passed;
}

/* Notes where every row begins, and takes the header off. */
static bool make_index(struct rows_file *file, char *why, size_t size)
{
    size_t room = 0;
    const char *end = file->all.text + file->all.length, *at = first_row(file, why, size), *mapped = mapping_of(file);
    if (!at)
        return false;
    while (at < end) {
        const char *next = next_row(file, at, end);
        if (!next) {
            snprintf(why, size, "line %zu: a quoted field is not closed", rows_line(file, at));
            return false;
        }
        if (file->header && !file->names.text)
            file->names = trimmed(at, skip_csv(at, end));
        else
            add_mark(file, &room, at);
        at = next;
        give_back(&mapped, at);
    }
    if (file->count)
        return true;
    snprintf(why, size, file->names.text ? "there are no rows below the header" : "there are no rows");
    return false;
}

/* Opening */

static void file_free(struct rows_file *file)
{
    free(file->marks);
    free(file->path);
    free(file);
}

static struct rows_file *open_file(const char *path, enum rows_format format, bool header, char *why, size_t size)
{
    for (struct rows_file *file = files; file; file = file->next)
        if (file->format == format && file->header == header && !strcmp(file->path, path))
            return file;
    struct rows_file *file = mem_zero(sizeof *file);
    file->path = mem_text(path, strlen(path));
    file->format = format;
    file->header = header;
    if (!map(file, why, size) || !check_encoding(file, why, size) || !make_index(file, why, size)) {
        file_free(file); /* the mapping stays: the process is about to end with the message */
        return NULL;
    }
    file->next = files;
    return files = file;
}

static struct rows_source *find_source(struct rows_file *file, unsigned nth)
{
    for (struct rows_source *source = sources; source; source = source->next)
        if (source->file == file && source->nth == nth)
            return source;
    struct rows_source *source = mem_zero(sizeof *source);
    source->file = file;
    source->nth = nth;
    source->next = sources;
    return sources = source;
}

struct rows_source *rows_open(const char *path, enum rows_format format, bool header, unsigned nth, char *why, size_t size)
{
    pthread_mutex_lock(&lock);
    struct rows_file *file = open_file(path, format, header, why, size);
    struct rows_source *source = file ? find_source(file, nth) : NULL;
    pthread_mutex_unlock(&lock);
    return source;
}

struct rows_source *rows_next_exhausted(struct rows_source *source)
{
    pthread_mutex_lock(&lock);
    source = source ? source->next : sources;
    while (source && !atomic_load(&source->users_out))
        source = source->next;
    pthread_mutex_unlock(&lock);
    return source;
}

/* Rows and cells */

struct rows_span rows_at(const struct rows_file *file, size_t index)
{
    const char *end = file->all.text + file->all.length, *at = file->all.text + file->marks[index / ROWS_STRIDE];
    for (size_t i = index % ROWS_STRIDE; i; i--)
        at = next_row(file, at, end);
    if (file->format == ROWS_JSON)
        return (struct rows_span){ at, (size_t)(rows_json_skip(at, end) - at) };
    return trimmed(at, file->format == ROWS_CSV ? skip_csv(at, end) : skip_line(at, end));
}

size_t rows_line(const struct rows_file *file, const char *at)
{
    size_t line = 1;
    for (const char *here = file->all.text; (here = memchr(here, '\n', (size_t)(at - here))); here++)
        line++;
    return line;
}

/* The part of a cell between its quotes, with "" as one; `at` is behind the first quote. Returns what is behind the last one. */
static const char *unquote(const char *at, const char *end, struct buf *scratch)
{
    for (;;) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        const char *stop = quote ? quote : end;
        buf_append(scratch, at, (size_t)(stop - at));
        if (!quote || quote + 1 == end || quote[1] != '"')
            return quote ? quote + 1 : end;
        buf_append(scratch, "\"", 1);
        at = quote + 2;
    }
}

bool rows_cell(struct rows_span *row, struct buf *scratch, struct rows_span *cell)
{
    if (!row->text)
        return false;
    const char *at = row->text, *end = at + row->length;
    bool quoted = at < end && *at == '"';
    if (quoted) {
        buf_clear(scratch, KEPT_SCRATCH);
        at = unquote(at + 1, end, scratch);
    }
    const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
    if (quoted) {
        buf_append(scratch, at, (size_t)(stop - at)); /* what stands behind a closing quote belongs to the cell, as in most readers */
        *cell = (struct rows_span){ scratch->data ? scratch->data : "", scratch->length };
    } else {
        *cell = (struct rows_span){ at, (size_t)(stop - at) };
    }
    *row = comma ? (struct rows_span){ comma + 1, (size_t)(end - comma - 1) } : (struct rows_span){ 0 };
    return true;
}
