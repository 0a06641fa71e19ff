#include "metrics/journal.h"

#include <stdlib.h>

#include "base/mem.h"

void journal_init(struct journal *journal)
{
    *journal = (struct journal){ .records = mem_array(JOURNAL_RECORDS, sizeof *journal->records) };
}

void journal_free(struct journal *journal)
{
    free(journal->records);
    journal->records = NULL;
}

size_t journal_waiting(struct journal *journal, const struct journal_record **records)
{
    uint64_t read = atomic_load_explicit(&journal->read, memory_order_relaxed);
    uint64_t waiting = atomic_load_explicit(&journal->written, memory_order_acquire) - read;
    uint64_t to_end = JOURNAL_RECORDS - read % JOURNAL_RECORDS;
    *records = &journal->records[read % JOURNAL_RECORDS];
    return (size_t)(waiting < to_end ? waiting : to_end);
}

void journal_take(struct journal *journal, size_t count)
{
    uint64_t read = atomic_load_explicit(&journal->read, memory_order_relaxed);
    atomic_store_explicit(&journal->read, read + count, memory_order_release);
}

uint64_t journal_lost(const struct journal *journal)
{
    return atomic_load_explicit(&journal->lost, memory_order_relaxed);
}
