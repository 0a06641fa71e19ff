#include "run/schedule.h"

#include <pthread.h>

#include "base/clock.h"
#include "test.h"

/* Every number of 0 .. whole - 1 is a member of exactly one share. */
static void shares_add_up(void **state)
{
    uint64_t seed = 1;
    for (int round = 0; round < 200; round++) {
        unsigned count = 1 + (unsigned)random_below(&seed, 9);
        uint64_t whole = random_below(&seed, 1000);
        bool *seen = calloc(whole + 1, sizeof *seen);
        uint64_t total = 0;
        for (unsigned index = 0; index < count; index++) {
            struct share share = { index, count };
            total += share_of(share, whole);
            for (uint64_t k = 0; k < share_of(share, whole); k++) {
                uint64_t member = share_member(share, k);
                assert_true(member < whole && !seen[member]);
                seen[member] = true;
            }
        }
        assert_int_equal(total, whole);
        free(seen);
    }
}

static void users_ramp_up_evenly(void **state)
{
    struct scenario_plan plan = { .users = 4, .ramp_up = 10 * NS_PER_SECOND, .start_after = NS_PER_SECOND };
    assert_int_equal(schedule_user_start(&plan, 0), 1000 * NS_PER_MS);
    assert_int_equal(schedule_user_start(&plan, 1), 3500 * NS_PER_MS);
    assert_int_equal(schedule_user_start(&plan, 3), 8500 * NS_PER_MS);
    /* a long ramp of many users does not overflow */
    plan = (struct scenario_plan){ .users = 1000000, .ramp_up = 1000000 * NS_PER_SECOND };
    assert_int_equal(schedule_user_start(&plan, 999999), 999999 * NS_PER_SECOND);
}

static void ends_and_deadlines(void **state)
{
    struct scenario_plan plan = { .users = 1, .duration = 5 * NS_PER_SECOND, .start_after = NS_PER_SECOND, .graceful_stop = 2 * NS_PER_SECOND };
    assert_int_equal(schedule_end(&plan), 6 * NS_PER_SECOND);
    assert_int_equal(schedule_deadline(&plan), 8 * NS_PER_SECOND);
    struct scenario_plan both[] = { plan, { .users = 1, .duration = NS_NEVER } };
    struct plan known = { .scenarios = both, .scenario_count = 1 }, unknown = { .scenarios = both, .scenario_count = 2 };
    assert_int_equal(schedule_duration(&known), 6 * NS_PER_SECOND);
    assert_int_equal(schedule_duration(&unknown), NS_NEVER);
    assert_int_equal(schedule_deadline(&both[1]), NS_NEVER);
}

enum { THREADS = 4, TOTAL = 100003 };

static struct claims claims;
static unsigned char taken[TOTAL + 1];

static void *take_all(void *count)
{
    uint64_t sequence;
    while (schedule_claim(&claims, &sequence)) {
        __atomic_fetch_add(&taken[sequence], 1, __ATOMIC_RELAXED);
        ++*(uint64_t *)count;
    }
    return NULL;
}

/* Over threads, each of 1 .. total is claimed exactly once. */
static void claims_are_exact(void **state)
{
    pthread_t threads[THREADS];
    uint64_t counts[THREADS] = { 0 }, sum = 0;
    claims.total = TOTAL;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_all, &counts[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += counts[i];
    }
    assert_int_equal(sum, TOTAL);
    assert_int_equal(taken[0], 0);
    for (int i = 1; i <= TOTAL; i++)
        assert_int_equal(taken[i], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_add_up),
        cmocka_unit_test(users_ramp_up_evenly),
        cmocka_unit_test(ends_and_deadlines),
        cmocka_unit_test(claims_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
