/* TLS: our client against our server over socket pairs, directly and through a relay that cuts the stream into small pieces. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "net/tcp.h"
#include "net/tls_inside.h"
#include "test.h"

enum { BOTH = TLS_HTTP1 | TLS_HTTP2, STEPS = 1000000 };

/* A client, a server, and what lies between them. */
struct wire {
    struct transport client, server;
    int middle[2];     /* the relay's sockets; -1: the two are connected directly */
    size_t piece;      /* most bytes that the relay moves at once */
    uint64_t seed;     /* not 0: it moves a random number of them */
    struct buf passed; /* client to server, as the relay saw it */
};

static char ca_path[] = "/tmp/luabench-ca-XXXXXX";
static struct tls_context *server_context;

static void limit_buffers(int fd)
{
    int size = 4096;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

static void wire_open(struct wire *wire)
{
    int left[2], right[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, left), 0);
    wire->middle[0] = wire->middle[1] = -1;
    if (wire->piece) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, right), 0);
        wire->middle[0] = left[1];
        wire->middle[1] = right[1];
        left[1] = right[0];
        limit_buffers(right[1]);
    }
    limit_buffers(left[0]);
    limit_buffers(left[1]);
    tcp_adopt(&wire->client, left[0]);
    tcp_adopt(&wire->server, left[1]);
}

static void end_client(struct wire *wire)
{
    wire->client.ops->close(&wire->client);
}

static void end_server(struct wire *wire)
{
    wire->server.ops->close(&wire->server);
}

static void wire_close(struct wire *wire)
{
    if (wire->client.fd >= 0)
        end_client(wire);
    if (wire->server.fd >= 0)
        end_server(wire);
    for (int i = 0; i < 2; i++)
        if (wire->middle[i] >= 0)
            close(wire->middle[i]);
    buf_free(&wire->passed);
}

/* Moves one piece from one of its sockets to the other. */
static void relay(struct wire *wire, int from)
{
    char bytes[4096];
    size_t size = wire->seed ? 1 + random_below(&wire->seed, wire->piece) : wire->piece;
    ssize_t count = recv(wire->middle[from], bytes, size, MSG_PEEK);
    if (count < 0)
        return;
    if (count == 0) {
        shutdown(wire->middle[!from], SHUT_WR);
        return;
    }
    ssize_t sent = send(wire->middle[!from], bytes, (size_t)count, MSG_NOSIGNAL);
    if (sent <= 0)
        return;
    if (from == 0)
        buf_append(&wire->passed, bytes, (size_t)sent);
    assert_int_equal(recv(wire->middle[from], bytes, (size_t)sent, 0), sent);
}

static void pass(struct wire *wire)
{
    for (int i = 0; i < 2 && wire->piece; i++)
        relay(wire, i);
}

/* Lets both go on until the client's handshake has ended (and the server's, when the client's was a success); returns how the client's did. */
static int shake(struct wire *wire, struct tls_context *context, const char *host, unsigned offer, struct tls_session *session)
{
    int client = tls_connect(&wire->client, context, host, offer, session), server = tls_accept(&wire->server, server_context);
    for (int i = 0; i < STEPS && (client == TRANSPORT_WANT_READ || client == TRANSPORT_WANT_WRITE || (!client && server < 0 && server != TRANSPORT_FAILED)); i++) {
        pass(wire);
        if (client)
            client = wire->client.ops->open(&wire->client);
        if (server && server != TRANSPORT_FAILED)
            server = wire->server.ops->open(&wire->server);
    }
    return client;
}

static struct tls_context *client_context(const struct tls_options *options)
{
    struct tls_context *context = tls_context_new(options);
    const char *why = tls_context_load(context);
    if (why)
        fail_msg("%s", why);
    return context;
}

static int open_all(void **state)
{
    (void)state;
    server_context = tls_server_new(BOTH);
    const char *pem = tls_server_certificate(server_context);
    int fd = mkstemp(ca_path);
    bool written = write(fd, pem, strlen(pem)) == (ssize_t)strlen(pem);
    close(fd);
    return written ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    tls_context_free(server_context);
    return unlink(ca_path);
}

/* Data */

static void fill(char *data, size_t length, uint64_t seed)
{
    for (size_t i = 0; i < length; i++)
        data[i] = (char)random_next(&seed);
}

