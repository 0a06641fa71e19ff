/* Sets fields of the Lua table on top of the stack. */
#ifndef LUABENCH_SCRIPT_TABLE_H
#define LUABENCH_SCRIPT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "metrics/hist.h"

struct lua_State;

void table_set_count(struct lua_State *L, const char *key, uint64_t value);
void table_set_number(struct lua_State *L, const char *key, double value);
/* A share that is not known when it is negative: nil then. */
void table_set_share(struct lua_State *L, const char *key, double value);
/* NULL becomes nil. */
void table_set_text(struct lua_State *L, const char *key, const char *text);
void table_set_bool(struct lua_State *L, const char *key, bool value);
/* A hist object that looks into `hist`, which must outlive the state. */
void table_set_hist(struct lua_State *L, const char *key, const struct hist *hist);

#endif
