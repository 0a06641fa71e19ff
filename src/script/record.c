#include "script/record.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_STATUS = 100, STATUSES = 500 };

/* Accepting */

struct accept {
    bool statuses[STATUSES];
};

static void accept_word(struct accept *accept, const char *word)
{
    int first = (word[0] - '0') * 100, count = 100;
    if (word[1] != 'x') {
        first = atoi(word);
        count = 1;
    }
    first -= FIRST_STATUS;
    if (first >= 0 && first + count <= STATUSES)
        memset(accept->statuses + first, true, (size_t)count);
}

void *accept_new(const char *text)
{
    struct accept *accept = mem_zero(sizeof *accept);
    for (; *text; text += strcspn(text, " ")) {
        text += strspn(text, " ");
        if (*text)
            accept_word(accept, text);
    }
    return accept;
}

static bool accepted(const struct exchange *exchange)
{
    const struct accept *accept = exchange->request->accept;
    int status = exchange->status;
    if (accept)
        return status >= FIRST_STATUS && status < FIRST_STATUS + STATUSES && accept->statuses[status - FIRST_STATUS];
    return status >= 200 && status < 400;
}

enum err record_verdict(const struct exchange *exchange)
{
    if (exchange->error)
        return exchange->error;
    return accepted(exchange) ? ERR_NONE : ERR_STATUS;
}

/* Recording */

static int64_t or_zero(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

/* How much of a response's latency may be luabench's own doing: the request was late, was held back while other users ran, and its answer was not looked at at once. */
static int64_t own_delay(const struct exchange *exchange)
{
    int64_t held = exchange->sent - exchange->assigned - exchange->dns - exchange->connect - exchange->tls;
    return exchange->late + or_zero(held);
}

/* The figures of the scenario, of its headline latency. */
static void record_latency(struct scenario_metrics *scenario, const struct exchange *exchange, enum err verdict)
{
    int64_t latency = scenario->open ? exchange->finished - exchange->intended : exchange->finished - exchange->started + exchange->earlier;
    hist_record(&scenario->latency_net, or_zero(latency - own_delay(exchange)));
    timeline_response(&scenario->timeline, exchange->intended, latency);
    if (verdict)
        hist_record(&scenario->latency_refused, latency);
}

static void record_response(struct name_metrics *name, const struct exchange *exchange, enum err verdict, bool open)
{
    name->responses++;
    metrics_status(name, exchange->status);
    if (verdict) {
        name->failed++;
        name->errors[verdict]++;
    } else {
        name->succeeded++;
    }
    hist_record(&name->latency, exchange->finished - exchange->started + exchange->earlier);
    if (open)
        hist_record(&name->latency_from_intended, exchange->finished - exchange->intended);
    hist_record(&name->service, exchange->finished - exchange->sent);
    hist_record(&name->wait, exchange->first_byte - exchange->sent);
    hist_record(&name->blocked, exchange->assigned - exchange->started);
    if (exchange->connect)
        hist_record(&name->connect, exchange->connect);
    if (exchange->tls)
        hist_record(&name->tls, exchange->tls);
}

static void record_failure(struct name_metrics *name, enum err verdict)
{
    name->errors[verdict]++;
    if (verdict == ERR_INTERRUPTED)
        name->interrupted++;
    else if (verdict == ERR_TIMEOUT || verdict == ERR_CONNECT_TIMEOUT)
        name->timed_out++;
    else
        name->failed++;
}

/* "interrupted" and "status" need no words. */
static void record_text(struct metrics *metrics, const struct exchange *exchange, enum err verdict, const char *text)
{
    if (verdict == ERR_NONE || verdict == ERR_STATUS || verdict == ERR_INTERRUPTED)
        return;
    if (!text)
        text = *exchange->text ? exchange->text : err_text(verdict);
    metrics_error_text(metrics, verdict, text);
}

static void record_bytes(struct name_metrics *name, const struct exchange *exchange)
{
    name->bytes_sent += exchange->bytes_sent;
    name->bytes_received += exchange->bytes_received;
    name->retried += exchange->retried;
}

static void record_end(struct name_metrics *name, const struct exchange *exchange, enum err verdict, bool open)
{
    record_bytes(name, exchange);
    if (exchange->error)
        record_failure(name, verdict);
    else
        record_response(name, exchange, verdict, open);
}

/* Among the requests of each kind that it is of. */
static void record_slices(const struct metrics *metrics, const struct exchange *exchange, enum err verdict)
{
    struct name_metrics *name = exchange->figures;
    for (uint64_t left = exchange->slices; left; left &= left - 1) {
        size_t index = (size_t)__builtin_ctzll(left);
        if (!slice_has(&metrics->slices->list[index], exchange->error ? 0 : exchange->status, verdict))
            continue;
        struct name_metrics *slice = metrics_slice(metrics, name, index);
        slice->started++;
        record_end(slice, exchange, verdict, name->scenario->open);
    }
}

/* What the scenario keeps of requests that are in its figures. */
static void record_scenario(struct scenario_metrics *scenario, const struct exchange *exchange, enum err verdict)
{
    if (!exchange->error)
        record_latency(scenario, exchange, verdict);
    else if (verdict == ERR_INTERRUPTED)
        hist_record(&scenario->unfinished, exchange->finished - exchange->intended);
}

/* How long such a request took is in no figure, and it has kept its user from making one that would be. */
static void record_aside(struct name_metrics *own, const struct exchange *exchange, enum err verdict)
{
    struct scenario_metrics *scenario = own->scenario;
    if (verdict != ERR_INTERRUPTED)
        own->aside = verdict;
    if (scenario->aside == &scenario->warm_up && !scenario->by_iterations)
        scenario->warm_up.outlasting += exchange->finished >= scenario->window_end;
}

void record_exchange(struct metrics *metrics, const struct exchange *exchange, enum err verdict, const char *text)
{
    struct name_metrics *own = exchange->figures, *name = name_or_aside(own, exchange->dated);
    if (name != own)
        record_aside(own, exchange, verdict);
    record_end(name, exchange, verdict, own->scenario->open);
    if (!verdict)
        own->in_window += is_in_window(own->scenario, exchange->dated, exchange->finished);
    if (name == own) {
        record_scenario(own->scenario, exchange, verdict);
        if (exchange->slices)
            record_slices(metrics, exchange, verdict);
    }
    if (verdict)
        record_text(metrics, exchange, verdict, text);
    if (metrics->journal)
        record_journal(metrics, exchange, verdict);
}

static void count_step(struct name_metrics *name, const struct exchange *exchange, enum step step)
{
    record_bytes(name, exchange);
    if (step == STEP_REDIRECTED)
        name->redirected++;
    else
        name->retried++;
}

void record_step(const struct metrics *metrics, const struct exchange *exchange, enum step step)
{
    struct name_metrics *own = exchange->figures, *name = name_or_aside(own, exchange->dated);
    count_step(name, exchange, step);
    for (uint64_t left = name == own ? exchange->slices : 0; left; left &= left - 1) {
        size_t index = (size_t)__builtin_ctzll(left);
        if (slice_has(&metrics->slices->list[index], 0, ERR_NONE)) /* whatever the call ends with */
            count_step(metrics_slice(metrics, own, index), exchange, step);
    }
}
