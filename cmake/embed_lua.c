/* Run at build time: writes Lua files as the C table of script/embedded.h, each as bytecode, which loads in a fraction of the time, and as text, for a LuaJIT at run
 * time that does not take the bytecode of the one that built the program. Names of chunks are kept: "@lua/luabench/http.lua".
 *
 *   embed_lua OUTPUT.c MODULE CHUNK FILE ... */
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>

static int last_column;

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

/* Writes the arrays text_N and code_N; the bytecode's length goes into *code_length. */
static void write_module(FILE *out, lua_State *L, int number, const char *chunk, const char *path, size_t *text_length, size_t *code_length)
{
    struct sink sink = { .out = out };
    char *text = read_file(path, text_length);
    if (luaL_loadbuffer(L, text, *text_length, chunk)) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        exit(1);
    }
    fprintf(out, "static const unsigned char text_%d[] = {", number);
    write_bytes(out, text, *text_length);
    fprintf(out, "0 };\nstatic const unsigned char code_%d[] = {", number);
    lua_dump(L, write_code, &sink);
    fprintf(out, "0 };\n");
    lua_pop(L, 1);
    *code_length = sink.length;
    free(text);
}

int main(int argc, char **argv)
{
    int count = (argc - 2) / 3;
    size_t *lengths = calloc((size_t)count * 2 + 1, sizeof *lengths);
    FILE *out = argc > 1 ? fopen(argv[1], "w") : NULL;
    lua_State *L = luaL_newstate();
    if (!out || !L || !lengths) {
        perror("embed_lua");
        return 1;
    }
    fprintf(out, "#include \"script/embedded.h\"\n\n");
    for (int i = 0; i < count; i++)
        write_module(out, L, i, argv[2 + 3 * i + 1], argv[2 + 3 * i + 2], &lengths[2 * i], &lengths[2 * i + 1]);
    fprintf(out, "\nconst struct embedded_module embedded_modules[] = {\n");
    for (int i = 0; i < count; i++)
        fprintf(out, "    { \"%s\", \"%s\", (const char *)text_%d, %zu, (const char *)code_%d, %zu },\n", argv[2 + 3 * i], argv[2 + 3 * i + 1], i, lengths[2 * i], i,
                lengths[2 * i + 1]);
    fprintf(out, "    { 0, 0, 0, 0, 0, 0 },\n};\n");
    lua_close(L);
    free(lengths);
    return fclose(out) ? 1 : 0;
}
