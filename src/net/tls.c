/* The bytes. OpenSSL reads and writes the socket through a BIO of ours, for three reasons:
 *   - writing raises no SIGPIPE;
 *   - writing never stops in the middle of a record: what the socket does not take is held here. Otherwise OpenSSL would want the very same bytes again, which a
 *     codec whose exchange was cancelled meanwhile does not have any more;
 *   - a read of the transport reads the socket once, and then all records that came; it never ends with something left inside OpenSSL that epoll does not see. */
#define _GNU_SOURCE
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/socket_calls.h"
#include "net/tls_inside.h"

enum {
    RECORD = 16 * 1024,  /* most plain bytes in a record */
    SETTLING = 4,        /* reads after the handshake: session tickets come then, for each of which OpenSSL takes a buffer that it does not give back */
    ROOM = RECORD + 1024, /* what one read of the socket can bring: OpenSSL's buffer is a record with its header and tag */
    OWN_BUFFERS = 256,   /* so many connections of a thread keep their buffers; those beyond give them back after every use, which costs time instead of 34 KB each */
};

static _Thread_local unsigned keeping; /* connections of this thread that keep their buffers */

/* The socket */

static int receive(BIO *bio, char *data, int size)
{
    struct tls *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t count = tls->receive ? socket_receive(tls->fd, data, (size_t)size) : -1;
    if (count > 0) {
        tls->filled = count == size;
        tls->receive = tls->receive && tls->filled;
        for (ssize_t i = 0; tls->first_count < TLS_FIRST && i < count; i++)
            tls->first[tls->first_count++] = (uint8_t)data[i];
        return (int)count;
    }
    if (count == 0)
        tls->ended = true;
    else if (!tls->receive || errno == EAGAIN || errno == EINTR)
        BIO_set_retry_read(bio);
    else
        tls->number = errno;
    return (int)count;
}

/* What could be sent of `data`; below zero after noting why the socket is broken. */
static ssize_t send_some(struct tls *tls, const char *data, size_t length)
{
    ssize_t count = socket_send(tls->fd, data, length);
    if (count >= 0)
        return count;
    if (errno == EAGAIN || errno == EINTR)
        return 0;
    tls->number = errno;
    return -1;
}

/* Takes everything, unless the socket is broken. */
static int transmit(BIO *bio, const char *data, int length)
{
    struct tls *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    ssize_t count = tls->held.length ? 0 : send_some(tls, data, (size_t)length);
    if (count < 0)
        return -1;
    buf_append(&tls->held, data + count, (size_t)(length - count));
    return length;
}

static long control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *socket_method;

static void make_method(void)
{
    socket_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "luabench");
    if (!socket_method)
        abort();
    BIO_meth_set_read(socket_method, receive);
    BIO_meth_set_write(socket_method, transmit);
    BIO_meth_set_ctrl(socket_method, control);
}

/* Sends what is held as far as the socket takes it. */
static void flush(struct tls *tls)
{
    if (!tls->held.length)
        return;
    ssize_t count = send_some(tls, tls->held.data, tls->held.length);
    if (count > 0)
        buf_consume(&tls->held, (size_t)count);
    if (!tls->held.length)
        buf_free(&tls->held);
}

/* How calls end */

static int fail(struct transport *transport, enum err error, const char *text)
{
    transport->tls->failed = true;
    transport->error = error;
    transport->text = text;
    return TRANSPORT_FAILED;
}

/* The socket broke. */
static int fail_socket(struct transport *transport)
{
    struct tls *tls = transport->tls;
    return fail(transport, tls->open ? ERR_RESET : ERR_TLS, tls->open ? strerrordesc_np(tls->number) : "the connection was reset in the middle of it");
}

static int fail_tls(struct transport *transport)
{
    tls_explain(transport->tls);
    return fail(transport, ERR_TLS, transport->tls->text);
}

/* The peer closed its side: with an alert that says so, or without. */
static int end(struct transport *transport, bool regular)
{
    struct tls *tls = transport->tls;
    if (!tls->open)
        return fail(transport, ERR_TLS, "the server closed the connection in the middle of it");
    transport->error = regular ? ERR_NONE : ERR_CLOSED;
    transport->text = regular ? NULL : "the connection was closed without TLS's close_notify, so that the response may have been cut";
    return 0;
}

