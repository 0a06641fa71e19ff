/* The Lua files of lua/, compiled into the binary at build time (cmake/EmbedLua.cmake). */
#ifndef LUABENCH_SCRIPT_EMBEDDED_H
#define LUABENCH_SCRIPT_EMBEDDED_H

#include <stddef.h>

struct embedded_module {
    const char *name;  /* as for require: "luabench.http" */
    const char *chunk; /* as in tracebacks: "@lua/luabench/http.lua" */
    const char *text;
    size_t text_size;
    const char *code; /* the same as bytecode, or nothing: code_size 0 */
    size_t code_size;
};

/* Ended by an entry without a name. */
extern const struct embedded_module embedded_modules[];

#endif
