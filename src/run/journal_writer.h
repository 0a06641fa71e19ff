/* The thread that writes files with a line a request: it empties the workers' journals, makes the lines and writes them. It looks every few milliseconds; when a file
 * cannot be written any more, or does not take what comes, requests are missing in it, and counted: no worker waits.
 *
 * Files are opened, and emptied, before anything is sent. */
#ifndef LUABENCH_RUN_JOURNAL_WRITER_H
#define LUABENCH_RUN_JOURNAL_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "run/journal_lines.h"

struct journal_file;

struct journal_writer {
    const struct plan *plan;
    struct journal *journals; /* of the workers, by index; NULL when there is no such file */
    unsigned count;
    struct journal_file *files;
    struct labels labels;
    struct journal_view view;
    uint32_t *users;          /* by scenario and worker: as last seen */
    pthread_t thread;
    bool runs;
    int wake;                 /* eventfd */
    atomic_bool stopping;
    struct journal_outcome *outcomes; /* by file, after journal_writer_end */
};

/* Opens the files of the plan, if there are any, and makes journals for so many workers. False, with the reason on standard error, when one cannot be written. */
bool journal_writer_open(struct journal_writer *writer, const struct plan *plan, unsigned workers);
/* Starts the thread, if there are files. */
void journal_writer_begin(struct journal_writer *writer);
/* Nothing is put into the journals any more: writes what is left and ends the thread. Fills the outcomes. */
void journal_writer_end(struct journal_writer *writer);
void journal_writer_free(struct journal_writer *writer);

#endif
