/* Why a handshake failed, in words for people, and OpenSSL's own behind them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/tls_inside.h"

__attribute__((format(printf, 2, 3))) static void say(struct tls *tls, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!tls->text && vasprintf(&tls->text, format, arguments) < 0)
        abort();
    va_end(arguments);
}

const char *tls_reason(void)
{
    unsigned long code = ERR_get_error();
    const char *text = ERR_reason_error_string(code);
    if (!text && ERR_SYSTEM_ERROR(code))
        text = strerrordesc_np((int)ERR_GET_REASON(code));
    ERR_clear_error();
    return text ? text : "no reason given";
}

/* Certificates */

/* The names a certificate is for: "a.example, *.a.example, 10.0.0.1", cut where `size` ends. */
static void names_of(X509 *certificate, char *text, size_t size)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    size_t length = 0;
    *text = '\0';
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && length < size; i++) {
        int type;
        char address[INET6_ADDRSTRLEN] = "";
        const ASN1_STRING *value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, i), &type);
        if (type != GEN_DNS && type != GEN_IPADD)
            continue;
        const unsigned char *bytes = ASN1_STRING_get0_data(value);
        int count = ASN1_STRING_length(value);
        if (type == GEN_IPADD)
            inet_ntop(count == 4 ? AF_INET : AF_INET6, bytes, address, sizeof address);
        length += (size_t)snprintf(text + length, size - length, "%s%.*s", length ? ", " : "", type == GEN_DNS ? count : (int)sizeof address,
                                   type == GEN_DNS ? (const char *)bytes : address);
    }
    GENERAL_NAMES_free(names);
    if (!*text && X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, text, (int)size) <= 0)
        snprintf(text, size, "nobody");
}

/* A time of a certificate: "2024-03-01". */
static void date_of(const ASN1_TIME *time, char text[16])
{
    struct tm date = { 0 };
    ASN1_TIME_to_tm(time, &date);
    strftime(text, 16, "%Y-%m-%d", &date);
}

/* Whom the certificate should be for. */
static void demanded(SSL *ssl, char *text, size_t size)
{
    X509_VERIFY_PARAM *demands = SSL_get0_param(ssl);
    char *address = X509_VERIFY_PARAM_get1_ip_asc(demands);
    const char *name = address ? address : X509_VERIFY_PARAM_get0_host(demands, 0);
    snprintf(text, size, "%s", name ? name : "the host");
    OPENSSL_free(address);
}

#define INSECURE "; --insecure takes it"

static void say_refused(struct tls *tls, X509 *certificate, int error)
{
    char names[80] = "", host[80], date[16];
    const char *openssl = X509_verify_cert_error_string(error);
    switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        date_of(X509_get0_notAfter(certificate), date);
        say(tls, "the certificate has expired on %s (OpenSSL: %s)" INSECURE, date, openssl);
        break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
        date_of(X509_get0_notBefore(certificate), date);
        say(tls, "the certificate is not valid before %s (OpenSSL: %s)" INSECURE, date, openssl);
        break;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        say(tls, "the certificate is self-signed (OpenSSL: %s); --cacert FILE trusts it, --insecure any", openssl);
        break;
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        say(tls, "the certificate is signed by an unknown authority (OpenSSL: %s); --cacert FILE trusts it, --insecure any", openssl);
        break;
    case X509_V_ERR_IP_ADDRESS_MISMATCH: /* an address as a name, or as CN, does not count */
        names_of(certificate, names, sizeof names);
        demanded(tls->ssl, host, sizeof host);
        say(tls, "the certificate is for %s, not for the address %s, which its subjectAltName would have to list (OpenSSL: %s)" INSECURE, names, host, openssl);
        break;
    case X509_V_ERR_HOSTNAME_MISMATCH:
        names_of(certificate, names, sizeof names);
        demanded(tls->ssl, host, sizeof host);
        say(tls, "the certificate is for %s, not for %s (OpenSSL: %s)" INSECURE, names, host, openssl);
        break;
    default: say(tls, "the certificate is refused (OpenSSL: %s)" INSECURE, openssl);
    }
}

int tls_verified(int ok, X509_STORE_CTX *store)
{
    if (ok)
        return 1;
    const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    say_refused(tls_of(ssl), X509_STORE_CTX_get_current_cert(store), X509_STORE_CTX_get_error(store));
    return 0;
}

/* Everything else */

/* The server answered in the clear. */
static bool speaks_http(const struct tls *tls)
{
    return tls->first_count >= 5 && !memcmp(tls->first, "HTTP/", 5);
}

/* What version a ServerHello chose: "TLS 1.1"; NULL: no such thing came. RFC 5246 7.4.1.3 */
static const char *chosen_version(const struct tls *tls)
{
    static const char *const names[] = { "SSL 3.0", "TLS 1.0", "TLS 1.1", "TLS 1.2" };
    const uint8_t *first = tls->first;
    if (tls->first_count < TLS_FIRST || first[0] != 0x16 || first[5] != 2 || first[9] != 3 || first[10] > 3)
        return NULL;
    return names[first[10]];
}

static void say_version(struct tls *tls, const char *openssl)
{
    const char *chosen = chosen_version(tls);
    if (chosen)
        say(tls, "the server chose %s, which is not allowed (OpenSSL: %s); see min_tls and max_tls", chosen, openssl);
    else
        say(tls, "the server speaks none of the versions that are allowed (OpenSSL: %s); see min_tls and max_tls", openssl);
}

/* Something else: an alert of the server's (RFC 8446 6), or what OpenSSL has found. */
static void say_alert(struct tls *tls, int reason, const char *openssl)
{
    if (reason >= SSL_AD_REASON_OFFSET)
        say(tls, "the server sent the alert %d (OpenSSL: %s)", reason - SSL_AD_REASON_OFFSET, openssl);
    else
        say(tls, "OpenSSL: %s", openssl);
}

void tls_explain(struct tls *tls)
{
    unsigned long code = ERR_peek_error();
    int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
    const char *openssl = tls_reason();
    if (speaks_http(tls)) {
        say(tls, "the server does not speak TLS: http:// instead of https://? (OpenSSL: %s)", openssl);
        return;
    }
    switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION: say_version(tls, openssl); break;
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
        say(tls, "the server does not speak TLS (OpenSSL: %s)", openssl);
        break;
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
        say(tls, "the server refused: no cipher in common, or it wants a client's certificate (OpenSSL: %s)", openssl);
        break;
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
        say(tls, "the server wants a client's certificate: --cert and --key (OpenSSL: %s)", openssl);
        break;
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        say(tls, "the server refused the client's certificate (OpenSSL: %s)", openssl);
        break;
    case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
        say(tls, "the server speaks none of the versions of HTTP that were offered by ALPN (OpenSSL: %s)", openssl);
        break;
    case SSL_R_TLSV1_UNRECOGNIZED_NAME:
        say(tls, "the server does not know the name that was sent (SNI) (OpenSSL: %s)", openssl);
        break;
    default: say_alert(tls, reason, openssl);
    }
}
