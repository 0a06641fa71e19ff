/* The users of one scenario on one worker: who begins, iterates, is on its way out. Both models share what is here; run/closed.c decides when users of the closed
 * model come and go, run/open.c which user takes which arrival.
 *
 * A user's iteration is claimed first (counted as scheduled), then on_start runs if the user has not been welcomed yet, then run; so a failed on_start is a failed
 * iteration. Whoever has no further iteration runs on_stop and ends. */
#ifndef LUABENCH_RUN_GROUP_H
#define LUABENCH_RUN_GROUP_H

#include "run/arrivals.h"
#include "run/schedule.h"
#include "script/vu.h"

/* An arrival that waits for a free user. */
struct waiting {
    int64_t due, seen; /* ns: when it was due, and when the worker came to it */
    uint64_t sequence;
};

/* They wait in a ring. */
struct backlog {
    struct waiting *items;
    size_t first, count, capacity;
};

/* A place for a user of the closed model that comes and goes by stages. */
struct place {
    struct vu *vu; /* NULL: free */
    bool again;    /* its user is in on_stop, and to be there again after that */
};

struct group {
    struct vm *vm;
    size_t index;
    const struct scenario_plan *plan;
    struct scenario_metrics *metrics;
    struct share share;
    int64_t start;        /* ns: of the run; 0: not yet */
    size_t *active;       /* the worker's groups that have not ended */
    struct link users;    /* all, by vu->all */
    uint64_t sequence;    /* iterations started here, when they are not claimed */
    struct timer timer;   /* closed: the next change */
    struct timer warm_timer, end_timer, grace_timer;
    bool stopping;        /* no iteration is started any more */
    bool interrupting;    /* not even on_stop */
    bool ended;
    int64_t duration;     /* ns: from the scenario's start to its end, when it has ended */

    /* closed */
    struct claims *claims;
    struct user_changes changes;
    struct user_change change; /* the next one */
    bool has_change;
    struct place *places; /* when there are stages */

    /* open */
    struct arrivals arrivals;
    struct arrival next;
    bool has_next;
    int64_t next_due;     /* ns: when open_turn is to be called; NS_NEVER: not at all */
    struct link idle;     /* users, by vu->main.link; the one used last first */
    uint64_t user_limit, user_count;
    uint64_t made;        /* numbers given to users so far */
    uint64_t *free_numbers; /* of users that have left */
    size_t free_number_count;
    size_t preparing;     /* users in on_start before the first arrival */
    struct backlog backlog;
};

void group_open(struct group *group, struct vm *vm, size_t index, struct share share, struct claims *claims, size_t *active);
void group_close(struct group *group);
/* Makes the users that are to be there before the start; group->preparing is 0 when they have all been welcomed. */
void group_prepare(struct group *group);
/* The run begins at `start` (ns). */
void group_start(struct group *group, int64_t start);
/* Runs a ready strand of one of its users. */
void group_ran(struct group *group, struct strand *strand);
/* The warm-up, when its end is to be found, ends at `at` (ns) instead of later. */
void group_measure(struct group *group, int64_t at);
/* Ends every user now; their iterations are counted as interrupted. */
void group_interrupt(struct group *group);
/* The part of it that touches no Lua state. */
void group_abandon(struct group *group);

/* For closed.c and open.c. */

/* The instant `offset` ns after the start of the run. */
int64_t group_time(const struct group *group, int64_t offset);
struct vu *group_new_user(struct group *group, uint64_t number);
/* The iteration that the user, with its number `sequence` and due at `due`, has been given begins. `late`: by how much the worker came late to it, or LATE_UNKNOWN. */
void group_begin(struct group *group, struct vu *vu, uint64_t sequence, int64_t due, int64_t late);
/* The user has no further iteration. */
void group_leave(struct group *group, struct vu *vu);
/* The user leaves as soon as it is not in an iteration; now if it is in none, or waits for the end of its pace(). */
void group_retire(struct group *group, struct vu *vu);
/* No iteration is started any more. */
void group_stop(struct group *group);
/* To be called whenever the group may have lost its last user. */
void group_check_end(struct group *group);

static inline bool group_is_open(const struct group *group)
{
    return group->plan->model == MODEL_OPEN;
}

/* closed.c */
void closed_open(struct group *group);
void closed_start(struct group *group);
/* Begins the user's next iteration, or lets it leave. */
void closed_next(struct group *group, struct vu *vu, int64_t due);
/* The user has been freed. */
void closed_user_gone(struct group *group, uint64_t number);
bool closed_more(const struct group *group);

/* open.c */
void open_open(struct group *group);
void open_prepare(struct group *group);
void open_start(struct group *group);
/* Starts arrivals that are due at `now` (ns), at most OPEN_STARTS; group->next_due says when to come back. */
enum { OPEN_STARTS = 64 };
void open_turn(struct group *group, int64_t now);
/* The user, which was welcomed or not, has nothing to do: it takes an arrival that waits, or is idle. */
void open_next(struct group *group, struct vu *vu, int64_t now);
void open_user_gone(struct group *group, uint64_t number);
/* Counts what is left of the arrivals as interrupted. */
void open_interrupt(struct group *group);
bool open_more(const struct group *group);

#endif
