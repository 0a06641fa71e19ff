/* The connections of a scenario in detail: to which addresses they went, and what was agreed on them. Texts belong to the struct. */
#ifndef LUABENCH_METRICS_CONNECTIONS_H
#define LUABENCH_METRICS_CONNECTIONS_H

#include <stddef.h>
#include <stdint.h>

struct address_metrics {
    char *address;     /* "127.0.0.1:80"; "(other)" */
    uint64_t opened;   /* sum = connection_counts.opened */
    uint64_t failed;   /* attempts that did not come to a connection */
    uint64_t requests; /* that were given to these connections */
};

struct agreed_metrics {
    char *http;        /* "1.1", "2"; "(other)" */
    char *tls;         /* "TLSv1.3"; NULL: in the clear */
    char *cipher;
    uint64_t opened;   /* sum = connection_counts.opened */
    uint64_t resumed;  /* of these, with the TLS session of an earlier one */
};

/* A zeroed one is empty. */
struct connection_details {
    struct address_metrics *addresses; /* in order of first use */
    size_t address_count;
    struct agreed_metrics *agreed;
    size_t agreed_count;
};

/* Adds the counts to those of the same texts; texts are copied when they are new. */
void details_add_address(struct connection_details *details, const struct address_metrics *counts);
void details_add_agreed(struct connection_details *details, const struct agreed_metrics *counts);
void details_merge(struct connection_details *into, const struct connection_details *from);
void details_free(struct connection_details *details);

#endif
