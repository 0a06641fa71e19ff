/* What truthd writes down: one record a request, one event a stall. All times are nanoseconds of CLOCK_MONOTONIC, which a client on the same host shares. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "law.h"

struct record {
    int64_t read;    /* the head was whole */
    int64_t due;     /* when the answer should go out */
    int64_t written; /* just before its last piece was written; 0: it never was */
    uint32_t connection, n, outcome, bytes;
};

struct stall {
    int64_t start, end;
};

struct journal {
    struct record *records;
    size_t count, capacity;
    struct stall stalls[1024];
    size_t stall_count;
    uint64_t connections; /* accepted since the last reset */
};

/* Forgets everything, but keeps the memory. */
void journal_reset(struct journal *journal);

/* A new record, zeroed but for n; the pointer is good until the next one is made, its index until the reset. */
struct record *journal_add(struct journal *journal);

/* The first 1024 stalls are kept. */
void journal_add_stall(struct journal *journal, int64_t start, int64_t end);

/* JSON, one line, into `text`; the length. */
size_t journal_stats(const struct journal *journal, char *text, size_t size);
