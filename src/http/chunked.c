#include "http/chunked.h"

enum state {
    SIZE_START, /* the first digit of a size */
    SIZE,
    EXTENSION,  /* behind the size */
    SIZE_LF,    /* after its CR */
    DATA,
    DATA_CR,
    DATA_LF,
    LINE,       /* the first byte of a trailer field or of the blank line */
    NAME,
    VALUE,
    VALUE_LF,
    LAST_LF,
    DONE,
};

static void go_on(struct chunked *chunked, enum state state)
{
    chunked->state = (uint8_t)state;
}

static void expect(struct chunked *chunked, bool met, enum state state, const char *wrong)
{
    if (met)
        go_on(chunked, state);
    else
        chunked->wrong = wrong;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What may stand in an extension or in the value of a field: RFC 9110 5.5. */
static bool is_text(char c)
{
    return (unsigned char)c >= ' ' ? c != 0x7f : c == '\t';
}

/* What may stand in the name of a field: RFC 9110 5.6.2. */
static bool is_token(char c)
{
    char lower = c | 0x20;
    return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z') || (c >= '#' && c <= '\'') || c == '!' || c == '*' || c == '+' || c == '-' || c == '.' ||
           c == '^' || c == '_' || c == '`' || c == '|' || c == '~';
}

static void add_digit(struct chunked *chunked, char c)
{
    int digit = hex_digit(c);
    expect(chunked, digit >= 0 && !(chunked->left >> 60), SIZE, digit < 0 ? "the size of a chunk is not a number" : "the size of a chunk is too large");
    chunked->left = chunked->left << 4 | (unsigned)(digit & 15);
}

static void step(struct chunked *chunked, char c)
{
    switch (chunked->state) {
    case SIZE:
        if (c == ';' || c == ' ' || c == '\t' || c == '\r')
            go_on(chunked, c == '\r' ? SIZE_LF : EXTENSION);
        else
            add_digit(chunked, c);
        break;
    case SIZE_START:
        chunked->left = 0;
        add_digit(chunked, c);
        break;
    case EXTENSION:
        expect(chunked, c == '\r' || is_text(c), c == '\r' ? SIZE_LF : EXTENSION, "a chunk extension has a character that is not allowed");
        break;
    case SIZE_LF:
        expect(chunked, c == '\n', chunked->left ? DATA : LINE, "the size of a chunk is not followed by CRLF");
        break;
    case DATA_CR:
        expect(chunked, c == '\r', DATA_LF, "a chunk is not followed by CRLF");
        break;
    case DATA_LF:
        expect(chunked, c == '\n', SIZE_START, "a chunk is not followed by CRLF");
        break;
    case LINE:
        expect(chunked, c == '\r' || is_token(c), c == '\r' ? LAST_LF : NAME, "a trailer field has no name");
        break;
    case NAME:
        expect(chunked, c == ':' || is_token(c), c == ':' ? VALUE : NAME, "the name of a trailer field has a character that is not allowed");
        break;
    case VALUE:
        expect(chunked, c == '\r' || is_text(c), c == '\r' ? VALUE_LF : VALUE, "a trailer field has a character that is not allowed");
        break;
    case VALUE_LF:
        expect(chunked, c == '\n', LINE, "a trailer field does not end with CRLF");
        break;
    case LAST_LF:
        expect(chunked, c == '\n', DONE, "the last chunk does not end with CRLF");
        break;
    }
}

/* True where a line may end. */
static bool may_end(const struct chunked *chunked)
{
    switch (chunked->state) {
    case SIZE:
    case EXTENSION:
    case DATA_CR:
    case LINE:
    case VALUE:
        return true;
    }
    return false;
}

static size_t take_data(struct chunked *chunked, const char *data, size_t length, const char **body, size_t *body_length)
{
    *body = data;
    *body_length = length < chunked->left ? length : (size_t)chunked->left;
    chunked->left -= *body_length;
    if (!chunked->left)
        go_on(chunked, DATA_CR);
    return *body_length;
}

size_t chunked_take(struct chunked *chunked, const char *data, size_t length, const char **body, size_t *body_length)
{
    size_t at = 0;
    *body_length = 0;
    while (at < length && chunked->state != DONE && !chunked->wrong) {
        if (chunked->state == DATA)
            return at + take_data(chunked, data + at, length - at, body, body_length);
        if (chunked->lenient && data[at] == '\n' && may_end(chunked))
            step(chunked, '\r');
        step(chunked, data[at++]);
    }
    return at;
}

bool chunked_done(const struct chunked *chunked)
{
    return chunked->state == DONE;
}
