#include "run/health.c"

#include "test.h"

#define MS(count) ((int64_t)(count) * NS_PER_MS)

/* A thread that is sampled every 50 ms, and used and waited for as much of each as given. */
static void sample(struct thread_health *thread, int64_t at, int64_t used, int64_t waited)
{
    size_t last = thread->sample_count;
    struct sample now = { .at = at, .used = used, .waited = waited };
    if (last) {
        now.used += sample_number(thread, last - 1)->used;
        now.waited += sample_number(thread, last - 1)->waited;
    }
    *sample_number(thread, thread->sample_count++) = now;
}

static enum stall_cause cause(struct thread_health *thread, const struct health *health, struct stall stall)
{
    return cause_of(health, thread, &stall);
}

static void a_loop_that_computes(void **state)
{
    struct thread_health thread = { 0 };
    struct health health = { 0 };
    for (int i = 0; i < 10; i++)
        sample(&thread, MS(50 * i), i == 4 ? MS(50) : MS(5), 0);
    assert_int_equal(cause(&thread, &health, (struct stall){ .at = MS(152), .length = MS(45) }), STALL_COMPUTING);
}

static void a_core_that_others_use(void **state)
{
    struct thread_health thread = { 0 };
    struct health health = { 0 };
    for (int i = 0; i < 10; i++)
        sample(&thread, MS(50 * i), MS(5), i == 4 ? MS(30) : MS(1));
    assert_int_equal(cause(&thread, &health, (struct stall){ .at = MS(160), .length = MS(32), .asleep = true }), STALL_WAITING);
    assert_int_equal(cause(&thread, &health, (struct stall){ .at = MS(160), .length = MS(32) }), STALL_WAITING);
    assert_int_equal(cause(&thread, &health, (struct stall){ .at = MS(310), .length = MS(32), .asleep = true }), STALL_UNKNOWN);
}

/* Nothing ran for 300 ms, the runner neither. */
static void a_process_that_was_stopped(void **state)
{
    struct thread_health thread = { 0 };
    struct health health = { 0 };
    for (int i = 0; i < 4; i++)
        sample(&thread, MS(50 * i), MS(5), 0);
    for (int i = 0; i < 4; i++)
        sample(&thread, MS(470 + 50 * i), MS(5), MS(1));
    health.last_tick = MS(150);
    note_gap(&health, MS(200), MS(50)); /* in time */
    assert_int_equal(health.gap_count, 0);
    health.last_tick = MS(150);
    note_gap(&health, MS(470), MS(50));
    assert_int_equal(health.gap_count, 1);
    assert_int_equal(cause(&thread, &health, (struct stall){ .at = MS(165), .length = MS(300), .asleep = true }), STALL_STOPPED);
    /* stopped in the middle of a callback */
    assert_int_equal(cause(&thread, &health, (struct stall){ .at = MS(165), .length = MS(300) }), STALL_STOPPED);
    /* one at another time is none of it */
    assert_int_equal(cause(&thread, &health, (struct stall){ .at = MS(520), .length = MS(20), .asleep = true }), STALL_UNKNOWN);
}

/* The runner was late as well, but the thread computed all the time: that is no reason. */
static void a_loop_that_computes_beside_a_runner_that_does_not_run(void **state)
{
    struct thread_health thread = { 0 };
    struct health health = { .last_tick = MS(100) };
    sample(&thread, MS(100), 0, 0);
    sample(&thread, MS(400), MS(290), MS(2));
    note_gap(&health, MS(400), MS(50));
    assert_int_equal(cause(&thread, &health, (struct stall){ .at = MS(110), .length = MS(280) }), STALL_COMPUTING);
}

