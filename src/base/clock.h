/* The one clock: CLOCK_MONOTONIC in nanoseconds. Never the event loop's own time, which is one stamp for a whole turn. */
#ifndef LUABENCH_BASE_CLOCK_H
#define LUABENCH_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_NEVER INT64_MAX

/* Nanoseconds since an arbitrary start; about 24 ns a call. */
static inline int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* Nanoseconds as seconds. */
static inline double ns_to_seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

/* Seconds, not negative, as nanoseconds; anything beyond 292 years is NS_NEVER. */
static inline int64_t ns_from_seconds(double seconds)
{
    return seconds >= 9.2e9 ? NS_NEVER : (int64_t)(seconds * 1e9 + 0.5);
}

/* `ns` + `delay` without overflow: NS_NEVER stays NS_NEVER. */
static inline int64_t ns_after(int64_t ns, int64_t delay)
{
    return delay >= NS_NEVER - ns ? NS_NEVER : ns + delay;
}

#endif
