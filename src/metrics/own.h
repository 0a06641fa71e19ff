/* Metrics that a script defines: counters, gauges, rates and trends, each apart for every scenario and set of tags it was given. Written by one thread, merged
 * by adding. All texts belong to the metrics. */
#ifndef LUABENCH_METRICS_OWN_H
#define LUABENCH_METRICS_OWN_H

#include <stddef.h>
#include <stdint.h>

#include "metrics/hist.h"
#include "metrics/names.h"

enum {
    OWN_METRICS = 200, /* metrics; further ones are kept as "(other)" */
    OWN_SERIES = 1000, /* scenarios and sets of tags of a metric; further ones are kept as "(other)" */
    OWN_SCALE = 1000,  /* a trend without a unit of time is kept in thousandths */
};

enum own_kind { OWN_COUNTER, OWN_GAUGE, OWN_RATE, OWN_TREND };

/* The values of a metric from one scenario under one set of tags. */
struct own_series {
    const char *key;  /* "SCENARIO\nTAG=VALUE\n..."; of a set */
    uint64_t count;   /* values */
    double sum;       /* of them; rate: of those that were true */
    double last, min, max; /* gauge; without a value meaningless */
    int64_t last_at;  /* ns: when `last` was set */
    struct hist hist; /* trend: ns, or thousandths */
};

struct own_metric {
    const char *name;
    enum own_kind kind;
    struct own_series **series; /* in order of first use */
    size_t count;
    struct names keys;
};

struct own_metrics {
    struct own_metric **metrics; /* in order of first use; empty until needed */
    size_t count;
    struct names names;
};

void own_free(struct own_metrics *own);
/* The series of that metric, made on first use; valid until own_free. */
struct own_series *own_find(struct own_metrics *own, const char *name, enum own_kind kind, const char *key, size_t key_length);
/* Adds a value; `at` (ns, a clock that all threads share) is when. */
void own_add(struct own_series *series, enum own_kind kind, double value, double scale, int64_t at);
/* Adds everything in `from` to `into`. The last value of a gauge is the latest of both. */
void own_merge(struct own_metrics *into, const struct own_metrics *from);

#endif
