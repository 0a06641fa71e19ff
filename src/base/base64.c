#include "base/base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Writes the four characters of one to three bytes. */
static void encode_group(char *to, const uint8_t *bytes, size_t count)
{
    uint32_t bits = (uint32_t)bytes[0] << 16 | (count > 1 ? (uint32_t)bytes[1] << 8 : 0) | (count > 2 ? bytes[2] : 0);
    for (size_t i = 0; i < 4; i++)
        to[i] = i <= count ? alphabet[bits >> (18 - 6 * i) & 63] : '=';
}

bool base64_encode(struct buf *out, const void *data, size_t length)
{
    const uint8_t *bytes = data;
    if (!buf_reserve(out, (length + 2) / 3 * 4))
        return false;
    for (size_t at = 0; at < length; at += 3) {
        encode_group(out->data + out->length, bytes + at, length - at < 3 ? length - at : 3);
        out->length += 4;
    }
    return true;
}

/* 0..63, or -1 for what is not in the alphabet. */
static int value_of(char character)
{
    if (character >= 'A' && character <= 'Z')
        return character - 'A';
    if (character >= 'a' && character <= 'z')
        return character - 'a' + 26;
    if (character >= '0' && character <= '9')
        return character - '0' + 52;
    return character == '+' ? 62 : character == '/' ? 63 : -1;
}

/* Writes the bytes that `count` characters (2 to 4, padding not counted) stand for; false when they stand for none. */
static bool decode_group(char *to, const char *text, size_t count)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++) {
        int value = i < count ? value_of(text[i]) : 0;
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
    }
    for (size_t i = 0; i + 1 < count; i++)
        to[i] = (char)(bits >> (16 - 8 * i));
    return !(bits & ((UINT32_C(1) << 8 * (4 - count)) - 1));
}

bool base64_decode(struct buf *out, const char *text, size_t length)
{
    size_t before = out->length, padding = 0;
    if (length % 4)
        return false;
    while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
        padding++;
    if (!buf_reserve(out, length / 4 * 3 - padding))
        return false;
    for (size_t at = 0; at < length; at += 4) {
        size_t count = at + 4 < length ? 4 : 4 - padding;
        if (!decode_group(out->data + out->length, text + at, count)) {
            out->length = before;
            return false;
        }
        out->length += count - 1;
    }
    return true;
}
