#define _GNU_SOURCE
#include "script/watch.h"

#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "script/vu.h"

enum { PARK_SIGNAL = SIGUSR1, MOMENT_MS = 300, DEEPEST = 50 };
enum { AT_INSTRUCTION = 1, AT_ONCE = 2, ONLY_ASKED = 3 }; /* watch->wanted */

static __thread struct watch *mine;

_Noreturn static void park(struct watch *watch)
{
    sem_post(&watch->parked);
    for (;;)
        pause();
}

static void write_down(struct watch *watch, lua_State *L, lua_Debug *ar)
{
    if (lua_getinfo(L, "nSl", ar))
        snprintf(watch->where, sizeof watch->where, ar->name ? "%s:%d, in function '%s'" : "%s:%d", ar->short_src, ar->currentline, ar->name);
}

/* The innermost function with lines, of the script rather than of our own Lua where there is one. */
static bool find_script_function(lua_State *L, lua_Debug *ar)
{
    bool any = false;
    lua_Debug each;
    for (int level = 0; level < DEEPEST && lua_getstack(L, level, &each); level++) {
        if (!lua_getinfo(L, "Sl", &each) || each.currentline < 0)
            continue;
        bool ours = !strncmp(each.source, "@lua/luabench/", 14);
        if (!any || !ours)
            *ar = each;
        any = true;
        if (!ours)
            break;
    }
    return any;
}

/* The answer to watch_ask, unless the slice is over. */
static void answer(struct watch *watch, lua_State *L)
{
    lua_Debug ar;
    watch->wanted = 0;
    lua_sethook(L, NULL, 0, 0);
    if (watch->vm->slices != watch->slice || watch->answered || !find_script_function(L, &ar))
        return;
    write_down(watch, L, &ar);
    watch->answered = 1;
}

/* Runs as a Lua hook in the stuck thread, at an instruction of the interpreter. */
static void locate(lua_State *L, lua_Debug *ar)
{
    struct watch *watch = mine;
    if (!watch || !watch->wanted)
        lua_sethook(L, NULL, 0, 0); /* of a question that was too late */
    if (!watch || !watch->wanted || !watch->vm->in_lua)
        return;
    if (watch->wanted == ONLY_ASKED) {
        answer(watch, L);
        return;
    }
    write_down(watch, L, ar);
    park(watch);
}

static void on_signal(int number)
{
    int saved = errno;
    if (mine && mine->wanted && mine->vm->in_lua && mine->vm->running) {
        if (mine->wanted == AT_ONCE)
            park(mine);
        lua_sethook(mine->vm->running->co, locate, LUA_MASKCOUNT, 1);
    }
    errno = saved;
}

/* "a function of script.lua:5": where the scenario is, for want of something better. */
static void default_where(struct watch *watch)
{
    struct strand *strand = watch->vm->running;
    snprintf(watch->where, sizeof watch->where, "a function of %s", strand ? strand->vu->scenario->plan->where : "the script");
}

void watch_init(struct watch *watch, struct vm *vm)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    *watch = (struct watch){ .vm = vm };
    sem_init(&watch->parked, 0, 0);
    sigaction(PARK_SIGNAL, &action, NULL);
}

void watch_thread(struct watch *watch)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, PARK_SIGNAL);
    mine = watch;
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static bool signal_and_wait(struct watch *watch, pthread_t thread, int wanted)
{
    struct timespec until;
    watch->wanted = wanted;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += MOMENT_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_kill(thread, PARK_SIGNAL);
    while (sem_timedwait(&watch->parked, &until))
        if (errno != EINTR) {
            watch->wanted = 0;
            return false;
        }
    return true;
}

void watch_ask(struct watch *watch, pthread_t thread, uint64_t slice)
{
    if ((watch->wanted && watch->wanted != ONLY_ASKED) || watch->answered)
        return;
    watch->slice = slice;
    watch->wanted = ONLY_ASKED;
    pthread_kill(thread, PARK_SIGNAL);
}

bool watch_answer(struct watch *watch, char *where)
{
    if (!watch->answered)
        return false;
    snprintf(where, WATCH_WHERE, "%s", watch->where);
    watch->answered = 0;
    return true;
}

bool watch_locate(struct watch *watch, pthread_t thread)
{
    default_where(watch);
    return signal_and_wait(watch, thread, AT_INSTRUCTION);
}

bool watch_park(struct watch *watch, pthread_t thread)
{
    return signal_and_wait(watch, thread, AT_ONCE);
}
