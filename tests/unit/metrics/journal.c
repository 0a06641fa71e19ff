/* The ring between a worker and the writer of its requests: order, what happens when it is full, two threads at once. */
#include "metrics/journal.h"

#include <pthread.h>

#include "test.h"

static bool put(struct journal *journal, uint64_t user)
{
    struct journal_record *record = journal_next(journal);
    if (!record)
        return false;
    *record = (struct journal_record){ .user = user };
    journal_commit(journal);
    return true;
}

static void gives_what_was_put_in_order(void **state)
{
    struct journal journal;
    const struct journal_record *records;
    journal_init(&journal);
    assert_int_equal(journal_waiting(&journal, &records), 0);
    for (uint64_t i = 0; i < 3; i++)
        assert_true(put(&journal, i));
    assert_int_equal(journal_waiting(&journal, &records), 3);
    assert_int_equal(records[2].user, 2);
    journal_take(&journal, 2);
    assert_int_equal(journal_waiting(&journal, &records), 1);
    assert_int_equal(records[0].user, 2);
    journal_free(&journal);
}

static void a_record_is_two_cache_lines(void **state)
{
    assert_int_equal(sizeof(struct journal_record), 128);
}

static void counts_what_finds_no_room(void **state)
{
    struct journal journal;
    const struct journal_record *records;
    journal_init(&journal);
    for (uint64_t i = 0; i < JOURNAL_RECORDS; i++)
        assert_true(put(&journal, i));
    for (int i = 0; i < 5; i++)
        assert_false(put(&journal, 0));
    assert_int_equal(journal_lost(&journal), 5);
    assert_int_equal(journal_waiting(&journal, &records), JOURNAL_RECORDS);
    journal_take(&journal, 1);
    assert_true(put(&journal, 77)); /* in the place of the first */
    assert_false(put(&journal, 0));
    assert_int_equal(journal_waiting(&journal, &records), JOURNAL_RECORDS - 1);
    assert_int_equal(records[0].user, 1);
    journal_take(&journal, JOURNAL_RECORDS - 1);
    assert_int_equal(journal_waiting(&journal, &records), 1);
    assert_int_equal(records[0].user, 77);
    journal_free(&journal);
}

enum { MANY = 3000000 };

static void *writer(void *argument)
{
    for (uint64_t i = 0; i < MANY; i++)
        put(argument, i);
    return NULL;
}

static uint64_t take_all(struct journal *journal, uint64_t *next)
{
    const struct journal_record *records;
    size_t count = journal_waiting(journal, &records);
    for (size_t i = 0; i < count; i++) {
        assert_true(records[i].user >= *next); /* those that were lost are left out */
        *next = records[i].user + 1;
    }
    journal_take(journal, count);
    return count;
}

static void two_threads_lose_nothing_uncounted(void **state)
{
    struct journal journal;
    pthread_t thread;
    uint64_t taken = 0, next = 0, more;
    journal_init(&journal);
    pthread_create(&thread, NULL, writer, &journal);
    while (taken + journal_lost(&journal) < MANY)
        taken += take_all(&journal, &next);
    pthread_join(thread, NULL);
    while ((more = take_all(&journal, &next)))
        taken += more;
    assert_int_equal(taken + journal_lost(&journal), MANY);
    journal_free(&journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_what_was_put_in_order), cmocka_unit_test(a_record_is_two_cache_lines), cmocka_unit_test(counts_what_finds_no_room),
        cmocka_unit_test(two_threads_lose_nothing_uncounted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
