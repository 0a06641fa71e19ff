#include "base/sha256.h"

#include <string.h>

enum { BLOCK = 64 };

struct sha {
    uint32_t hash[8];
    uint64_t bytes;
    uint8_t block[BLOCK];
};

static const uint32_t first_hash[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74,
    0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
    0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e,
    0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
    0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t value, int bits)
{
    return (value >> bits) | (value << (32 - bits));
}

static void expand(uint32_t words[64], const uint8_t *block)
{
    for (int i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void add_block(uint32_t hash[8], const uint8_t *block)
{
    uint32_t words[64], v[8];
    expand(words, block);
    memcpy(v, hash, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]), majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t one = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + choice + constants[i] + words[i];
        uint32_t two = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + majority;
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        hash[i] += v[i];
}

static void begin(struct sha *sha)
{
    memcpy(sha->hash, first_hash, sizeof first_hash);
    sha->bytes = 0;
}

static void add(struct sha *sha, const void *data, size_t length)
{
    const uint8_t *bytes = data;
    while (length) {
        size_t used = sha->bytes % BLOCK, part = length < BLOCK - used ? length : BLOCK - used;
        memcpy(sha->block + used, bytes, part);
        sha->bytes += part;
        bytes += part;
        length -= part;
        if (used + part == BLOCK)
            add_block(sha->hash, sha->block);
    }
}

static void end(struct sha *sha, uint8_t digest[SHA256_SIZE])
{
    uint64_t bits = sha->bytes * 8;
    uint8_t size[8];
    for (int i = 0; i < 8; i++)
        size[i] = (uint8_t)(bits >> (56 - 8 * i));
    add(sha, "\x80", 1);
    while (sha->bytes % BLOCK != BLOCK - sizeof size)
        add(sha, "", 1);
    add(sha, size, sizeof size);
    for (int i = 0; i < SHA256_SIZE; i++)
        digest[i] = (uint8_t)(sha->hash[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256(uint8_t digest[SHA256_SIZE], const void *data, size_t length)
{
    struct sha sha;
    begin(&sha);
    add(&sha, data, length);
    end(&sha, digest);
}

void sha256_hmac(uint8_t digest[SHA256_SIZE], const void *key, size_t key_length, const void *data, size_t length)
{
    uint8_t inner[BLOCK] = { 0 }, outer[BLOCK];
    struct sha sha;
    if (key_length > BLOCK)
        sha256(inner, key, key_length);
    else
        memcpy(inner, key, key_length);
    for (int i = 0; i < BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    begin(&sha);
    add(&sha, inner, BLOCK);
    add(&sha, data, length);
    end(&sha, digest);
    begin(&sha);
    add(&sha, outer, BLOCK);
    add(&sha, digest, SHA256_SIZE);
    end(&sha, digest);
}
