/* Feeds hist_decode with bytes: as they are; as what is inside the compression, since hardly any random bytes get past zlib's checksum; and as the counts
 * behind a proper head, the first byte choosing the lowest discernible value. Whatever is accepted must hang together and come back from an encoding
 * of its own. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "metrics/hist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void add_count(void *context, int64_t low, int64_t high, uint64_t count)
{
    require(low >= 0 && low <= high && count > 0);
    *(uint64_t *)context += count;
}

static void check_round_trip(const struct hist *hist)
{
    struct buf bytes = { 0 };
    struct hist back = { 0 };
    hist_encode(hist, &bytes);
    require(hist_decode(&back, bytes.data, bytes.length) && back.count == hist->count);
    for (int i = 1; i < 4 && hist->count; i++) {
        double quantile = hist_quantile(hist, i / 4.0);
        require(quantile >= (double)hist->min && quantile <= (double)hist->max);
        require(hist->max > HIST_HIGHEST || quantile <= hist_quantile(hist, (i + 1) / 4.0));
    }
    hist_subtract(&back, hist);
    require(back.count == 0);
    hist_free(&back);
    buf_free(&bytes);
}

static void decode(const uint8_t *data, size_t size)
{
    struct hist hist = { 0 };
    uint64_t sum = 0;
    bool whole = hist_decode(&hist, data, size);
    hist_each(&hist, add_count, &sum);
    require(sum == hist.count && (whole || !sum));
    if (whole)
        check_round_trip(&hist);
    hist_free(&hist);
}

static void decode_packed(const uint8_t *data, size_t size)
{
    uLongf length = compressBound(size);
    uint8_t *bytes = malloc(8 + length);
    require(compress2(bytes + 8, &length, data, size, 1) == Z_OK);
    const uint8_t head[] = { 0x1c, 0x84, 0x93, 0x14, (uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8), (uint8_t)length };
    memcpy(bytes, head, sizeof head);
    decode(bytes, 8 + length);
    free(bytes);
}

static void decode_counts(const uint8_t *data, size_t size)
{
    uint8_t *plain = calloc(40 + size, 1);
    const uint8_t head[] = { 0x1c, 0x84, 0x93, 0x13, (uint8_t)((size - 1) >> 24), (uint8_t)((size - 1) >> 16), (uint8_t)((size - 1) >> 8), (uint8_t)(size - 1) };
    memcpy(plain, head, sizeof head);
    plain[15] = 3;
    plain[16 + data[0] / 8 % 8] = (uint8_t)(1 << data[0] % 8);
    memcpy(plain + 40, data + 1, size - 1);
    decode_packed(plain, 40 + size - 1);
    free(plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode(data, size);
    decode_packed(data, size);
    if (size)
        decode_counts(data, size);
    return 0;
}
