/* A part of a whole that is split evenly: member k of the whole (from 0) belongs to the share k mod count. A worker has a share of its machine's, which has a share of
 * the run: any number of threads and machines makes the same users, arrivals and rows. */
#ifndef LUABENCH_BASE_SHARE_H
#define LUABENCH_BASE_SHARE_H

#include <stdint.h>

struct share {
    unsigned index, count; /* index < count */
};

/* How many of `whole` belong to the share; the shares add up to the whole. */
static inline uint64_t share_of(struct share share, uint64_t whole)
{
    return whole / share.count + (share.index < whole % share.count);
}

/* The number (from 0) in the whole of the share's k-th (from 0). */
static inline uint64_t share_member(struct share share, uint64_t k)
{
    return k * share.count + share.index;
}

/* The part `inner` of the members of `outer`. */
static inline struct share share_within(struct share outer, struct share inner)
{
    return (struct share){ outer.index + outer.count * inner.index, outer.count * inner.count };
}

#endif
