/* Connections in detail, and the words of errors: added up by their texts, over workers too. */
#include "metrics/metrics.h"

#include <stdio.h>

#include "test.h"

static void adds_up_by_text(void **state)
{
    (void)state;
    struct connection_details first = { 0 }, second = { 0 };
    char address[] = "127.0.0.1:80";
    details_add_address(&first, &(struct address_metrics){ .address = address, .opened = 1, .failed = 2, .requests = 3 });
    details_add_address(&first, &(struct address_metrics){ .address = (char *)"[::1]:80", .opened = 10 });
    details_add_address(&second, &(struct address_metrics){ .address = (char *)"127.0.0.1:80", .opened = 4, .failed = 5, .requests = 6 });
    details_add_agreed(&first, &(struct agreed_metrics){ .http = (char *)"1.1", .opened = 7 });
    details_add_agreed(&second, &(struct agreed_metrics){ .http = (char *)"1.1", .tls = (char *)"TLSv1.3", .cipher = (char *)"C", .opened = 8, .resumed = 1 });
    details_add_agreed(&second, &(struct agreed_metrics){ .http = (char *)"1.1", .opened = 9 });
    details_merge(&first, &second);
    details_merge(&first, &second);
    assert_int_equal(first.address_count, 2);
    assert_string_equal(first.addresses[0].address, "127.0.0.1:80");
    assert_int_equal(first.addresses[0].opened, 1 + 4 + 4);
    assert_int_equal(first.addresses[0].failed, 2 + 5 + 5);
    assert_int_equal(first.addresses[0].requests, 3 + 6 + 6);
    assert_int_equal(first.agreed_count, 2);
    assert_int_equal(first.agreed[0].opened, 7 + 9 + 9);
    assert_null(first.agreed[0].tls);
    assert_int_equal(first.agreed[1].opened, 8 + 8);
    assert_int_equal(first.agreed[1].resumed, 2);
    details_free(&first);
    details_free(&second);
    assert_int_equal(first.address_count + first.agreed_count, 0);
}

static void keeps_the_first_words_of_each_error(void **state)
{
    (void)state;
    struct metrics first, second;
    const char *name = "s";
    metrics_init(&first, &name, 1);
    metrics_init(&second, &name, 1);
    char text[20];
    for (int i = 0; i < 10; i++) {
        snprintf(text, sizeof text, "text %d", i / 2);
        metrics_error_text(&first, ERR_TLS, text);
    }
    metrics_error_text(&second, ERR_TLS, "another");
    metrics_error_text(&second, ERR_CLOSED, "closed");
    metrics_merge(&first, &second);
    assert_string_equal(first.error_texts[ERR_TLS][0], "text 0");
    assert_string_equal(first.error_texts[ERR_TLS][1], "text 1");
    assert_string_equal(first.error_texts[ERR_TLS][2], "text 2");
    assert_string_equal(first.error_texts[ERR_CLOSED][0], "closed");
    assert_null(first.error_texts[ERR_CLOSED][1]);
    assert_null(first.error_texts[ERR_DNS][0]);
    metrics_free(&first);
    metrics_free(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(adds_up_by_text), cmocka_unit_test(keeps_the_first_words_of_each_error) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
