/* What became of a request, as a record of the journal. */
#include "metrics/journal.h"
#include "script/record.h"

static enum journal_phase phase_of(const struct metrics *metrics, const struct exchange *exchange)
{
    const struct name_metrics *name = exchange->figures;
    const struct scenario_metrics *scenario = name->scenario;
    if (!scenario_is_aside(scenario, exchange->dated))
        return JOURNAL_RUN;
    return scenario->aside == &metrics->setup ? JOURNAL_SETUP : scenario->aside == &metrics->teardown ? JOURNAL_TEARDOWN : JOURNAL_WARM_UP;
}

static uint8_t version_of(const struct exchange *exchange)
{
    return (uint8_t)(exchange->minor_version >= 10 ? exchange->minor_version : 10 + exchange->minor_version);
}

void record_journal(struct metrics *metrics, const struct exchange *exchange, enum err verdict)
{
    const struct name_metrics *name = exchange->figures;
    struct journal_record *record = journal_next(metrics->journal);
    if (!record)
        return;
    *record = (struct journal_record){
        .name = name, .user = exchange->user, .due = exchange->intended, .started = exchange->started, .ended = exchange->finished, .assigned = exchange->assigned,
        .sent = exchange->sent, .first_byte = exchange->first_byte, .dns = exchange->dns, .connect = exchange->connect, .tls = exchange->tls,
        .bytes_sent = exchange->bytes_sent, .bytes_received = exchange->bytes_received, .earlier = exchange->earlier, .users = (uint32_t)name->scenario->users,
        .status = (uint16_t)(exchange->error ? 0 : exchange->status), .error = (uint8_t)verdict, .phase = (uint8_t)phase_of(metrics, exchange),
        .version = version_of(exchange), .reused = exchange->reused, .open = name->scenario->open,
    };
    journal_commit(metrics->journal);
}
