/* The client's HTTP/1.1 codec: the first bytes choose what is asked and how the connection ends, the rest is what the peer sends. Every exchange must come back exactly
 * once, and how the bytes are cut, or what the request has been answered with before, must not change what comes of them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http/engine.h"

enum { MOST = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct setting {
    bool lenient, head, reset, cancel;
    unsigned exchanges; /* 1 .. MOST */
    size_t max_body;
    uint64_t seed;
};

struct outcome {
    enum err error;
    bool keep;
    unsigned finished;
    int status[MOST];
    uint64_t body_size[MOST];
    uint32_t hash[MOST]; /* of head and body */
};

static struct request request = { .bytes = (char[]){ "GET / HTTP/1.1\r\n\r\n" }, .length = 16 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

static uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static uint32_t hash_of(const struct exchange *exchange)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < exchange->head.length; i++)
        hash = (hash ^ (uint8_t)exchange->head.data[i]) * 16777619u;
    for (size_t i = 0; i < exchange->body.length; i++)
        hash = (hash ^ (uint8_t)exchange->body.data[i]) * 16777619u;
    return hash;
}

/* Writes all, or with a limit only some of it. */
static void write_out(struct codec *codec, size_t most)
{
    struct iovec vectors[CODEC_VECTORS];
    int count;
    while (most && (count = codec->ops->output(codec, vectors))) {
        require(count <= CODEC_VECTORS);
        size_t length = vectors[0].iov_len < most ? vectors[0].iov_len : most;
        require(length > 0);
        codec->ops->wrote(codec, length, 1);
        most -= length;
    }
}

static enum err feed(struct codec *codec, const uint8_t *data, size_t size, size_t piece, uint64_t *seed)
{
    enum err error = ERR_NONE;
    while (size && !error) {
        size_t length = piece ? piece : 1 + random_next(seed) % 20;
        const char *text = NULL;
        if (length > size)
            length = size;
        if (!codec->active) {
            codec->limit = 0; /* unasked */
            break;
        }
        char *copy = mem_text((const char *)data, length); /* so that a read beyond it is seen */
        error = codec->ops->input(codec, copy, length, 2, &text);
        free(copy);
        require(error < ERR_COUNT && (!error || error == ERR_CLOSED || text));
        data += length;
        size -= length;
    }
    return error;
}

/* Counts the exchanges in a list, which must be among ours and in order. */
static unsigned take_all(struct link *list, struct exchange *exchanges, unsigned from)
{
    struct link *link;
    unsigned count = 0;
    while ((link = list_shift(list))) {
        require(link == &exchanges[from + count].link);
        count++;
    }
    return count;
}

static void conclude(struct outcome *outcome, const struct exchange *exchanges)
{
    for (unsigned i = 0; i < outcome->finished; i++) {
        const struct exchange *exchange = &exchanges[i];
        require(exchange->status >= 200 && exchange->status <= 599 && exchange->finished && exchange->first_byte && exchange->head.length);
        require(exchange->body.length == exchange->body_size && exchange->body_size <= exchange->max_body);
        outcome->status[i] = exchange->status;
        outcome->body_size[i] = exchange->body_size;
        outcome->hash[i] = hash_of(exchange);
    }
}

/* `piece`: bytes at a time; 0: at random. `written`: bytes of the requests that are written before. */
static struct outcome play(const struct setting *setting, const uint8_t *data, size_t size, size_t piece, size_t written)
{
    struct exchange exchanges[MOST] = { 0 };
    struct link finished, unfinished;
    struct outcome outcome = { 0 };
    uint64_t seed = setting->seed;
    link_init(&finished);
    link_init(&unfinished);
    request.head = setting->head;
    struct codec *codec = h1_new(&finished, setting->lenient);
    codec->limit = setting->exchanges;
    for (unsigned i = 0; i < setting->exchanges; i++) {
        exchanges[i].request = &request;
        exchanges[i].max_body = setting->max_body;
        codec->ops->submit(codec, &exchanges[i]);
    }
    write_out(codec, written);
    outcome.error = feed(codec, data, size, piece, &seed);
    unsigned cancelled = 0;
    if (setting->cancel && codec->active) {
        codec->ops->cancel(codec, &exchanges[setting->exchanges - 1]);
        cancelled = 1;
    }
    outcome.keep = codec_capacity(codec) > 0;
    codec->ops->end(codec, outcome.error ? outcome.error : setting->reset ? ERR_RESET : ERR_NONE, 3, &unfinished);
    outcome.finished = take_all(&finished, exchanges, 0);
    require(outcome.finished + take_all(&unfinished, exchanges, outcome.finished) + cancelled == setting->exchanges);
    require(!codec->active && !codec_capacity(codec));
    conclude(&outcome, exchanges);
    codec->ops->free(codec);
    for (unsigned i = 0; i < MOST; i++) {
        buf_free(&exchanges[i].head);
        buf_free(&exchanges[i].body);
    }
    return outcome;
}

/* Equal but for padding, which a memcmp would see. */
static void require_same(const struct outcome *a, const struct outcome *b)
{
    require(a->error == b->error && a->finished == b->finished && a->keep == b->keep);
    for (unsigned i = 0; i < a->finished; i++)
        require(a->status[i] == b->status[i] && a->body_size[i] == b->body_size[i] && a->hash[i] == b->hash[i]);
}

static void forget(void)
{
    free(request.seen);
    request.seen = NULL;
    request.answered = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    struct setting setting = {
        .lenient = data[0] & 1,
        .head = data[0] & 2,
        .reset = data[0] & 4,
        .cancel = data[0] & 8,
        .exchanges = 1 + (data[0] >> 4) % MOST,
        .max_body = data[1] & 1 ? SIZE_MAX : data[1] >> 1,
        .seed = data[2],
    };
    data += 3;
    size -= 3;
    struct outcome whole = play(&setting, data, size, SIZE_MAX, SIZE_MAX), other;
    for (size_t piece = 0; piece <= 2; piece++) { /* the heads are remembered from the second time on */
        other = play(&setting, data, size, piece, SIZE_MAX);
        require_same(&whole, &other);
    }
    other = play(&setting, data, size, SIZE_MAX, SIZE_MAX);
    require_same(&whole, &other);
    play(&setting, data, size, 0, setting.seed % 40); /* not all is written: it must only hold together */
    forget();
    return 0;
}
