#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/tls_inside.h"

/* The context cannot be used. */
__attribute__((format(printf, 2, 3))) static bool refuse(struct tls_context *context, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&context->why, format, arguments) < 0)
        abort();
    va_end(arguments);
    ERR_clear_error();
    return false;
}

/* Files */

static bool readable(struct tls_context *context, const char *what, const char *path)
{
    struct stat status;
    const char *why = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status))
        why = strerrordesc_np(errno);
    else if (!S_ISREG(status.st_mode)) /* every thread reads it again */
        why = S_ISDIR(status.st_mode) ? "Is a directory" : "it is no regular file";
    else if (status.st_size == 0)
        why = "it is empty";
    if (fd >= 0)
        close(fd);
    return !why || refuse(context, "%s: cannot read %s: %s", what, path, why);
}

static bool load_authorities(struct tls_context *context)
{
    const char *path = context->options->ca;
    if (context->options->insecure)
        return true;
    if (!path)
        return SSL_CTX_set_default_verify_paths(context->ssl) || refuse(context, "the system's certificates cannot be read: %s", tls_reason());
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context->ssl), X509_V_FLAG_PARTIAL_CHAIN); /* what the user trusts need not be a root */
    return readable(context, "ca", path) &&
           (SSL_CTX_load_verify_file(context->ssl, path) || refuse(context, "ca: %s has no certificate in PEM form (OpenSSL: %s)", path, tls_reason()));
}

static bool load_key(struct tls_context *context)
{
    const struct tls_options *options = context->options;
    const char *path = options->key ? options->key : options->cert;
    if (!readable(context, "key", path))
        return false;
    if (SSL_CTX_use_PrivateKey_file(context->ssl, path, SSL_FILETYPE_PEM))
        return true;
    unsigned long code = ERR_peek_error();
    if (ERR_GET_LIB(code) == ERR_LIB_X509 && (ERR_GET_REASON(code) == X509_R_KEY_VALUES_MISMATCH || ERR_GET_REASON(code) == X509_R_KEY_TYPE_MISMATCH))
        return refuse(context, "key: the key in %s is not that of the certificate in %s (OpenSSL: %s)", path, options->cert, tls_reason());
    return refuse(context, "%s: %s has no key that can be used%s: it must be in PEM form, without a passphrase (OpenSSL: %s)", options->key ? "key" : "cert", path,
                  options->key ? "" : ", and no `key` is given", tls_reason());
}

static bool load_certificate(struct tls_context *context)
{
    const char *path = context->options->cert;
    if (!path)
        return true;
    return readable(context, "cert", path) &&
           (SSL_CTX_use_certificate_chain_file(context->ssl, path) ||
            refuse(context, "cert: %s has no certificate in PEM form (OpenSSL: %s)", path, tls_reason())) &&
           load_key(context);
}

/* Nobody is asked for a passphrase. */
static int no_passphrase(char *text, int size, int writing, void *pointer)
{
    (void)text, (void)size, (void)writing, (void)pointer;
    return -1;
}

/* Versions and ciphers */

static bool set_versions(struct tls_context *context)
{
    static const int numbers[] = { [10] = TLS1_VERSION, [11] = TLS1_1_VERSION, [12] = TLS1_2_VERSION, [13] = TLS1_3_VERSION };
    const struct tls_options *options = context->options;
    int most = options->max_version, least = options->min_version ? options->min_version : most && most < 12 ? most : 12;
    if (least < 12)
        SSL_CTX_set_security_level(context->ssl, 0); /* above 0, OpenSSL allows TLS 1.2 and 1.3 alone */
    if (SSL_CTX_set_min_proto_version(context->ssl, numbers[least]) && (!most || SSL_CTX_set_max_proto_version(context->ssl, numbers[most])))
        return true;
    return refuse(context, "min_tls, max_tls: OpenSSL does not have these versions (OpenSSL: %s)", tls_reason());
}

/* OpenSSL keeps the ciphers of TLS 1.3 (suites, TLS_...) apart from the others. */
static void split_ciphers(const char *list, struct buf *suites, struct buf *others)
{
    while (*list) {
        size_t length = strcspn(list, ":, ");
        struct buf *to = strncmp(list, "TLS_", 4) ? others : suites;
        if (length && to->length)
            buf_append(to, ":", 1);
        buf_append(to, list, length);
        list += length;
        list += strspn(list, ":, ");
    }
    buf_append(suites, "", 1);
    buf_append(others, "", 1);
}

/* Sets them; the list that OpenSSL does not take, or NULL. */
static const char *unknown_ciphers(SSL_CTX *ssl, const struct buf *suites, const struct buf *others)
{
    if (suites->length > 1 && !SSL_CTX_set_ciphersuites(ssl, suites->data))
        return suites->data;
    if (others->length > 1 && !SSL_CTX_set_cipher_list(ssl, others->data))
        return others->data;
    return NULL;
}

static bool set_ciphers(struct tls_context *context)
{
    const char *list = context->options->ciphers;
    struct buf suites = { 0 }, others = { 0 };
    if (!list)
        return true;
    split_ciphers(list, &suites, &others);
    const char *unknown = unknown_ciphers(context->ssl, &suites, &others);
    if (unknown)
        refuse(context, "ciphers: OpenSSL does not know %s (`openssl ciphers -s` lists what there is)", unknown);
    buf_free(&suites);
    buf_free(&others);
    return !unknown;
}

/* Sessions */

/* OpenSSL hands over a session; 1: it is kept. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct tls_session *place = tls_of(ssl)->session;
    if (!place)
        return 0;
    SSL_SESSION_free(place->last);
    place->last = session;
    return 1;
}

static void set_sessions(struct tls_context *context)
{
    if (!context->options->resume) {
        SSL_CTX_set_session_cache_mode(context->ssl, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_options(context->ssl, SSL_OP_NO_TICKET);
        return;
    }
    SSL_CTX_set_session_cache_mode(context->ssl, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context->ssl, keep_session);
}

/* The whole */

void tls_context_prepare(SSL_CTX *ssl)
{
    SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(ssl, 1);
}

static bool load(struct tls_context *context)
{
    tls_memory_init();
    context->ssl = SSL_CTX_new(TLS_client_method());
    if (!context->ssl)
        return refuse(context, "OpenSSL cannot be used: %s", tls_reason());
    tls_context_prepare(context->ssl);
    SSL_CTX_set_default_passwd_cb(context->ssl, no_passphrase);
    SSL_CTX_set_verify(context->ssl, context->options->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, context->options->insecure ? NULL : tls_verified);
    set_sessions(context);
    return set_versions(context) && set_ciphers(context) && load_authorities(context) && load_certificate(context);
}

struct tls_context *tls_context_new(const struct tls_options *options)
{
    struct tls_context *context = mem_zero(sizeof *context);
    context->options = options;
    pthread_mutex_init(&context->lock, NULL);
    return context;
}

const char *tls_context_load(struct tls_context *context)
{
    pthread_mutex_lock(&context->lock);
    if (!context->loaded) {
        context->loaded = true;
        load(context);
        ERR_clear_error();
    }
    pthread_mutex_unlock(&context->lock);
    return context->why;
}

void tls_context_free(struct tls_context *context)
{
    if (!context)
        return;
    SSL_CTX_free(context->ssl);
    pthread_mutex_destroy(&context->lock);
    free(context->why);
    free(context->certificate);
    free(context);
}
