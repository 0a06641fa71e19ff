/* A request as a line, in each format: figures, and names that want to be something else than names. */
#include "run/journal_lines.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "run/journal_text.h"
#include "test.h"

static struct scenario_plan scenarios[] = { { .name = "main" } };
static char *secrets[] = { "s3cret" };
static const struct plan plan = { .scenarios = scenarios, .scenario_count = 1, .journal = { .secrets = secrets, .secret_count = 1 } };
static char text[JOURNAL_LINE];

/* The line of the record under that name. */
static const char *line(const struct journal_lines *format, const char *name, struct journal_record record)
{
    struct scenario_metrics scenario = { .name = "main" };
    struct name_metrics metrics = { .name = name, .scenario = &scenario };
    struct journal_view view = { .wall = INT64_C(1700000000000000000), .users = 2, .all_users = 3 };
    struct labels labels;
    labels_init(&labels, &plan);
    record.name = &metrics;
    *format->line(text, &record, labels_of(&labels, &metrics), &view) = '\0';
    labels_free(&labels);
    return text;
}

/* 1 ms blocked, 2 ms connect, 10 ms wait, 5 ms receive; it began at 1,000 s of the clock. */
static const struct journal_record whole = {
    .user = 7, .due = 1000000000000, .started = 1000000000000, .assigned = 1000001000000, .connect = 2000000, .sent = 1000003000000, .first_byte = 1000013000000,
    .ended = 1000018000000, .bytes_sent = 100, .bytes_received = 2000, .status = 200, .version = 11,
};

static void ndjson_has_times_and_phases(void **state)
{
    assert_string_equal(line(&journal_ndjson, "GET /", whole),
                        "{\"due\":1700001000.000000,\"started\":1700001000.000000,\"ended\":1700001000.018000,\"latency\":0.018000000,\"latency_from_intended\":null,"
                        "\"earlier\":null,\"blocked\":0.001000000,\"dns\":null,\"connect\":0.002000000,\"tls\":null,\"wait\":0.010000000,\"receive\":0.005000000,"
                        "\"status\":200,\"error\":null,\"sent\":100,\"received\":2000,\"http\":\"1.1\",\"reused\":false,\"phase\":\"run\",\"user\":7,"
                        "\"scenario\":\"main\",\"name\":\"GET /\"}\n");
}

static void ndjson_of_an_open_model_has_the_due_time(void **state)
{
    struct journal_record record = whole;
    record.open = true;
    record.due -= 500000000;
    line(&journal_ndjson, "GET /", record);
    assert_non_null(strstr(text, "{\"due\":1700000999.500000,\"started\":1700001000.000000,"));
    assert_non_null(strstr(text, "\"latency\":0.018000000,\"latency_from_intended\":0.518000000,"));
}

static void ndjson_of_what_never_came_is_null(void **state)
{
    struct journal_record record = { .started = 1000000000000, .ended = 1000001000000, .error = ERR_TIMEOUT, .phase = JOURNAL_WARM_UP };
    line(&journal_ndjson, "GET /", record);
    assert_non_null(strstr(text, "\"latency\":null,\"latency_from_intended\":null,\"earlier\":null,\"blocked\":null,"));
    assert_non_null(strstr(text, "\"wait\":null,\"receive\":null,\"status\":null,\"error\":\"timeout\","));
    assert_non_null(strstr(text, "\"http\":null,\"reused\":false,\"phase\":\"warm_up\",\"user\":0,"));
}

static void jtl_has_the_columns_of_its_header(void **state)
{
    assert_string_equal(line(&journal_jtl, "GET /", whole), "1700001000000,18,GET /,200,,main 1-7,text,true,,2000,100,2,3,null,13,0,2\n");
    unsigned header = 0, row = 0;
    for (const char *at = journal_jtl.header; *at; at++)
        header += *at == ',';
    for (const char *at = text; *at; at++)
        row += *at == ',';
    assert_int_equal(header, row);
}

static void jtl_says_what_failed(void **state)
{
    struct journal_record record = { .started = 1000000000000, .ended = 1000001000000, .error = ERR_TIMEOUT };
    assert_string_equal(line(&journal_jtl, "GET /", record),
                        "1700001000000,1,GET /,Non HTTP response code: timeout,Non HTTP response message: the response was not complete in time,main 1-0,text,false,"
                        "the response was not complete in time,0,0,2,3,null,0,0,0\n");
    for (int i = 1; i < ERR_COUNT; i++)
        assert_null(strpbrk(err_text((enum err)i), ",\"\n")); /* they are written without quotes */
}

