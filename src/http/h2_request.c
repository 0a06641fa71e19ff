#include "http/h2_request.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "http/origin.h"

/* What a request remembers: the fields, and behind them the text that they point at, except for method and path. */
struct fields {
    size_t count;
    nghttp2_nv list[];
};

enum {
    PSEUDO = 4,           /* :method, :scheme, :path, :authority */
    OURS = 1,             /* content-length */
    DIGITS = 24,
    STATIC = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE,
};

/* One header line taken apart. */
struct line {
    const char *name, *value;
    size_t name_length, value_length;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The line at *from, which is moved behind it. False at the end; a line without a colon has no name. */
static bool next_line(const char **from, const char *end, struct line *line)
{
    if (*from == end)
        return false;
    const char *start = *from, *newline = memchr(start, '\n', (size_t)(end - start)), *stop = newline ? newline : end;
    const char *colon = memchr(start, ':', (size_t)(stop - start));
    *from = newline ? newline + 1 : end;
    const char *value = colon ? colon + 1 : stop;
    while (value < stop && is_blank(*value))
        value++;
    while (stop > value && is_blank(stop[-1]))
        stop--;
    *line = (struct line){ start, value, colon ? (size_t)(colon - start) : 0, (size_t)(stop - value) };
    return true;
}

static bool is(const char *text, size_t length, const char *name)
{
    return length == strlen(name) && !strncasecmp(text, name, length);
}

/* RFC 9113 8.2.2: these speak of one connection, and say it in the way of HTTP/1.1. */
static bool is_dropped(const struct line *line)
{
    static const char *const names[] = { "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings", "host" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is(line->name, line->name_length, names[i]))
            return true;
    return !line->name_length || (is(line->name, line->name_length, "te") && !is(line->value, line->value_length, "trailers"));
}

static nghttp2_nv field(const char *name, size_t name_length, const char *value, size_t value_length, uint8_t flags)
{
    return (nghttp2_nv){ .name = (uint8_t *)(uintptr_t)name, .value = (uint8_t *)(uintptr_t)value, .namelen = name_length, .valuelen = value_length, .flags = flags };
}

static nghttp2_nv pseudo(const char *name, const char *value, size_t length)
{
    return field(name, strlen(name), value, length, STATIC);
}

/* Header lines of the request: what stands behind the request line. */
static const char *lines_of(const struct request *request, const char **end)
{
    const char *newline = memchr(request->bytes, '\n', request->length);
    *end = request->bytes + request->length;
    return newline ? newline + 1 : *end;
}

static size_t count_lines(const char *from, const char *end)
{
    size_t count = 1;
    for (; (from = memchr(from, '\n', (size_t)(end - from))); from++)
        count++;
    return count;
}

/* A copy of the name in lower case at *text, which is moved behind it. */
static const char *lower(char **text, const struct line *line)
{
    char *copy = *text;
    for (size_t i = 0; i < line->name_length; i++) {
        char c = line->name[i];
        copy[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    *text += line->name_length;
    return copy;
}

/* Values are pointed at where they are, in request->bytes. */
static struct fields *fields_new(const struct request *request)
{
    const char *end, *from = lines_of(request, &end);
    struct line line;
    size_t most = PSEUDO + count_lines(from, end);
    struct fields *fields = mem_zero(sizeof *fields + most * sizeof *fields->list + request->length);
    char *text = (char *)(fields->list + most);
    nghttp2_nv *list = fields->list;
    list[0] = pseudo(":method", request->method, strlen(request->method));
    list[1] = request->origin->tls ? pseudo(":scheme", "https", 5) : pseudo(":scheme", "http", 4);
    list[2] = pseudo(":path", request->path, strlen(request->path));
    list[3] = pseudo(":authority", "", 0);
    fields->count = PSEUDO;
    while (next_line(&from, end, &line)) {
        if (is(line.name, line.name_length, "host") && !list[3].valuelen)
            list[3] = pseudo(":authority", line.value, line.value_length);
        if (!is_dropped(&line))
            list[fields->count++] = field(lower(&text, &line), line.name_length, line.value, line.value_length, STATIC);
    }
    return fields;
}

static const struct fields *fields_of(struct request *request)
{
    if (!request->fields_h2)
        request->fields_h2 = fields_new(request);
    return request->fields_h2;
}

static bool says_length(const nghttp2_nv *list, size_t count)
{
    for (size_t i = PSEUDO; i < count; i++)
        if (is((const char *)list[i].name, list[i].namelen, "content-length"))
            return true;
    return false;
}

/* nghttp2 copies what is not STATIC, names in lower case. */
static size_t append_lines(nghttp2_nv *list, size_t count, const struct exchange *exchange)
{
    const char *from = exchange->lines;
    struct line line;
    while (next_line(&from, exchange->lines + exchange->lines_length, &line))
        if (!is_dropped(&line))
            list[count++] = field(line.name, line.name_length, line.value, line.value_length, NGHTTP2_NV_FLAG_NO_COPY_VALUE);
    return count;
}

/* The request's fields with what is the exchange's own, in `scratch`. */
static const nghttp2_nv *combine(const struct fields *fields, const struct exchange *exchange, struct buf *scratch, size_t *count)
{
    size_t most = fields->count + OURS;
    if (exchange->lines_length)
        most += count_lines(exchange->lines, exchange->lines + exchange->lines_length);
    scratch->length = 0;
    buf_reserve(scratch, most * sizeof(nghttp2_nv) + DIGITS);
    nghttp2_nv *list = (nghttp2_nv *)scratch->data;
    memcpy(list, fields->list, fields->count * sizeof *list);
    *count = fields->count;
    if (exchange->lines_length)
        *count = append_lines(list, *count, exchange);
    if (exchange->content && !says_length(list, *count)) {
        char *digits = (char *)(list + most);
        int length = snprintf(digits, DIGITS, "%zu", exchange->content_length);
        list[(*count)++] = field("content-length", 14, digits, (size_t)length, NGHTTP2_NV_FLAG_NO_COPY_NAME);
    }
    return list;
}

const void *h2_request_fields(const struct exchange *exchange, struct buf *scratch, size_t *count)
{
    const struct fields *fields = fields_of(exchange->request);
    if (exchange->lines_length || exchange->content)
        return combine(fields, exchange, scratch, count);
    *count = fields->count;
    return fields->list;
}
