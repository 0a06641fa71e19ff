/* Files of rows (CSV, lines, JSON arrays) that all users of a process share: mapped, not read, with an index of where rows begin. A file is opened once
 * per process, whoever asks first; what is handed out lives until the process ends. A file that is made shorter while it is in use ends the process.
 *
 * A row is found through the mark of its group of ROWS_STRIDE rows, so that the index of a big file stays small. Safe to use from all threads. */
#ifndef LUABENCH_SCRIPT_ROWS_H
#define LUABENCH_SCRIPT_ROWS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum rows_format { ROWS_CSV, ROWS_LINES, ROWS_JSON };
enum { ROWS_STRIDE = 8 };

struct rows_span {
    const char *text;
    size_t length;
};

struct rows_file {
    struct rows_file *next;
    char *path;
    enum rows_format format;
    bool header;          /* of a CSV: its first row names the columns and is none of the rows */
    struct rows_span all; /* the mapped text, without a byte order mark */
    struct rows_span names; /* the header row; empty without */
    uint64_t *marks;      /* where the rows 0, ROWS_STRIDE, 2 * ROWS_STRIDE ... begin */
    size_t count;         /* rows */
};

/* One place in the script that opened a file: all threads draw from the same one. */
struct rows_source {
    struct rows_source *next;
    struct rows_file *file;
    unsigned nth;               /* which of the places that open this file */
    _Atomic uint64_t drawn;     /* rows that were asked for by next(), circular and unique */
    _Atomic uint64_t users_out; /* users that ended for want of a row */
};

/* The `nth` source (from 1) over that file, made on first use. NULL when the file cannot be used: then `why` says so in words, without the path
 * unless a line of the file is to blame. */
struct rows_source *rows_open(const char *path, enum rows_format format, bool header, unsigned nth, char *why, size_t size);
/* The next source whose users ran out of rows, after `source` (NULL: the first); NULL at the end. */
struct rows_source *rows_next_exhausted(struct rows_source *source);
/* The text of a row, 0 <= index < count: of a CSV without its end of line, of JSON the element. */
struct rows_span rows_at(const struct rows_file *file, size_t index);
/* The number in the file of the line on which `at` lies, from 1. Reads the file up to there. */
size_t rows_line(const struct rows_file *file, const char *at);
/* Takes the next cell off a row of a CSV; false when there is none left. A cell that had quotes is in `scratch`, until the next call. */
bool rows_cell(struct rows_span *row, struct buf *scratch, struct rows_span *cell);

/* For rows.c, the elements of a JSON array. */

/* The first one, the end of the text when the array is empty, or NULL for what is no array of JSON, for the reason `why`. */
const char *rows_json_begin(struct rows_span all, char *why, size_t size);
/* Behind the element that begins at `at`. */
const char *rows_json_skip(const char *at, const char *end);
/* The element that follows the one at `at`; `end` when there is none. */
const char *rows_json_next(const char *at, const char *end);

#endif