/* Sends `length` bytes one way in random vectors, reads them in random portions, and compares. */
static void send_through(struct wire *wire, struct transport *from, struct transport *to, size_t length, size_t largest)
{
    static char data[1 << 20], got[1 << 20];
    uint64_t seed = length + largest;
    size_t written = 0, received = 0;
    fill(data, length, seed);
    memset(got, 0, length);
    for (int i = 0; i < STEPS && received < length; i++) {
        struct iovec vectors[5];
        size_t end = written;
        int count = 0;
        for (; count < 5 && end < length; count++) {
            size_t part = random_below(&seed, largest + 1);
            part = part < length - end ? part : length - end;
            vectors[count] = (struct iovec){ data + end, part };
            end += part;
        }
        ssize_t result = count || from->held ? from->ops->writev(from, vectors, count) : 0;
        assert_int_not_equal(result, TRANSPORT_FAILED);
        written += result > 0 ? (size_t)result : 0;
        pass(wire);
        size_t size = 1 + random_below(&seed, largest);
        result = to->ops->read(to, got + received, size < length - received ? size : length - received);
        assert_int_not_equal(result, TRANSPORT_FAILED);
        received += result > 0 ? (size_t)result : 0;
    }
    assert_int_equal(received, length);
    assert_memory_equal(data, got, length);
}

static void both_ways(size_t piece, uint64_t seed, size_t length, size_t largest)
{
    const struct tls_options options = { .ca = ca_path };
    struct tls_context *context = client_context(&options);
    struct tls_session session = { 0 };
    struct wire wire = { .piece = piece, .seed = seed };
    wire_open(&wire);
    assert_int_equal(shake(&wire, context, "localhost", BOTH, &session), 0);
    send_through(&wire, &wire.client, &wire.server, length, largest);
    send_through(&wire, &wire.server, &wire.client, length, largest);
    wire_close(&wire);
    tls_context_free(context);
}

static void test_data(void **state)
{
    (void)state;
    static const size_t largest[] = { 1, 100, 16383, 16384, 16385, 200000 };
    for (size_t i = 0; i < COUNT(largest); i++)
        both_ways(0, 0, largest[i] < 100 ? 5000 : 300000, largest[i]);
}

static void test_data_in_pieces(void **state)
{
    (void)state;
    both_ways(1, 0, 20000, 30000);
    for (uint64_t seed = 1; seed < 20; seed++)
        both_ways(1 + (size_t)seed * 200, seed, 100000, 40000);
}

/* Records of application data (RFC 8446 5.1) in what the client sent. */
static int data_records(const struct buf *passed)
{
    int count = 0;
    const uint8_t *bytes = (const uint8_t *)passed->data;
    for (size_t at = 0; at + 5 <= passed->length; at += 5 + (size_t)(bytes[at + 3] << 8 | bytes[at + 4]))
        count += bytes[at] == 23;
    return count;
}

