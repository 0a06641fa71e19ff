#define _GNU_SOURCE
#include "http/raw.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool fail(struct raw_request *request, const char *why, const char *at)
{
    request->why = why;
    request->at = at;
    return false;
}

static bool fail_incomplete(struct raw_request *request, const char *text)
{
    return fail(request, "incomplete request", text);
}

/* The line's end without its CR; *next: what follows its LF. NULL: there is no LF. */
static const char *line_end(const char *line, const char *end, const char **next)
{
    const char *lf = memchr(line, '\n', (size_t)(end - line));
    if (!lf)
        return NULL;
    *next = lf + 1;
    return lf > line && lf[-1] == '\r' ? lf - 1 : lf;
}

static bool is_token(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", text[i]))
            return false;
    return length > 0 && length < 32;
}

/* "METHOD path HTTP/1.1" */
static bool request_line(struct raw_request *request, const char *line, const char *end)
{
    const char *blank = memchr(line, ' ', (size_t)(end - line));
    const char *last = memrchr(line, ' ', (size_t)(end - line));
    request->method = line;
    if (!blank || !is_token(line, (size_t)(blank - line)))
        return fail(request, "invalid method", line);
    if (blank == last || end - last < 9 || memcmp(last + 1, "HTTP/1.", 7))
        return fail(request, "invalid request line", blank + 1);
    request->method_length = (size_t)(blank - line);
    request->path = blank + 1;
    request->path_length = (size_t)(last - blank) - 1;
    request->head = request->method_length == 4 && !memcmp(line, "HEAD", 4);
    return true;
}

enum framing { NO_BODY, COUNTED, CHUNKED, WRONG };

/* What a header line says of the body. */
static enum framing framing_of(const char *line, const char *end, size_t *size)
{
    size_t length = (size_t)(end - line);
    if ((*line | 0x20) == 'c' && length > 15 && !strncasecmp(line, "content-length:", 15)) {
        const char *value = line + 15;
        while (value < end && *value == ' ')
            value++;
        *size = 0;
        for (const char *c = value; c < end && *c != ' '; c++) {
            if (*c < '0' || *c > '9' || *size > SIZE_MAX / 20)
                return WRONG;
            *size = *size * 10 + (size_t)(*c - '0');
        }
        return value < end ? COUNTED : WRONG;
    }
    if ((*line | 0x20) == 't' && length > 18 && !strncasecmp(line, "transfer-encoding:", 18) && length >= 25 && !strncasecmp(end - 7, "chunked", 7))
        return CHUNKED;
    return NO_BODY;
}

/* The number in hexadecimal digits at the beginning of a line; SIZE_MAX when it is too large. */
static size_t chunk_size(const char *line, const char *end)
{
    size_t size = 0;
    for (; line < end && strchr("0123456789abcdefABCDEF", *line) && *line; line++) {
        if (size > SIZE_MAX / 32)
            return SIZE_MAX;
        size = size * 16 + (size_t)(*line <= '9' ? *line - '0' : (*line | 0x20) - 'a' + 10);
    }
    return size;
}

/* The end of a chunked body (RFC 9112 7.1), or NULL. */
static const char *chunked_end(const char *text, const char *end)
{
    for (;;) {
        const char *next, *stop = line_end(text, end, &next);
        if (!stop)
            return NULL;
        size_t size = chunk_size(text, stop);
        text = next;
        if (!size)
            break;
        if ((size_t)(end - text) < size || !line_end(text + size, end, &next))
            return NULL;
        text = next;
    }
    for (const char *next;; text = next) { /* trailers */
        const char *stop = line_end(text, end, &next);
        if (!stop || stop == text)
            return stop ? next : NULL;
    }
}

static bool end_of_body(struct raw_request *request, const char *text, const char *end, enum framing framing, size_t size)
{
    const char *body_end = request->body;
    if (framing == COUNTED) {
        if ((size_t)(end - request->body) < size)
            return fail_incomplete(request, text);
        body_end += size;
    } else if (framing == CHUNKED) {
        body_end = chunked_end(request->body, end);
        if (!body_end)
            return fail_incomplete(request, text);
    }
    request->length = (size_t)(body_end - text);
    return true;
}

bool raw_next(struct raw_request *request, const char *text, size_t length)
{
    const char *end = text + length, *line = text, *next, *stop;
    enum framing framing = NO_BODY;
    size_t size = 0;
    while (line < end && (*line == '\r' || *line == '\n')) /* RFC 9112 2.2 */
        line++;
    stop = line_end(line, end, &next);
    if (!stop)
        return fail_incomplete(request, text);
    if (!request_line(request, line, stop))
        return false;
    request->lines = line = next;
    while ((stop = line_end(line, end, &next)) && stop > line) {
        enum framing found = framing_of(line, stop, &size);
        if (found == WRONG)
            return fail(request, "invalid content length", line);
        if (found != NO_BODY && framing != CHUNKED)
            framing = found;
        line = next;
    }
    if (!stop)
        return fail_incomplete(request, text);
    request->lines_length = (size_t)(line - request->lines);
    request->body = next;
    return end_of_body(request, text, end, framing, size);
}