static void jtl_leaves_out_what_is_in_no_figure(void **state)
{
    struct journal_record record = whole;
    for (int phase = JOURNAL_WARM_UP; phase <= JOURNAL_TEARDOWN; phase++) {
        record.phase = (uint8_t)phase;
        assert_string_equal(line(&journal_jtl, "GET /", record), "");
    }
}

static const char *label(const char *name, bool csv)
{
    struct scenario_metrics scenario = { .name = "main" };
    struct name_metrics metrics = { .name = name, .scenario = &scenario };
    struct labels labels;
    labels_init(&labels, &plan);
    const struct label *made = labels_of(&labels, &metrics);
    const struct buf *shown = csv ? &made->csv : &made->json;
    snprintf(text, sizeof text, "%.*s", (int)shown->length, shown->data);
    labels_free(&labels);
    return csv ? text : strstr(text, "\"name\":") + 7;
}

static void names_steer_no_terminal_and_no_spreadsheet(void **state)
{
    assert_string_equal(label("=cmd|' /C calc'!A0", true), "'=cmd|' /C calc'!A0");
    assert_string_equal(label("+1", true), "'+1");
    assert_string_equal(label("-1", true), "'-1");
    assert_string_equal(label("@SUM(1,2)", true), "\"'@SUM(1,2)\"");
    assert_string_equal(label("say \"hi\"", true), "\"say \"\"hi\"\"\"");
    assert_string_equal(label("a\x1b[2Jb\r\x7f", true), "a\\x1b[2Jb\\x0d\\x7f");
    assert_string_equal(label("a\xc2\x9b" "2J", true), "a\\xc2\\x9b2J"); /* CSI as one character of C1 */
    assert_string_equal(label("a\x1b[2J\"", false), "\"a\\\\x1b[2J\\\"\"");
}

static void names_are_utf8(void **state)
{
    assert_string_equal(label("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", false), "\"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
    assert_string_equal(label("\xff", false), "\"\\\\xff\"");
    assert_string_equal(label("\xc3", false), "\"\\\\xc3\"");                   /* cut */
    assert_string_equal(label("\xc0\xaf", false), "\"\\\\xc0\\\\xaf\"");         /* overlong */
    assert_string_equal(label("\xed\xa0\x80", false), "\"\\\\xed\\\\xa0\\\\x80\""); /* a surrogate */
}

static void names_show_tags_and_hide_secrets(void **state)
{
    assert_string_equal(label("GET /\npage=cart\nstep=2", true), "\"GET / {page=cart, step=2}\"");
    assert_string_equal(label("GET /\npage=cart", true), "GET / {page=cart}");
    assert_string_equal(label("GET /s3cret/as3cretb", true), "GET /***/a***b");
}

static void long_names_are_cut(void **state)
{
    char name[3000];
    memset(name, '"', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(strlen(label(name, true)), 2 + 2 * 1000);
    line(&journal_ndjson, name, whole);
    assert_true(strlen(text) < JOURNAL_LINE);
    for (size_t i = 0; i + 2 < sizeof name; i += 2)
        memcpy(name + i, "\xc3\xa9", 2);
    name[0] = 'a'; /* so that the cut would be in the middle of one */
    memcpy(name + 1, "\xc3\xa9\xc3\xa9", 4);
    assert_true(strlen(label(name, true)) <= 1000);
}

static const char *number(char *end)
{
    *end = '\0';
    return text;
}

static void numbers_are_whole(void **state)
{
    const uint64_t counts[] = { 0, 9, 10, 99, 100, 101, 12345, 999999, UINT64_MAX };
    char wanted[40];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)counts[i]);
        assert_string_equal(number(put_count(text, counts[i])), wanted);
    }
    assert_string_equal(number(put_seconds(text, 1)), "0.000000001");
    assert_string_equal(number(put_seconds(text, 999999999)), "0.999999999");
    assert_string_equal(number(put_seconds(text, 3600000000001)), "3600.000000001");
    assert_string_equal(number(put_seconds(text, -5)), "0.000000000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ndjson_has_times_and_phases), cmocka_unit_test(ndjson_of_an_open_model_has_the_due_time), cmocka_unit_test(ndjson_of_what_never_came_is_null),
        cmocka_unit_test(jtl_has_the_columns_of_its_header), cmocka_unit_test(jtl_says_what_failed), cmocka_unit_test(jtl_leaves_out_what_is_in_no_figure),
        cmocka_unit_test(names_steer_no_terminal_and_no_spreadsheet), cmocka_unit_test(names_are_utf8), cmocka_unit_test(names_show_tags_and_hide_secrets),
        cmocka_unit_test(long_names_are_cut), cmocka_unit_test(numbers_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