/* Nothing was moved by a call of OpenSSL's that returned `result`: why? */
static int stopped(struct transport *transport, int result)
{
    struct tls *tls = transport->tls;
    switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ: return transport->held ? TRANSPORT_WANT_WRITE : TRANSPORT_WANT_READ;
    case SSL_ERROR_ZERO_RETURN: return end(transport, true);
    case SSL_ERROR_SSL: return fail_tls(transport);
    }
    ERR_clear_error();
    if (tls->number)
        return fail_socket(transport);
    return end(transport, false);
}

/* The transport */

static int tls_open(struct transport *transport)
{
    struct tls *tls = transport->tls;
    flush(tls);
    transport->held = tls->held.length > 0;
    if (tls->number)
        return fail_socket(transport);
    if (transport->held)
        return TRANSPORT_WANT_WRITE;
    tls->receive = true;
    int result = SSL_do_handshake(tls->ssl);
    transport->held = tls->held.length > 0;
    if (result != 1)
        return stopped(transport, result);
    tls->open = true;
    tls->settling = tls->keeps_buffers ? 0 : SETTLING;
    ERR_clear_error();
    return 0;
}

static ssize_t tls_read(struct transport *transport, void *data, size_t size)
{
    struct tls *tls = transport->tls;
    size_t total = 0, count;
    int result;
    transport->more = false;
    if (tls->failed)
        return TRANSPORT_FAILED;
    tls->receive = true;
    tls->filled = false;
    do {
        result = SSL_read_ex(tls->ssl, (char *)data + total, size - total, &count);
        if (!result)
            break;
        total += count;
        tls->receive = tls->filled && size - total >= ROOM;
    } while (total < size && (tls->receive || SSL_has_pending(tls->ssl)));
    transport->held = tls->held.length > 0;
    if (tls->settling) {
        tls->settling--;
        SSL_free_buffers(tls->ssl);
    }
    if (!total)
        return stopped(transport, result);
    /* an end or a failure behind the data is told by the next call */
    transport->more = total == size || (!result && SSL_get_error(tls->ssl, result) != SSL_ERROR_WANT_READ);
    return (ssize_t)total;
}

/* The bytes to be written, record by record. */
struct source {
    const struct iovec *vectors;
    int count;
    size_t skip; /* of the first vector */
};

static void drop_empty(struct source *source)
{
    while (source->count && source->skip == source->vectors->iov_len) {
        source->vectors++;
        source->count--;
        source->skip = 0;
    }
}

/* The next record's bytes: where they lie, or put together in `gather`. */
static const char *next_record(const struct source *source, char gather[RECORD], size_t *length)
{
    const struct iovec *vector = source->vectors;
    size_t skip = source->skip, total = 0;
    *length = vector->iov_len - skip;
    if (*length >= RECORD || source->count == 1) {
        *length = *length < RECORD ? *length : RECORD;
        return (const char *)vector->iov_base + skip;
    }
    for (int i = 0; i < source->count && total < RECORD; i++, skip = 0) {
        size_t part = vector[i].iov_len - skip;
        part = part < RECORD - total ? part : RECORD - total;
        memcpy(gather + total, (const char *)vector[i].iov_base + skip, part);
        total += part;
    }
    *length = total;
    return gather;
}

static void advance(struct source *source, size_t length)
{
    while (length) {
        size_t left = source->vectors->iov_len - source->skip, part = length < left ? length : left;
        source->skip += part;
        length -= part;
        drop_empty(source);
    }
}

static ssize_t tls_writev(struct transport *transport, const struct iovec *vectors, int count)
{
    struct tls *tls = transport->tls;
    struct source source = { vectors, count, 0 };
    char gather[RECORD];
    size_t total = 0, length, written;
    int result = 1;
    if (tls->failed)
        return TRANSPORT_FAILED;
    flush(tls);
    tls->receive = true;
    for (drop_empty(&source); source.count && !tls->held.length && !tls->number; total += written) {
        const char *data = next_record(&source, gather, &length);
        result = SSL_write_ex(tls->ssl, data, length, &written);
        if (!result)
            break;
        advance(&source, written);
    }
    transport->held = tls->held.length > 0;
    if (total)
        return (ssize_t)total;
    if (tls->number)
        return fail_socket(transport);
    if (transport->held)
        return TRANSPORT_WANT_WRITE;
    return result ? 0 : stopped(transport, result);
}

