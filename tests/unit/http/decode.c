/* Content codings: what other programs have encoded, every cut of it, damage, bombs, and several codings on one another. */
#include "http/decode.h"

#include <brotli/encode.h>
#include <stdio.h>
#include <zlib.h>
#include <zstd.h>

#include "test.h"

static struct decoder *decoder;

static int set_up(void **state)
{
    decoder = decoder_new();
    return 0;
}

static int tear_down(void **state)
{
    decoder_free(decoder);
    return 0;
}

static struct exchange exchange_with(const char *lines, const void *body, size_t length)
{
    struct exchange exchange = { .max_body = 1 << 20 };
    buf_printf(&exchange.head, "HTTP/1.1 200 OK\r\n%s\r\n", lines);
    buf_append(&exchange.body, body, length);
    return exchange;
}

static void release(struct exchange *exchange)
{
    buf_free(&exchange->head);
    buf_free(&exchange->body);
}

static void expect_body(const char *lines, const void *body, size_t length, const void *expected, size_t expected_length)
{
    struct exchange exchange = exchange_with(lines, body, length);
    decoder_run(decoder, &exchange);
    assert_string_equal(exchange.text, "");
    assert_int_equal(exchange.error, ERR_NONE);
    assert_int_equal(exchange.body.length, expected_length);
    assert_memory_equal(exchange.body.data, expected, expected_length);
    release(&exchange);
}

static void expect_error(const char *lines, const void *body, size_t length, size_t most, enum err error, const char *text)
{
    struct exchange exchange = exchange_with(lines, body, length);
    exchange.max_body = most;
    decoder_run(decoder, &exchange);
    assert_int_equal(exchange.error, error);
    assert_non_null(strstr(exchange.text, text));
    release(&exchange);
}

/* 'hello, world\n' as gzip -n, Python's zlib.compress, Node's brotliCompressSync and zstd -c encode it; raw: zlib's without head and check. */
#define DEFLATED "\xcb\x48\xcd\xc9\xc9\xd7\x51\x28\xcf\x2f\xca\x49\xe1\x02\x00"
static const char gzip_hello[] = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" DEFLATED "\x53\x74\x24\xf4\x0d\x00\x00\x00";
static const char zlib_hello[] = "\x78\x9c" DEFLATED "\x21\xe7\x04\x93";
static const char raw_hello[] = DEFLATED;
static const char brotli_hello[] = "\x0b\x06\x80\x68\x65\x6c\x6c\x6f\x2c\x20\x77\x6f\x72\x6c\x64\x0a\x03";
static const char zstd_hello[] = "\x28\xb5\x2f\xfd\x04\x58\x69\x00\x00\x68\x65\x6c\x6c\x6f\x2c\x20\x77\x6f\x72\x6c\x64\x0a\x4c\x1f\xf9\xf1";

static const struct known {
    const char *lines, *data;
    size_t length;
} known[] = {
    { "Content-Encoding: gzip\r\n", gzip_hello, sizeof gzip_hello - 1 },
    { "content-encoding:x-gzip\r\n", gzip_hello, sizeof gzip_hello - 1 },
    { "A: b\r\nCONTENT-ENCODING: \t GZip \r\nC: d\r\n", gzip_hello, sizeof gzip_hello - 1 },
    { "Content-Encoding: deflate\r\n", zlib_hello, sizeof zlib_hello - 1 },
    { "Content-Encoding: deflate\r\n", raw_hello, sizeof raw_hello - 1 },
    { "Content-Encoding: br\r\n", brotli_hello, sizeof brotli_hello - 1 },
    { "Content-Encoding: zstd\r\n", zstd_hello, sizeof zstd_hello - 1 },
    { "Content-Encoding: identity, gzip,,\r\n", gzip_hello, sizeof gzip_hello - 1 },
};

static void decodes_what_others_encode(void **state)
{
    for (size_t i = 0; i < COUNT(known); i++)
        expect_body(known[i].lines, known[i].data, known[i].length, "hello, world\n", 13);
}

