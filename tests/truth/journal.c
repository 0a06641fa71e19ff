/* The journal of truthd: grows by doubling, so that the memory of a long case is touched once and a reset costs nothing. */
#include "journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

void journal_reset(struct journal *journal)
{
    journal->count = journal->stall_count = 0;
    journal->connections = 0;
}

struct record *journal_add(struct journal *journal)
{
    if (journal->count == journal->capacity) {
        journal->capacity = journal->capacity ? journal->capacity * 2 : 1 << 16;
        journal->records = realloc(journal->records, journal->capacity * sizeof *journal->records);
        if (!journal->records) {
            perror("journal");
            abort();
        }
    }
    struct record *record = &journal->records[journal->count];
    *record = (struct record){ .n = (uint32_t)journal->count++ };
    return record;
}

void journal_add_stall(struct journal *journal, int64_t start, int64_t end)
{
    if (journal->stall_count < sizeof journal->stalls / sizeof *journal->stalls)
        journal->stalls[journal->stall_count++] = (struct stall){ .start = start, .end = end };
}

static double cpu_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

size_t journal_stats(const struct journal *journal, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "{\"requests\": %zu, \"connections\": %llu, \"cpu\": %.3f, \"stalls\": [", journal->count,
                                     (unsigned long long)journal->connections, cpu_seconds());
    for (size_t i = 0; i < journal->stall_count && length + 64 < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s[%lld, %lld]", i ? ", " : "", (long long)journal->stalls[i].start,
                                   (long long)journal->stalls[i].end);
    return length + (size_t)snprintf(text + length, size - length, "]}\n");
}