static void a_gauge_keeps_stalls(void **state)
{
    struct gauge gauge = { 0 };
    struct loop loop = { .entered = MS(1000), .returned = MS(1005), .away = MS(2) };
    gauge_polled(&gauge, &loop);
    assert_int_equal(gauge.added, 0);
    loop = (struct loop){ .entered = MS(2000), .returned = MS(2300), .away = MS(50), .overslept = MS(290) };
    gauge_polled(&gauge, &loop);
    assert_int_equal(gauge.added, 2);
    assert_int_equal(gauge.stalls[0].at, MS(1950));
    assert_int_equal(gauge.stalls[0].length, MS(50));
    assert_false(gauge.stalls[0].asleep);
    assert_int_equal(gauge.stalls[1].at, MS(2010));
    assert_true(gauge.stalls[1].asleep);
    for (int i = 0; i < HEALTH_STALLS; i++)
        gauge_polled(&gauge, &loop);
    assert_int_equal(gauge.added, HEALTH_STALLS);
    assert_int_equal(gauge.more, 2 * HEALTH_STALLS + 2 - HEALTH_STALLS);
    assert_int_equal(gauge.away.count, HEALTH_STALLS + 2);
    gauge_free(&gauge);
}

/* A busy start must not hide the pause that comes later. */
static void the_longest_stalls_are_kept(void **state)
{
    struct gauge gauge = { 0 };
    struct health health = { 0 };
    struct thread_health thread = { .gauge = &gauge, .file = -1 };
    for (int i = 0; i < 3 * HEALTH_STALLS; i++) {
        add_stall(&gauge, MS(100 * i), i == 100 ? MS(3000) : MS(11), false);
        judge_stalls(&health, &thread, true);
    }
    take_stalls(&health, &thread, 0);
    assert_int_equal(gauge.more, 0);
    assert_int_equal(health.figures.stall_count, HEALTH_STALLS);
    assert_int_equal(health.figures.more_stalls, 2 * HEALTH_STALLS);
    int64_t longest = 0;
    for (size_t i = 0; i < HEALTH_STALLS; i++) {
        if (health.figures.stalls[i].length > longest)
            longest = health.figures.stalls[i].length;
        assert_true(i == 0 || health.figures.stalls[i - 1].at <= health.figures.stalls[i].at);
    }
    assert_int_equal(longest, MS(3000));
    free(health.figures.stalls);
}

static void places_are_counted(void **state)
{
    struct health health = { 0 };
    char text[32];
    for (int i = 0; i < 3; i++)
        health_place(&health, "a.lua:7");
    for (int i = 0; i < HEALTH_PLACES + 3; i++) {
        snprintf(text, sizeof text, "b.lua:%d", i);
        health_place(&health, text);
    }
    assert_int_equal(health.figures.place_count, HEALTH_PLACES);
    assert_string_equal(health.figures.places[0].where, "a.lua:7");
    assert_int_equal(health.figures.places[0].seen, 3);
}

/* This very thread, as the kernel sees it. */
static void the_kernel_is_read(void **state)
{
    struct gauge gauge = { 0 };
    struct health health;
    health_begin(&health, clock_ns(), (struct gauge *[]){ &gauge }, (pid_t[]){ gettid() }, 1);
    if (health.threads[0].file < 0) { /* a kernel that does not say */
        health_free(&health);
        skip();
    }
    int64_t begun = clock_ns(), used = health.threads[0].first.used;
    struct sample now;
    do
        assert_true(sample_thread(&health.threads[0], &now));
    while (now.used - used < MS(20) && clock_ns() - begun < MS(20000));
    assert_true(now.used - used >= MS(20));
    health_tick(&health, MS(50));
    health_end(&health);
    assert_true(health.figures.waited >= 0);
    assert_true(health.figures.machine <= 1 && health.figures.stolen <= 1);
    health_free(&health);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_that_computes),
        cmocka_unit_test(a_core_that_others_use),
        cmocka_unit_test(a_process_that_was_stopped),
        cmocka_unit_test(a_loop_that_computes_beside_a_runner_that_does_not_run),
        cmocka_unit_test(a_gauge_keeps_stalls),
        cmocka_unit_test(the_longest_stalls_are_kept),
        cmocka_unit_test(places_are_counted),
        cmocka_unit_test(the_kernel_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
