/* How the run stands: gathers the workers' totals, cuts them into seconds for the result's series, and feeds the live display. Used by the runner's thread alone. */
#ifndef LUABENCH_RUN_PROGRESS_H
#define LUABENCH_RUN_PROGRESS_H

#include "run/spool.h"
#include "run/worker.h"
#include "script/results.h"

struct progress_state {
    struct vm *control;
    const struct plan *plan;
    struct run *run;
    struct worker *workers;
    unsigned worker_count;
    struct tally {
        struct metrics_totals now;
        struct metrics_totals at_second; /* as they were at the last full second */
    } counted, shown; /* what goes into the result, and that with the warm-ups, if there are any */
    bool has_warm_up;
    int64_t warm;      /* ns: until then nothing counts */
    int64_t next_second, next_update; /* ns, clock_ns; NS_NEVER before progress_begin */
    struct hist last_second; /* latency of the last full second, as shown */
    struct second *series;      /* without their latencies until progress_fetch */
    struct spooled *latencies;  /* of each */
    struct spool spool;
    size_t series_count, series_capacity;
    double rate;       /* responses/s of the last full second (of the time so far before the first) */
    bool has_second;
};

void progress_init(struct progress_state *progress, struct vm *control, const struct plan *plan, struct run *run, struct worker *workers, unsigned worker_count);
/* The load begins, at run->start. Before that, progress_tick shows only what scripts write. */
void progress_begin(struct progress_state *progress);
/* Looks at the clock: closes a second, redraws the display, shows lines that scripts wrote, each when its time has come. */
void progress_tick(struct progress_state *progress, bool stopping);
/* The last, perhaps shorter, second; the display is taken away. */
void progress_done(struct progress_state *progress);
/* Reads the seconds' latencies back; one whose latencies cannot be read has none. Once, at the end. */
void progress_fetch(struct progress_state *progress);
void progress_free(struct progress_state *progress);

#endif
