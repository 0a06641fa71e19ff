#include <math.h>
#include <zlib.h>

#include "base/base64.h"
#include "metrics/hist.h"
#include "test.h"

/* The same values, encoded by other libraries: i^5 for i = 1..200, recorded 1 + 500 * (i % 3) times, in a histogram from 1 with 3 digits. The first by
 * PyPI's hdrhistogram 0.10.8: HdrHistogram(1, 3600 * 10**9, 3), record_value(i**5, 1 + i % 3 * 500), encode(). The figures below are what the same object
 * said: get_total_count, get_mean_value, get_stddev, get_value_at_percentile (which gives the highest value of a counter). */
static const char by_python[] =
    "HISTFAAAAeh4nGXP4WfUcRwH8Pu+f3f7VBsfSvSgPyJmkszswZp7MJnJzMzkzGTO5EwmM+c6k8nMzEnONZPJmWRmkezBTDLn7PPkZE4ymT6kepAk0ftu9yT9nvxe3r/P9/39/C4/WLkQ"
    "iyEfO32i1juQN668ehrr+dYKXK6brkcodLi8vGT66yKy513eqelJB962uxTbTd+fw9oZl/pZ0w9tOCEPE6Yrgnybyy5Zb8ObuMvXOI8lUCSzZC2OXMJlKTKtRHjEtMb0EPgDl02mxxFq"
    "kUsZpgfAd6YFpnsRyuQS0w1gn/xI5iLskMfB9EfAQ7LEdBuokFvkbkCF/1PnwJeA3+G0oQRsc2CN6WbADtM9shpwRH4mfwbkOVAllwIeMy2RzwO2yNfkfkCVPCI/BZTJOW7DFRo3MFwN"
    "KJLPyPI/pw7IO6ZpZFxmTOcw77LAT4sBy/y0ShYD1skN8kVAlhwzHUfKZdJ0CtMuGdN7mHWZN80HLHBikcPLAQXyCTmAQZch02GMuIw2Tt92mTCdxJRL2vQuZlxmTe83rs+FZk2/S59p"
    "P5IuA42Gm82GIQy7jJiOYsxl3DSFidYeaZdp00xjn2um3eh26THtRW+zp6/RlzRNYqDZN9ja6NZ/fanmZp3odOky7cLVZt9fkszuKA==";

/* By npm's hdr-histogram-js 3.0.1: build({ bitBucketSize: 64, highestTrackableValue: 2 ** 47 - 1, numberOfSignificantValueDigits: 3 }),
 * recordValueWithCount, encodeIntoCompressedBase64. */
static const char by_javascript[] =
    "HISTFAAAAe14nGXO0UfdARwF8N/3/H63b1tx2Iw97L9IZibTQ9JDJpkkySSZJJNMJsndlWSSJDNXkslcmUl6mOkhmUnSeckkM5nsy8weZmZm694yZuft+/D9nHPt0dzlJEEhSRJLkiRN"
    "zmJJMv67nL93+E1xOcVCbfjLq+KPK5i4FP6W4kkt3tSEF2vEdxexVB1+dEF8X4WT6vD9nDjnKFSFb+bEoyq8zsK/ZOJJDsUsfCITDzLkc+Ezqbib4nEWfpCJ+8AvhK+m4nGKgzS8BHEH"
    "+IrwhVTcSlFC+AzEFWAb4R8g5lNsIPzYxG+GKYQvQlwHdhG+BnHTsGvhRyZ+Nvy0M2ERWEf4komrhg0L3zJxz3Bo4Z9M/G4oIHzPxBnDEwtfNPG5Yc3CX5m4bdiz8EMTPxpKFj4m5g1T"
    "5QYT5w1FC39mYumfr53ThnviIIbDR8QxjIdPmjhtmLXweROLhmULXzHxhWHidH632IPe8H5xAEPhw+IDjIaPiwXDpIVPmzhrWLDwpya2oi28XexAZ3hX+ftueJ/Yj4HwQfE+RsJHxYfl"
    "+rxVmObwJrEZLeGtZeF2RWhHR3in2IXu8B6xF33nOwbDh8Th8p4bYgMawm+JjWisOE1lr0VsQWvFaztfdOc/r7eyrA514fViPa5XvD/0PvCj";

