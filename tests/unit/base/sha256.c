/* SHA-256 against the examples of FIPS 180-4, HMAC against RFC 4231. */
#include "test.h"

#include <stdio.h>

#include "base/sha256.h"

static void check(const uint8_t *digest, const char *expected)
{
    char text[2 * SHA256_SIZE + 1];
    for (int i = 0; i < SHA256_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, expected);
}

static void examples(void **state)
{
    uint8_t digest[SHA256_SIZE];
    static char million[1000000];
    sha256(digest, "", 0);
    check(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256(digest, "abc", 3);
    check(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256(digest, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
    check(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(million, 'a', sizeof million);
    sha256(digest, million, sizeof million);
    check(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void hmac(void **state)
{
    uint8_t digest[SHA256_SIZE], key[131];
    sha256_hmac(digest, "Jefe", 4, "what do ya want for nothing?", 28);
    check(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    sha256_hmac(digest, key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First", 54);
    check(digest, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(examples), cmocka_unit_test(hmac) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
