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

#define SECOND NS_PER_SECOND

static struct scenario_plan closed(struct stage_plan *stages, size_t count)
{
    return (struct scenario_plan){ .stages = stages, .stage_count = count };
}

static struct user_change next(struct user_changes *changes)
{
    struct user_change change;
    assert_true(schedule_next_change(changes, &change));
    return change;
}

static void users_ramp_up_evenly(void **state)
{
    struct stage_plan stage = { .level = 4, .over = 10 * SECOND, .hold = NS_NEVER };
    struct scenario_plan plan = closed(&stage, 1);
    struct user_changes changes;
    struct user_change change;
    plan.start_after = SECOND;
    schedule_changes(&changes, &plan, (struct share){ 0, 1 });
    static const int64_t ms[] = { 1000, 3500, 6000, 8500 };
    for (uint64_t i = 0; i < 4; i++) {
        change = next(&changes);
        assert_true(change.begins && change.number == i && change.at == ms[i] * NS_PER_MS);
    }
    assert_false(schedule_next_change(&changes, &change));
    /* a long ramp of many users does not overflow */
    stage = (struct stage_plan){ .level = 1000000, .over = 1000000 * SECOND };
    plan = closed(&stage, 1);
    schedule_changes(&changes, &plan, (struct share){ 999999, 1000000 });
    assert_int_equal(next(&changes).at, 999999 * SECOND);
}

/* 3 users at once, up to 5, down to 1, up to 2: who comes and goes when. */
static void stages_take_the_newest_users_first(void **state)
{
    struct stage_plan stages[] = { { 3, 0, 10 * SECOND }, { 5, 4 * SECOND, 0 }, { 1, 8 * SECOND, SECOND }, { 2, 2 * SECOND, SECOND } };
    static const struct user_change expected[] = {
        { 0, 0, true }, { 0, 1, true }, { 0, 2, true }, { 10 * SECOND, 3, true }, { 12 * SECOND, 4, true },
        { 16 * SECOND, 4, false }, { 18 * SECOND, 3, false }, { 20 * SECOND, 2, false }, { 22 * SECOND, 1, false }, { 23 * SECOND, 1, true },
    };
    struct scenario_plan plan = closed(stages, COUNT(stages));
    struct user_changes changes;
    struct user_change change;
    schedule_changes(&changes, &plan, (struct share){ 0, 1 });
    for (size_t i = 0; i < COUNT(expected); i++) {
        change = next(&changes);
        assert_int_equal(change.at, expected[i].at);
        assert_int_equal(change.number, expected[i].number);
        assert_int_equal(change.begins, expected[i].begins);
    }
    assert_false(schedule_next_change(&changes, &change));
}

enum { MOST_USERS = 60 };

/* Follows the changes of one share: each user begins only when it is not there, and ends only when it is. Adds user-nanoseconds up to `end`. */
static __int128 follow(const struct scenario_plan *plan, struct share share, int64_t end, int *users)
{
    struct user_changes changes;
    struct user_change change;
    int64_t before = plan->start_after;
    __int128 area = 0;
    bool there[MOST_USERS] = { false };
    schedule_changes(&changes, plan, share);
    while (schedule_next_change(&changes, &change)) {
        assert_true(change.at >= before && change.number % share.count == share.index);
        assert_true(there[change.number] != change.begins);
        there[change.number] = change.begins;
        area += change.begins ? end - change.at : change.at - end;
        before = change.at;
    }
    for (int i = 0; i < MOST_USERS; i++)
        users[i] += there[i];
    return area;
}

/* The area under the ramp of a stage from a to b users: while n come, user i of them is there for the last 1 - i / n of the time, likewise when they go. */
static double area_of_ramp(double a, double b, double over)
{
    double least = a < b ? a : b, n = a < b ? b - a : a - b;
    return over * (least + (n ? (n + 1) / 2 : 0));
}

