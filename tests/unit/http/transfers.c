#define _GNU_SOURCE
/* Large bodies in both directions, with the peer in a thread of its own. */
#include "peer.h"

#include <pthread.h>

enum { SIZE = 10 * 1000 * 1000 };

static char *content;  /* what is sent, SIZE bytes that repeat nowhere soon */
static char *received; /* by the peer */

static int make_content(void **state)
{
    uint64_t seed = 7;
    content = mem_resize(NULL, SIZE);
    received = mem_zero(SIZE);
    for (size_t i = 0; i < SIZE; i += 8) {
        uint64_t word = random_next(&seed);
        memcpy(content + i, &word, 8);
    }
    return 0;
}

static int free_content(void **state)
{
    free(content);
    free(received);
    return 0;
}

/* Peers. cmocka's asserts may not be used in their threads. */

/* Reads a head, and of the body what came with it into `received`; how many bytes of that. */
static size_t read_head(int fd, char *head, size_t size)
{
    size_t length = 0;
    for (;;) {
        ssize_t count = recv(fd, head + length, size - 1 - length, 0);
        if (count <= 0)
            abort();
        length += (size_t)count;
        head[length] = '\0';
        char *end = memmem(head, length, "\r\n\r\n", 4);
        if (!end)
            continue;
        size_t body = length - (size_t)(end + 4 - head);
        memcpy(received, end + 4, body);
        end[4] = '\0';
        return body;
    }
}

static void read_body(int fd, size_t length, size_t size)
{
    while (length < size) {
        ssize_t count = recv(fd, received + length, size - length, 0);
        if (count <= 0)
            abort();
        length += (size_t)count;
    }
}

static void write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t count = send(fd, data, size, MSG_NOSIGNAL);
        if (count <= 0)
            abort();
        data += count;
        size -= (size_t)count;
    }
}

static void write_text(int fd, const char *text)
{
    write_all(fd, text, strlen(text));
}

static void *download(void *context)
{
    char head[2048], answer[100];
    int fd = accept(listener, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        read_head(fd, head, sizeof head);
        snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", SIZE);
        write_text(fd, answer);
        write_all(fd, content, SIZE);
    }
    close(fd);
    return NULL;
}

