/* core.random and its kin: random numbers of the running user. Its stream is named by the run's seed, the scenario and the user (open model: the iteration), so that
 * a seed repeats every user's choices whatever the number of threads. Outside of users, while a script is loaded, every state draws the same numbers. */
#include <lauxlib.h>
#include <math.h>

#include "base/mem.h"
#include "script/api.h"

static const double exact_integer = 9007199254740992.0; /* 2^53 */

enum { LONGEST_TEXT = 64 << 20 };

/* "users" and "loading": tell the streams from others. */
static const uint64_t stream_users = UINT64_C(0x7573657273), stream_loading = UINT64_C(0x6c6f6164696e67);

/* What a user that draws has, released with free(). */
struct user_random {
    struct rng rng;
    uint64_t number; /* which stream it is */
};

struct rng *vu_random(struct vu *vu)
{
    uint64_t number = vu->scenario->plan->model == MODEL_OPEN ? vu->sequence : vu->id;
    if (!vu->random || vu->random->number != number) {
        if (!vu->random)
            vu->random = mem_zero(sizeof *vu->random);
        vu->random->number = number;
        rng_seed(&vu->random->rng, (uint64_t[]){ vu->vm->seed, stream_users, vu->scenario->index, number }, 4);
    }
    return &vu->random->rng;
}

static struct rng *generator(lua_State *L)
{
    struct vu *vu = vu_running(L);
    return vu ? vu_random(vu) : &vm_of(L)->random;
}

/* random() -> uniform in [0, 1). */
static int uniform(lua_State *L)
{
    lua_pushnumber(L, rng_uniform(generator(L)));
    return 1;
}

/* random_int(least, most) -> a whole number from least to most. */
static int integer(lua_State *L)
{
    double least = luaL_checknumber(L, 1), most = luaL_checknumber(L, 2);
    luaL_argcheck(L, floor(least) == least && fabs(least) <= exact_integer, 1, "a whole number expected");
    luaL_argcheck(L, floor(most) == most && most >= least && most - least < exact_integer, 2, "a whole number not below the first expected");
    lua_pushnumber(L, least + (double)rng_below(generator(L), (uint64_t)(most - least) + 1));
    return 1;
}

/* random_exponential() -> exponential with mean 1. */
static int exponential(lua_State *L)
{
    lua_pushnumber(L, rng_exponential(generator(L)));
    return 1;
}

static int bytes(lua_State *L)
{
    luaL_Buffer buffer;
    double length = luaL_checknumber(L, 1);
    luaL_argcheck(L, length >= 0 && length <= LONGEST_TEXT && floor(length) == length, 1, "a number of bytes expected, at most 64 MiB");
    luaL_buffinit(L, &buffer);
    for (size_t left = (size_t)length; left;) {
        size_t part = left < LUAL_BUFFERSIZE ? left : LUAL_BUFFERSIZE;
        rng_fill(generator(L), luaL_prepbuffer(&buffer), part);
        luaL_addsize(&buffer, part);
        left -= part;
    }
    luaL_pushresult(&buffer);
    return 1;
}

/* random_text(length) -> letters and digits. */
static int text(lua_State *L)
{
    static const char characters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    luaL_Buffer buffer;
    double length = luaL_checknumber(L, 1);
    luaL_argcheck(L, length >= 0 && length <= LONGEST_TEXT && floor(length) == length, 1, "a number of characters expected, at most 64 Mi");
    struct rng *rng = generator(L);
    luaL_buffinit(L, &buffer);
    for (size_t left = (size_t)length; left; left--)
        luaL_addchar(&buffer, characters[rng_below(rng, sizeof characters - 1)]);
    luaL_pushresult(&buffer);
    return 1;
}

/* random_seed(n): begins the stream of load time; all states of a run give it the same n. */
static int seed(lua_State *L)
{
    rng_seed(&vm_of(L)->random, (uint64_t[]){ (uint64_t)luaL_checknumber(L, 1), stream_loading }, 2);
    return 0;
}

/* random_unknown() -> a seed that nobody knows, which a double holds. */
static int unknown(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)(rng_unknown() >> 16));
    return 1;
}

void api_random_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "random", uniform },   { "random_int", integer },  { "random_exponential", exponential }, { "random_bytes", bytes },
        { "random_text", text }, { "random_seed", seed },    { "random_unknown", unknown },
        { NULL, NULL },
    };
    api_register(L, functions);
    rng_seed(&vm_of(L)->random, (uint64_t[]){ 0, stream_loading }, 2);
}
