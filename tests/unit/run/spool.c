#include "run/spool.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "test.h"

enum { RECORDS = 300 };

/* Of record `i`, lengths from 0 to 20 KB. */
static size_t make(char *text, int i)
{
    size_t length = (size_t)i * (size_t)i * 20000 / (RECORDS * RECORDS);
    for (size_t k = 0; k < length; k++)
        text[k] = (char)(i * 31 + (int)k);
    return length;
}

static void put_and_get(struct spool *spool, size_t in_memory)
{
    static char text[20000];
    struct spooled spooled[RECORDS];
    size_t found = 0;
    for (int i = 0; i < RECORDS; i++) {
        spooled[i] = spool_put(spool, text, make(text, i));
        found += spooled[i].in_memory && spooled[i].length;
    }
    if (in_memory)
        assert_true(found >= in_memory);
    else
        assert_int_equal(found, 0);
    for (int i = RECORDS - 1; i >= 0; i--) {
        struct buf out = { 0 };
        buf_append(&out, "before", 6);
        size_t length = make(text, i);
        assert_true(spool_get(spool, spooled[i], &out));
        assert_int_equal(out.length, 6 + length);
        assert_memory_equal(out.data, "before", 6);
        if (length)
            assert_memory_equal(out.data + 6, text, length);
        buf_free(&out);
    }
    spool_free(spool);
}

static void what_was_put_aside_comes_back(void **state)
{
    struct spool spool;
    spool_init(&spool);
    assert_true(spool.fd >= 0);
    put_and_get(&spool, 0);
}

static void memory_serves_without_a_file(void **state)
{
    struct spool spool = { .fd = -1 };
    put_and_get(&spool, RECORDS - 20);
}

/* A limit on the size of files is a full disk. */
static void memory_serves_what_the_disk_does_not_take(void **state)
{
    struct spool spool;
    struct rlimit before, little;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    little = before;
    little.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &little);
    spool_init(&spool);
    put_and_get(&spool, 100);
    setrlimit(RLIMIT_FSIZE, &before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_aside_comes_back),
        cmocka_unit_test(memory_serves_without_a_file),
        cmocka_unit_test(memory_serves_what_the_disk_does_not_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