static const struct {
    double quantile;
    int64_t value;
} percentiles[] = {
    { 0.10, 3201023 }, { 0.25, 312737791 }, { 0.50, 10510925823 }, { 0.75, 78517370879 }, { 0.90, 194347270143 }, { 0.99, 312190435327 },
};

static void assert_near(double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected)))
        fail_msg("%.17g is not %.17g", found, expected);
}

static struct hist decoded(const char *text)
{
    struct buf bytes = { 0 };
    struct hist hist = { 0 };
    assert_true(base64_decode(&bytes, text, strlen(text)));
    assert_true(hist_decode(&hist, bytes.data, bytes.length));
    buf_free(&bytes);
    return hist;
}

static void assert_known_figures(const struct hist *hist)
{
    assert_int_equal(hist->count, 100700);
    assert_int_equal(hist->min, 1);
    assert_int_equal(hist->max, 320243499007);
    assert_near(hist_mean(hist), 54941187678.10684, 1e-15);
    assert_near(hist_stddev(hist), 82759091413.35948, 1e-15);
    for (size_t i = 0; i < COUNT(percentiles); i++) {
        int64_t width = 1, high = percentiles[i].value;
        while (high / width >= 2048)
            width *= 2;
        assert_int_equal((int64_t)hist_quantile(hist, percentiles[i].quantile), high + 1 - width + width / 2);
    }
}

static void reads_what_python_wrote(void **state)
{
    struct hist hist = decoded(by_python);
    assert_known_figures(&hist);
    hist_free(&hist);
}

static void reads_what_javascript_wrote(void **state)
{
    struct hist hist = decoded(by_javascript);
    assert_known_figures(&hist);
    hist_free(&hist);
}

static void assert_same_counters(const struct hist *a, const struct hist *b)
{
    static const uint64_t none[1 << HIST_FIRST_BITS];
    assert_int_equal(a->count, b->count);
    for (unsigned page = 0; page < HIST_PAGES; page++) {
        size_t size = (page ? 1 << HIST_PAGE_BITS : 1 << HIST_FIRST_BITS) * sizeof(uint64_t);
        assert_memory_equal(a->pages[page] ? a->pages[page] : none, b->pages[page] ? b->pages[page] : none, size);
    }
}

static void recording_the_same_gives_the_same_counters(void **state)
{
    struct hist hist = decoded(by_python), own = { 0 };
    for (int64_t i = 1; i <= 200; i++)
        hist_record_many(&own, i * i * i * i * i, (uint64_t)(1 + i % 3 * 500));
    assert_same_counters(&own, &hist);
    hist_free(&hist);
    hist_free(&own);
}

static void assert_round_trip(const struct hist *hist)
{
    struct buf bytes = { 0 };
    struct hist back = { 0 };
    hist_encode(hist, &bytes);
    assert_true(hist_decode(&back, bytes.data, bytes.length));
    assert_same_counters(hist, &back);
    if (hist->count && hist->max <= HIST_HIGHEST) {
        assert_true(back.min <= hist->min && hist->min - back.min <= hist->min / 1024);
        assert_true(back.max >= hist->max && back.max - hist->max <= hist->max / 1024);
        assert_near(hist_mean(&back), hist_mean(hist), 1.0 / 1024);
    }
    hist_free(&back);
    buf_free(&bytes);
}

