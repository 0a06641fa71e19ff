/* What tls*.c share; nobody else includes it. */
#ifndef LUABENCH_NET_TLS_INSIDE_H
#define LUABENCH_NET_TLS_INSIDE_H

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdint.h>

#include "base/buf.h"
#include "net/tls.h"

enum { TLS_FIRST = 11 }; /* bytes that tell what the peer speaks: record header, handshake header, version */

struct tls_context {
    const struct tls_options *options; /* NULL: a server */
    pthread_mutex_t lock;              /* for loading */
    bool loaded;
    SSL_CTX *ssl; /* NULL: not loaded, or it failed */
    char *why;    /* what failed */
    unsigned accept;
    char *certificate; /* of a server, PEM */
};

/* One connection. */
struct tls {
    SSL *ssl;
    int fd;
    int number;       /* errno of the socket call that failed */
    bool open;        /* the handshake is over */
    bool receive;     /* the socket may be read */
    bool filled;      /* the last read of the socket brought as much as it had room for: there may be more */
    bool ended;       /* the peer closed its side */
    bool failed;      /* and so will every further call */
    bool keeps_buffers; /* OpenSSL's, instead of giving them back after every use */
    uint8_t settling; /* reads until nothing is expected any more that is left over from the handshake */
    uint8_t first_count;
    uint8_t first[TLS_FIRST]; /* the first bytes that came */
    struct buf held;  /* what the socket did not take */
    char *text;       /* why it failed */
    struct tls_session *session; /* NULL: sessions are not kept */
};

static inline struct tls *tls_of(const SSL *ssl)
{
    return SSL_get_app_data(ssl);
}

/* tls_context.c */

/* What clients' and servers' connections have in common. */
void tls_context_prepare(SSL_CTX *ssl);

/* tls_memory.c */

/* Before anything else is asked of OpenSSL, without effect after that. */
void tls_memory_init(void);

/* tls_words.c */

/* OpenSSL's verification of a certificate: notes in tls->text why one is refused. */
int tls_verified(int ok, X509_STORE_CTX *store);
/* After a call that failed with SSL_ERROR_SSL: fills tls->text unless it is there, from OpenSSL's queue of errors, which is emptied. */
void tls_explain(struct tls *tls);
/* The reason of the first error in OpenSSL's queue, which is emptied. A static text. */
const char *tls_reason(void);

#endif
