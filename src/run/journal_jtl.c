/* A request as a sample of JMeter's CSV (JTL), with the columns that JMeter writes and its report generator reads. Milliseconds. What setup, teardown and a warm-up have
 * sent is left out, as in all figures. `elapsed` is the headline latency: in the open model it begins when the request was due, and so does timeStamp. */
#include "base/clock.h"
#include "base/err.h"
#include "run/journal_lines.h"
#include "run/journal_text.h"

static char *put_ms(char *at, int64_t ns)
{
    return put_count(at, ns > 0 ? (uint64_t)(ns + NS_PER_MS / 2) / NS_PER_MS : 0);
}

static char *put_string(char *at, const char *text)
{
    return put_bytes(at, text, strlen(text));
}

static int64_t began(const struct journal_record *record)
{
    return record->open ? record->due : record->started - record->earlier;
}

/* responseCode, responseMessage */
static char *put_response(char *at, const struct journal_record *record)
{
    if (record->status) {
        at = put_count(at, record->status);
        *at++ = ',';
        return at;
    }
    at = PUT(at, "Non HTTP response code: ");
    at = put_string(at, err_name(record->error));
    at = PUT(at, ",Non HTTP response message: ");
    return put_string(at, err_text(record->error));
}

static char *put_thread(char *at, const struct journal_record *record, const struct label *label)
{
    const struct buf *scenario = &label->csv_scenario;
    bool quoted = scenario->length && scenario->data[scenario->length - 1] == '"';
    at = put_bytes(at, scenario->data, scenario->length - quoted); /* JMeter's form is "GROUP 1-USER" */
    at = PUT(at, " 1-");
    at = put_count(at, record->user);
    if (quoted)
        *at++ = '"';
    return at;
}

static char *line(char *at, const struct journal_record *record, const struct label *label, const struct journal_view *view)
{
    if (record->phase != JOURNAL_RUN)
        return at;
    at = put_ms(at, began(record) + view->wall);
    *at++ = ',';
    at = put_ms(at, record->ended - began(record));
    *at++ = ',';
    at = put_bytes(at, label->csv.data, label->csv.length);
    *at++ = ',';
    at = put_response(at, record);
    *at++ = ',';
    at = put_thread(at, record, label);
    at = record->error ? PUT(at, ",text,false,") : PUT(at, ",text,true,");
    if (record->error)
        at = put_string(at, err_text(record->error)); /* none of them has a comma */
    *at++ = ',';
    at = put_count(at, record->bytes_received);
    *at++ = ',';
    at = put_count(at, record->bytes_sent);
    *at++ = ',';
    at = put_count(at, view->users);
    *at++ = ',';
    at = put_count(at, view->all_users);
    at = PUT(at, ",null,"); /* URL: kept in the name */
    at = put_ms(at, record->first_byte ? record->first_byte - began(record) : 0);
    at = PUT(at, ",0,");
    at = put_ms(at, record->dns + record->connect + record->tls);
    *at++ = '\n';
    return at;
}

const struct journal_lines journal_jtl = {
    .header = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,"
              "Connect\n",
    .line = line,
};
