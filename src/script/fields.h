/* Reading fields of the Lua table on top of the stack, which is left as it was. */
#ifndef LUABENCH_SCRIPT_FIELDS_H
#define LUABENCH_SCRIPT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

struct lua_State;

double field_number(struct lua_State *L, const char *key, double absent);
/* Seconds there, nanoseconds here. */
int64_t field_duration(struct lua_State *L, const char *key, int64_t absent);
uint64_t field_count(struct lua_State *L, const char *key, uint64_t absent);
/* False when absent. */
bool field_bool(struct lua_State *L, const char *key);
/* A copy, to be released with free(). */
char *field_text(struct lua_State *L, const char *key, const char *absent);

#endif
