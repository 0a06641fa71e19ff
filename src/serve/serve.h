/* The built-in target, `luabench serve`: what examples, tests and the demo run against when nothing else is installed. HTTP/1.1 and HTTP/2 by the codecs of http/ in
 * their server role, in the clear and over TLS; one event loop a thread. docs/serve.md lists what it answers.
 *
 * In reading order: serve.c starts and stops, server.c is one thread, server_conn.c the bytes of one connection, session*.c what is
 * spoken on it, pages.c what each path answers. To add a path: a row and a function in pages.c. */
#ifndef LUABENCH_SERVE_SERVE_H
#define LUABENCH_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/pool.h"

struct serve_options {
    const char *host; /* name or address; NULL: 127.0.0.1 */
    int port;         /* 0: any free one */
    int threads;      /* each with its own loop and listening socket; below 1: 1 */
    enum http_version http; /* what is spoken; HTTP_AUTO: what the client chooses */
    bool tls;              /* with a certificate made for this run */
    const char *cert_out;  /* file that the certificate is written to, as PEM; NULL: none */
    uint64_t goaway_after; /* requests on a connection, which then takes no more; 0: no limit */
    uint32_t streams;      /* most streams on a connection */
    uint32_t window;       /* bytes of a body that may be under way on a stream */
    size_t read_rate;      /* bytes a second that are read from a connection; 0: as fast as they come */
};

/* Serves until SIGINT or SIGTERM, whatever their dispositions. Says where on standard output, in one line, once requests can be sent; what goes wrong on standard error.
 * Returns the exit status: 0 after a signal, 3 when it could not listen or not write
 * the certificate. */
int serve_run(const struct serve_options *options);

#endif
