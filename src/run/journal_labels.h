/* Names of requests as the files with a line a request show them: quoted, harmless, secrets hidden. Made when a name is met first, and kept. */
#ifndef LUABENCH_RUN_JOURNAL_LABELS_H
#define LUABENCH_RUN_JOURNAL_LABELS_H

#include <stddef.h>

#include "base/buf.h"
#include "metrics/metrics.h"
#include "script/plan.h"

struct label {
    const struct name_metrics *name; /* whose it is */
    size_t scenario;                 /* its index in the plan */
    struct buf json;                 /* "scenario":"main","name":"GET /" */
    struct buf csv, csv_scenario;    /* a field of CSV each, quoted where it needs that */
};

struct labels {
    const struct plan *plan;
    struct label **slots; /* a hash table by address; owned */
    size_t capacity, count;
};

void labels_init(struct labels *labels, const struct plan *plan);
void labels_free(struct labels *labels);
/* The label of the name; valid until labels_free. */
const struct label *labels_of(struct labels *labels, const struct name_metrics *name);
/* The longest that one of the three texts can be: longer names are cut before they are quoted. */
enum { LABEL_LONGEST = 8192 };

#endif
