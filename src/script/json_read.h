/* JSON (RFC 8259) straight to Lua values: what responses are read with, so it has to be fast. It says nothing about what is wrong: Jansson, which would make a tree of it
 * first, is asked then (script/api_json.c). */
#ifndef LUABENCH_SCRIPT_JSON_READ_H
#define LUABENCH_SCRIPT_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

struct lua_State;

/* Pushes the value that `text` is, which must end with a NUL behind `length`; or pushes nothing: false. Lists without items get the metatable `array_type`. */
bool json_read(struct lua_State *L, const char *text, size_t length, const char *array_type);

#endif
