/* core.upload_file, core.upload: bodies that are read from files while they are sent. */
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/upload.h"
#include "script/api.h"

#define FILE_TYPE "luabench.upload_file"
#define UPLOAD_TYPE "luabench.upload"

/* upload_file(path) -> a file, which stays open; or nil and what is wrong. Whether the script may read it is Lua's affair. */
static int open_file(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    struct stat status;
    int *fd = lua_newuserdata(L, sizeof *fd);
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    luaL_getmetatable(L, FILE_TYPE);
    lua_setmetatable(L, -2);
    if (*fd >= 0 && !fstat(*fd, &status) && S_ISREG(status.st_mode))
        return 1;
    const char *why = *fd < 0 ? strerror(errno) : S_ISDIR(status.st_mode) ? "Is a directory" : "not a regular file";
    lua_pushnil(L);
    lua_pushstring(L, why);
    return 2;
}

static int close_file(lua_State *L)
{
    int *fd = luaL_checkudata(L, 1, FILE_TYPE);
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return 0;
}

/* The part that the value at the top of the stack stands for. */
static struct upload_part part_of(lua_State *L)
{
    struct upload_part part = { 0 };
    size_t length;
    if (lua_type(L, -1) == LUA_TSTRING) {
        part.data = lua_tolstring(L, -1, &length);
        part.length = length;
        return part;
    }
    struct stat status;
    part.fd = *(int *)luaL_checkudata(L, -1, FILE_TYPE);
    if (!fstat(part.fd, &status))
        part.length = (uint64_t)status.st_size;
    return part;
}

/* upload(parts) -> a body for core.send, of a list of strings and files, which must not change any more. One at a time can be sent. */
static int new_upload(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    size_t count = lua_objlen(L, 1);
    struct upload **upload = lua_newuserdata(L, sizeof *upload);
    *upload = NULL;
    luaL_getmetatable(L, UPLOAD_TYPE);
    lua_setmetatable(L, -2);
    *upload = upload_new(count);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, 1, (int)i + 1);
        struct upload_part part = part_of(L);
        upload_add(*upload, &part);
        lua_pop(L, 1);
    }
    lua_pushvalue(L, 1);
    lua_setfenv(L, -2); /* keeps the parts alive */
    return 1;
}

static int free_upload(lua_State *L)
{
    struct upload **upload = luaL_checkudata(L, 1, UPLOAD_TYPE);
    if (*upload) {
        upload_rest(*upload);
        free(*upload);
    }
    *upload = NULL;
    return 0;
}

struct upload *api_upload_argument(lua_State *L, int argument)
{
    struct upload *upload = *(struct upload **)luaL_checkudata(L, argument, UPLOAD_TYPE);
    upload->why = NULL;
    return upload;
}

static void new_type(lua_State *L, const char *type, lua_CFunction release)
{
    luaL_newmetatable(L, type);
    lua_pushcfunction(L, release);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}

void api_upload_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "upload_file", open_file }, { "upload", new_upload }, { NULL, NULL } };
    api_register(L, functions);
    new_type(L, FILE_TYPE, close_file);
    new_type(L, UPLOAD_TYPE, free_upload);
}