/* A request of several vectors is one record. */
static void test_vectors_become_one_record(void **state)
{
    (void)state;
    const struct tls_options options = { .ca = ca_path, .max_version = 12 };
    struct tls_context *context = client_context(&options);
    struct wire wire = { .piece = 4096 };
    char got[100];
    struct iovec vectors[] = { { "GET / HTTP/1.1\r\n", 16 }, { "", 0 }, { "Host: a\r\n", 9 }, { "\r\n", 2 } };
    wire_open(&wire);
    assert_int_equal(shake(&wire, context, "localhost", BOTH, &(struct tls_session){ 0 }), 0);
    assert_int_equal(data_records(&wire.passed), 0);
    assert_int_equal(wire.client.ops->writev(&wire.client, vectors, 4), 27);
    assert_false(wire.client.held);
    pass(&wire);
    assert_int_equal(wire.server.ops->read(&wire.server, got, sizeof got), 27);
    assert_memory_equal(got, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
    assert_int_equal(data_records(&wire.passed), 1);
    wire_close(&wire);
    tls_context_free(context);
}

/* Nothing is left inside that a poll would not tell of. */
static void test_one_read_takes_all_records(void **state)
{
    (void)state;
    const struct tls_options options = { .insecure = true };
    struct tls_context *context = client_context(&options);
    struct wire wire = { 0 };
    char got[100000];
    wire_open(&wire);
    assert_int_equal(shake(&wire, context, "localhost", BOTH, &(struct tls_session){ 0 }), 0);
    while (wire.client.ops->read(&wire.client, got, sizeof got) > 0)
        ;
    for (int i = 0; i < 3; i++)
        assert_int_equal(wire.server.ops->writev(&wire.server, &(struct iovec){ "hello", 5 }, 1), 5);
    assert_int_equal(wire.client.ops->read(&wire.client, got, 7), 7);
    assert_true(wire.client.more);
    assert_int_equal(wire.client.ops->read(&wire.client, got, sizeof got), 8);
    assert_false(wire.client.more);
    assert_int_equal(wire.client.ops->read(&wire.client, got, sizeof got), TRANSPORT_WANT_READ);
    wire_close(&wire);
    tls_context_free(context);
}

/* What the socket did not take does not bind the codec: the next bytes may be others. */
static void test_held_bytes_are_sent_first(void **state)
{
    (void)state;
    static char large[16384], got[200000];
    const struct tls_options options = { .insecure = true };
    struct tls_context *context = client_context(&options);
    struct wire wire = { 0 };
    size_t sent = 0, received = 0;
    wire_open(&wire);
    assert_int_equal(shake(&wire, context, "localhost", BOTH, &(struct tls_session){ 0 }), 0);
    memset(large, 'a', sizeof large);
    while (!wire.client.held) {
        ssize_t count = wire.client.ops->writev(&wire.client, &(struct iovec){ large, sizeof large }, 1);
        assert_int_equal(count, sizeof large);
        sent += sizeof large;
    }
    assert_int_equal(wire.client.ops->writev(&wire.client, &(struct iovec){ "zzz", 3 }, 1), TRANSPORT_WANT_WRITE);
    while (received < sent + 3) {
        ssize_t count = wire.server.ops->read(&wire.server, got + received, sizeof got - received);
        received += count > 0 ? (size_t)count : 0;
        if (wire.client.held)
            wire.client.ops->writev(&wire.client, NULL, 0);
        else if (sent)
            sent -= wire.client.ops->writev(&wire.client, &(struct iovec){ "zzz", 3 }, 1) == 3 ? 0 : sent;
        if (!wire.client.held && received >= sent + 3)
            break;
    }
    for (size_t i = 0; i < sent; i++)
        assert_int_equal(got[i], 'a');
    assert_memory_equal(got + sent, "zzz", 3);
    wire_close(&wire);
    tls_context_free(context);
}

/* The end */

/* Lets the server end its side, and reads what the client has to be told. */
static ssize_t read_end(bool goodbye, enum err *error)
{
    const struct tls_options options = { .insecure = true };
    struct tls_context *context = client_context(&options);
    struct wire wire = { 0 };
    char got[100];
    wire_open(&wire);
    assert_int_equal(shake(&wire, context, "localhost", BOTH, &(struct tls_session){ 0 }), 0);
    assert_int_equal(wire.server.ops->writev(&wire.server, &(struct iovec){ "last", 4 }, 1), 4);
    if (goodbye)
        end_server(&wire);
    else
        shutdown(wire.server.fd, SHUT_WR);
    assert_int_equal(wire.client.ops->read(&wire.client, got, sizeof got), 4);
    if (goodbye)
        assert_true(wire.client.more); /* the alert came in the same read */
    ssize_t count = wire.client.ops->read(&wire.client, got, sizeof got);
    *error = wire.client.error;
    assert_int_equal(wire.client.ops->read(&wire.client, got, sizeof got), count);
    wire_close(&wire);
    tls_context_free(context);
    return count;
}

static void test_end(void **state)
{
    (void)state;
    enum err error;
    assert_int_equal(read_end(true, &error), 0);
    assert_int_equal(error, ERR_NONE);
    assert_int_equal(read_end(false, &error), 0);
    assert_int_equal(error, ERR_CLOSED);
}

/* SIGPIPE would end the test. */
static void test_write_to_nobody(void **state)
{
    (void)state;
    const struct tls_options options = { .insecure = true };
    struct tls_context *context = client_context(&options);
    struct wire wire = { 0 };
    wire_open(&wire);
    assert_int_equal(shake(&wire, context, "localhost", BOTH, &(struct tls_session){ 0 }), 0);
    end_server(&wire);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wire.client.ops->writev(&wire.client, &(struct iovec){ "x", 1 }, 1), TRANSPORT_FAILED);
        assert_int_equal(wire.client.error, ERR_RESET);
    }
    wire_close(&wire);
    tls_context_free(context);
}

