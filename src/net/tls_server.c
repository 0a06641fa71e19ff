/* A server whose certificate is made on the fly: enough for the built-in target and the tests. */
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/tls_inside.h"

enum { DAYS = 365, CLOCKS_DIFFER = 24 * 3600 /* s */ };

static void add_extension(X509 *certificate, int kind, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    if (!extension || !X509_add_ext(certificate, extension, -1))
        abort();
    X509_EXTENSION_free(extension);
}

/* A random serial number, so that browsers that saw an older certificate do not take it for the same. */
static void set_serial(X509 *certificate)
{
    uint64_t number = 0;
    RAND_bytes((unsigned char *)&number, sizeof number);
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), number >> 1 | 1);
}

/* RFC 5280: version 3, self-signed, and so its own authority. */
static X509 *make_certificate(EVP_PKEY *key)
{
    X509 *certificate = X509_new();
    X509_NAME *name = X509_get_subject_name(certificate);
    X509_set_version(certificate, X509_VERSION_3);
    set_serial(certificate);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -CLOCKS_DIFFER);
    X509_gmtime_adj(X509_getm_notAfter(certificate), DAYS * 24L * 3600);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_set_pubkey(certificate, key);
    add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate, NID_key_usage, "critical,digitalSignature,keyCertSign");
    add_extension(certificate, NID_ext_key_usage, "serverAuth");
    add_extension(certificate, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1");
    add_extension(certificate, NID_subject_key_identifier, "hash");
    if (!X509_sign(certificate, key, EVP_sha256()))
        abort();
    return certificate;
}

static char *pem_of(X509 *certificate)
{
    char *data;
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, certificate);
    long length = BIO_get_mem_data(bio, &data);
    char *text = mem_text(data, (size_t)length);
    BIO_free(bio);
    return text;
}

/* Chooses HTTP/2 before HTTP/1.1; a client that offers neither gets an alert, one without ALPN what it likes. */
static int choose_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *chosen_length, const unsigned char *offered, unsigned length, void *pointer)
{
    static const unsigned char protocols[] = "\x02h2\x08http/1.1";
    const struct tls_context *context = pointer;
    (void)ssl;
    const unsigned char *ours = context->accept & TLS_HTTP2 ? protocols : protocols + 3;
    unsigned our_length = (context->accept & TLS_HTTP2 ? 3 : 0) + (context->accept & TLS_HTTP1 ? 9 : 0);
    int result = SSL_select_next_proto((unsigned char **)chosen, chosen_length, ours, our_length, offered, length);
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

struct tls_context *tls_server_new(unsigned accept)
{
    tls_memory_init();
    struct tls_context *context = mem_zero(sizeof *context);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    context->ssl = SSL_CTX_new(TLS_server_method());
    if (!key || !context->ssl)
        abort();
    X509 *certificate = make_certificate(key);
    tls_context_prepare(context->ssl);
    SSL_CTX_set_session_cache_mode(context->ssl, SSL_SESS_CACHE_OFF); /* tickets keep the sessions, at the clients' */
    SSL_CTX_set_alpn_select_cb(context->ssl, choose_protocol, context);
    if (!SSL_CTX_use_certificate(context->ssl, certificate) || !SSL_CTX_use_PrivateKey(context->ssl, key))
        abort();
    pthread_mutex_init(&context->lock, NULL);
    context->loaded = true;
    context->accept = accept;
    context->certificate = pem_of(certificate);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return context;
}

const char *tls_server_certificate(const struct tls_context *context)
{
    return context->certificate;
}
