/* Run at build time: writes Lua files as the C table of script/embedded.h, each as bytecode, which loads in a fraction of the time, and as text, for a LuaJIT at run
 * time that does not take the bytecode of the one that built the program. Names of chunks are kept: "@lua/luabench/http.lua".
 *
 *   embed_lua OUTPUT.c FORM MODULE CHUNK FILE ...        FORM: "code", or "text" for a module without bytecode */
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int last_column;

/* What stands for a module on the command line. */
struct module {
    const char *form, *name, *chunk, *path;
    size_t text_length, code_length;
};

static void write_bytes(FILE *out, const void *data, size_t length)
{
    for (size_t i = 0; i < length; i++, last_column++)
        fprintf(out, last_column % 24 ? "%u," : "\n%u,", ((const unsigned char *)data)[i]);
}

struct sink {
    FILE *out;
    size_t length;
};

static int write_code(lua_State *L, const void *data, size_t length, void *context)
{
    (void)L;
    struct sink *sink = context;
    sink->length += length;
    write_bytes(sink->out, data, length);
    return 0;
}

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        perror(path);
        exit(1);
    }
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*length + 1);
    if (!text || fread(text, 1, *length, file) != *length) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return text;
}

/* Writes the arrays text_N and code_N. */
static void write_module(FILE *out, lua_State *L, int number, struct module *module)
{
    struct sink sink = { .out = out };
    char *text = read_file(module->path, &module->text_length);
    if (luaL_loadbuffer(L, text, module->text_length, module->chunk)) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        exit(1);
    }
    fprintf(out, "static const unsigned char text_%d[] = {", number);
    write_bytes(out, text, module->text_length);
    fprintf(out, "0 };\nstatic const unsigned char code_%d[] = {", number);
    if (strcmp(module->form, "text"))
        lua_dump(L, write_code, &sink);
    fprintf(out, "0 };\n");
    lua_pop(L, 1);
    module->code_length = sink.length;
    free(text);
}

int main(int argc, char **argv)
{
    int count = (argc - 2) / 4;
    struct module *modules = calloc((size_t)count + 1, sizeof *modules);
    FILE *out = argc > 1 ? fopen(argv[1], "w") : NULL;
    lua_State *L = luaL_newstate();
    if (!out || !L || !modules) {
        perror("embed_lua");
        return 1;
    }
    fprintf(out, "#include \"script/embedded.h\"\n\n");
    for (int i = 0; i < count; i++) {
        char **words = argv + 2 + 4 * i;
        modules[i] = (struct module){ .form = words[0], .name = words[1], .chunk = words[2], .path = words[3] };
        write_module(out, L, i, &modules[i]);
    }
    fprintf(out, "\nconst struct embedded_module embedded_modules[] = {\n");
    for (int i = 0; i < count; i++)
        fprintf(out, "    { \"%s\", \"%s\", (const char *)text_%d, %zu, (const char *)code_%d, %zu },\n", modules[i].name, modules[i].chunk, i, modules[i].text_length, i,
                modules[i].code_length);
    fprintf(out, "    { 0, 0, 0, 0, 0, 0 },\n};\n");
    lua_close(L);
    free(modules);
    return fclose(out) ? 1 : 0;
}
