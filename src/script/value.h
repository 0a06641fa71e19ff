/* Plain values as bytes, to carry them from one Lua state to another: nil, booleans, numbers, strings, core.json_null, and tables of these. A table that is met again
 * is the same table again on the other side. */
#ifndef LUABENCH_SCRIPT_VALUE_H
#define LUABENCH_SCRIPT_VALUE_H

#include <stdbool.h>

#include "base/buf.h"

struct lua_State;

/* Appends the value at `index`. False when it is not plain all through: `why` then says where, in words: "users[2].f is a function". */
bool value_encode(struct lua_State *L, int index, struct buf *out, struct buf *why);
/* Pushes the value. Its tables refuse new fields, with words that name what is `shared`. */
void value_decode(struct lua_State *L, const struct buf *bytes);

#endif
