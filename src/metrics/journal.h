/* What became of each request, for files with a line a request. A worker puts a record of fixed size into a ring of its own, and another thread takes it out and makes
 * the line: the worker never waits, formats nothing and allocates nothing. When the ring is full the record is lost, and counted.
 *
 * One thread puts, one takes; nothing is locked. */
#ifndef LUABENCH_METRICS_JOURNAL_H
#define LUABENCH_METRICS_JOURNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_metrics;

enum { JOURNAL_RECORDS = 1 << 16 }; /* of a worker, 8 MB: more than a second of 50,000 requests/s */

/* What the request was a part of. */
enum journal_phase { JOURNAL_RUN, JOURNAL_WARM_UP, JOURNAL_SETUP, JOURNAL_TEARDOWN };

struct journal_record {
    const struct name_metrics *name; /* its name and scenario; valid as long as the metrics */
    uint64_t user;               /* its id; 0: setup and teardown */
    int64_t due, started, ended; /* ns, clock_ns */
    int64_t assigned, sent, first_byte; /* ns, clock_ns; 0: did not happen */
    int64_t dns, connect, tls;   /* ns; 0: did not happen */
    uint64_t bytes_sent, bytes_received;
    int64_t earlier;             /* ns that the call had taken before, with other requests: `started` is that of the last one */
    uint32_t users;              /* of the scenario, on this worker, at the end of the request */
    uint16_t status;             /* 0: no whole response came */
    uint8_t error;               /* enum err */
    uint8_t phase;               /* enum journal_phase */
    uint8_t version;             /* of HTTP: 10, 11, 20 */
    bool reused;                 /* the connection had carried a request before */
    bool open;                   /* the model: the headline latency begins when it was due */
};

struct journal {
    struct journal_record *records;
    _Alignas(64) _Atomic uint64_t written; /* by the worker */
    uint64_t read_before;                  /* what it knows of `read` */
    _Atomic uint64_t lost;
    _Alignas(64) _Atomic uint64_t read;    /* by the other thread */
};

void journal_init(struct journal *journal);
void journal_free(struct journal *journal);

/* The worker: where the next record is to be put, which journal_commit then adds; NULL, and one more lost, when the ring is full. */
static inline struct journal_record *journal_next(struct journal *journal)
{
    uint64_t written = atomic_load_explicit(&journal->written, memory_order_relaxed);
    if (__builtin_expect(written - journal->read_before == JOURNAL_RECORDS, 0)) {
        journal->read_before = atomic_load_explicit(&journal->read, memory_order_acquire);
        if (written - journal->read_before == JOURNAL_RECORDS) {
            atomic_fetch_add_explicit(&journal->lost, 1, memory_order_relaxed);
            return NULL;
        }
    }
    return &journal->records[written % JOURNAL_RECORDS];
}

static inline void journal_commit(struct journal *journal)
{
    uint64_t written = atomic_load_explicit(&journal->written, memory_order_relaxed);
    atomic_store_explicit(&journal->written, written + 1, memory_order_release);
}

/* The other thread: the records that wait, in one piece; how many, 0 when there are none. They stay until journal_take takes them off. */
size_t journal_waiting(struct journal *journal, const struct journal_record **records);
void journal_take(struct journal *journal, size_t count);
/* How many found no room; any thread. */
uint64_t journal_lost(const struct journal *journal);

#endif
