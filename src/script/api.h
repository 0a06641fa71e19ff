/* The primitives that C gives to Lua, as the module "luabench.core" (docs/core.md is the contract). One file for each group of functions; to add a function,
 * write it in the file it belongs to, add it to that file's luaL_Reg list, and describe it in docs/core.md. To add a file, list it in api.c. */
#ifndef LUABENCH_SCRIPT_API_H
#define LUABENCH_SCRIPT_API_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>

#include "script/vu.h"

/* The metatable of tables that are lists in JSON even when they are empty. */
#define API_JSON_ARRAY "luabench.json_array"

/* Each registers its functions in the table on top of the stack. */
void api_call_open(lua_State *L);
void api_file_open(lua_State *L);
void api_group_open(lua_State *L);
void api_hist_open(lua_State *L);
void api_html_open(lua_State *L);
void api_http_open(lua_State *L);
void api_time_open(lua_State *L);
void api_outcome_open(lua_State *L);
void api_json_open(lua_State *L);
void api_net_open(lua_State *L);
void api_metric_open(lua_State *L);
void api_random_open(lua_State *L);
void api_raw_open(lua_State *L);
void api_read_open(lua_State *L);
void api_system_open(lua_State *L);
void api_task_open(lua_State *L);
void api_text_open(lua_State *L);
void api_threads_open(lua_State *L);
void api_target_open(lua_State *L);
void api_upload_open(lua_State *L);
void api_url_open(lua_State *L);

/* lua_CFunction, upvalue 1 the vm as light userdata: pushes the table `luabench.core`. */
int api_open(lua_State *L);
/* Adds the functions of an {NULL, NULL}-ended list to the table on top of the stack, each with the vm as upvalue 1. Only within api_open. */
void api_register(lua_State *L, const luaL_Reg *functions);
/* Raises an error at the script's line, whatever functions of our own are in between; otherwise as luaL_error. For what the author of a script is to read. */
int api_error(lua_State *L, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The userdata at `index` when it has that metatable, else NULL; raises nothing. */
void *api_test_object(lua_State *L, int index, const char *type);

/* Pushes the object `user` for `vu`; the result points at the pointer inside it. */
struct vu **api_user_new(lua_State *L, struct vu *vu);
/* Empties the `vars` of the object on top of the stack. */
void api_user_empty(lua_State *L);

/* Counts the Lua error that killed the strand's coroutine (its error object on top), and logs the first of its kind with the traceback. */
void api_script_error(struct strand *strand);

/* The innermost group that is open in the strand, or in which it was spawned; NULL: none. The metrics' text. */
const char *api_group_around(const struct strand *strand);
/* The strand has slept for so long; at the beginning of a sleep, less the time. */
void api_group_slept(struct strand *strand, int64_t ns);
/* Counts every group that is open in the strand as cut. Touches no Lua state. */
void api_group_cut_all(struct strand *strand);
/* Releases what is kept for further groups. */
void api_group_free(struct vm *vm);

/* Sends the exchange that was held back (strand->unsent). */
void api_http_submit(struct strand *strand);
/* Cancels the strand's exchange; it is counted as interrupted. Touches no Lua state. */
void api_http_abandon(struct strand *strand);
/* A finished exchange: records its figures and makes its strand ready. */
void api_http_finished(struct vm *vm, struct exchange *exchange);

/* An exchange of a text with several requests has come back: true when it was the last one. */
bool api_raw_all_answered(struct exchange *exchange);
/* api_http_abandon for those. */
void api_raw_abandon(struct strand *strand);

/* The body at `argument`, which is one of core.upload. */
struct upload *api_upload_argument(lua_State *L, int argument);

/* The call at `argument`, or NULL when there is none; raises an error when its last answer is still held. */
struct call *api_call_argument(lua_State *L, int argument);
/* The exchange, which is a part of the call, is about to be submitted: true when it is the first one, otherwise its marks go on from there. */
bool api_call_begin(struct call *call, struct exchange *exchange);
/* Takes the exchange, which has finished, until its answer is settled. */
void api_call_hold(struct call *call, struct exchange *exchange);
/* Records what calls of the strand still hold. Touches no Lua state. */
void api_call_settle_all(struct strand *strand);

/* Pushes the value that `text` says in JSON and returns 1; or nil and what is wrong with it, and returns 2. */
int api_json_push(lua_State *L, const char *text, size_t length);

/* Pushes a hist object that reads `hist`, which must outlive the state. */
void api_hist_push(lua_State *L, const struct hist *hist);
/* A timeline object that looks into `timeline`, which must outlive the state. */
struct timeline;
void api_timeline_push(lua_State *L, const struct timeline *timeline);
/* Pushes a hist object of its own with the counts that hist_encode has written to `bytes`. */
void api_hist_push_encoded(lua_State *L, const struct buf *bytes);

#endif