/* Says goodbye where there is still somebody to hear it. A session whose connection did not end well would not be resumed by OpenSSL, so it is told that all is well. */
static void tls_close(struct transport *transport)
{
    struct tls *tls = transport->tls;
    if (tls->open && !tls->failed && !tls->number && !tls->held.length)
        SSL_shutdown(tls->ssl);
    SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(tls->ssl);
    keeping -= tls->keeps_buffers && keeping; /* at the end of all, another thread may close it */
    ERR_clear_error();
    buf_free(&tls->held);
    free(tls->text);
    free(tls);
    transport->tls = NULL;
    transport->text = NULL;
    close(transport->fd);
    transport->fd = -1;
}

static const struct transport_ops tls_ops = {
    .open = tls_open,
    .read = tls_read,
    .writev = tls_writev,
    .close = tls_close,
};

/* Opening */

static void start(struct transport *transport, SSL_CTX *context)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_method);
    struct tls *tls = mem_zero(sizeof *tls);
    BIO *bio = BIO_new(socket_method);
    tls->ssl = SSL_new(context);
    if (!bio || !tls->ssl)
        abort(); /* out of memory */
    tls->fd = transport->fd;
    BIO_set_data(bio, tls);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls->ssl, bio, bio);
    tls->keeps_buffers = keeping < OWN_BUFFERS;
    keeping += tls->keeps_buffers;
    if (tls->keeps_buffers)
        SSL_clear_mode(tls->ssl, SSL_MODE_RELEASE_BUFFERS);
    SSL_set_app_data(tls->ssl, tls);
    transport->tls = tls;
    transport->ops = &tls_ops;
}

/* RFC 6066 3: a name, without a dot at its end; an address is never sent. */
static void demand_name(SSL *ssl, const char *host)
{
    char name[256];
    size_t length = strlen(host);
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host))
        return;
    ERR_clear_error();
    if (length && length < sizeof name && host[length - 1] == '.')
        length--;
    snprintf(name, sizeof name, "%.*s", (int)length, host);
    SSL_set_tlsext_host_name(ssl, name);
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    SSL_set1_host(ssl, name);
}

/* In the form of RFC 7301. */
static void offer_protocols(SSL *ssl, unsigned offer)
{
    static const unsigned char both[] = "\x02h2\x08http/1.1";
    const unsigned char *list = offer & TLS_HTTP2 ? both : both + 3;
    unsigned length = (offer & TLS_HTTP2 ? 3 : 0) + (offer & TLS_HTTP1 ? 9 : 0);
    SSL_set_alpn_protos(ssl, list, length);
}

int tls_connect(struct transport *transport, struct tls_context *context, const char *host, unsigned offer, struct tls_session *session)
{
    const struct tls_options *options = context->options;
    const char *why = tls_context_load(context);
    if (why) {
        transport->error = ERR_TLS;
        transport->text = why;
        return TRANSPORT_FAILED;
    }
    start(transport, context->ssl);
    SSL *ssl = transport->tls->ssl;
    SSL_set_connect_state(ssl);
    demand_name(ssl, options->sni ? options->sni : host);
    offer_protocols(ssl, offer);
    if (options->resume) {
        transport->tls->session = session;
        if (session->last)
            SSL_set_session(ssl, session->last);
    }
    return tls_open(transport);
}

int tls_accept(struct transport *transport, struct tls_context *context)
{
    start(transport, context->ssl);
    SSL_set_accept_state(transport->tls->ssl);
    return tls_open(transport);
}

void tls_session_free(struct tls_session *session)
{
    SSL_SESSION_free(session->last);
    session->last = NULL;
}

struct tls_agreed tls_agreed(const struct transport *transport)
{
    SSL *ssl = transport->tls->ssl;
    const unsigned char *protocol;
    unsigned length;
    SSL_get0_alpn_selected(ssl, &protocol, &length);
    return (struct tls_agreed){
        .version = SSL_get_version(ssl),
        .number = SSL_version(ssl) - TLS1_VERSION + 10,
        .cipher = SSL_get_cipher_name(ssl),
        .protocol = length == 2 ? TLS_HTTP2 : length == 8 ? TLS_HTTP1 : 0,
        .resumed = SSL_session_reused(ssl),
    };
}
