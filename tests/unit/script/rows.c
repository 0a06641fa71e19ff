/* Rows of files: what is found in them, and that all rows of a file are found, wherever a group of the index begins. */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "script/rows.h"

static char path[64];
static unsigned opened;

/* A new file of that content. */
static struct rows_source *open_text(const char *text, enum rows_format format, bool header, char *why)
{
    snprintf(path, sizeof path, "rows-%d-%u.tmp", (int)getpid(), ++opened);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    struct rows_source *source = rows_open(path, format, header, 1, why, 200);
    unlink(path);
    return source;
}

/* The cells of all rows, "|" between cells and "/" between rows. */
static void check_csv(const char *text, const char *expected)
{
    char why[200] = "";
    struct rows_source *source = open_text(text, ROWS_CSV, false, why);
    struct buf all = { 0 }, scratch = { 0 };
    assert_string_equal(why, "");
    for (size_t i = 0; i < source->file->count; i++) {
        struct rows_span row = rows_at(source->file, i), cell;
        for (bool first = true; rows_cell(&row, &scratch, &cell); first = false)
            buf_printf(&all, "%s%.*s", first ? i ? "/" : "" : "|", (int)cell.length, cell.text);
    }
    buf_append(&all, "", 1);
    assert_string_equal(all.data, expected);
    buf_free(&all);
    buf_free(&scratch);
}

static void csv(void **state)
{
    check_csv("a,b\nc,d\n", "a|b/c|d");
    check_csv("a,b\r\nc,d", "a|b/c|d");
    check_csv("\xef\xbb\xbf" "a,b\n", "a|b");
    check_csv("a,,\n,b,\n", "a||/|b|");
    check_csv("\"a,\"\"b\"\"\",c\n\"two\nlines\",d\n", "a,\"b\"|c/two\nlines|d");
    check_csv("\"\"\r\n\"\",\"\"\n", "/|");
    check_csv("\n\na\n\r\n\nb\n\n", "a/b");
    check_csv("5\" pipe,b\n", "5\" pipe|b");
    check_csv("\"a\"b,c\n", "ab|c");
}

static void wrong(const char *text, enum rows_format format, const char *expected)
{
    char why[200] = "";
    assert_null(open_text(text, format, true, why));
    assert_string_equal(why, expected);
}

static void mistakes(void **state)
{
    wrong("", ROWS_CSV, "the file is empty");
    wrong("a,b\n", ROWS_CSV, "there are no rows below the header");
    wrong("a\nb\n\"c\nd\n", ROWS_CSV, "line 3: a quoted field is not closed");
    wrong("\xff\xfe" "a", ROWS_LINES, "the file is UTF-16; save it as UTF-8");
    wrong("[]", ROWS_JSON, "there are no rows");
    wrong("{\"a\":1}", ROWS_JSON, "the JSON must be an array, [ ... ], of which each element is a row");
    wrong("[1,", ROWS_JSON, "not JSON: ']' expected near end of file (line 1, column 3)");
    char why[200];
    assert_null(rows_open("no-such-file.csv", ROWS_CSV, true, 1, why, sizeof why));
    assert_string_equal(why, "No such file or directory");
    assert_null(rows_open(".", ROWS_CSV, true, 1, why, sizeof why));
    assert_string_equal(why, "not a regular file");
}

static void check_row(struct rows_source *source, size_t index, const char *expected)
{
    struct rows_span row = rows_at(source->file, index);
    assert_int_equal(row.length, strlen(expected));
    assert_memory_equal(row.text, expected, row.length);
}

static void lines(void **state)
{
    char why[200] = "";
    struct rows_source *source = open_text("one\r\n\nthree, \"3\"\nfour", ROWS_LINES, false, why);
    assert_int_equal(source->file->count, 4);
    check_row(source, 0, "one");
    check_row(source, 1, "");
    check_row(source, 2, "three, \"3\"");
    check_row(source, 3, "four");
}

static void json(void **state)
{
    char why[200] = "";
    struct rows_source *source = open_text(" [ {\"a\":\"],[\\\"\"} , [1,[2]],\n3 ,\"x\", 123456789012345678901234567890]\n", ROWS_JSON, false, why);
    assert_string_equal(why, "");
    assert_int_equal(source->file->count, 5);
    check_row(source, 0, "{\"a\":\"],[\\\"\"} ");
    check_row(source, 1, "[1,[2]]");
    check_row(source, 2, "3 ");
    check_row(source, 3, "\"x\"");
    check_row(source, 4, "123456789012345678901234567890");
}

/* Many rows of random cells, some of them quoted: each is what was written. */
static void every_row_is_found(void **state)
{
    enum { ROWS = 1000 };
    char why[200] = "", expected[64];
    uint64_t seed = 7;
    struct buf text = { 0 }, scratch = { 0 };
    for (int i = 0; i < ROWS; i++)
        buf_printf(&text, random_below(&seed, 2) ? "\"%d\n,\"\"\",%d\r\n" : "\"%d\n,\"\"\",\"%d\"\n", i, i * 7);
    buf_append(&text, "", 1);
    struct rows_source *source = open_text(text.data, ROWS_CSV, false, why);
    assert_int_equal(source->file->count, ROWS);
    for (int i = ROWS - 1; i >= 0; i--) {
        struct rows_span row = rows_at(source->file, (size_t)i), cell;
        assert_true(rows_cell(&row, &scratch, &cell));
        assert_int_equal(cell.length, snprintf(expected, sizeof expected, "%d\n,\"", i));
        assert_memory_equal(cell.text, expected, cell.length);
        assert_true(rows_cell(&row, &scratch, &cell));
        assert_int_equal(cell.length, snprintf(expected, sizeof expected, "%d", i * 7));
        assert_memory_equal(cell.text, expected, cell.length);
        assert_false(rows_cell(&row, &scratch, &cell));
    }
    buf_free(&text);
    buf_free(&scratch);
}

static void a_file_is_opened_once(void **state)
{
    char why[200] = "";
    struct rows_source *first = open_text("a\nb\n", ROWS_LINES, false, why); /* the file is gone by now */
    struct rows_source *second = rows_open(path, ROWS_LINES, false, 2, why, sizeof why);
    assert_ptr_equal(rows_open(path, ROWS_LINES, false, 1, why, sizeof why), first);
    assert_ptr_not_equal(first, second);
    assert_ptr_equal(first->file, second->file);
    assert_null(rows_next_exhausted(NULL));
    atomic_fetch_add(&second->users_out, 1);
    assert_ptr_equal(rows_next_exhausted(NULL), second);
    assert_null(rows_next_exhausted(second));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv), cmocka_unit_test(mistakes), cmocka_unit_test(lines), cmocka_unit_test(json), cmocka_unit_test(every_row_is_found),
        cmocka_unit_test(a_file_is_opened_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
