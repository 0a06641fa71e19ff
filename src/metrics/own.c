#include "metrics/own.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void own_free(struct own_metrics *own)
{
    for (size_t i = 0; i < own->count; i++) {
        struct own_metric *metric = own->metrics[i];
        for (size_t k = 0; k < metric->count; k++) {
            hist_free(&metric->series[k]->hist);
            free(metric->series[k]);
        }
        names_free(&metric->keys);
        free(metric->series);
        free(metric);
    }
    free(own->metrics);
    if (own->count)
        names_free(&own->names);
    *own = (struct own_metrics){ 0 };
}

static struct own_metric *find_metric(struct own_metrics *own, const char *name, enum own_kind kind)
{
    if (!own->count)
        names_init(&own->names, OWN_METRICS);
    size_t index = names_index(&own->names, name, strlen(name));
    if (index == own->count) {
        struct own_metric *metric = mem_zero(sizeof *metric);
        *metric = (struct own_metric){ .name = own->names.texts[index], .kind = kind };
        names_init(&metric->keys, OWN_SERIES);
        own->metrics = mem_resize(own->metrics, (index + 1) * sizeof *own->metrics);
        own->metrics[own->count++] = metric;
    }
    return own->metrics[index];
}

struct own_series *own_find(struct own_metrics *own, const char *name, enum own_kind kind, const char *key, size_t key_length)
{
    struct own_metric *metric = find_metric(own, name, kind);
    size_t index = names_index(&metric->keys, key, key_length);
    if (index == metric->count) {
        struct own_series *series = mem_zero(sizeof *series);
        series->key = metric->keys.texts[index];
        metric->series = mem_resize(metric->series, (index + 1) * sizeof *metric->series);
        metric->series[metric->count++] = series;
    }
    return metric->series[index];
}

void own_add(struct own_series *series, enum own_kind kind, double value, double scale, int64_t at)
{
    series->min = series->count && series->min < value ? series->min : value;
    series->max = series->count && series->max > value ? series->max : value;
    series->count++;
    series->sum += value;
    series->last = value;
    series->last_at = at;
    if (kind == OWN_TREND)
        hist_record(&series->hist, (int64_t)(value * scale + 0.5));
}

static void merge_series(struct own_series *into, const struct own_series *from)
{
    if (!from->count)
        return;
    into->min = into->count && into->min < from->min ? into->min : from->min;
    into->max = into->count && into->max > from->max ? into->max : from->max;
    if (!into->count || from->last_at > into->last_at) {
        into->last = from->last;
        into->last_at = from->last_at;
    }
    into->count += from->count;
    into->sum += from->sum;
    hist_merge(&into->hist, &from->hist);
}

void own_merge(struct own_metrics *into, const struct own_metrics *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct own_metric *metric = from->metrics[i];
        for (size_t k = 0; k < metric->count; k++) {
            const struct own_series *series = metric->series[k];
            merge_series(own_find(into, metric->name, metric->kind, series->key, strlen(series->key)), series);
        }
    }
}