static void *download_chunked(void *context)
{
    char head[2048], line[32];
    uint64_t seed = 3;
    int fd = accept(listener, NULL, NULL);
    read_head(fd, head, sizeof head);
    write_text(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (size_t at = 0, size; at < SIZE; at += size) {
        size = 1 + random_below(&seed, 100000);
        size = size > SIZE - at ? SIZE - at : size;
        snprintf(line, sizeof line, "%zx;x=y\r\n", size);
        write_text(fd, line);
        write_all(fd, content + at, size);
        write_text(fd, "\r\n");
    }
    write_text(fd, "0\r\nX: y\r\n\r\n");
    close(fd);
    return NULL;
}

static void *download_until_eof(void *context)
{
    char head[2048];
    int fd = accept(listener, NULL, NULL);
    read_head(fd, head, sizeof head);
    write_text(fd, "HTTP/1.1 200 OK\r\n\r\n");
    write_all(fd, content, SIZE);
    close(fd);
    return NULL;
}

static void *upload(void *context)
{
    static char head[SIZE];
    int fd = accept(listener, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        read_body(fd, read_head(fd, head, sizeof head), SIZE);
        write_text(fd, strstr(head, "Content-Length: 10000000\r\n") ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" : "HTTP/1.1 411 x\r\nContent-Length: 0\r\n\r\n");
    }
    close(fd);
    return NULL;
}

/* The answer begins while the request is still being written, and only goes on as that is read. */
static void *echo(void *context)
{
    static char head[SIZE];
    int fd = accept(listener, NULL, NULL);
    size_t at = 0, length = read_head(fd, head, sizeof head);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", SIZE);
    write_text(fd, head);
    for (;;) {
        write_all(fd, received + at, length - at);
        at = length;
        if (at == SIZE)
            break;
        ssize_t count = recv(fd, received + at, SIZE - at < 65536 ? SIZE - at : 65536, 0);
        if (count <= 0)
            abort();
        length += (size_t)count;
    }
    close(fd);
    return NULL;
}

/* Answers after the head and closes with most of the body unread, which resets the connection. */
static void *refuse(void *context)
{
    static char head[SIZE];
    int fd = accept(listener, NULL, NULL);
    read_head(fd, head, sizeof head);
    write_text(fd, "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nno!");
    close(fd);
    return NULL;
}

static void *reset(void *context)
{
    static char head[SIZE];
    int fd = accept(listener, NULL, NULL);
    read_head(fd, head, sizeof head);
    peer_reset(fd);
    return NULL;
}

/* Tests */

static struct exchange *submit_to_thread(const char *method, bool body)
{
    struct exchange *exchange = pool_exchange(pool);
    exchange->request = request_to(method, "127.0.0.1", port);
    exchange->started = clock_ns();
    exchange->content = body ? content : NULL;
    exchange->content_length = body ? SIZE : 0;
    pool_submit(pool, client, exchange);
    return exchange;
}

static pthread_t start(void *(*peer)(void *))
{
    pthread_t thread;
    assert_false(pthread_create(&thread, NULL, peer, NULL));
    return thread;
}

static void check_download(struct exchange *exchange)
{
    finish(exchange);
    assert_int_equal(exchange->error, ERR_NONE);
    assert_int_equal(exchange->status, 200);
    assert_int_equal(exchange->body_size, SIZE);
    assert_int_equal(exchange->body.length, SIZE);
    assert_memory_equal(exchange->body.data, content, SIZE);
    pool_recycle(pool, exchange);
}

static void downloads(void **state)
{
    pthread_t thread = start(download);
    check_download(submit_to_thread("GET", false));
    check_download(submit_to_thread("GET", false));
    assert_int_equal(counts.opened, 1);
    pthread_join(thread, NULL);
}

static void downloads_chunked(void **state)
{
    pthread_t thread = start(download_chunked);
    check_download(submit_to_thread("GET", false));
    pthread_join(thread, NULL);
}

static void downloads_until_eof(void **state)
{
    pthread_t thread = start(download_until_eof);
    check_download(submit_to_thread("GET", false));
    pthread_join(thread, NULL);
    assert_int_equal(counts.open, 0);
}

static void downloads_no_more_than_allowed(void **state)
{
    pthread_t thread = start(download_until_eof);
    struct exchange *exchange = submit_to_thread("GET", false);
    exchange->max_body = SIZE;
    check_download(exchange);
    pthread_join(thread, NULL);
}

static void uploads(void **state)
{
    pthread_t thread = start(upload);
    for (int i = 0; i < 2; i++) {
        struct exchange *exchange = submit_to_thread("PUT", true);
        finish(exchange);
        assert_int_equal(exchange->error, ERR_NONE);
        assert_int_equal(exchange->status, 200);
        assert_true(exchange->bytes_sent == exchange->length && exchange->length > SIZE);
        pool_recycle(pool, exchange);
    }
    pthread_join(thread, NULL);
    assert_memory_equal(received, content, SIZE);
    assert_int_equal(counts.opened, 1);
}

static void echoes(void **state)
{
    pthread_t thread = start(echo);
    check_download(submit_to_thread("POST", true));
    pthread_join(thread, NULL);
}

static void takes_an_early_answer(void **state)
{
    pthread_t thread = start(refuse);
    struct exchange *exchange = submit_to_thread("POST", true);
    finish(exchange);
    assert_int_equal(exchange->error, ERR_NONE);
    assert_int_equal(exchange->status, 413);
    assert_int_equal(exchange->body.length, 3);
    assert_true(exchange->bytes_sent < SIZE);
    pool_recycle(pool, exchange);
    pthread_join(thread, NULL);
    assert_int_equal(counts.open, 0);
}

static void is_reset_while_uploading(void **state)
{
    pthread_t thread = start(reset);
    finish_with(submit_to_thread("POST", true), ERR_RESET);
    pthread_join(thread, NULL);
}

/* Its content is the submitter's again once it has come back. */
static void cancels_an_upload(void **state)
{
    struct exchange *exchange = submit_to_thread("POST", true);
    pool_flush(pool);
    while (!exchange->written)
        turn();
    int fd = peer_accept();
    while (exchange->written == 0)
        turn();
    assert_true(exchange->written < exchange->length);
    pool_cancel(pool, exchange, ERR_INTERRUPTED);
    finish_with(exchange, ERR_INTERRUPTED);
    pool_flush(pool);
    close(fd);
    assert_int_equal(counts.open, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(downloads),
        TEST(downloads_chunked),
        TEST(downloads_until_eof),
        TEST(downloads_no_more_than_allowed),
        TEST(uploads),
        TEST(echoes),
        TEST(takes_an_early_answer),
        TEST(is_reset_while_uploading),
        TEST(cancels_an_upload),
    };
    return cmocka_run_group_tests(tests, make_content, free_content);
}
