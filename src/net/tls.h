/* TLS as a transport, on a TCP connection that another transport has made. OpenSSL 3, seen in tls*.c alone.
 *
 * In reading order: tls_context.c is what connections share (options, certificates), tls.c moves bytes, tls_words.c says in words why a handshake failed,
 * tls_server.c is the server's side for the built-in target and the tests. */
#ifndef LUABENCH_NET_TLS_H
#define LUABENCH_NET_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "net/transport.h"

/* What is offered to the peer (ALPN, RFC 7301), or accepted from it; a set. */
enum { TLS_HTTP1 = 1, TLS_HTTP2 = 2 };

/* What the client demands. Texts must live as long as the context. */
struct tls_options {
    bool insecure;       /* whatever certificate the server has is taken */
    bool resume;         /* sessions are resumed */
    int min_version, max_version; /* 10, 11, 12, 13 for TLS 1.0 to 1.3; 0: 1.2, and the newest */
    const char *ca;      /* PEM file of the authorities that are trusted instead of the system's; NULL: those */
    const char *cert;    /* PEM file with the client's certificate and its chain; NULL: none */
    const char *key;     /* PEM file with its key; NULL: it is in the same file */
    const char *sni;     /* name that is sent and verified instead of the host's; NULL: that */
    const char *ciphers; /* OpenSSL's names, those of TLS 1.3 among them, with colons between; NULL: OpenSSL's choice */
};

/* Shared by any number of connections and threads. */
struct tls_context;
/* Reads no file yet, which takes a tenth of a second for the system's authorities. */
struct tls_context *tls_context_new(const struct tls_options *options);
/* Reads the files, unless that has been done; tls_connect would do it. NULL, or what is wrong, in words that name the file; they belong to the context. */
const char *tls_context_load(struct tls_context *context);
/* After its last connection; NULL does nothing. */
void tls_context_free(struct tls_context *context);

/* The session that a server gave last, to be resumed by the next connection to it: one for each server and context, zeroed at first. */
struct tls_session {
    struct ssl_session_st *last; /* NULL: none */
};
void tls_session_free(struct tls_session *session);

/* Puts TLS on a connected transport: its ops are those of TLS then. `host` is a name or an address, whose certificate is demanded; `offer` a set of TLS_HTTP*;
 * `session` must outlive the transport. As ops->open. Closing the transport closes the socket too. */
int tls_connect(struct transport *transport, struct tls_context *context, const char *host, unsigned offer, struct tls_session *session);

/* What was agreed upon; when open() has returned 0. */
struct tls_agreed {
    const char *version; /* "TLSv1.3" */
    int number;          /* the same as 13 */
    const char *cipher;  /* "TLS_AES_256_GCM_SHA384" */
    unsigned protocol;   /* one of TLS_HTTP*; 0: the peer did not choose one */
    bool resumed;
};
struct tls_agreed tls_agreed(const struct transport *transport);

/* A server with a certificate of its own making, for localhost, 127.0.0.1 and ::1; `accept` is a set of TLS_HTTP*, of which the client's choice is ours in the order
 * HTTP/2, HTTP/1.1. Aborts when OpenSSL cannot make a key. */
struct tls_context *tls_server_new(unsigned accept);
/* Its certificate as PEM, which a client can trust with `ca`; belongs to the context. */
const char *tls_server_certificate(const struct tls_context *context);
/* The server's side of a connected transport; as tls_connect. */
int tls_accept(struct transport *transport, struct tls_context *context);

#endif
