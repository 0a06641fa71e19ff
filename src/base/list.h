/* Doubly linked list whose links are embedded in the listed objects; the owner is found with container_of.
 * A list is a link that points at itself when empty. A link that is in no list points at itself too, so
 * list_remove may be called twice and link_listed tells. Nothing here allocates. */
#ifndef LUABENCH_BASE_LIST_H
#define LUABENCH_BASE_LIST_H

#include <stdbool.h>

#include "base/mem.h"

struct link {
    struct link *next, *previous;
};

static inline void link_init(struct link *link)
{
    link->next = link->previous = link;
}

static inline bool link_listed(const struct link *link)
{
    return link->next != link;
}

static inline bool list_empty(const struct link *list)
{
    return list->next == list;
}

/* Puts `link`, which must be in no list, at the end of `list`. */
static inline void list_append(struct link *list, struct link *link)
{
    link->previous = list->previous;
    link->next = list;
    list->previous->next = link;
    list->previous = link;
}

/* Puts `link`, which must be in no list, at the front of `list`. */
static inline void list_prepend(struct link *list, struct link *link)
{
    list_append(list->next, link);
}

static inline void list_remove(struct link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
    link_init(link);
}

/* Takes the first link out of `list`; NULL when empty. */
static inline struct link *list_shift(struct link *list)
{
    struct link *first = list->next;
    if (first == list)
        return NULL;
    list_remove(first);
    return first;
}

/* Moves everything in `from` to the end of `to`. */
static inline void list_splice(struct link *to, struct link *from)
{
    if (list_empty(from))
        return;
    from->next->previous = to->previous;
    to->previous->next = from->next;
    from->previous->next = to;
    to->previous = from->previous;
    link_init(from);
}

#endif
