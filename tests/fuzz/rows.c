/* Files of rows. The first byte chooses the format, the rest is the file. A CSV must give the cells that a plain reader gives, which goes from byte to byte through a table
 * of states; lines those that are between line ends; and an array of JSON the elements that Jansson sees. Rows are asked for out of order. */
#include "../../src/script/rows.c" /* for an index over text that is in no file */

#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define require(condition) ((condition) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #condition), abort()))

/* The plain reader's cells, each ended by CELL, the rows by ROW, all of which are no bytes of texts here. */
enum { CELL = 0x100, ROW = 0x101 };

struct cells {
    uint16_t *codes;
    size_t count;
};

static void add(struct cells *cells, int code)
{
    cells->codes[cells->count++] = (uint16_t)code;
}

/* RFC 4180, with LF alone as an end, too; empty lines are no rows; what follows a closing quote belongs to the cell; a quote that does not begin a cell is one. The last
 * CR before the end of the text is part of that end. False: a quoted cell is not closed. */
static bool read_plainly(const char *text, size_t size, struct cells *cells)
{
    enum { ROW_START, CELL_START, PLAIN, QUOTED, QUOTE_SEEN } state = ROW_START;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        bool end = c == '\n' || (c == '\r' && (i + 1 == size || text[i + 1] == '\n'));
        if (state == QUOTED) {
            if (c == '"')
                state = QUOTE_SEEN;
            else
                add(cells, (uint8_t)c);
            continue;
        }
        if (state == QUOTE_SEEN && c == '"') {
            add(cells, '"');
            state = QUOTED;
            continue;
        }
        if (end) {
            i += c == '\r' && i + 1 < size;
            if (state != ROW_START) {
                add(cells, CELL);
                add(cells, ROW);
            }
            state = ROW_START;
        } else if (c == ',') {
            add(cells, CELL);
            state = CELL_START;
        } else if (c == '"' && (state == ROW_START || state == CELL_START)) {
            state = QUOTED;
        } else {
            add(cells, (uint8_t)c);
            state = PLAIN;
        }
    }
    if (state != ROW_START) {
        add(cells, CELL);
        add(cells, ROW);
    }
    return state != QUOTED;
}

static void add_row(struct cells *cells, struct rows_span row, struct buf *scratch)
{
    struct rows_span cell;
    while (rows_cell(&row, scratch, &cell)) {
        for (size_t i = 0; i < cell.length; i++)
            add(cells, (uint8_t)cell.text[i]);
        add(cells, CELL);
    }
    add(cells, ROW);
}

/* Behind the codes of the first row. */
static size_t behind_row(const struct cells *cells)
{
    size_t at = 0;
    while (at < cells->count && cells->codes[at] != ROW)
        at++;
    return at < cells->count ? at + 1 : at;
}

static void check_csv(const struct rows_file *file, const struct cells *plain)
{
    struct cells cells = { mem_array(2 * file->all.length + 2, sizeof *cells.codes), 0 };
    struct buf scratch = { 0 };
    if (file->header)
        add_row(&cells, file->names, &scratch);
    for (size_t i = 0; i < file->count; i++)
        add_row(&cells, rows_at(file, i), &scratch);
    require(cells.count == plain->count && !memcmp(cells.codes, plain->codes, cells.count * sizeof *cells.codes));
    buf_free(&scratch);
    free(cells.codes);
}

static void check_lines(struct rows_file *file, const char *text, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < file->count; i++) {
        struct rows_span row = rows_at(file, i);
        size_t length = 0;
        while (at + length < size && text[at + length] != '\n')
            length++;
        size_t shown = length && text[at + length - 1] == '\r' ? length - 1 : length;
        require(row.length == shown && !memcmp(row.text, text + at, shown));
        at += length + 1;
    }
    require(at >= size);
}

static void check_json(struct rows_file *file, bool readable, const char *text, size_t size)
{
    json_error_t error;
    json_t *array = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    bool too_large = !array && json_error_code(&error) == json_error_numeric_overflow;
    require(too_large || readable == (json_is_array(array) && json_array_size(array) > 0));
    require(!array || !readable || file->count == json_array_size(array));
    for (size_t i = 0; array && i < file->count; i++) {
        struct rows_span row = rows_at(file, i);
        json_t *element = json_loadb(row.text, row.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
        require(json_equal(element, json_array_get(array, i)));
        json_decref(element);
    }
    json_decref(array);
}

/* Rows of one file, in any order, are the same as one after the other. */
static void check_order(const struct rows_file *file)
{
    const char *last = file->all.text + file->all.length;
    for (size_t i = file->count; i > 0; i--) {
        struct rows_span row = rows_at(file, i - 1);
        require(row.text >= file->all.text && row.text + row.length <= last);
        require(rows_line(file, row.text) >= 1);
        last = row.text;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum rows_format formats[] = { ROWS_CSV, ROWS_CSV, ROWS_LINES, ROWS_JSON };
    char why[200] = "";
    if (size < 2)
        return 0;
    enum rows_format format = formats[data[0] % 4];
    char *copy = malloc(size - 1); /* without a byte behind it */
    memcpy(copy, data + 1, size - 1);
    struct rows_file file = { .format = format, .header = data[0] % 4 == 0, .all = { copy, size - 1 } };
    bool encoded = check_encoding(&file, why, sizeof why), readable = encoded && make_index(&file, why, sizeof why);
    require(readable || *why);
    if (encoded && format == ROWS_CSV) {
        struct cells plain = { mem_array(2 * size + 2, sizeof *plain.codes), 0 };
        bool closed = read_plainly(file.all.text, file.all.length, &plain);
        require(!readable || closed);
        require(readable || !closed || behind_row(&plain) == plain.count); /* no rows but a header */
        if (readable)
            check_csv(&file, &plain);
        free(plain.codes);
    } else if (readable && format == ROWS_LINES) {
        check_lines(&file, file.all.text, file.all.length);
    } else if (encoded && format == ROWS_JSON) {
        check_json(&file, readable, file.all.text, file.all.length);
    }
    if (readable)
        check_order(&file);
    free(file.marks);
    free(copy);
    return 0;
}
