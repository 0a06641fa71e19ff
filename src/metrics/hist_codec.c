/* HdrHistogram's V2 compressed encoding, as its Java library (AbstractHistogram.encodeIntoCompressedByteBuffer) defines it. All numbers are big-endian:
 *
 *   u32 0x1c849304 | 0x10, u32 length of what follows, then compressed by zlib:
 *   u32 0x1c849303 | 0x10, u32 length of the counts in bytes, u32 normalizing index offset, u32 significant digits,
 *   u64 lowest discernible value, u64 highest trackable value, f64 ratio of integer to double values,
 *   then the counts from value 0 up, each a ZigZag LEB128 of at most 9 bytes (the ninth carries 8 bits); -n stands for n counts of zero.
 *
 * Offset and ratio matter only inside the encoding of a DoubleHistogram, which has another cookie; hdr-histogram-js writes an offset of 1 and means 0. So
 * they are written as 0 and 1.0, and not looked at when read. */
#include "metrics/hist.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"

enum {
    OUTER_COOKIE = 0x1c849304,
    INNER_COOKIE = 0x1c849303,
    COOKIE_WORDS = 0xf0, /* bits of a cookie that do not name the format */
    ZERO_RUNS = 0x10,    /* set in those when runs of zeros are packed */
    OUTER_SIZE = 8,
    INNER_SIZE = 40,
    WORD_SIZE = 9,                              /* most bytes of a count */
    MOST_COUNTS = 54 << HIST_PAGE_BITS,         /* of any library: 3 digits up to 2^63 */
    MOST_BYTES = INNER_SIZE + MOST_COUNTS * WORD_SIZE,
};

static void put(struct buf *out, uint64_t number, unsigned bytes)
{
    while (bytes--)
        buf_append(out, &(uint8_t){ (uint8_t)(number >> 8 * bytes) }, 1);
}

static uint64_t get(const uint8_t *data, unsigned bytes)
{
    uint64_t number = 0;
    while (bytes--)
        number = number << 8 | *data++;
    return number;
}

static void put_word(struct buf *out, int64_t word)
{
    uint64_t rest = (uint64_t)word << 1 ^ (uint64_t)(word >> 63);
    unsigned bytes = 0;
    for (; rest > 0x7f && bytes < WORD_SIZE - 1; rest >>= 7, bytes++)
        put(out, rest | 0x80, 1);
    put(out, rest, 1);
}

/* Takes a word off the front; false when the data end in it. */
static bool get_word(const uint8_t **at, const uint8_t *end, int64_t *word)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < WORD_SIZE; i++) {
        if (*at == end)
            return false;
        uint8_t byte = *(*at)++;
        bool last = i == WORD_SIZE - 1 || !(byte & 0x80);
        number |= (uint64_t)(last ? byte : byte & 0x7f) << 7 * i;
        if (last)
            break;
    }
    *word = (int64_t)(number >> 1 ^ -(number & 1));
    return true;
}

struct encoding {
    struct buf *out;
    int64_t next; /* index of the next counter to be written */
};

/* The index, over all pages, of the counter that begins at `low`. */
static int64_t flat_index(int64_t low)
{
    unsigned page = hist_page_of((uint64_t)low);
    return ((int64_t)page << HIST_PAGE_BITS) + (low >> page);
}

static void encode_counter(void *context, int64_t low, int64_t high, uint64_t count)
{
    struct encoding *encoding = context;
    int64_t index = flat_index(low), zeros = index - encoding->next;
    if (zeros)
        put_word(encoding->out, zeros == 1 ? 0 : -zeros);
    put_word(encoding->out, (int64_t)count);
    encoding->next = index + 1;
}

static void encode_counts(const struct hist *hist, struct buf *out)
{
    struct buf counts = { 0 };
    hist_each(hist, encode_counter, &(struct encoding){ .out = &counts });
    double ratio = 1;
    uint64_t ratio_bits;
    memcpy(&ratio_bits, &ratio, sizeof ratio_bits);
    put(out, INNER_COOKIE | ZERO_RUNS, 4);
    put(out, counts.length, 4);
    put(out, 0, 4);
    put(out, HIST_DIGITS, 4);
    put(out, 1, 8);
    put(out, HIST_HIGHEST, 8);
    put(out, ratio_bits, 8);
    buf_append(out, counts.data, counts.length);
    buf_free(&counts);
}

void hist_encode(const struct hist *hist, struct buf *out)
{
    struct buf plain = { 0 };
    encode_counts(hist, &plain);
    uLongf length = compressBound(plain.length);
    Bytef *packed = mem_array(length, 1);
    if (compress(packed, &length, (const Bytef *)plain.data, plain.length) != Z_OK)
        length = 0; /* only for want of memory, on which mem_array has aborted before */
    put(out, OUTER_COOKIE | ZERO_RUNS, 4);
    put(out, length, 4);
    buf_append(out, packed, length);
    free(packed);
    buf_free(&plain);
}

/* Records `count` at the counter of another histogram; false when it is beyond all values or the total beyond all counts. */
static bool decode_counter(struct hist *hist, uint64_t index, unsigned magnitude, uint64_t count)
{
    unsigned page = index >> HIST_FIRST_BITS ? (unsigned)(index >> HIST_PAGE_BITS) - 1 : 0;
    if (HIST_FIRST_BITS + page + magnitude > 63 || hist->count + count > INT64_MAX)
        return false;
    int64_t width = INT64_C(1) << (page + magnitude), low = (int64_t)(index - ((uint64_t)page << HIST_PAGE_BITS)) * width;
    int64_t min = hist->count ? hist->min : low;
    hist_record_many(hist, low + width / 2, count);
    hist->min = min;
    hist->max = low + (width - 1);
    return true;
}

static bool decode_counts(struct hist *hist, const uint8_t *at, const uint8_t *end, unsigned magnitude)
{
    uint64_t index = 0;
    while (at < end) {
        int64_t word;
        if (!get_word(&at, end, &word) || word < -MOST_COUNTS || index >= MOST_COUNTS)
            return false;
        if (word > 0 && !decode_counter(hist, index, magnitude, (uint64_t)word))
            return false;
        index += word < 0 ? (uint64_t)-word : 1;
    }
    return true;
}

static bool decode_plain(struct hist *hist, const uint8_t *data, size_t length)
{
    if (length < INNER_SIZE || (get(data, 4) & ~(uint64_t)COOKIE_WORDS) != INNER_COOKIE)
        return false;
    uint64_t bytes = get(data + 4, 4), digits = get(data + 12, 4), lowest = get(data + 16, 8);
    if (bytes > length - INNER_SIZE || digits != HIST_DIGITS || !lowest)
        return false;
    unsigned magnitude = 63 - (unsigned)__builtin_clzll(lowest);
    return decode_counts(hist, data + INNER_SIZE, data + INNER_SIZE + bytes, magnitude);
}

bool hist_decode(struct hist *hist, const void *data, size_t length)
{
    const uint8_t *bytes = data;
    if (length < OUTER_SIZE || (get(bytes, 4) & ~(uint64_t)COOKIE_WORDS) != OUTER_COOKIE || get(bytes + 4, 4) != length - OUTER_SIZE)
        return false;
    uint8_t *plain = mem_array(MOST_BYTES, 1);
    uLongf plain_length = MOST_BYTES;
    bool whole = uncompress(plain, &plain_length, bytes + OUTER_SIZE, length - OUTER_SIZE) == Z_OK && decode_plain(hist, plain, plain_length);
    free(plain);
    if (!whole)
        hist_free(hist);
    return whole;
}
