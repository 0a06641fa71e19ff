#define _GNU_SOURCE
#include "run/threads.h"

#include <sched.h>

uint64_t threads_users(const struct plan *plan, enum model model)
{
    uint64_t users = 0;
    for (size_t i = 0; i < plan->scenario_count; i++)
        if (plan->scenarios[i].model == model)
            users += share_of(plan->share, plan->scenarios[i].users);
    return users;
}

static uint64_t most_threads(const struct plan *plan)
{
    uint64_t most = threads_users(plan, MODEL_CLOSED) + threads_users(plan, MODEL_OPEN);
    for (size_t i = 0; i < plan->scenario_count; i++) {
        const struct client_options *client = &plan->scenarios[i].http.client;
        uint64_t connections = share_of(plan->share, client->connections);
        if (client->shared && connections < most)
            most = connections;
    }
    return most;
}

unsigned threads_choose(const struct plan *plan)
{
    cpu_set_t set;
    uint64_t most = most_threads(plan);
    unsigned threads = plan->threads;
    if (!threads)
        threads = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
    return threads < most ? threads : (unsigned)most;
}
