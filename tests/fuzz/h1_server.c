/* The server's codec against arbitrary bytes. The first two bytes choose how the rest is cut into reads and writes, and what is answered; cut or whole, the codec must
 * see the same requests and send the same bytes. */
#include "http/h1_server.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BODY = 1000 };

/* How one pass goes: 0 means whole. */
struct cut {
    size_t read, write;
};

static const char content[] = "0123456789abcdef";

static struct answer choose_answer(uint8_t choice)
{
    static const int status[] = { 200, 204, 304, 404, 599, 299, 200, 200 };
    static const size_t pieces[] = { 0, 0, 0, 3, 17, 1000, 0, 1 };
    size_t piece = pieces[choice >> 3 & 7];
    struct answer answer = { .status = status[choice & 7], .piece = piece };
    if (answer.status != 204 && answer.status != 304)
        answer.content = (struct content){ content, sizeof content - 1, piece ? piece * (choice >> 6) * 10 : (uint64_t)(choice >> 6) * 5000 };
    return answer;
}

/* Everything that is seen must be readable, which a sanitizer checks. */
static void look(struct buf *log, struct slice slice)
{
    buf_append(log, slice.data, slice.length);
    buf_append(log, "|", 1);
}

static void look_at(struct buf *log, const struct incoming *in)
{
    look(log, in->head);
    look(log, in->method);
    look(log, in->target);
    look(log, in->path);
    look(log, in->type);
    look(log, (struct slice){ in->body.data, in->body.length });
    buf_printf(log, "%d %d %d %d %d\n", in->minor_version, in->keep_alive, in->awaits_continue, (int)in->received, in->answer.status);
    assert(in->received == in->body.length && in->received <= MAX_BODY);
}

static void write_out(struct h1_server *h1, struct buf *log, size_t limit)
{
    struct iovec vectors[H1_SERVER_VECTORS];
    for (int count; (count = h1_server_output(h1, vectors)) > 0;) {
        size_t wrote = 0;
        for (int i = 0; i < count && (!limit || wrote < limit); i++) {
            size_t length = vectors[i].iov_len;
            assert(length);
            if (limit && length > limit - wrote)
                length = limit - wrote;
            buf_append(log, vectors[i].iov_base, length);
            wrote += length;
        }
        h1_server_wrote(h1, wrote);
    }
    assert(!h1_server_backlog(h1));
}

static void handle(struct h1_server *h1, enum h1_server_event event, struct buf *log, struct answer answer)
{
    struct incoming *in = h1_server_incoming(h1);
    if (event == H1_SERVER_HEAD) {
        in->keep_body = true;
        in->max_body = MAX_BODY;
        event = h1_server_accept(h1);
    }
    if (event == H1_SERVER_MORE)
        return;
    if (event == H1_SERVER_REQUEST) {
        look_at(log, in);
        in->answer = answer;
    } else {
        assert(in->answer.status >= 400 && in->why && !in->keep_alive);
    }
    h1_server_answer(h1);
}

static void pass(struct buf *log, const char *data, size_t size, struct cut cut, struct answer answer)
{
    struct h1_server *h1 = h1_server_new();
    for (size_t at = 0; at < size && !h1_server_ended(h1);) {
        size_t length = cut.read && cut.read < size - at ? cut.read : size - at;
        char *copy = mem_text(data + at, length); /* gone after this read, as in a buffer that connections share */
        for (size_t done = 0, taken; done < length && !h1_server_ended(h1); done += taken) {
            enum h1_server_event event = h1_server_input(h1, copy + done, length - done, &taken);
            assert(taken <= length - done && (event != H1_SERVER_MORE || taken == length - done));
            handle(h1, event, log, answer);
            write_out(h1, log, cut.write);
        }
        free(copy);
        at += length;
    }
    h1_server_free(h1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct cut cut = { 1 + data[0] % 16, 1 + data[0] / 16 * 37 };
    struct answer answer = choose_answer(data[1]);
    struct buf whole = { 0 }, pieces = { 0 };
    pass(&whole, (const char *)data + 2, size - 2, (struct cut){ 0, 0 }, answer);
    pass(&pieces, (const char *)data + 2, size - 2, cut, answer);
    assert(whole.length == pieces.length && !memcmp(whole.data ? whole.data : "", pieces.data ? pieces.data : "", whole.length));
    buf_free(&whole);
    buf_free(&pieces);
    return 0;
}