/* A record that was changed on its way. */
static void test_damaged_record(void **state)
{
    (void)state;
    const struct tls_options options = { .insecure = true };
    struct tls_context *context = client_context(&options);
    struct wire wire = { 0 };
    char got[100];
    wire_open(&wire);
    assert_int_equal(shake(&wire, context, "localhost", BOTH, &(struct tls_session){ 0 }), 0);
    while (wire.client.ops->read(&wire.client, got, sizeof got) > 0)
        ;
    assert_int_equal(send(wire.server.fd, "\x17\x03\x03\x00\x20" "0123456789abcdef0123456789abcdef", 37, 0), 37);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wire.client.ops->read(&wire.client, got, sizeof got), TRANSPORT_FAILED);
        assert_int_equal(wire.client.error, ERR_TLS);
        assert_non_null(strstr(wire.client.text, "bad record mac"));
    }
    wire_close(&wire);
    tls_context_free(context);
}

/* Handshakes */

static void test_protocols(void **state)
{
    (void)state;
    static const struct { unsigned accept, offer, chosen; } cases[] = {
        { BOTH, BOTH, TLS_HTTP2 }, { BOTH, TLS_HTTP1, TLS_HTTP1 }, { TLS_HTTP1, BOTH, TLS_HTTP1 }, { TLS_HTTP2, BOTH, TLS_HTTP2 }, { BOTH, 0, 0 },
    };
    const struct tls_options options = { .insecure = true };
    struct tls_context *context = client_context(&options);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct wire wire = { 0 };
        server_context->accept = cases[i].accept;
        wire_open(&wire);
        assert_int_equal(shake(&wire, context, "localhost", cases[i].offer, &(struct tls_session){ 0 }), 0);
        assert_int_equal(tls_agreed(&wire.client).protocol, cases[i].chosen);
        assert_int_equal(tls_agreed(&wire.server).protocol, cases[i].chosen);
        wire_close(&wire);
    }
    struct wire wire = { 0 };
    server_context->accept = TLS_HTTP1;
    wire_open(&wire);
    assert_int_equal(shake(&wire, context, "localhost", TLS_HTTP2, &(struct tls_session){ 0 }), TRANSPORT_FAILED);
    assert_non_null(strstr(wire.client.text, "ALPN"));
    wire_close(&wire);
    server_context->accept = BOTH;
    tls_context_free(context);
}

