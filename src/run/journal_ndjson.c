/* A request as a JSON object. Times of day are seconds since 1970 to the microsecond, durations seconds to the nanosecond; what did not happen is null. docs/results.md
 * lists the fields. */
#include "base/err.h"
#include "run/journal_lines.h"
#include "run/journal_text.h"

static const char *const phases[] = { "run", "warm_up", "setup", "teardown" };

static char *put_time(char *at, int64_t ns)
{
    uint64_t us = (uint64_t)(ns + 500) / 1000;
    at = put_count(at, us / 1000000);
    *at++ = '.';
    return put_six(at, (uint32_t)(us % 1000000));
}

static char *put_duration(char *at, bool is, int64_t ns)
{
    if (!is)
        return PUT(at, "null");
    return ns > 0 ? put_seconds(at, ns) : PUT(at, "0");
}

static char *put_times(char *at, const struct journal_record *record, int64_t wall)
{
    int64_t started = record->started - record->earlier;
    at = PUT(at, "{\"due\":");
    const char *due = at;
    at = put_time(at, (record->open ? record->due : started) + wall);
    size_t length = (size_t)(at - due);
    at = PUT(at, ",\"started\":");
    at = record->open ? put_time(at, started + wall) : put_bytes(at, due, length);
    at = PUT(at, ",\"ended\":");
    return put_time(at, record->ended + wall);
}

/* Of most requests there is nothing to say: their connection was open. */
static char *put_opening(char *at, const struct journal_record *record)
{
    if (!record->dns && !record->connect && !record->tls)
        return PUT(at, ",\"dns\":null,\"connect\":null,\"tls\":null");
    at = PUT(at, ",\"dns\":");
    at = put_duration(at, record->dns, record->dns);
    at = PUT(at, ",\"connect\":");
    at = put_duration(at, record->connect, record->connect);
    at = PUT(at, ",\"tls\":");
    return put_duration(at, record->tls, record->tls);
}

static char *put_durations(char *at, const struct journal_record *record)
{
    at = PUT(at, ",\"latency\":");
    at = put_duration(at, record->status, record->ended - record->started + record->earlier);
    at = PUT(at, ",\"latency_from_intended\":");
    at = put_duration(at, record->status && record->open, record->ended - record->due);
    at = PUT(at, ",\"earlier\":");
    at = put_duration(at, record->earlier, record->earlier);
    at = PUT(at, ",\"blocked\":");
    at = put_duration(at, record->assigned, record->assigned - record->started);
    at = put_opening(at, record);
    at = PUT(at, ",\"wait\":");
    at = put_duration(at, record->sent && record->first_byte, record->first_byte - record->sent);
    at = PUT(at, ",\"receive\":");
    return put_duration(at, record->first_byte, record->ended - record->first_byte);
}

static char *put_outcome(char *at, const struct journal_record *record)
{
    at = PUT(at, ",\"status\":");
    at = record->status ? put_count(at, record->status) : PUT(at, "null");
    at = PUT(at, ",\"error\":");
    if (record->error) {
        *at++ = '"';
        at = put_bytes(at, err_name(record->error), strlen(err_name(record->error)));
        *at++ = '"';
    } else {
        at = PUT(at, "null");
    }
    at = PUT(at, ",\"sent\":");
    at = put_count(at, record->bytes_sent);
    at = PUT(at, ",\"received\":");
    return put_count(at, record->bytes_received);
}

static char *put_version(char *at, const struct journal_record *record)
{
    at = PUT(at, ",\"http\":");
    if (!record->status)
        return PUT(at, "null");
    return record->version == 20 ? PUT(at, "\"2\"") : record->version == 10 ? PUT(at, "\"1.0\"") : PUT(at, "\"1.1\"");
}

static char *line(char *at, const struct journal_record *record, const struct label *label, const struct journal_view *view)
{
    at = put_times(at, record, view->wall);
    at = put_durations(at, record);
    at = put_outcome(at, record);
    at = put_version(at, record);
    at = record->reused ? PUT(at, ",\"reused\":true,\"phase\":\"") : PUT(at, ",\"reused\":false,\"phase\":\"");
    at = put_bytes(at, phases[record->phase], strlen(phases[record->phase]));
    at = PUT(at, "\",\"user\":");
    at = put_count(at, record->user);
    *at++ = ',';
    at = put_bytes(at, label->json.data, label->json.length);
    return PUT(at, "}\n");
}

const struct journal_lines journal_ndjson = { .header = "", .line = line };
