/* core.log, core.write, core.terminal, core.cores, core.deadline: the little that Lua needs of the system. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "script/api.h"

/* log(level, text): a line of the script's. At load time the control state shows it, and the workers' states, which load the same script
 * again, are silent. */
static int log_line(lua_State *L)
{
    struct vm *vm = vm_of(L);
    size_t length;
    luaL_checkstring(L, 1);
    const char *text = luaL_checklstring(L, 2, &length);
    if (vm->log)
        vm->log(vm->log_context, text, length, false);
    else if (vm->role == VM_CONTROL)
        fprintf(stderr, "%s\n", text);
    return 0;
}

static int write_all(lua_State *L)
{
    size_t length;
    int fd = luaL_checkint(L, 1);
    const char *text = luaL_checklstring(L, 2, &length);
    while (length) {
        ssize_t n = write(fd, text, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            lua_pushnil(L);
            lua_pushstring(L, errno == EBADF ? "it is closed" : strerror(errno));
            return 2;
        }
        text += n;
        length -= (size_t)n;
    }
    lua_pushboolean(L, 1);
    return 1;
}

/* write_device(path, text) -> true; or nil, why. For what is no plain file: a pipe that nobody reads is an error, where opening it would wait for ever. */
static int write_device(lua_State *L)
{
    int fd = open(luaL_checkstring(L, 1), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        lua_pushnil(L);
        lua_pushfstring(L, "%s: %s", lua_tostring(L, 1), errno == ENXIO ? "nobody reads this pipe" : strerror(errno));
        return 2;
    }
    fcntl(fd, F_SETFL, 0);
    lua_settop(L, 2);
    lua_pushinteger(L, fd);
    lua_replace(L, 1);
    int results = write_all(L);
    close(fd);
    return results;
}

static int terminal(lua_State *L)
{
    struct winsize size;
    int fd = luaL_checkint(L, 1);
    if (!isatty(fd))
        return 0;
    bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    lua_pushinteger(L, known ? size.ws_col : 80);
    return 1;
}

/* file_kind(path): "file", "directory" or "other" (a device, a pipe); nil when there is nothing. */
static int file_kind(lua_State *L)
{
    struct stat status;
    if (stat(luaL_checkstring(L, 1), &status))
        return 0;
    lua_pushstring(L, S_ISREG(status.st_mode) ? "file" : S_ISDIR(status.st_mode) ? "directory" : "other");
    return 1;
}

/* folder(path): the names in it, in no order; nil when it cannot be read. */
static int folder(lua_State *L)
{
    DIR *listing = opendir(luaL_checkstring(L, 1));
    const struct dirent *entry;
    if (!listing)
        return 0;
    lua_newtable(L);
    for (int i = 1; (entry = readdir(listing)); i++) {
        lua_pushstring(L, entry->d_name);
        lua_rawseti(L, -2, i);
    }
    closedir(listing);
    return 1;
}

/* limit_memory(bytes, now): a limit on the memory of this state, when it is counted; `now`: the script is being loaded, and it holds. It always does while users run. */
static int limit_memory(lua_State *L)
{
    struct memory *memory = &vm_of(L)->memory;
    if (memory->used) {
        memory->limit = (size_t)luaL_checknumber(L, 1);
        memory->enforced = lua_toboolean(L, 2);
    }
    return 0;
}

static struct {
    int status;
    char *text, *message;
    size_t length;
} last_words;

static void write_out(int fd, const char *text, size_t length)
{
    for (ssize_t n = 1; length && n > 0; text += n, length -= (size_t)n)
        if ((n = write(fd, text, length)) < 0)
            return;
}

static void say_last_words(int number)
{
    write_out(STDOUT_FILENO, last_words.text, last_words.length);
    write_out(STDERR_FILENO, last_words.message, strlen(last_words.message));
    _exit(last_words.status);
}

/* deadline(seconds, status, message, text): unless deadline() comes before that, text goes to standard output, the message to standard error, and the program ends with the
 * status. For functions of a script that are called in the control state, where nobody watches them. */
static int deadline(lua_State *L)
{
    size_t length = 0;
    bool set = lua_gettop(L) > 0;
    alarm(0);
    signal(SIGALRM, SIG_IGN);
    free(last_words.text);
    free(last_words.message);
    memset(&last_words, 0, sizeof last_words);
    if (!set)
        return 0;
    double seconds = luaL_checknumber(L, 1);
    const char *message = luaL_checkstring(L, 3), *text = luaL_optlstring(L, 4, "", &length);
    last_words.status = luaL_checkint(L, 2);
    last_words.message = mem_text(message, strlen(message));
    last_words.text = mem_text(text, length);
    last_words.length = length;
    signal(SIGALRM, say_last_words);
    alarm(seconds < 1 ? 1 : seconds > 1e9 ? 1000000000u : (unsigned)ceil(seconds));
    return 0;
}

/* memory_left(): bytes of address space that this process may still take; nil: no limit is set (ulimit -v). */
static int memory_left(lua_State *L)
{
    struct rlimit limit;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    bool known = file && fscanf(file, "%lu", &pages) == 1;
    if (file)
        fclose(file);
    if (!known || getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    double left = (double)limit.rlim_cur - (double)pages * (double)sysconf(_SC_PAGESIZE);
    lua_pushnumber(L, left > 0 ? left : 0);
    return 1;
}

static int cores(lua_State *L)
{
    cpu_set_t set;
    lua_pushinteger(L, sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1);
    return 1;
}

void api_system_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "log", log_line }, { "write", write_all }, { "write_device", write_device }, { "terminal", terminal }, { "cores", cores }, { "limit_memory", limit_memory }, { "file_kind", file_kind },
        { "folder", folder }, { "deadline", deadline }, { "memory_left", memory_left }, { NULL, NULL },
    };
    api_register(L, functions);
    lua_pushliteral(L, LUABENCH_SHARE);
    lua_setfield(L, -2, "root");
}
