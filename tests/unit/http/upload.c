/* Bodies made of pieces of memory and files: read at any place, sent as a request of HTTP/1.1 in steps of any size, and files that change meanwhile. */
#define _GNU_SOURCE
#include "http/upload.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "http/engine.h"
#include "http/h1_request.h"
#include "test.h"

/* A file with `length` random bytes, which are appended to `all`. */
static struct upload_part file_part(size_t length, struct buf *all)
{
    uint64_t seed = length;
    int fd = memfd_create("upload", 0);
    size_t start = all->length;
    buf_reserve(all, length + 1);
    for (size_t i = 0; i < length; i++)
        all->data[all->length++] = (char)random_next(&seed);
    assert_int_equal(write(fd, all->data + start, length), (ssize_t)length);
    return (struct upload_part){ .fd = fd, .length = length };
}

static struct upload_part text_part(const char *text, struct buf *all)
{
    buf_append(all, text, strlen(text));
    return (struct upload_part){ .data = text, .length = strlen(text) };
}

/* text, file, text, nothing, file, file, text */
static struct upload *sample(struct buf *all)
{
    struct upload *upload = upload_new(7);
    const struct upload_part parts[] = {
        text_part("begin", all), file_part(200001, all), text_part("middle", all), text_part("", all), file_part(70000, all), file_part(1, all), text_part("end", all),
    };
    for (size_t i = 0; i < COUNT(parts); i++)
        upload_add(upload, &parts[i]);
    assert_int_equal(upload->length, all->length);
    assert_int_equal(upload->count, 6);
    return upload;
}

static void release(struct upload *upload, struct buf *all)
{
    for (size_t i = 0; i < upload->count; i++)
        if (!upload->parts[i].data)
            close(upload->parts[i].fd);
    upload_rest(upload);
    free(upload);
    buf_free(all);
}

static void reads_at_any_place(void **state)
{
    struct buf all = { 0 };
    struct upload *upload = sample(&all);
    uint64_t seed = 1;
    char *copy = malloc(all.length);
    for (int i = 0; i < 300; i++) {
        size_t offset = (size_t)random_below(&seed, all.length), length = (size_t)random_below(&seed, all.length - offset + 1), together;
        bool file;
        assert_true(upload_read(upload, offset, copy, length));
        assert_memory_equal(copy, all.data + offset, length);
        const char *data = upload_at(upload, offset, &together, &file);
        assert_true(together > 0 && offset + together <= all.length);
        assert_memory_equal(data, all.data + offset, together);
    }
    free(copy);
    release(upload, &all);
}

static void is_sent_in_steps(void **state)
{
    static const size_t steps[] = { 1 << 30, 65536, 4097, 7 };
    for (size_t k = 0; k < COUNT(steps); k++) {
        struct buf all = { 0 }, out = { 0 };
        struct upload *upload = sample(&all);
        struct request request = { .bytes = (char *)"POST / HTTP/1.1\r\n\r\n", .length = 17, .method = (char *)"POST" };
        struct exchange exchange = { .request = &request, .lines = "A: b\r\n", .lines_length = 6, .content = "", .content_length = upload->length, .upload = upload };
        struct link finished;
        link_init(&finished);
        struct codec *codec = h1_new(&finished, false);
        codec->ops->submit(codec, &exchange);
        do {
            struct iovec vectors[CODEC_VECTORS];
            int count = codec->ops->output(codec, vectors);
            size_t left = steps[k];
            for (int i = 0; i < count && left; i++) {
                size_t taken = vectors[i].iov_len < left ? vectors[i].iov_len : left;
                buf_append(&out, vectors[i].iov_base, taken);
                codec->ops->wrote(codec, taken, 5);
                left -= taken;
                if (taken < vectors[i].iov_len)
                    break;
            }
            assert_true(count > 0);
        } while (exchange.written < exchange.length);
        static const char head[] = "POST / HTTP/1.1\r\nA: b\r\nContent-Length: 270016\r\n\r\n";
        assert_int_equal(out.length, sizeof head - 1 + all.length);
        assert_memory_equal(out.data, head, sizeof head - 1);
        assert_memory_equal(out.data + sizeof head - 1, all.data, all.length);
        assert_false(codec->due);
        codec->ops->free(codec);
        buf_free(&out);
        release(upload, &all);
    }
}

static void says_that_there_is_more(void **state)
{
    struct buf all = { 0 };
    struct upload *upload = sample(&all);
    struct request request = { .bytes = (char *)"\r\n", .length = 0 };
    struct exchange exchange = { .request = &request, .content_length = upload->length, .upload = upload, .length = upload->length };
    struct iovec vectors[CODEC_VECTORS];
    bool more = false;
    assert_int_equal(h1_request_vectors(&exchange, vectors, CODEC_VECTORS, &more), 2); /* the first text, the beginning of the first file */
    assert_true(more);
    exchange.written = upload->length - 4;
    assert_int_equal(h1_request_vectors(&exchange, vectors, CODEC_VECTORS, &more), 1);
    exchange.written = upload->length - 3;
    assert_int_equal(h1_request_vectors(&exchange, vectors, CODEC_VECTORS, &more), 1);
    assert_false(more);
    assert_int_equal(vectors[0].iov_len, 3);
    release(upload, &all);
}

static void notices_a_shorter_file(void **state)
{
    struct buf all = { 0 };
    struct upload *upload = sample(&all);
    char bytes[10];
    size_t length;
    bool file;
    assert_int_equal(ftruncate(upload->parts[1].fd, 100), 0);
    assert_true(upload_read(upload, 90, bytes, 10));
    assert_null(upload_at(upload, 5, &length, &file));
    assert_string_equal(upload->why, "a file became shorter while it was sent");
    assert_false(upload_read(upload, 100, bytes, 10));
    struct request request = { .bytes = (char *)"\r\n", .length = 0, .method = (char *)"POST" };
    struct exchange exchange = { .request = &request, .content = "", .content_length = upload->length, .upload = upload };
    struct link finished;
    link_init(&finished);
    struct codec *codec = h1_new(&finished, false);
    struct iovec vectors[CODEC_VECTORS];
    codec->ops->submit(codec, &exchange);
    codec->ops->output(codec, vectors);
    assert_string_equal(codec->wrong, "a file became shorter while it was sent");
    codec->ops->free(codec);
    release(upload, &all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_at_any_place), cmocka_unit_test(is_sent_in_steps), cmocka_unit_test(says_that_there_is_more), cmocka_unit_test(notices_a_shorter_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
