/* The elements of a JSON array, found without building them. The whole text is known to be valid JSON before it is walked. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "script/rows.h"

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && strchr(" \t\r\n", *at) && *at)
        at++;
    return at;
}

static bool is_json(struct rows_span all, char *why, size_t size)
{
    json_error_t error;
    json_t *value = json_loadb(all.text, all.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    json_decref(value);
    if (value || json_error_code(&error) == json_error_numeric_overflow) /* numbers of many digits are read as strings later */
        return true;
    snprintf(why, size, "not JSON: %s (line %d, column %d)", error.text, error.line, error.column);
    return false;
}

const char *rows_json_begin(struct rows_span all, char *why, size_t size)
{
    const char *end = all.text + all.length, *at = skip_space(all.text, end);
    if (!is_json(all, why, size))
        return NULL;
    if (*at != '[') {
        snprintf(why, size, "the JSON must be an array, [ ... ], of which each element is a row");
        return NULL;
    }
    at = skip_space(at + 1, end);
    return *at == ']' ? end : at;
}

static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at + 1;
}

const char *rows_json_skip(const char *at, const char *end)
{
    int depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (depth == 0 && (*at == ',' || *at == ']'))
            return at;
        if (*at == '[' || *at == '{')
            depth++;
        else if (*at == ']' || *at == '}')
            depth--;
        at++;
    }
    return end;
}

const char *rows_json_next(const char *at, const char *end)
{
    at = skip_space(rows_json_skip(at, end), end);
    return at < end && *at == ',' ? skip_space(at + 1, end) : end;
}