static void comes_back_as_it_was(void **state)
{
    uint64_t seed = 1;
    for (int round = 0; round < 200; round++) {
        struct hist hist = { 0 };
        for (uint64_t i = random_below(&seed, 1 + random_below(&seed, 400)); i > 0; i--) {
            int64_t value = (int64_t)random_below(&seed, UINT64_C(1) << random_below(&seed, HIST_VALUE_BITS + 1));
            hist_record_many(&hist, value, random_below(&seed, UINT64_C(1) << random_below(&seed, 54)));
        }
        assert_round_trip(&hist);
        hist_free(&hist);
    }
}

static void extremes_come_back(void **state)
{
    struct hist hist = { 0 };
    assert_round_trip(&hist);
    hist_record(&hist, 0);
    assert_round_trip(&hist);
    hist_record(&hist, HIST_HIGHEST);
    assert_round_trip(&hist);
    hist_record(&hist, INT64_MAX);
    assert_round_trip(&hist);
    hist_record_many(&hist, 12345, INT64_MAX - 3);
    assert_round_trip(&hist);
    hist_free(&hist);
}

/* The bytes inside the compression. */
static struct buf unpacked(const struct buf *bytes)
{
    struct buf plain = { 0 };
    uLongf length = 1 << 20;
    buf_reserve(&plain, length);
    assert_int_equal(uncompress((Bytef *)plain.data, &length, (const Bytef *)bytes->data + 8, bytes->length - 8), Z_OK);
    plain.length = length;
    return plain;
}

/* The whole of an encoding from the bytes inside. */
static struct buf packed(const void *plain, size_t size)
{
    struct buf bytes = { 0 };
    uLongf length = compressBound(size);
    buf_reserve(&bytes, 8 + length);
    assert_int_equal(compress((Bytef *)bytes.data + 8, &length, plain, size), Z_OK);
    const uint8_t head[] = { 0x1c, 0x84, 0x93, 0x14, (uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8), (uint8_t)length };
    memcpy(bytes.data, head, sizeof head);
    bytes.length = 8 + length;
    return bytes;
}

/* What HdrHistogram's format is for the counters given by their bytes. */
static struct buf plain_of(const void *counts, uint8_t size)
{
    const uint8_t head[] = {
        0x1c, 0x84, 0x93, 0x13, 0, 0, 0, size, 0, 0, 0, 0, 0, 0, 0, 3,          /* cookie, length, offset, digits */
        0,    0,    0,    0,    0, 0, 0, 1,    0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, /* lowest, highest */
        0x3f, 0xf0, 0,    0,    0, 0, 0, 0,                                     /* ratio: 1.0 */
    };
    struct buf plain = { 0 };
    buf_append(&plain, head, sizeof head);
    buf_append(&plain, counts, size);
    return plain;
}

/* Values with the bytes by which the format writes their counters: ZigZag (n -> 2n, -n -> 2n - 1), then 7 bits a byte from the low end, the ninth byte 8. */
static const struct {
    int64_t values[2];
    uint64_t times;
    const char *bytes;
    uint8_t size;
} words[] = {
    { { 0, 1 }, 1, "\x02\x02", 2 },
    { { 0, 2 }, 1, "\x02\x00\x02", 3 },        /* a lone zero is a count */
    { { 0, 3 }, 1, "\x02\x03\x02", 3 },        /* -2 */
    { { 0, 5 }, 1, "\x02\x07\x02", 3 },        /* -4 */
    { { 0, 64 }, 63, "\x7e\x7d\x7e", 3 },      /* -63 */
    { { 0, 65 }, 64, "\x80\x01\x7f\x80\x01", 5 }, /* -64 */
    { { 0, 2048 }, 300, "\xd8\x04\xfd\x1f\xd8\x04", 6 }, /* -2047 */
    { { 2048, 2050 }, 1, "\xff\x1f\x02\x02", 4 }, /* -2048; 2048 and 2049 share a counter */
    { { 0, 1 }, UINT64_C(1) << 61, "\x80\x80\x80\x80\x80\x80\x80\x80\x40\x80\x80\x80\x80\x80\x80\x80\x80\x40", 18 },
};

