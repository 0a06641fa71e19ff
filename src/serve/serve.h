/* The built-in target, `luabench serve`: what examples, tests and the demo run against when nothing else is installed. HTTP/1.1 by the codec of http/ in its server
 * role; one event loop a thread. docs/serve.md lists what it answers.
 *
 * In reading order: serve.c starts and stops, listener.c takes the port, server.c is one thread, server_conn.c one connection, pages.c what each path answers. To
 * add a path: a row and a function in pages.c. */
#ifndef LUABENCH_SERVE_SERVE_H
#define LUABENCH_SERVE_SERVE_H

struct serve_options {
    const char *host; /* name or address; NULL: 127.0.0.1 */
    int port;         /* 0: any free one */
    int threads;      /* each with its own loop and listening socket; below 1: 1 */
};

/* Serves until SIGINT or SIGTERM, whatever their dispositions. Says where on standard output, in one line, once requests can be sent; what goes wrong on standard error.
 * Returns the exit status: 0 after a signal, 3 when it could not listen. */
int serve_run(const struct serve_options *options);

#endif
