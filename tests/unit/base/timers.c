#include "base/timers.h"

#include "base/clock.h"
#include "base/mem.h"
#include "test.h"

enum { TIMERS = 200, SPAN = 1000 };

/* The timers under test beside a model that looks through all deadlines. */
struct entry {
    struct timer timer;
    int64_t deadline; /* by the model; NS_NEVER: not running */
};

static struct timers timers;
static struct entry entries[TIMERS];
static int64_t now;
static uint64_t seed;
static size_t fired;
static bool meddle; /* the expired function sets, clears and removes timers */

static int64_t earliest(void)
{
    int64_t first = NS_NEVER;
    for (size_t i = 0; i < TIMERS; i++)
        if (entries[i].deadline < first)
            first = entries[i].deadline;
    return first;
}

static void set(struct entry *entry, int64_t deadline)
{
    timers_set(&timers, &entry->timer, deadline);
    entry->deadline = deadline;
}

static void clear(struct entry *entry)
{
    timers_clear(&entry->timer);
    entry->deadline = NS_NEVER;
}

static void remove_entry(struct entry *entry)
{
    timers_remove(&timers, &entry->timer);
    entry->deadline = NS_NEVER;
    assert_int_equal(entry->timer.position, 0);
}

static void step(void)
{
    struct entry *entry = &entries[random_below(&seed, TIMERS)];
    switch (random_below(&seed, 10)) {
    case 0:
        remove_entry(entry);
        break;
    case 1:
    case 2:
        clear(entry);
        break;
    case 3: /* a little earlier or later than it is */
        if (entry->deadline != NS_NEVER) {
            int64_t moved = entry->deadline + (int64_t)random_below(&seed, 21) - 10;
            set(entry, moved > now ? moved : now + 1);
        }
        break;
    default:
        set(entry, now + 1 + (int64_t)random_below(&seed, SPAN));
    }
}

static void expired(struct timer *timer)
{
    struct entry *entry = container_of(timer, struct entry, timer);
    assert_int_not_equal(entry->deadline, NS_NEVER);
    assert_true(entry->deadline <= now);
    assert_int_equal(entry->deadline, earliest());
    assert_false(timer_running(timer));
    entry->deadline = NS_NEVER;
    fired++;
    for (uint64_t i = meddle ? random_below(&seed, 4) : 0; i > 0; i--)
        step();
}

static int start(void **state)
{
    seed = 1;
    now = 0;
    fired = 0;
    meddle = false;
    timers = (struct timers){ 0 };
    for (size_t i = 0; i < TIMERS; i++) {
        timer_init(&entries[i].timer, expired);
        entries[i].deadline = NS_NEVER;
    }
    return 0;
}

static int end(void **state)
{
    timers_free(&timers);
    return 0;
}

static void assert_heap_agrees(void)
{
    for (size_t i = 0; i < timers.count; i++) {
        assert_int_equal(timers.heap[i]->position, i + 1);
        assert_true(timers.heap[i]->queued <= timers.heap[i]->deadline);
        assert_true(timers.heap[i]->queued >= timers_next(&timers));
    }
    for (size_t i = 0; i < TIMERS; i++)
        assert_int_equal(timer_running(&entries[i].timer), entries[i].deadline != NS_NEVER);
    assert_true(timers_next(&timers) <= earliest());
}

static void run_against_the_model(void)
{
    for (int turn = 0; turn < 5000; turn++) {
        for (uint64_t i = random_below(&seed, 20); i > 0; i--)
            step();
        now += (int64_t)random_below(&seed, 60);
        timers_expire(&timers, now);
        assert_true(earliest() > now);
        assert_true(timers_next(&timers) > now);
        assert_heap_agrees();
    }
    assert_true(fired > 1000);
}

static void fires_like_the_model(void **state)
{
    run_against_the_model();
}

static void fires_like_the_model_when_callbacks_meddle(void **state)
{
    meddle = true;
    run_against_the_model();
}

static void waits_exactly_as_told(void **state)
{
    /* whoever sleeps until timers_next and expires then fires every timer at its very deadline */
    for (size_t i = 0; i < TIMERS; i++)
        set(&entries[i], 1 + (int64_t)random_below(&seed, SPAN));
    for (int i = 0; i < 3 * TIMERS; i++)
        step();
    int64_t next;
    while ((next = timers_next(&timers)) != NS_NEVER) {
        int64_t due = earliest();
        assert_true(next > now);
        assert_true(next <= due);
        now = next;
        size_t before = fired;
        timers_expire(&timers, now);
        assert_int_equal(fired > before, now == due);
    }
    assert_int_equal(earliest(), NS_NEVER);
    assert_int_equal(timers.count, 0);
}

static void moving_later_and_clearing_leave_the_heap_alone(void **state)
{
    set(&entries[0], 100);
    set(&entries[1], 50);
    struct timer *first = &entries[1].timer;
    for (int64_t later = 50; later < 500; later += 50) {
        set(&entries[1], later);
        assert_int_equal(first->position, 1);
        assert_int_equal(first->queued, 50);
        timers_clear(first);
        assert_int_equal(first->position, 1);
    }
    set(&entries[1], 500);
    now = 60;
    timers_expire(&timers, now);
    assert_int_equal(fired, 0);
    assert_int_equal(timers_next(&timers), 100);
    assert_int_equal(first->queued, 500);
}

static void a_cleared_one_leaves_the_heap_when_its_time_comes(void **state)
{
    set(&entries[0], 100);
    clear(&entries[0]);
    assert_int_equal(timers_next(&timers), 100);
    timers_expire(&timers, 99);
    assert_int_equal(timers.count, 1);
    timers_expire(&timers, 100);
    assert_int_equal(timers.count, 0);
    assert_int_equal(timers_next(&timers), NS_NEVER);
    assert_int_equal(fired, 0);
}

static void a_lazy_one_keeps_the_order(void **state)
{
    /* `expired` asserts that the earliest comes first; the lazy one lies before it in the heap */
    set(&entries[0], 5);
    set(&entries[0], 9);
    set(&entries[1], 7);
    now = 10;
    timers_expire(&timers, now);
    assert_int_equal(fired, 2);
}

static void never_is_never(void **state)
{
    set(&entries[0], NS_NEVER);
    timers_expire(&timers, NS_NEVER - 1);
    assert_int_equal(fired, 0);
    assert_int_equal(timers_next(&timers), NS_NEVER);
    remove_entry(&entries[0]);
    remove_entry(&entries[0]);
    assert_int_equal(timers.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fires_like_the_model, start, end),
        cmocka_unit_test_setup_teardown(fires_like_the_model_when_callbacks_meddle, start, end),
        cmocka_unit_test_setup_teardown(waits_exactly_as_told, start, end),
        cmocka_unit_test_setup_teardown(moving_later_and_clearing_leave_the_heap_alone, start, end),
        cmocka_unit_test_setup_teardown(a_cleared_one_leaves_the_heap_when_its_time_comes, start, end),
        cmocka_unit_test_setup_teardown(a_lazy_one_keeps_the_order, start, end),
        cmocka_unit_test_setup_teardown(never_is_never, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
