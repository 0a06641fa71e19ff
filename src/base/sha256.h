/* SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104), for signatures that a script makes. */
#ifndef LUABENCH_BASE_SHA256_H
#define LUABENCH_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32 };

/* Writes the digest of `length` bytes. */
void sha256(uint8_t digest[SHA256_SIZE], const void *data, size_t length);
/* Writes the authentication code of `length` bytes under the key. */
void sha256_hmac(uint8_t digest[SHA256_SIZE], const void *key, size_t key_length, const void *data, size_t length);

#endif
