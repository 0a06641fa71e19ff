/* One request as a line of text, in each of the formats. */
#ifndef LUABENCH_RUN_JOURNAL_LINES_H
#define LUABENCH_RUN_JOURNAL_LINES_H

#include <stdint.h>

#include "metrics/journal.h"
#include "run/journal_labels.h"

enum { JOURNAL_LINE = 3 * LABEL_LONGEST + 1024 }; /* bytes that the longest line fits in */

/* What is not in the record. */
struct journal_view {
    int64_t wall;               /* ns between CLOCK_MONOTONIC and CLOCK_REALTIME */
    uint64_t users, all_users;  /* of the scenario, and of all, at the end of the request */
};

struct journal_lines {
    const char *header; /* the first line, newline included; "" when there is none */
    /* Writes the line, newline included; returns its end, or `at` when the format has no line for this request. */
    char *(*line)(char *at, const struct journal_record *record, const struct label *label, const struct journal_view *view);
};

/* By enum journal_format. */
extern const struct journal_lines journal_ndjson, journal_jtl;

#endif
