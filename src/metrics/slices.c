#include "metrics/slices.h"

#include <stdlib.h>
#include <string.h>

void slices_free(struct slices *slices)
{
    for (size_t i = 0; i < slices->count; i++) {
        free(slices->list[i].method);
        free(slices->list[i].group);
    }
    free(slices->list);
    *slices = (struct slices){ 0 };
}

/* "a" is around "a" and "a/b", not around "ab". */
static bool is_inside(const char *group, const char *wanted)
{
    size_t length = strlen(wanted);
    return group && !strncmp(group, wanted, length) && (!group[length] || group[length] == '/');
}

uint64_t slices_of(const struct slices *slices, const char *method, const char *group)
{
    uint64_t set = 0;
    for (size_t i = 0; i < slices->count; i++) {
        const struct slice *slice = &slices->list[i];
        if ((!slice->method || !strcmp(slice->method, method)) && (!slice->group || is_inside(group, slice->group)))
            set |= UINT64_C(1) << i;
    }
    return set;
}

bool slice_has(const struct slice *slice, int status, enum err verdict)
{
    return (!slice->last || (status >= slice->first && status <= slice->last)) && (!slice->error || slice->error == verdict);
}
