/* What the runner knows of a worker's slices of Lua: how long it has been in one, and where it computes when one takes long. */
#ifndef LUABENCH_RUN_HEARTBEAT_H
#define LUABENCH_RUN_HEARTBEAT_H

#include "run/worker.h"

enum { HEARTBEAT_MS = 2 }; /* a slice that has used so much CPU time is looked at, when a tick has met it */

struct heartbeat {
    uint64_t slices; /* of vm->slices: the slice it has been met in */
    int64_t since;   /* ns: since when; 0: it is not in one */
    int64_t used;    /* ns of CPU time of the thread at that time */
    bool asked;      /* it was asked where it is */
};

/* How long (ns) the worker has been in its present slice of Lua; 0 when it is not in one. */
int64_t heartbeat_slice(struct heartbeat *beat, struct worker *worker, int64_t now);
/* Asks, once a slice that has taken long, where it is. True when an answer has come, to this or an earlier question: `where`, of WATCH_WHERE bytes. */
bool heartbeat_place(struct heartbeat *beat, struct worker *worker, char *where);

#endif
