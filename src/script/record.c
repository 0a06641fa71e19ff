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

static void record_interrupted(struct name_metrics *name, struct name_metrics *own, const struct exchange *exchange)
{
    name->interrupted++;
    if (name == own)
        hist_record(&own->scenario->unfinished, exchange->finished - exchange->intended);
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

void record_exchange(struct metrics *metrics, const struct exchange *exchange, enum err verdict, const char *text)
{
    struct name_metrics *own = exchange->figures, *name = name_or_aside(own, exchange->intended);
    if (name != own && verdict != ERR_INTERRUPTED)
        own->aside = verdict;
    record_bytes(name, exchange);
    if (!exchange->error) {
        record_response(name, exchange, verdict, own->scenario->open);
        if (!verdict)
            own->in_window += is_in_window(own->scenario, exchange->finished);
        if (name == own)
            record_latency(own->scenario, exchange, verdict);
    } else {
        name->errors[verdict]++;
        if (verdict == ERR_INTERRUPTED)
            record_interrupted(name, own, exchange);
        else if (verdict == ERR_TIMEOUT || verdict == ERR_CONNECT_TIMEOUT)
            name->timed_out++;
        else
            name->failed++;
    }
    if (verdict)
        record_text(metrics, exchange, verdict, text);
    if (metrics->journal)
        record_journal(metrics, exchange, verdict);
}

void record_step(const struct exchange *exchange, enum step step)
{
    struct name_metrics *name = name_or_aside(exchange->figures, exchange->intended);
    record_bytes(name, exchange);
    if (step == STEP_REDIRECTED)
        name->redirected++;
    else
        name->retried++;
}
