#include "http/decode.h"

#include <brotli/decode.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

enum {
    STEP = 64 * 1024,     /* bytes by which the output grows at least */
    CODINGS = 5,          /* most codings of one body */
    KEPT = 256 * 1024,    /* bytes of the output that are kept for the next body */
    FED = 1 << 30,        /* most bytes given to zlib at a time */
    ZSTD_WINDOW_LOG = 23, /* 8 MiB: RFC 9659 */
    RAW = -MAX_WBITS,
    ZLIB = MAX_WBITS,
    GZIP = MAX_WBITS + 16,
};

struct decoder {
    z_stream zlib;
    bool zlib_made;
    ZSTD_DCtx *zstd; /* NULL until needed */
    struct buf out;
};

/* One coding at work: `most` bytes may come out. */
struct job {
    struct decoder *decoder;
    const struct buf *in;
    struct buf *out;
    size_t most;
    const char *why; /* what is wrong with the data */
};

struct coding {
    const char *name;
    enum err (*decode)(struct job *job);
};

static const char ends_early[] = "the data ends early", goes_on[] = "there is something behind the end of the data";

/* Room in the output, one byte more than may come at the end, so that too much shows. */
static size_t make_room(const struct job *job)
{
    struct buf *out = job->out;
    size_t left = job->most - out->length;
    if (out->capacity - out->length < STEP)
        buf_reserve(out, left < STEP ? left + 1 : STEP);
    size_t room = out->capacity - out->length;
    return left < room ? left + 1 : room;
}

static enum err wrong(struct job *job, const char *why)
{
    job->why = why;
    return ERR_PROTOCOL;
}

static enum err add(struct job *job, size_t length)
{
    job->out->length += length;
    return job->out->length > job->most ? ERR_TOO_LARGE : ERR_NONE;
}

/* zlib */

static void reset_zlib(struct decoder *decoder, int window)
{
    if (decoder->zlib_made) {
        inflateReset2(&decoder->zlib, window);
        return;
    }
    if (inflateInit2(&decoder->zlib, window) != Z_OK)
        abort(); /* out of memory */
    decoder->zlib_made = true;
}

/* Inflates to the end of a member or of the input; *code is zlib's word on the end. */
static enum err inflate_member(struct job *job, size_t *taken, int *code)
{
    z_stream *zlib = &job->decoder->zlib;
    enum err error = ERR_NONE;
    do {
        size_t left = job->in->length - *taken, room = make_room(job);
        uInt fed = left < FED ? (uInt)left : FED, given = room < FED ? (uInt)room : FED;
        zlib->next_in = (Bytef *)job->in->data + *taken;
        zlib->avail_in = fed;
        zlib->next_out = (Bytef *)job->out->data + job->out->length;
        zlib->avail_out = given;
        *code = inflate(zlib, Z_NO_FLUSH);
        *taken += fed - zlib->avail_in;
        error = add(job, given - zlib->avail_out);
    } while (!error && *code == Z_OK);
    return error;
}

static enum err inflate_all(struct job *job, int window)
{
    size_t taken = 0;
    int code;
    do {
        reset_zlib(job->decoder, window);
        enum err error = inflate_member(job, &taken, &code);
        if (error)
            return error;
    } while (code == Z_STREAM_END && window == GZIP && taken < job->in->length); /* RFC 1952 2.2: one member after the other */
    if (code == Z_STREAM_END)
        return taken < job->in->length ? wrong(job, goes_on) : ERR_NONE;
    if (code == Z_BUF_ERROR)
        return wrong(job, ends_early);
    if (code == Z_NEED_DICT)
        return wrong(job, "a dictionary is asked for");
    return wrong(job, job->decoder->zlib.msg ? job->decoder->zlib.msg : "the data is damaged");
}

static enum err decode_gzip(struct job *job)
{
    return inflate_all(job, GZIP);
}

/* RFC 9110 8.4.1.2 means zlib's format; some send the bare one. */
static enum err decode_deflate(struct job *job)
{
    const unsigned char *data = (const unsigned char *)job->in->data;
    bool headed = job->in->length >= 2 && (data[0] & 15) == Z_DEFLATED && (data[0] << 8 | data[1]) % 31 == 0;
    enum err error = headed ? inflate_all(job, ZLIB) : ERR_PROTOCOL;
    if (error != ERR_PROTOCOL)
        return error;
    const char *why = job->why;
    job->out->length = 0;
    error = inflate_all(job, RAW);
    if (error && headed)
        job->why = why;
    return error;
}

/* Brotli */

static enum err decode_brotli(struct job *job)
{
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    if (!state)
        abort(); /* out of memory */
    const uint8_t *in = (const uint8_t *)job->in->data;
    size_t in_left = job->in->length;
    BrotliDecoderResult result;
    enum err error;
    do {
        size_t room = make_room(job), out_left = room;
        uint8_t *out = (uint8_t *)job->out->data + job->out->length;
        result = BrotliDecoderDecompressStream(state, &in_left, &in, &out_left, &out, NULL);
        error = add(job, room - out_left);
    } while (!error && result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT);
    if (!error && result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT)
        error = wrong(job, ends_early);
    else if (!error && result == BROTLI_DECODER_RESULT_ERROR)
        error = wrong(job, BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state)));
    else if (!error && in_left)
        error = wrong(job, goes_on);
    BrotliDecoderDestroyInstance(state);
    return error;
}