static void refuses_every_cut(void **state)
{
    for (size_t i = 0; i < COUNT(known); i++) {
        for (size_t length = 1; length < known[i].length; length++) {
            struct exchange exchange = exchange_with(known[i].lines, known[i].data, length);
            decoder_run(decoder, &exchange);
            assert_int_equal(exchange.error, ERR_PROTOCOL);
            release(&exchange);
        }
    }
}

static void refuses_what_follows(void **state)
{
    for (size_t i = 0; i < COUNT(known); i++) {
        char data[100];
        memcpy(data, known[i].data, known[i].length);
        data[known[i].length] = 'x';
        expect_error(known[i].lines, data, known[i].length + 1, 1000, ERR_PROTOCOL, "the body is not valid ");
    }
}

static void says_what_is_wrong(void **state)
{
    expect_error("Content-Encoding: gzip\r\n", "hello", 5, 1000, ERR_PROTOCOL, "the body is not valid gzip: incorrect header check");
    expect_error("Content-Encoding: br\r\n", "\xff\xff\xff", 3, 1000, ERR_PROTOCOL, "the body is not valid br: ");
    expect_error("Content-Encoding: zstd\r\n", "hello", 5, 1000, ERR_PROTOCOL, "the body is not valid zstd: Unknown frame descriptor");
    expect_error("Content-Encoding: gzip\r\n", gzip_hello, 20, 1000, ERR_PROTOCOL, "the body is not valid gzip: the data ends early");
    expect_error("Content-Encoding: gzip, gzip, gzip, gzip\r\ncontent-encoding: gzip, gzip\r\n", gzip_hello, 33, 1000, ERR_PROTOCOL, "more than 5 content codings");
}

static void finds_a_damaged_sum(void **state)
{
    char data[sizeof gzip_hello];
    memcpy(data, gzip_hello, sizeof data);
    data[26] ^= 1;
    expect_error("Content-Encoding: gzip\r\n", data, sizeof data - 1, 1000, ERR_PROTOCOL, "incorrect data check");
}

static void takes_several_members(void **state)
{
    char data[2 * sizeof gzip_hello];
    size_t length = sizeof gzip_hello - 1;
    memcpy(data, gzip_hello, length);
    memcpy(data + length, gzip_hello, length);
    expect_body("Content-Encoding: gzip\r\n", data, 2 * length, "hello, world\nhello, world\n", 26);
    memcpy(data, zstd_hello, sizeof zstd_hello - 1);
    memcpy(data + sizeof zstd_hello - 1, zstd_hello, sizeof zstd_hello - 1);
    expect_body("Content-Encoding: zstd\r\n", data, 2 * (sizeof zstd_hello - 1), "hello, world\nhello, world\n", 26);
}

static void leaves_what_it_does_not_know(void **state)
{
    expect_body("Content-Encoding: compress\r\n", "abc", 3, "abc", 3);
    expect_body("Content-Encoding: identity\r\n", "abc", 3, "abc", 3);
    expect_body("Content-Encoding-X: gzip\r\n", "abc", 3, "abc", 3);
    expect_body("Content-Encoding: gzip\r\n", "", 0, "", 0);
    expect_body("Content-Encoding: compress, gzip\r\n", gzip_hello, sizeof gzip_hello - 1, "hello, world\n", 13);
}

/* Encoders, to make larger ones. */

static struct buf gzipped(const struct buf *from)
{
    struct buf to = { 0 };
    z_stream z = { 0 };
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    buf_reserve(&to, deflateBound(&z, from->length));
    z.next_in = (Bytef *)from->data;
    z.avail_in = (uInt)from->length;
    z.next_out = (Bytef *)to.data;
    z.avail_out = (uInt)to.capacity;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    to.length = z.total_out;
    deflateEnd(&z);
    return to;
}

