/* What connections add up to, for a group of clients (the users of a scenario): how many, to which addresses, and what was agreed on them. */
#ifndef LUABENCH_HTTP_COUNTS_H
#define LUABENCH_HTTP_COUNTS_H

#include <stdint.h>

#include "net/resolve.h"

enum {
    COUNTS_ADDRESSES = 256, /* addresses that are told apart; further ones are counted together, under one without a family */
    COUNTS_AGREED = 32,     /* likewise */
};

/* The connections to one address. */
struct address_counts {
    struct address_counts *next;
    struct address address; /* length 0: all that are not told apart */
    uint64_t opened;
    uint64_t failed;   /* attempts that did not come to a connection, whatever else was tried then */
    uint64_t requests; /* that were given to these connections */
};

/* The connections on which the same was agreed. */
struct agreed_counts {
    struct agreed_counts *next;
    int http;            /* 1 or 2; 0: all that are not told apart */
    const char *version; /* of TLS: "TLSv1.3"; NULL: in the clear */
    const char *cipher;
    uint64_t opened;
    uint64_t resumed;    /* of these, the TLS session was one of an earlier connection */
};

/* A struct that the caller owns, zeroed at first; several clients may point at it. */
struct pool_counts {
    uint64_t opened, reused, closed_by_peer, open, max_open;
    uint64_t unasked; /* on which bytes came that answer no request */
    struct address_counts *addresses; /* in order of first use */
    struct agreed_counts *agreed;     /* likewise */
};

/* That of an address, made on first use; valid until counts_free. */
struct address_counts *counts_of_address(struct pool_counts *counts, const struct address *address);
/* Counts a connection; the texts must be static. */
void counts_agreed(struct pool_counts *counts, int http, const char *version, const char *cipher, bool resumed);
/* Releases the lists. */
void counts_free(struct pool_counts *counts);

#endif
