#include "http/counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool same_address(const struct address *a, const struct address *b)
{
    return a->length == b->length && !memcmp(&a->any, &b->any, a->length);
}

struct address_counts *counts_of_address(struct pool_counts *counts, const struct address *address)
{
    struct address_counts **place = &counts->addresses;
    int i = 0;
    for (; *place && i < COUNTS_ADDRESSES; place = &(*place)->next, i++)
        if (same_address(&(*place)->address, address))
            return *place;
    if (!*place) {
        *place = mem_zero(sizeof **place);
        if (i < COUNTS_ADDRESSES)
            (*place)->address = *address;
    }
    return *place;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static struct agreed_counts *counts_of_agreed(struct pool_counts *counts, int http, const char *version, const char *cipher)
{
    struct agreed_counts **place = &counts->agreed;
    int i = 0;
    for (; *place && i < COUNTS_AGREED; place = &(*place)->next, i++)
        if ((*place)->http == http && same_text((*place)->version, version) && same_text((*place)->cipher, cipher))
            return *place;
    if (!*place) {
        *place = mem_zero(sizeof **place);
        if (i < COUNTS_AGREED)
            **place = (struct agreed_counts){ .http = http, .version = version, .cipher = cipher };
    }
    return *place;
}

void counts_agreed(struct pool_counts *counts, int http, const char *version, const char *cipher, bool resumed)
{
    struct agreed_counts *of = counts_of_agreed(counts, http, version, cipher);
    of->opened++;
    of->resumed += resumed;
}

void counts_free(struct pool_counts *counts)
{
    struct address_counts *address;
    struct agreed_counts *agreed;
    while ((address = counts->addresses)) {
        counts->addresses = address->next;
        free(address);
    }
    while ((agreed = counts->agreed)) {
        counts->agreed = agreed->next;
        free(agreed);
    }
}