static void writes_the_bytes_of_the_format(void **state)
{
    for (size_t i = 0; i < COUNT(words); i++) {
        struct hist hist = { 0 };
        struct buf bytes = { 0 }, expected = plain_of(words[i].bytes, words[i].size);
        for (int k = 0; k < 2; k++)
            hist_record_many(&hist, words[i].values[k], words[i].times);
        hist_encode(&hist, &bytes);
        assert_memory_equal(bytes.data, "\x1c\x84\x93\x14", 4);
        struct buf plain = unpacked(&bytes);
        assert_int_equal(plain.length, expected.length);
        assert_memory_equal(plain.data, expected.data, plain.length);
        buf_free(&plain);
        buf_free(&expected);
        buf_free(&bytes);
        hist_free(&hist);
    }
}

static void add_count(void *context, int64_t low, int64_t high, uint64_t count)
{
    assert_true(low >= 0 && low <= high);
    *(uint64_t *)context += count;
}

/* Either it is refused and the histogram is empty, or what it says hangs together. */
static bool decodes_soundly(const void *data, size_t length)
{
    struct hist hist = { 0 };
    bool whole = hist_decode(&hist, data, length);
    uint64_t sum = 0;
    hist_each(&hist, add_count, &sum);
    assert_int_equal(sum, hist.count);
    if (hist.count)
        assert_true(hist.min <= hist.max);
    if (!whole)
        assert_int_equal(hist.count, 0);
    hist_free(&hist);
    return whole;
}

static bool plain_decodes_soundly(const void *plain, size_t length)
{
    struct buf bytes = packed(plain, length);
    bool whole = decodes_soundly(bytes.data, bytes.length);
    buf_free(&bytes);
    return whole;
}

static struct buf sample_bytes(void)
{
    struct buf bytes = { 0 };
    assert_true(base64_decode(&bytes, by_python, strlen(by_python)));
    return bytes;
}

static void truncated_data_is_refused(void **state)
{
    struct buf bytes = sample_bytes();
    for (size_t length = 0; length < bytes.length; length++) {
        char *copy = malloc(length + 1);
        memcpy(copy, bytes.data, length);
        assert_false(decodes_soundly(copy, length));
        free(copy);
    }
    buf_append(&bytes, "", 1);
    assert_false(decodes_soundly(bytes.data, bytes.length));
    assert_false(decodes_soundly(NULL, 0));
    buf_free(&bytes);
}

/* Refused, or (the few bits that mean nothing: the cookie's word size, padding of the compression) read as if it were whole. */
static void assert_refused_or_same(const struct buf *bytes, const struct hist *original, size_t *refused)
{
    struct hist hist = { 0 };
    if (hist_decode(&hist, bytes->data, bytes->length))
        assert_same_counters(&hist, original);
    else
        ++*refused;
    assert_int_equal(decodes_soundly(bytes->data, bytes->length), hist.count > 0);
    hist_free(&hist);
}

static void flipped_bits_are_refused(void **state)
{
    struct buf bytes = sample_bytes();
    struct hist original = decoded(by_python);
    size_t refused = 0;
    for (size_t i = 0; i < bytes.length * 8; i++) {
        bytes.data[i / 8] ^= (char)(1 << i % 8);
        assert_refused_or_same(&bytes, &original, &refused);
        bytes.data[i / 8] ^= (char)(1 << i % 8);
    }
    assert_true(refused > bytes.length * 8 - 20);
    hist_free(&original);
    buf_free(&bytes);
}

static void damage_inside_is_survived(void **state)
{
    struct buf bytes = sample_bytes(), plain = unpacked(&bytes);
    for (size_t i = 0; i < plain.length; i++) {
        for (int bit = 0; bit < 8; bit++) {
            plain.data[i] ^= (char)(1 << bit);
            plain_decodes_soundly(plain.data, plain.length);
            plain.data[i] ^= (char)(1 << bit);
        }
    }
    for (size_t length = 0; length < plain.length; length++)
        assert_false(plain_decodes_soundly(plain.data, length));
    buf_free(&bytes);
    buf_free(&plain);
}