static struct buf brotlied(const struct buf *from)
{
    struct buf to = { 0 };
    size_t length = BrotliEncoderMaxCompressedSize(from->length);
    buf_reserve(&to, length);
    assert_true(BrotliEncoderCompress(5, 22, BROTLI_MODE_GENERIC, from->length, (const uint8_t *)from->data, &length, (uint8_t *)to.data));
    to.length = length;
    return to;
}

static struct buf zstded(const struct buf *from)
{
    struct buf to = { 0 };
    buf_reserve(&to, ZSTD_compressBound(from->length));
    to.length = ZSTD_compress(to.data, to.capacity, from->data, from->length, 3);
    assert_false(ZSTD_isError(to.length));
    return to;
}

static const struct encoder {
    const char *lines;
    struct buf (*encode)(const struct buf *);
} encoders[] = { { "Content-Encoding: gzip\r\n", gzipped }, { "Content-Encoding: br\r\n", brotlied }, { "Content-Encoding: zstd\r\n", zstded } };

static struct buf random_text(size_t length)
{
    struct buf text = { 0 };
    uint64_t seed = length;
    buf_reserve(&text, length + 1);
    while (text.length < length)
        text.data[text.length++] = (char)('a' + random_below(&seed, 16));
    return text;
}

static void brings_back_what_was_encoded(void **state)
{
    static const size_t lengths[] = { 1, 65535, 65536, 65537, 1 << 20 };
    for (size_t i = 0; i < COUNT(encoders); i++)
        for (size_t k = 0; k < COUNT(lengths); k++) {
            struct buf text = random_text(lengths[k]), data = encoders[i].encode(&text);
            expect_body(encoders[i].lines, data.data, data.length, text.data, text.length);
            buf_free(&text);
            buf_free(&data);
        }
}

static void stops_at_the_limit(void **state)
{
    for (size_t i = 0; i < COUNT(encoders); i++) {
        struct buf zeros = { 0 };
        buf_reserve(&zeros, 50 << 20);
        memset(zeros.data, 0, 50 << 20);
        zeros.length = 50 << 20;
        struct buf data = encoders[i].encode(&zeros);
        expect_error(encoders[i].lines, data.data, data.length, (50 << 20) - 1, ERR_TOO_LARGE, "the body is larger than allowed when its ");
        expect_error(encoders[i].lines, data.data, data.length, data.length, ERR_TOO_LARGE, "larger than allowed");
        struct exchange exchange = exchange_with(encoders[i].lines, data.data, data.length);
        exchange.max_body = 50 << 20;
        decoder_run(decoder, &exchange);
        assert_int_equal(exchange.error, ERR_NONE);
        assert_int_equal(exchange.body.length, 50 << 20);
        release(&exchange);
        buf_free(&zeros);
        buf_free(&data);
    }
}

static void undoes_several(void **state)
{
    struct buf text = random_text(5000), inner = gzipped(&text), outer = brotlied(&inner), other = zstded(&outer);
    expect_body("Content-Encoding: gzip, br\r\nContent-Encoding: zstd\r\n", other.data, other.length, text.data, text.length);
    expect_error("Content-Encoding: br, gzip, zstd\r\n", other.data, other.length, 1 << 20, ERR_PROTOCOL, "gzip");
    buf_free(&text);
    buf_free(&inner);
    buf_free(&outer);
    buf_free(&other);
}

/* A frame that asks for a window of 128 MiB: RFC 9659 allows 8. */
static void bounds_the_window(void **state)
{
    expect_error("Content-Encoding: zstd\r\n", "\x28\xb5\x2f\xfd\x00\x88\x01\x00\x00", 9, 1 << 30, ERR_PROTOCOL, "zstd: Frame requires too much memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_what_others_encode), cmocka_unit_test(refuses_every_cut),
        cmocka_unit_test(refuses_what_follows),       cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(finds_a_damaged_sum),        cmocka_unit_test(takes_several_members),
        cmocka_unit_test(leaves_what_it_does_not_know), cmocka_unit_test(brings_back_what_was_encoded),
        cmocka_unit_test(stops_at_the_limit),         cmocka_unit_test(undoes_several),
        cmocka_unit_test(bounds_the_window),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
