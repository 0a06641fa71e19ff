/* core.base64, core.sha256, core.hmac_sha256: bytes in, text or bytes out. */
#include <lauxlib.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/sha256.h"
#include "script/api.h"

static int base64(lua_State *L)
{
    size_t length;
    struct buf out = { 0 };
    const char *data = luaL_checklstring(L, 1, &length);
    base64_encode(&out, data, length);
    lua_pushlstring(L, out.data ? out.data : "", out.length);
    buf_free(&out);
    return 1;
}

/* sha256(text) -> 32 bytes. */
static int digest_of(lua_State *L)
{
    size_t length;
    uint8_t digest[SHA256_SIZE];
    const char *data = luaL_checklstring(L, 1, &length);
    sha256(digest, data, length);
    lua_pushlstring(L, (const char *)digest, sizeof digest);
    return 1;
}

/* hmac_sha256(key, text) -> 32 bytes. */
static int hmac_of(lua_State *L)
{
    size_t key_length, length;
    uint8_t digest[SHA256_SIZE];
    const char *key = luaL_checklstring(L, 1, &key_length), *data = luaL_checklstring(L, 2, &length);
    sha256_hmac(digest, key, key_length, data, length);
    lua_pushlstring(L, (const char *)digest, sizeof digest);
    return 1;
}

void api_text_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "base64", base64 }, { "sha256", digest_of }, { "hmac_sha256", hmac_of }, { NULL, NULL } };
    api_register(L, functions);
}
