#include "script/plan_journal.h"

#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "script/fields.h"
#include "script/table.h"

static void read_files(lua_State *L, struct journal_plan *journal)
{
    journal->file_count = lua_objlen(L, -1);
    journal->files = mem_array(journal->file_count, sizeof *journal->files);
    for (size_t i = 0; i < journal->file_count; i++) {
        lua_rawgeti(L, -1, (int)i + 1);
        char *format = field_text(L, "format", "");
        journal->files[i] = (struct journal_file_plan){ field_text(L, "path", ""), strcmp(format, "jtl") ? JOURNAL_NDJSON : JOURNAL_JTL };
        free(format);
        lua_pop(L, 1);
    }
}

static void read_secrets(lua_State *L, struct journal_plan *journal)
{
    journal->secret_count = lua_objlen(L, -1);
    journal->secrets = mem_array(journal->secret_count, sizeof *journal->secrets);
    for (size_t i = 0; i < journal->secret_count; i++) {
        size_t length;
        lua_rawgeti(L, -1, (int)i + 1);
        const char *text = lua_tolstring(L, -1, &length);
        journal->secrets[i] = mem_text(text ? text : "", length);
        lua_pop(L, 1);
    }
}

void journal_plan_read(lua_State *L, struct journal_plan *journal)
{
    *journal = (struct journal_plan){ 0 };
    lua_getfield(L, -1, "journals");
    if (lua_istable(L, -1))
        read_files(L, journal);
    lua_getfield(L, -2, "secrets");
    if (lua_istable(L, -1))
        read_secrets(L, journal);
    lua_pop(L, 2);
}

void journal_plan_free(struct journal_plan *journal)
{
    for (size_t i = 0; i < journal->file_count; i++)
        free(journal->files[i].path);
    for (size_t i = 0; i < journal->secret_count; i++)
        free(journal->secrets[i]);
    free(journal->files);
    free(journal->secrets);
}

void journal_outcomes_push(lua_State *L, const struct journal_outcome *outcomes, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_newtable(L);
        table_set_text(L, "path", outcomes[i].path);
        table_set_text(L, "problem", outcomes[i].error ? strerror(outcomes[i].error) : NULL);
        table_set_count(L, "lines", outcomes[i].lines);
        table_set_count(L, "missing", outcomes[i].missing);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "journals");
}