static void test_versions(void **state)
{
    (void)state;
    static const struct { int least, most; const char *version; } cases[] = {
        { 0, 0, "TLSv1.3" }, { 0, 12, "TLSv1.2" }, { 12, 12, "TLSv1.2" }, { 13, 0, "TLSv1.3" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct tls_options options = { .insecure = true, .min_version = cases[i].least, .max_version = cases[i].most };
        struct tls_context *context = client_context(&options);
        struct wire wire = { 0 };
        wire_open(&wire);
        assert_int_equal(shake(&wire, context, "localhost", BOTH, &(struct tls_session){ 0 }), 0);
        assert_string_equal(tls_agreed(&wire.client).version, cases[i].version);
        wire_close(&wire);
        tls_context_free(context);
    }
}

static void test_ciphers(void **state)
{
    (void)state;
    static const struct { const char *ciphers; int most; const char *cipher; } cases[] = {
        { "TLS_CHACHA20_POLY1305_SHA256", 0, "TLS_CHACHA20_POLY1305_SHA256" },
        { "ECDHE-ECDSA-AES128-GCM-SHA256", 12, "ECDHE-ECDSA-AES128-GCM-SHA256" },
        { "ECDHE-ECDSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256", 0, "TLS_AES_128_GCM_SHA256" },
        { "TLS_AES_128_GCM_SHA256, ECDHE-ECDSA-CHACHA20-POLY1305", 12, "ECDHE-ECDSA-CHACHA20-POLY1305" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct tls_options options = { .insecure = true, .ciphers = cases[i].ciphers, .max_version = cases[i].most };
        struct tls_context *context = client_context(&options);
        struct wire wire = { 0 };
        wire_open(&wire);
        assert_int_equal(shake(&wire, context, "localhost", BOTH, &(struct tls_session){ 0 }), 0);
        assert_string_equal(tls_agreed(&wire.client).cipher, cases[i].cipher);
        wire_close(&wire);
        tls_context_free(context);
    }
}

/* RFC 6066 3: only names are sent, without a dot at their end. */
static void test_names(void **state)
{
    (void)state;
    static const struct { const char *host, *sni, *sent; } cases[] = {
        { "localhost", NULL, "localhost" }, { "localhost.", NULL, "localhost" }, { "127.0.0.1", NULL, NULL }, { "::1", NULL, NULL },
        { "127.0.0.1", "localhost", "localhost" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct tls_options options = { .ca = ca_path, .sni = cases[i].sni };
        struct tls_context *context = client_context(&options);
        struct wire wire = { 0 };
        wire_open(&wire);
        assert_int_equal(shake(&wire, context, cases[i].host, BOTH, &(struct tls_session){ 0 }), 0);
        const char *sent = SSL_get_servername(wire.server.tls->ssl, TLSEXT_NAMETYPE_host_name);
        if (cases[i].sent)
            assert_string_equal(sent, cases[i].sent);
        else
            assert_null(sent);
        wire_close(&wire);
        tls_context_free(context);
    }
}

static void assert_refused(const struct tls_options *options, const char *host, const char *words)
{
    struct tls_context *context = client_context(options);
    struct wire wire = { 0 };
    wire_open(&wire);
    assert_int_equal(shake(&wire, context, host, BOTH, &(struct tls_session){ 0 }), TRANSPORT_FAILED);
    assert_int_equal(wire.client.error, ERR_TLS);
    if (!strstr(wire.client.text, words))
        fail_msg("\"%s\" does not contain \"%s\"", wire.client.text, words);
    wire_close(&wire);
    tls_context_free(context);
}

static void test_refused_certificates(void **state)
{
    (void)state;
    assert_refused(&(struct tls_options){ 0 }, "localhost", "the certificate is self-signed (OpenSSL: self-signed certificate)");
    assert_refused(&(struct tls_options){ .ca = ca_path }, "other.example", "is for localhost, 127.0.0.1, ::1, not for other.example (OpenSSL: ");
    assert_refused(&(struct tls_options){ .ca = ca_path }, "127.0.0.2", "not for the address 127.0.0.2");
    assert_refused(&(struct tls_options){ .ca = ca_path, .sni = "x.example" }, "localhost", "not for x.example");
}

/* What other than TLS a server may say to a client's greeting. */
static void test_other_answers(void **state)
{
    (void)state;
    static const struct { const char *bytes; size_t length; const char *words; } cases[] = {
        { "HTTP/1.1 400 Bad Request\r\n\r\n", 28, "does not speak TLS: http://" },
        { "220 mail.example ESMTP\r\n", 24, "does not speak TLS" },
        { "\x15\x03\x01\x00\x02\x02\x46", 7, "none of the versions that are allowed (OpenSSL: tlsv1 alert protocol version)" },
        { "\x15\x03\x03\x00\x02\x02\x28", 7, "no cipher in common" },
        { "\x15\x03\x03\x00\x02\x02\x50", 7, "the server sent the alert 80 (OpenSSL: tlsv1 alert internal error)" },
        { "\x15\x03\x03\x00\x02\x02\x05", 7, "the server sent the alert 5 (OpenSSL: " },
        { "", 0, "closed the connection" },
    };
    const struct tls_options options = { .insecure = true };
    struct tls_context *context = client_context(&options);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct wire wire = { 0 };
        wire_open(&wire);
        assert_int_equal(tls_connect(&wire.client, context, "localhost", BOTH, &(struct tls_session){ 0 }), TRANSPORT_WANT_READ);
        assert_int_equal(send(wire.server.fd, cases[i].bytes, cases[i].length, 0), (ssize_t)cases[i].length);
        shutdown(wire.server.fd, SHUT_WR);
        int result = TRANSPORT_WANT_READ;
        while (result == TRANSPORT_WANT_READ)
            result = wire.client.ops->open(&wire.client);
        assert_int_equal(result, TRANSPORT_FAILED);
        assert_int_equal(wire.client.error, ERR_TLS);
        if (!strstr(wire.client.text, cases[i].words))
            fail_msg("\"%s\" does not contain \"%s\"", wire.client.text, cases[i].words);
        wire_close(&wire);
    }
    tls_context_free(context);
}

/* Resumption */

static bool connects_again(const struct tls_options *options)
{
    struct tls_context *context = client_context(options);
    struct tls_session session = { 0 };
    bool resumed = false;
    for (int i = 0; i < 3; i++) {
        struct wire wire = { 0 };
        char got[10];
        wire_open(&wire);
        assert_int_equal(shake(&wire, context, "localhost", BOTH, &session), 0);
        assert_int_equal(wire.client.ops->read(&wire.client, got, sizeof got), TRANSPORT_WANT_READ); /* TLS 1.3: tickets come after the handshake */
        resumed = tls_agreed(&wire.client).resumed;
        assert_int_equal(tls_agreed(&wire.server).resumed, resumed);
        assert_int_equal(resumed, options->resume && i > 0);
        send_through(&wire, &wire.client, &wire.server, 100, 50);
        wire_close(&wire);
    }
    tls_session_free(&session);
    tls_context_free(context);
    return resumed;
}

static void test_resumption(void **state)
{
    (void)state;
    assert_true(connects_again(&(struct tls_options){ .ca = ca_path, .resume = true }));
    assert_true(connects_again(&(struct tls_options){ .ca = ca_path, .resume = true, .max_version = 12 }));
    assert_false(connects_again(&(struct tls_options){ .ca = ca_path }));
    assert_false(connects_again(&(struct tls_options){ .ca = ca_path, .max_version = 12 }));
}

/* Options */

static void assert_unusable(const struct tls_options *options, const char *words)
{
    struct tls_context *context = tls_context_new(options);
    const char *why = tls_context_load(context);
    assert_non_null(why);
    if (!strstr(why, words))
        fail_msg("\"%s\" does not contain \"%s\"", why, words);
    struct wire wire = { 0 };
    wire_open(&wire);
    assert_int_equal(tls_connect(&wire.client, context, "localhost", BOTH, &(struct tls_session){ 0 }), TRANSPORT_FAILED);
    assert_string_equal(wire.client.text, why);
    wire_close(&wire);
    tls_context_free(context);
}

static void test_unusable_options(void **state)
{
    (void)state;
    assert_unusable(&(struct tls_options){ .ca = "/no/such/file.pem" }, "ca: cannot read /no/such/file.pem: No such file or directory");
    assert_unusable(&(struct tls_options){ .ca = "/" }, "ca: cannot read /: Is a directory");
    assert_unusable(&(struct tls_options){ .ca = "/dev/null" }, "ca: cannot read /dev/null: it is no regular file");
    assert_unusable(&(struct tls_options){ .ca = "/etc/passwd" }, "ca: /etc/passwd has no certificate in PEM form");
    assert_unusable(&(struct tls_options){ .insecure = true, .cert = "/no/cert.pem" }, "cert: cannot read /no/cert.pem");
    assert_unusable(&(struct tls_options){ .insecure = true, .cert = ca_path, .key = "/no/key.pem" }, "key: cannot read /no/key.pem");
    assert_unusable(&(struct tls_options){ .insecure = true, .cert = ca_path }, "has no key that can be used");
    assert_unusable(&(struct tls_options){ .ciphers = "NO-SUCH-CIPHER" }, "ciphers: OpenSSL does not know NO-SUCH-CIPHER");
    assert_unusable(&(struct tls_options){ .ciphers = "TLS_NO_SUCH" }, "ciphers: OpenSSL does not know TLS_NO_SUCH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_data_in_pieces),
        cmocka_unit_test(test_vectors_become_one_record),
        cmocka_unit_test(test_one_read_takes_all_records),
        cmocka_unit_test(test_held_bytes_are_sent_first),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_write_to_nobody),
        cmocka_unit_test(test_damaged_record),
        cmocka_unit_test(test_protocols),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_ciphers),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused_certificates),
        cmocka_unit_test(test_other_answers),
        cmocka_unit_test(test_resumption),
        cmocka_unit_test(test_unusable_options),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
