/* OpenSSL's memory. With SSL_MODE_RELEASE_BUFFERS, which saves 34 KB an idle connection, it takes a buffer of a record's size for every read and every write, and
 * gives it back: too large for malloc's fast paths. A few such buffers are kept by each thread. */
#include <malloc.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>

#include "net/tls_inside.h"

enum {
    SMALLEST = 16 * 1024,
    BUFFER = 18 * 1024, /* all buffers from SMALLEST on up to this are of this size */
    SPARE = 4,
};

struct spare {
    size_t count;
    void *buffers[SPARE];
};

static _Thread_local struct spare spare;
static pthread_key_t at_exit;

static void free_spare(void *pointer)
{
    struct spare *of = pointer;
    while (of->count)
        free(of->buffers[--of->count]);
}

static void *take(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    if (size < SMALLEST || size > BUFFER)
        return malloc(size);
    return spare.count ? spare.buffers[--spare.count] : malloc(BUFFER);
}

static void give(void *memory, const char *file, int line)
{
    (void)file, (void)line;
    size_t size = memory ? malloc_usable_size(memory) : 0;
    if (size < BUFFER || size > BUFFER + 64 || spare.count == SPARE) {
        free(memory);
        return;
    }
    if (!spare.count)
        pthread_setspecific(at_exit, &spare);
    spare.buffers[spare.count++] = memory;
}

static void *resize(void *memory, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return realloc(memory, size);
}

static void set_up(void)
{
    if (!pthread_key_create(&at_exit, free_spare))
        CRYPTO_set_mem_functions(take, resize, give);
}

void tls_memory_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
}
