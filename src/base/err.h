/* Why a request failed. One list gives the enum, the name that scripts, reports and result files show, and a sentence.
 * To add one: add a row. Names are a promise to users (docs: script-api, `res.error`). */
#ifndef LUABENCH_BASE_ERR_H
#define LUABENCH_BASE_ERR_H

#define ERR_MAP(X) \
    X(NONE, "none", "no error") \
    X(DNS, "dns", "the host name could not be resolved") \
    X(CONNECT, "connect", "no connection could be made") \
    X(CONNECT_TIMEOUT, "connect_timeout", "the connection was not made in time") \
    X(TLS, "tls", "the TLS handshake failed") \
    X(TIMEOUT, "timeout", "the response was not complete in time") \
    X(RESET, "reset", "the connection was reset by the peer") \
    X(CLOSED, "closed", "the connection was closed before the response was complete") \
    X(PROTOCOL, "protocol", "the peer did not follow the protocol") \
    X(TOO_LARGE, "too_large", "the response was larger than allowed") \
    X(REFUSED_STREAM, "refused_stream", "the peer refused the stream") \
    X(NO_PORTS, "no_ports", "no local port is free") \
    X(NO_DESCRIPTORS, "no_descriptors", "no file descriptor is free") \
    X(STATUS, "status", "the status is not an accepted one") \
    X(UNEXPECTED, "unexpected", "the response is not the expected one") \
    X(INTERRUPTED, "interrupted", "the request was interrupted by the end of the run")

enum err {
#define X(id, name, text) ERR_##id,
    ERR_MAP(X)
#undef X
    ERR_COUNT
};

/* "timeout", "reset", ...: the name of `err` in scripts, reports and result files. */
const char *err_name(enum err err);
/* `err` in a sentence without a full stop. */
const char *err_text(enum err err);

#endif