static bool word_decodes(const char *counts, uint8_t size)
{
    struct buf plain = plain_of(counts, size);
    bool whole = plain_decodes_soundly(plain.data, plain.length);
    buf_free(&plain);
    return whole;
}

static void counts_beyond_all_bounds_are_refused(void **state)
{
    assert_true(word_decodes("\x02", 1));
    assert_false(word_decodes("\x80", 1));                                                 /* ends within a word */
    assert_false(word_decodes("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10));            /* -2^63 zeros */
    assert_false(word_decodes("\xff\xff\xff\x7f\x02", 5));                                 /* 2^27 zeros */
    assert_true(word_decodes("\xfe\xff\xff\xff\xff\xff\xff\xff\xff", 9));                  /* 2^63 - 1 */
    assert_false(word_decodes("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10));           /* one more in all */
    assert_true(word_decodes("\xff\xdf\x06", 3));                                          /* as many zeros as there are counters up to 2^63 */
    assert_false(word_decodes("\xff\xdf\x06\x02", 4));
}

static void other_formats_are_refused(void **state)
{
    struct buf plain = plain_of("\x02", 1);
    assert_true(plain_decodes_soundly(plain.data, plain.length));
    plain.data[15] = 2; /* digits */
    assert_false(plain_decodes_soundly(plain.data, plain.length));
    plain.data[15] = 3;
    plain.data[23] = 0; /* lowest */
    assert_false(plain_decodes_soundly(plain.data, plain.length));
    plain.data[23] = 1;
    plain.data[3] = 0x08; /* the V0 cookie's last byte */
    assert_false(plain_decodes_soundly(plain.data, plain.length));
    buf_free(&plain);
}

static void a_larger_lowest_value_scales(void **state)
{
    /* lowest 1000 is rounded down to 512: two counters of 512 ns, the third and the fourth */
    struct buf plain = plain_of("\x03\x04\x02", 3);
    plain.data[22] = 1000 >> 8;
    plain.data[23] = (char)(1000 & 0xff);
    struct buf bytes = packed(plain.data, plain.length);
    struct hist hist = { 0 };
    assert_true(hist_decode(&hist, bytes.data, bytes.length));
    assert_int_equal(hist.count, 3);
    assert_int_equal(hist.min, 1024);
    assert_int_equal(hist.max, 2047);
    assert_near(hist_mean(&hist), (2 * (1024 + 256) + 1536 + 256) / 3.0, 1e-15);
    hist_free(&hist);
    buf_free(&bytes);
    buf_free(&plain);
}

static void a_bomb_is_refused(void **state)
{
    struct buf plain = plain_of("", 0);
    plain.data[5] = (char)0x98; /* ten million bytes of counts */
    plain.data[6] = (char)0x96;
    plain.data[7] = (char)0x80;
    char *zeros = calloc(10000000, 1);
    buf_append(&plain, zeros, 10000000);
    assert_false(plain_decodes_soundly(plain.data, plain.length));
    free(zeros);
    buf_free(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_python_wrote),
        cmocka_unit_test(reads_what_javascript_wrote),
        cmocka_unit_test(recording_the_same_gives_the_same_counters),
        cmocka_unit_test(comes_back_as_it_was),
        cmocka_unit_test(extremes_come_back),
        cmocka_unit_test(writes_the_bytes_of_the_format),
        cmocka_unit_test(truncated_data_is_refused),
        cmocka_unit_test(flipped_bits_are_refused),
        cmocka_unit_test(damage_inside_is_survived),
        cmocka_unit_test(counts_beyond_all_bounds_are_refused),
        cmocka_unit_test(other_formats_are_refused),
        cmocka_unit_test(a_larger_lowest_value_scales),
        cmocka_unit_test(a_bomb_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
