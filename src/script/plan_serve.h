/* What `luabench serve` was asked for. Read from the command (docs/core.md). */
#ifndef LUABENCH_SCRIPT_PLAN_SERVE_H
#define LUABENCH_SCRIPT_PLAN_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/pool.h"

struct serve_plan {
    char *host;
    char *cert_out; /* file for the certificate; NULL: none */
    int port, threads;
    enum http_version http;
    bool tls;
    uint64_t goaway_after;    /* 0: no limit */
    uint32_t streams, window;
    size_t read_rate;         /* bytes a second; 0: no limit */
};

struct lua_State;

/* Reads the table on top of the stack. */
void serve_plan_read(struct lua_State *L, struct serve_plan *serve);
void serve_plan_free(struct serve_plan *serve);

#endif
