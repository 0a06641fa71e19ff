#include "run/heartbeat.h"

#include "base/clock.h"

int64_t heartbeat_slice(struct heartbeat *beat, struct worker *worker, int64_t now)
{
    if (atomic_load(&worker->state) != WORKER_BUSY || !worker->vm->in_lua) {
        beat->since = 0;
    } else if (!beat->since || beat->slices != worker->vm->slices) {
        beat->slices = worker->vm->slices;
        beat->since = now;
        beat->used = worker_cpu(worker);
        beat->asked = false;
    }
    return beat->since ? now - beat->since : 0;
}

bool heartbeat_place(struct heartbeat *beat, struct worker *worker, char *where)
{
    if (beat->since && !beat->asked && worker_cpu(worker) - beat->used >= HEARTBEAT_MS * NS_PER_MS) {
        beat->asked = true;
        watch_ask(&worker->watch, worker->thread, beat->slices);
    }
    return watch_answer(&worker->watch, where);
}