/* Zstandard */

static ZSTD_DCtx *zstd_of(struct decoder *decoder)
{
    if (!decoder->zstd && !(decoder->zstd = ZSTD_createDCtx()))
        abort(); /* out of memory */
    ZSTD_DCtx_reset(decoder->zstd, ZSTD_reset_session_and_parameters);
    ZSTD_DCtx_setParameter(decoder->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
    return decoder->zstd;
}

static enum err decode_zstd(struct job *job)
{
    ZSTD_DCtx *zstd = zstd_of(job->decoder);
    ZSTD_inBuffer in = { job->in->data, job->in->length, 0 };
    size_t left;
    bool full;
    do {
        ZSTD_outBuffer out = { .size = make_room(job) };
        out.dst = job->out->data + job->out->length;
        left = ZSTD_decompressStream(zstd, &out, &in); /* 0: a frame has ended; another one may follow */
        if (ZSTD_isError(left))
            return wrong(job, ZSTD_getErrorName(left));
        full = out.pos == out.size;
        enum err error = add(job, out.pos);
        if (error)
            return error;
    } while (in.pos < in.size || (full && left));
    return left ? wrong(job, ends_early) : ERR_NONE;
}

/* Bodies */

struct decoder *decoder_new(void)
{
    return mem_zero(sizeof(struct decoder));
}

void decoder_free(struct decoder *decoder)
{
    if (decoder->zlib_made)
        inflateEnd(&decoder->zlib);
    ZSTD_freeDCtx(decoder->zstd);
    buf_free(&decoder->out);
    free(decoder);
}

/* NULL: not known. */
static const struct coding *coding_of(const char *name, size_t length)
{
    static const struct coding codings[] = {
        { "gzip", decode_gzip }, { "br", decode_brotli }, { "zstd", decode_zstd }, { "deflate", decode_deflate }, { "x-gzip", decode_gzip },
    };
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++)
        if (length == strlen(codings[i].name) && !strncasecmp(name, codings[i].name, length))
            return &codings[i];
    return NULL;
}

struct word {
    const char *text;
    size_t length;
};

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '\t' || c == '\r';
}

static bool is_identity(const struct word *word)
{
    return word->length == 8 && !strncasecmp(word->text, "identity", 8);
}

/* The words of a comma-separated list behind those that are there; false when there are too many. */
static bool add_words(struct word *words, size_t *count, const char *text, const char *end)
{
    while (text < end) {
        struct word word = { text, 0 };
        while (text + word.length < end && !is_separator(text[word.length]))
            word.length++;
        text += word.length + 1;
        if (!word.length || is_identity(&word))
            continue;
        if (*count == CODINGS)
            return false;
        words[(*count)++] = word;
    }
    return true;
}

/* The codings that a head names, in the order in which they were applied; false when there are too many. */
static bool find_codings(const struct buf *head, struct word *words, size_t *count)
{
    static const char name[] = "content-encoding:";
    const char *line = head->data, *end = head->data + head->length, *newline;
    for (; line < end && (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1)
        if ((size_t)(newline - line) >= sizeof name && !strncasecmp(line, name, sizeof name - 1) && !add_words(words, count, line + sizeof name - 1, newline))
            return false;
    return true;
}

static void fail(struct exchange *exchange, enum err error, const char *coding, const char *why)
{
    exchange->error = error;
    if (error == ERR_TOO_LARGE)
        snprintf(exchange->text, sizeof exchange->text, "the body is larger than allowed when its %s is undone", coding);
    else
        snprintf(exchange->text, sizeof exchange->text, "the body is not valid %s: %s", coding, why);
}

static void swap(struct buf *a, struct buf *b)
{
    struct buf kept = *a;
    *a = *b;
    *b = kept;
}

static bool undo(struct decoder *decoder, const struct coding *coding, struct exchange *exchange)
{
    size_t most = exchange->max_body < SIZE_MAX ? exchange->max_body : SIZE_MAX - 1;
    struct job job = { .decoder = decoder, .in = &exchange->body, .out = &decoder->out, .most = most };
    buf_clear(job.out, KEPT);
    enum err error = coding->decode(&job);
    if (error) {
        fail(exchange, error, coding->name, job.why);
        return false;
    }
    swap(&exchange->body, &decoder->out);
    return true;
}

void decoder_run(struct decoder *decoder, struct exchange *exchange)
{
    struct word words[CODINGS];
    size_t count = 0;
    if (!exchange->body.length)
        return;
    if (!find_codings(&exchange->head, words, &count)) {
        exchange->error = ERR_PROTOCOL;
        snprintf(exchange->text, sizeof exchange->text, "the body has more than %d content codings", CODINGS);
        return;
    }
    while (count) {
        const struct coding *coding = coding_of(words[count - 1].text, words[count - 1].length);
        if (!coding || !undo(decoder, coding, exchange))
            return;
        count--;
    }
}
