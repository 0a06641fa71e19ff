/* What a connection of the built-in target speaks: one version of HTTP, between the bytes that server_conn.c moves and the answers of pages.c. session.c is what the
 * versions have in common; session_h1.c and session_h2.c are the versions. */
#ifndef LUABENCH_SERVE_SESSION_H
#define LUABENCH_SERVE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "serve/pages.h"

enum { SESSION_VECTORS = 16 };

struct server_conn;

struct session_ops {
    void (*open)(struct server_conn *conn);
    void (*free)(struct server_conn *conn);
    /* Takes bytes from the client, and has what they ask for answered; returns how many were taken. The others are to be given again once something was written. */
    size_t (*input)(struct server_conn *conn, const char *data, size_t length);
    /* Fills `vectors` with what is to be written next, without taking it; returns how many. */
    int (*output)(struct server_conn *conn, struct iovec vectors[SESSION_VECTORS]);
    void (*wrote)(struct server_conn *conn, size_t length);
    /* All is said: the connection ends when nothing is to be written. */
    bool (*ended)(const struct server_conn *conn);
    /* The answer of the request is filled, or the fault takes its place. */
    void (*answer)(struct server_conn *conn, struct incoming *incoming, const struct fault *fault);
    bool reads_always; /* even while the client does not take what is written: it may have to say first how much it takes */
};

extern const struct session_ops session_h1, session_h2;

/* Has a whole request answered, now or after its delay. */
void session_serve(struct server_conn *conn, struct incoming *incoming);
/* Answers a request that was refused: answer.status and `why` say how. */
void session_refuse(struct server_conn *conn, struct incoming *incoming);
/* Forgets the delay of a request that is not to be answered any more. */
void session_forget(struct server_conn *conn, struct incoming *incoming);

#endif
