/* The files with a line a request that a run is to write. Read from the plan (docs/core.md). */
#ifndef LUABENCH_SCRIPT_PLAN_JOURNAL_H
#define LUABENCH_SCRIPT_PLAN_JOURNAL_H

#include <stddef.h>

enum journal_format { JOURNAL_NDJSON, JOURNAL_JTL };

struct journal_file_plan {
    char *path;
    enum journal_format format;
};

struct journal_plan {
    struct journal_file_plan *files;
    size_t file_count;
    char **secrets; /* texts that are shown as ***, longer ones first */
    size_t secret_count;
};

/* What became of one of the files. */
struct journal_outcome {
    const char *path;
    int error;                         /* errno of what went wrong when it was written; 0: nothing */
    unsigned long long lines, missing; /* written; lost, since the writing did not keep up or went wrong */
};

struct lua_State;

/* Reads the plan on top of the stack. */
void journal_plan_read(struct lua_State *L, struct journal_plan *journal);
void journal_plan_free(struct journal_plan *journal);
/* Sets the list `journals` of the results on top of the stack. */
void journal_outcomes_push(struct lua_State *L, const struct journal_outcome *outcomes, size_t count);

#endif