/* For any stages and any number of shares: the users at the end are 0 .. last - 1, and the time that users spend is the area under the stages. */
static void stages_keep_count_and_area(void **state)
{
    uint64_t seed = 9;
    for (int round = 0; round < 500; round++) {
        struct stage_plan stages[7];
        size_t count = 1 + random_below(&seed, COUNT(stages));
        double level = 0, area = 0;
        int64_t end = 3 * SECOND;
        for (size_t i = 0; i < count; i++) {
            stages[i] = (struct stage_plan){ (double)random_below(&seed, MOST_USERS), (int64_t)random_below(&seed, 3) * SECOND * 7, (int64_t)random_below(&seed, 3) * SECOND };
            area += area_of_ramp(level, stages[i].level, ns_to_seconds(stages[i].over)) + stages[i].level * ns_to_seconds(stages[i].hold);
            level = stages[i].level;
            end += stages[i].over + stages[i].hold;
        }
        struct scenario_plan plan = closed(stages, count);
        plan.start_after = 3 * SECOND;
        int users[MOST_USERS] = { 0 };
        __int128 found = 0;
        unsigned shares = 1 + (unsigned)random_below(&seed, 9);
        for (unsigned i = 0; i < shares; i++)
            found += follow(&plan, (struct share){ i, shares }, end, users);
        for (int i = 0; i < MOST_USERS; i++)
            assert_int_equal(users[i], i < level);
        double difference = (double)found / 1e9 - area;
        assert_true(difference < 1e-6 && difference > -1e-6); /* whole nanoseconds */
    }
}

static void ends_and_deadlines(void **state)
{
    struct scenario_plan plan = { .users = 1, .duration = 5 * NS_PER_SECOND, .start_after = NS_PER_SECOND, .graceful_stop = 2 * NS_PER_SECOND, .warm_up = NS_PER_SECOND };
    assert_int_equal(schedule_end(&plan), 6 * NS_PER_SECOND);
    assert_int_equal(schedule_warm(&plan), 2 * NS_PER_SECOND);
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
    while (schedule_claim(&claims, false, &sequence)) {
        __atomic_fetch_add(&taken[sequence], 1, __ATOMIC_RELAXED);
        ++*(uint64_t *)count;
    }
    return NULL;
}

/* Threads of processes: every number is a member of exactly one thread of exactly one process, and of the process's share. */
static void shares_within_shares_add_up(void **state)
{
    enum { WHOLE = 1000 };
    for (unsigned count = 1; count <= 7; count++) {
        int seen[WHOLE] = { 0 };
        for (unsigned index = 0; index < count; index++) {
            struct share process = { index, count };
            uint64_t total = 0;
            for (unsigned thread = 0; thread <= index; thread++) { /* as many threads as its number says */
                struct share worker = share_within(process, (struct share){ thread, index + 1 });
                total += share_of(worker, WHOLE);
                for (uint64_t k = 0; k < share_of(worker, WHOLE); k++) {
                    assert_int_equal(share_member(worker, k) % count, index);
                    seen[share_member(worker, k)]++;
                }
            }
            assert_int_equal(total, share_of(process, WHOLE));
        }
        for (int i = 0; i < WHOLE; i++)
            assert_int_equal(seen[i], 1);
    }
}

static void claims_of_a_share_have_numbers_of_the_whole(void **state)
{
    struct claims third = { .total = 2, .share = { 2, 4 } };
    uint64_t sequence;
    assert_true(schedule_claim(&third, false, &sequence));
    assert_int_equal(sequence, 3);
    assert_true(schedule_claim(&third, false, &sequence));
    assert_int_equal(sequence, 7);
    assert_false(schedule_claim(&third, false, &sequence));
}

/* Over threads, each of 1 .. total is claimed exactly once. */
static void claims_are_exact(void **state)
{
    pthread_t threads[THREADS];
    uint64_t counts[THREADS] = { 0 }, sum = 0;
    claims.total = TOTAL;
    claims.share = (struct share){ 0, 1 };
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

/* A warm-up has as many iterations as it likes, the total is what follows, and no number is given twice. */
static void warm_ups_are_not_claimed(void **state)
{
    struct claims some = { .total = 3, .warm_up = true, .share = { 0, 1 } };
    uint64_t sequence, expected = 0;
    for (int i = 0; i < 10; i++) {
        assert_true(schedule_claim(&some, i != 4 && i != 6, &sequence));
        assert_int_equal(sequence, ++expected);
    }
    assert_true(schedule_claim(&some, false, &sequence));
    assert_int_equal(sequence, 11);
    assert_false(schedule_claim(&some, false, &sequence));
    assert_true(schedule_claim(&some, true, &sequence));
    assert_int_equal(sequence, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_add_up), cmocka_unit_test(shares_within_shares_add_up), cmocka_unit_test(claims_of_a_share_have_numbers_of_the_whole),
        cmocka_unit_test(users_ramp_up_evenly),
        cmocka_unit_test(stages_take_the_newest_users_first),
        cmocka_unit_test(stages_keep_count_and_area),
        cmocka_unit_test(ends_and_deadlines),
        cmocka_unit_test(claims_are_exact),
        cmocka_unit_test(warm_ups_are_not_claimed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
