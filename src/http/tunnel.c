/* CONNECT: asks an HTTP proxy for a tunnel to a server (RFC 9110 9.3.6). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http/engine.h"

enum { LONGEST_ANSWER = 16 * 1024 };

struct tunnel {
    struct buf request;
    size_t written;
    struct buf answer;
    size_t received; /* of answers, those that were only interim among them */
    char text[120]; /* why it failed */
};

struct tunnel *tunnel_new(const struct proxy *proxy, const struct origin *origin)
{
    struct tunnel *tunnel = mem_zero(sizeof *tunnel);
    bool ipv6 = strchr(origin->host, ':') != NULL;
    char to[300];
    snprintf(to, sizeof to, "%s%s%s:%u", ipv6 ? "[" : "", origin->host, ipv6 ? "]" : "", origin->port);
    buf_printf(&tunnel->request, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", to, to);
    if (proxy->authorization)
        buf_printf(&tunnel->request, "Proxy-Authorization: %s\r\n", proxy->authorization);
    buf_append(&tunnel->request, "\r\n", 2);
    return tunnel;
}

void tunnel_free(struct tunnel *tunnel)
{
    if (!tunnel)
        return;
    buf_free(&tunnel->request);
    buf_free(&tunnel->answer);
    free(tunnel);
}

static int fail(struct tunnel *tunnel, struct transport *transport, const char *text)
{
    snprintf(tunnel->text, sizeof tunnel->text, "%s", text);
    transport->error = ERR_CONNECT;
    transport->text = tunnel->text;
    return TRANSPORT_FAILED;
}

static int fail_transport(struct tunnel *tunnel, struct transport *transport)
{
    char text[100];
    snprintf(text, sizeof text, "the proxy broke the connection: %s", transport->text ? transport->text : err_text(transport->error));
    return fail(tunnel, transport, text);
}

/* 0 when the request is written. */
static int write_request(struct tunnel *tunnel, struct transport *transport)
{
    while (tunnel->written < tunnel->request.length) {
        struct iovec left = { tunnel->request.data + tunnel->written, tunnel->request.length - tunnel->written };
        ssize_t count = transport->ops->writev(transport, &left, 1);
        if (count < 0)
            return count == TRANSPORT_FAILED ? fail_transport(tunnel, transport) : (int)count;
        tunnel->written += (size_t)count;
    }
    return 0;
}

enum { UNDECIDED = 1 };

/* A head is complete: 2xx opens the tunnel, 1xx is followed by another. */
static int judge(struct tunnel *tunnel, struct transport *transport, size_t head)
{
    const char *answer = tunnel->answer.data;
    char text[100];
    int minor, status;
    if (sscanf(answer, "HTTP/1.%1d %3d", &minor, &status) != 2)
        return fail(tunnel, transport, "the proxy does not speak HTTP/1.1");
    if (status >= 100 && status < 200 && status != 101) {
        buf_consume(&tunnel->answer, head);
        return UNDECIDED;
    }
    if (status < 200 || status > 299) {
        snprintf(text, sizeof text, "the proxy refused the tunnel: %.*s", (int)strcspn(answer + 9, "\r\n"), answer + 9);
        return fail(tunnel, transport, text);
    }
    return tunnel->answer.length == head ? 0 : fail(tunnel, transport, "the proxy sent more than its answer");
}

/* What has come is the beginning of no head, however much follows. */
static const char *is_wrong(const struct buf *answer)
{
    static const char begin[] = "HTTP/1.";
    size_t length = answer->length < sizeof begin - 1 ? answer->length : sizeof begin - 1;
    if (memcmp(answer->data, begin, length))
        return "the proxy does not speak HTTP/1.1";
    const char *newline = memchr(answer->data, '\n', answer->length);
    return newline && newline[-1] != '\r' ? "the proxy ends its lines by LF alone" : NULL;
}

/* Looks at what has come so far. The answer is ended by a NUL for that. */
static int look(struct tunnel *tunnel, struct transport *transport)
{
    struct buf *answer = &tunnel->answer;
    int result = UNDECIDED;
    while (result == UNDECIDED && answer->length) {
        const char *why = is_wrong(answer), *end = memmem(answer->data, answer->length, "\r\n\r\n", 4);
        if (why)
            return fail(tunnel, transport, why);
        if (!end)
            break;
        result = judge(tunnel, transport, (size_t)(end - answer->data) + 4);
    }
    return result;
}

static int read_answer(struct tunnel *tunnel, struct transport *transport)
{
    char bytes[4096];
    int result = UNDECIDED;
    while (result == UNDECIDED) {
        ssize_t count = transport->ops->read(transport, bytes, sizeof bytes);
        if (count == TRANSPORT_FAILED)
            return fail_transport(tunnel, transport);
        if (count < 0)
            return (int)count;
        if (count == 0)
            return fail(tunnel, transport, tunnel->answer.length ? "the proxy closed the connection in the middle of its answer"
                                                                 : "the proxy closed the connection without an answer");
        if ((tunnel->received += (size_t)count) > LONGEST_ANSWER)
            return fail(tunnel, transport, "the proxy's answer is too long");
        buf_append(&tunnel->answer, bytes, (size_t)count);
        buf_append(&tunnel->answer, "", 1);
        tunnel->answer.length--;
        result = look(tunnel, transport);
    }
    return result;
}

int tunnel_open(struct tunnel *tunnel, struct transport *transport)
{
    int result = write_request(tunnel, transport);
    return result ? result : read_answer(tunnel, transport);
}
