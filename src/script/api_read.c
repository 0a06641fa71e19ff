/* core.read_file: whole files, for scripts, modules and bodies. What can be read but once (a pipe, standard input) is kept for the process, so that every Lua state gets
 * the same text; so is what the caller wants to be the same in all states even if the file is changed meanwhile. Devices and folders have no end or no text and are refused. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/shown.h"
#include "script/api.h"

enum { PIECE = 1 << 16, PATIENCE_MS = 1000 };

/* A file that was read, for as long as the process lives. */
struct kept {
    struct kept *next;
    char *path, *text; /* owned */
    size_t length;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *kept_files; /* guarded by `lock` */

/* Also guards the reading itself: the second state waits for what the first one gets. */
static const struct kept *find_kept(const char *path)
{
    for (const struct kept *kept = kept_files; kept; kept = kept->next)
        if (!strcmp(kept->path, path))
            return kept;
    return NULL;
}

static void keep(const char *path, const struct buf *text)
{
    struct kept *kept = mem_zero(sizeof *kept);
    *kept = (struct kept) { .next = kept_files, .path = mem_text(path, strlen(path)), .text = mem_text(text->data ? text->data : "", text->length), .length = text->length };
    kept_files = kept;
}

/* Standard input may be what cannot be opened by a name, a socket say. */
static int open_file(const char *path)
{
    if (!strcmp(path, "/dev/stdin"))
        return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* Why what is not a file on a disk cannot be read, or NULL. */
static const char *unfit(int fd, mode_t mode)
{
    if (S_ISREG(mode) || S_ISFIFO(mode) || S_ISSOCK(mode) || isatty(fd))
        return NULL;
    return S_ISDIR(mode) ? "it is a folder" : "it is a device, not a file";
}

/* A pipe or a terminal may keep silent: that this is what the program waits for has to be said. */
static void await(int fd, const char *path)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    char name[SHOWN_SIZE];
    if (poll(&ready, 1, PATIENCE_MS) != 0)
        return;
    fprintf(stderr, "luabench: waiting for %s, to which nothing has been written yet; Ctrl-C ends\n", shown(path, name));
    while (poll(&ready, 1, -1) < 0 && errno == EINTR)
        ;
}

/* Reads to the end, at most `text->maximum` bytes; 0, EFBIG when there are more, or another errno. */
static int read_all(int fd, struct buf *text)
{
    char piece[PIECE];
    for (;;) {
        ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : 0;
        if (!buf_append(text, piece, (size_t)n))
            return EFBIG;
    }
}

/* Reads what is open at `fd`. The limit on the time that scripts may take to load does not count how long somebody takes to write into a pipe. */
static int read_stream(int fd, const char *path, struct buf *text)
{
    unsigned left = alarm(0);
    int flags = fcntl(fd, F_GETFL), failed;
    await(fd, path);
    if (flags >= 0 && (flags & O_NONBLOCK))
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    failed = read_all(fd, text);
    alarm(left);
    return failed;
}

/* Reads the file into `text`; NULL, or why it cannot be read. `stream`: it can be read but once. */
static const char *read_path(const char *path, struct buf *text, bool *stream)
{
    struct stat status;
    int fd = open_file(path);
    const char *why = fd < 0 || fstat(fd, &status) ? strerror(errno) : unfit(fd, status.st_mode);
    if (!why) {
        *stream = !S_ISREG(status.st_mode);
        bool large = !*stream && status.st_size > 0 && (size_t)status.st_size > text->maximum;
        int failed = large ? EFBIG : *stream ? read_stream(fd, path, text) : read_all(fd, text);
        why = failed ? strerror(failed) : NULL;
        if (failed == EFBIG)
            why = "it is too large";
    }
    if (fd >= 0)
        close(fd);
    return why;
}

/* What is kept of the path, or else what is read of it into `text`; NULL, and `why`, when it cannot be read. */
static const struct kept *get(const char *path, bool wanted, struct buf *text, const char **why)
{
    pthread_mutex_lock(&lock);
    const struct kept *kept = find_kept(path);
    bool stream = false;
    *why = kept ? NULL : read_path(path, text, &stream);
    if (!kept && !*why && (wanted || stream)) {
        keep(path, text);
        kept = kept_files;
    }
    pthread_mutex_unlock(&lock);
    return kept;
}

/* read_file(path, most, keep) -> the text, at most `most` bytes; or nil and why not. `keep`: all states are to get the same. */
static int read_file(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1), *why;
    struct buf text = { .maximum = (size_t)luaL_checknumber(L, 2) };
    const struct kept *kept = get(path, lua_toboolean(L, 3), &text, &why);
    if (kept)
        lua_pushlstring(L, kept->text, kept->length);
    else if (why)
        lua_pushnil(L);
    else
        lua_pushlstring(L, text.data ? text.data : "", text.length);
    buf_free(&text);
    if (!why)
        return 1;
    lua_pushstring(L, why);
    return 2;
}

void api_read_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "read_file", read_file }, { NULL, NULL } };
    api_register(L, functions);
}
