#include "metrics/connections.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static char *copy_of(const char *text)
{
    return text ? mem_text(text, strlen(text)) : NULL;
}

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static struct address_metrics *find_address(struct connection_details *details, const char *address)
{
    for (size_t i = 0; i < details->address_count; i++)
        if (same(details->addresses[i].address, address))
            return &details->addresses[i];
    details->addresses = mem_resize(details->addresses, (details->address_count + 1) * sizeof *details->addresses);
    struct address_metrics *added = &details->addresses[details->address_count++];
    *added = (struct address_metrics){ .address = copy_of(address) };
    return added;
}

void details_add_address(struct connection_details *details, const struct address_metrics *counts)
{
    struct address_metrics *into = find_address(details, counts->address);
    into->opened += counts->opened;
    into->failed += counts->failed;
    into->requests += counts->requests;
}

static struct agreed_metrics *find_agreed(struct connection_details *details, const struct agreed_metrics *like)
{
    for (size_t i = 0; i < details->agreed_count; i++) {
        struct agreed_metrics *known = &details->agreed[i];
        if (same(known->http, like->http) && same(known->tls, like->tls) && same(known->cipher, like->cipher))
            return known;
    }
    details->agreed = mem_resize(details->agreed, (details->agreed_count + 1) * sizeof *details->agreed);
    struct agreed_metrics *added = &details->agreed[details->agreed_count++];
    *added = (struct agreed_metrics){ .http = copy_of(like->http), .tls = copy_of(like->tls), .cipher = copy_of(like->cipher) };
    return added;
}

void details_add_agreed(struct connection_details *details, const struct agreed_metrics *counts)
{
    struct agreed_metrics *into = find_agreed(details, counts);
    into->opened += counts->opened;
    into->resumed += counts->resumed;
}

void details_merge(struct connection_details *into, const struct connection_details *from)
{
    for (size_t i = 0; i < from->address_count; i++)
        details_add_address(into, &from->addresses[i]);
    for (size_t i = 0; i < from->agreed_count; i++)
        details_add_agreed(into, &from->agreed[i]);
}

void details_free(struct connection_details *details)
{
    for (size_t i = 0; i < details->address_count; i++)
        free(details->addresses[i].address);
    for (size_t i = 0; i < details->agreed_count; i++) {
        free(details->agreed[i].http);
        free(details->agreed[i].tls);
        free(details->agreed[i].cipher);
    }
    free(details->addresses);
    free(details->agreed);
    *details = (struct connection_details){ 0 };
}
