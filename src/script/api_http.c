/* core.prepare, core.send, core.marks: HTTP as Lua sees it. A request goes down in send() and comes back through api_http_finished (decode, record, make ready) and
 * deliver() (the results of the call). */
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "http/decode.h"
#include "http/upload.h"
#include "script/api.h"
#include "script/record.h"

#define PREPARED_TYPE "luabench.prepared"

enum {
    FIRST_BACK_OFF_MS = 10, /* after a failed connect, doubling to: */
    LAST_BACK_OFF_MS = 1000,
    FIRST_SILENT_MS = 1,    /* after a connection that was ended without a word, doubling to: */
    LAST_SILENT_MS = 100,
};

/* What a response keeps of the times of its exchange, in ns: two numbers that hold four short times and the version, or else, when there are more or longer ones, the
 * struct in the form of a Lua string. A string that no other response has costs more than all else that is made for one. */
struct marks {
    int64_t total, blocked, dns, connect, tls, send, wait, receive;
    int version;
};

enum {
    SHORT_BITS = 26,       /* of a time, up to 67 ms: two of them and one bit more are exact in a lua_Number */
    HTTP_1_1_MARK = 1,     /* exchange->minor_version */
    HTTP_2_MARK = 20,
};

static bool failed_to_connect(enum err error)
{
    return error == ERR_DNS || error == ERR_CONNECT || error == ERR_CONNECT_TIMEOUT || error == ERR_TLS || error == ERR_NO_PORTS ||
           error == ERR_NO_DESCRIPTORS;
}

/* A new connection was ended without a word, as by a proxy whose server is gone. */
static bool was_turned_away(const struct exchange *exchange)
{
    return (exchange->error == ERR_CLOSED || exchange->error == ERR_RESET) && !exchange->reused && !exchange->answered;
}

/* A user of the closed model who was not let in sends nothing for a while, so that a closed port does not heat a core. */
static void back_off(struct vu *vu, const struct exchange *exchange)
{
    bool failed = failed_to_connect(exchange->error);
    if ((!failed && !was_turned_away(exchange)) || vu->scenario->plan->model == MODEL_OPEN) {
        vu->connect_failures = 0;
        vu->connect_after = 0;
        return;
    }
    int64_t delay = failed ? FIRST_BACK_OFF_MS : FIRST_SILENT_MS, last = failed ? LAST_BACK_OFF_MS : LAST_SILENT_MS;
    for (unsigned i = 0; i < vu->connect_failures && delay < last; i++)
        delay *= 2;
    vu->connect_failures++;
    vu->connect_after = clock_ns() + (delay < last ? delay : last) * NS_PER_MS;
}

/* The upload is the sender's again. */
static void leave_upload(struct exchange *exchange)
{
    if (exchange->upload)
        upload_rest(exchange->upload);
    exchange->upload = NULL;
}

/* Before anything is recorded, since wrong data is an error. */
static void decode(struct vm *vm, const struct strand *strand, struct exchange *exchange)
{
    if (exchange->error || exchange->discard || !strand || !strand->vu->scenario->plan->http.decode)
        return;
    if (!vm->decoder)
        vm->decoder = decoder_new();
    decoder_run(vm->decoder, exchange);
}

void api_http_finished(struct vm *vm, struct exchange *exchange)
{
    struct strand *strand = exchange->owner;
    leave_upload(exchange);
    if (exchange->finished > vm->read_since)
        exchange->late += exchange->finished - vm->read_since;
    if (exchange->notes & NOTE_ENCODED)
        decode(vm, strand, exchange);
    exchange->verdict = record_verdict(exchange);
    if (!exchange->call)
        record_exchange(vm->metrics, exchange, exchange->verdict, NULL);
    if (!strand) {
        pool_recycle(vm->pool, exchange);
        return;
    }
    back_off(strand->vu, exchange);
    if (!exchange->batch || api_raw_all_answered(exchange))
        strand_ready(strand);
}

/* Preparing */

static int release_prepared(lua_State *L)
{
    struct request **request = luaL_checkudata(L, 1, PREPARED_TYPE);
    if (*request)
        request_release(*request);
    *request = NULL;
    return 0;
}

/* prepare(scenario, method, url, lines, name, host, accept) -> prepared, or nil and a text. */
static int prepare(lua_State *L)
{
    struct vm *vm = vm_of(L);
    size_t url_length, lines_length, name_length;
    const char *why = "only a scenario's functions can send requests";
    size_t scenario = (size_t)luaL_checkint(L, 1) - 1;
    const char *method = luaL_checkstring(L, 2), *url = luaL_checklstring(L, 3, &url_length);
    const char *lines = luaL_optlstring(L, 4, "", &lines_length), *name = luaL_checklstring(L, 5, &name_length);
    const char *host = luaL_optstring(L, 6, NULL), *accept = luaL_optstring(L, 7, NULL), *version = luaL_optstring(L, 8, NULL);
    luaL_argcheck(L, vm->pool && scenario < vm->scenario_count, 1, why);
    struct request **prepared = lua_newuserdata(L, sizeof *prepared);
    *prepared = NULL;
    luaL_getmetatable(L, PREPARED_TYPE);
    lua_setmetatable(L, -2);
    *prepared = request_new(vm->pool, method, url, url_length, lines, lines_length, host, &why);
    if (!*prepared) {
        lua_pushnil(L);
        lua_pushstring(L, why);
        return 2;
    }
    const struct client_options *options = &vm->scenarios[scenario].client_options;
    enum http_version wanted = version ? http_version_of(version) : options->version;
    (*prepared)->version = (int)wanted;
    if (options->proxy && wanted != HTTP_2)
        request_through_proxy(*prepared, options->proxy->authorization);
    (*prepared)->metrics = metrics_name(vm->metrics, scenario, name, name_length);
    (*prepared)->accept = accept ? accept_new(accept) : NULL;
    return 1;
}

/* Sending */

/* Where a request of on_start or on_stop is counted: apart, with a tag behind its name. */
static struct name_metrics *figures_of_phase(struct vu *vu, const struct name_metrics *name)
{
    struct buf key = { 0 };
    buf_printf(&key, "%s\nphase=%s", name->name, vu->phase == PHASE_START ? "on_start" : "on_stop");
    struct name_metrics *figures = metrics_name(vu->vm->metrics, (size_t)(vu->scenario - vu->vm->scenarios), key.data, key.length);
    buf_free(&key);
    return figures;
}

/* The first request of an iteration of the open model is due when the iteration was, any other one now. */
static void submit(struct vu *vu, struct exchange *exchange, int64_t now)
{
    struct pool *pool = vu->vm->pool;
    exchange->started = exchange->intended = now;
    if (vu->intended) {
        exchange->intended = vu->intended;
        exchange->late = vu->late;
    }
    vu->intended = 0;
    exchange->deadline = ns_after(exchange->intended, exchange->deadline); /* a timeout until now */
    exchange->figures = exchange->request->metrics;
    if (vu->phase == PHASE_START || vu->phase == PHASE_STOP)
        exchange->figures = figures_of_phase(vu, exchange->figures);
    if (vu->vm->metrics->slices)
        exchange->slices = metrics_slices(vu->vm->metrics, exchange->request->method, api_group_around(exchange->owner));
    bool first = !exchange->call || api_call_begin(exchange->call, exchange);
    exchange->dated = vu_dated(vu, exchange->intended);
    if (first)
        name_or_aside(exchange->figures, exchange->dated)->started++;
    pool_submit(pool, vu->client, exchange);
    if (exchange->deadline <= now)
        pool_cancel(pool, exchange, ERR_TIMEOUT);
}

void api_http_submit(struct strand *strand)
{
    strand->unsent = false;
    submit(strand->vu, strand->exchange, clock_ns());
}

void api_http_abandon(struct strand *strand)
{
    if (strand->exchange->batch) {
        api_raw_abandon(strand);
        return;
    }
    struct exchange *exchange = strand->exchange;
    struct vm *vm = strand->vu->vm;
    strand->exchange = NULL;
    if (strand->unsent) {
        strand->unsent = false;
        pool_recycle(vm->pool, exchange);
        return;
    }
    struct call *call = exchange->call;
    exchange->owner = NULL;
    exchange->call = NULL;
    if (!exchange->finished || link_listed(&exchange->link)) {
        pool_cancel(vm->pool, exchange, ERR_INTERRUPTED);
        leave_upload(exchange);
        return;
    }
    if (call) /* reaped, and waiting to be delivered */
        record_exchange(vm->metrics, exchange, exchange->verdict, NULL);
    pool_recycle(vm->pool, exchange);
}

static bool is_short(int64_t ns)
{
    return ns >= 0 && ns < (int64_t)1 << SHORT_BITS;
}

/* The usual case: the connection was there, and all went fast. False: it is another one. */
static bool push_short_marks(lua_State *L, const struct exchange *exchange)
{
    int64_t blocked = exchange->assigned - exchange->started, send = exchange->sent - exchange->assigned;
    int64_t wait = exchange->first_byte - exchange->sent, receive = exchange->finished - exchange->first_byte;
    bool version_2 = exchange->minor_version == HTTP_2_MARK;
    if (exchange->error || exchange->dns || exchange->connect || exchange->tls || exchange->earlier || !is_short(blocked) || !is_short(send) || !is_short(wait) ||
        !is_short(receive) || !(version_2 || exchange->minor_version == HTTP_1_1_MARK))
        return false;
    lua_pushnumber(L, (lua_Number)((blocked << SHORT_BITS | send) << 1 | version_2));
    lua_pushnumber(L, (lua_Number)(wait << SHORT_BITS | receive));
    return true;
}

static struct marks unpack_marks(int64_t first, int64_t second)
{
    int64_t mask = ((int64_t)1 << SHORT_BITS) - 1;
    struct marks marks = { .blocked = first >> (SHORT_BITS + 1), .send = first >> 1 & mask, .wait = second >> SHORT_BITS, .receive = second & mask,
                           .version = first & 1 ? HTTP_2_MARK : HTTP_1_1_MARK };
    marks.total = marks.blocked + marks.send + marks.wait + marks.receive;
    return marks;
}

static void push_long_marks(lua_State *L, const struct exchange *exchange)
{
    struct marks marks;
    memset(&marks, 0, sizeof marks); /* padding too: the bytes become a string */
    marks.total = exchange->finished - exchange->started + exchange->earlier;
    marks.blocked = (exchange->assigned ? exchange->assigned : exchange->finished) - exchange->started;
    marks.dns = exchange->dns;
    marks.connect = exchange->connect;
    marks.tls = exchange->tls;
    if (exchange->assigned) /* nothing was written: until it failed */
        marks.send = (exchange->sent ? exchange->sent : exchange->finished) - exchange->assigned - exchange->dns - exchange->connect - exchange->tls;
    if (exchange->sent)
        marks.wait = (exchange->first_byte ? exchange->first_byte : exchange->finished) - exchange->sent;
    if (exchange->first_byte)
        marks.receive = exchange->finished - exchange->first_byte;
    marks.version = exchange->minor_version;
    lua_pushlstring(L, (const char *)&marks, sizeof marks);
    lua_pushnil(L);
}

static void push_buf(lua_State *L, const struct buf *buf)
{
    lua_pushlstring(L, buf->length ? buf->data : "", buf->length);
}

/* What is wrong, in words; false when nothing is. */
static void push_text(lua_State *L, const struct exchange *exchange, enum err verdict)
{
    if (!verdict)
        lua_pushboolean(L, 0);
    else if (!exchange->error)
        lua_pushfstring(L, "status %d", exchange->status);
    else
        lua_pushfstring(L, exchange->text[0] ? "%s: %s" : "%s", err_text(exchange->error), exchange->text);
}

/* The results of core.send; the last ones only when there is something to say. */
static int push_response(lua_State *L, const struct exchange *exchange)
{
    enum err verdict = exchange->verdict;
    bool whole = !exchange->error, cookies = whole && exchange->notes & NOTE_COOKIE;
    lua_pushinteger(L, whole ? exchange->status : 0);
    lua_pushboolean(L, !verdict);
    if (verdict)
        lua_pushstring(L, err_name(verdict));
    else
        lua_pushnil(L);
    lua_pushnumber(L, (lua_Number)exchange->body_size);
    if (whole) {
        push_buf(L, &exchange->body);
        push_buf(L, &exchange->head);
    } else {
        lua_pushliteral(L, "");
        lua_pushnil(L);
    }
    if (!push_short_marks(L, exchange))
        push_long_marks(L, exchange);
    if (!verdict && !cookies)
        return 8;
    push_text(L, exchange, verdict);
    lua_pushboolean(L, cookies);
    return 10;
}

static int deliver(struct strand *strand, lua_State *L)
{
    struct exchange *exchange = strand->exchange;
    strand->exchange = NULL;
    int count = push_response(L, exchange);
    if (exchange->call)
        api_call_hold(exchange->call, exchange);
    else
        pool_recycle(strand->vu->vm->pool, exchange);
    return count;
}

/* What core.send is given beside the prepared request. */
struct sending {
    const char *lines, *content;
    size_t lines_length, content_length;
    struct upload *upload;
    int64_t timeout;
    struct call *call;
};

static int64_t timeout_argument(lua_State *L, int argument, int64_t absent)
{
    if (lua_isnoneornil(L, argument))
        return absent;
    double seconds = luaL_checknumber(L, argument);
    luaL_argcheck(L, seconds > 0, argument, "a timeout above 0 expected");
    return ns_from_seconds(seconds);
}

static void read_sending(lua_State *L, struct sending *sending)
{
    sending->lines = luaL_optlstring(L, 2, NULL, &sending->lines_length);
    if (lua_isuserdata(L, 3)) {
        sending->upload = api_upload_argument(L, 3);
        sending->content = "";
        sending->content_length = sending->upload->length;
    } else {
        sending->content = luaL_optlstring(L, 3, NULL, &sending->content_length);
    }
    sending->timeout = timeout_argument(L, 4, sending->timeout);
    sending->call = api_call_argument(L, 5);
}

/* send(prepared, lines, body, timeout, call); waits. Strings, upload and call stay alive as arguments on the coroutine's stack. */
static int send_request(lua_State *L)
{
    struct request **prepared = lua_touserdata(L, 1);
    struct strand *strand = strand_that_waits(L);
    struct vu *vu = strand->vu;
    luaL_argcheck(L, prepared && *prepared, 1, "a prepared request expected");
    struct sending sending = { .timeout = vu->scenario->plan->http.timeout };
    if (lua_gettop(L) > 1)
        read_sending(L, &sending);

    struct exchange *exchange = pool_exchange(vu->vm->pool);
    exchange->request = request_hold(*prepared);
    exchange->lines = sending.lines;
    exchange->lines_length = sending.lines_length;
    exchange->content = sending.content;
    exchange->content_length = sending.content_length;
    exchange->upload = sending.upload;
    exchange->deadline = sending.timeout;
    exchange->max_body = vu->scenario->plan->http.max_body;
    exchange->discard = vu->scenario->plan->http.discard_bodies;
    exchange->call = sending.call;
    exchange->owner = strand;
    exchange->user = vu->id;
    strand->exchange = exchange;
    int64_t now = clock_ns();
    strand->unsent = vu->connect_after > now;
    if (strand->unsent)
        timers_set(&vu->vm->loop->timers, &strand->timer, vu->connect_after);
    else
        submit(vu, exchange, now);
    return strand_wait(L, strand, deliver);
}

/* Looking at marks */

/* The two values that push_response has made. */
static struct marks check_marks(lua_State *L)
{
    size_t length;
    if (lua_type(L, 1) == LUA_TNUMBER)
        return unpack_marks((int64_t)lua_tonumber(L, 1), (int64_t)luaL_checknumber(L, 2));
    const char *bytes = luaL_checklstring(L, 1, &length);
    luaL_argcheck(L, length == sizeof(struct marks), 1, "marks expected");
    return *(const struct marks *)bytes;
}

static int marks_table(lua_State *L)
{
    struct marks marks = check_marks(L);
    const struct {
        const char *name;
        int64_t ns;
    } fields[] = {
        { "total", marks.total }, { "blocked", marks.blocked }, { "dns", marks.dns },   { "connect", marks.connect },
        { "tls", marks.tls },     { "send", marks.send },       { "wait", marks.wait }, { "receive", marks.receive },
    };
    lua_createtable(L, 0, sizeof fields / sizeof *fields);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        lua_pushnumber(L, ns_to_seconds(fields[i].ns));
        lua_setfield(L, -2, fields[i].name);
    }
    return 1;
}

static int version(lua_State *L)
{
    int minor = check_marks(L).version;
    lua_pushstring(L, minor == HTTP_2_MARK ? "2" : minor == HTTP_1_1_MARK ? "1.1" : "1.0");
    return 1;
}

void api_http_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "prepare", prepare }, { "send", send_request }, { "marks", marks_table }, { "version", version }, { NULL, NULL },
    };
    api_register(L, functions);
    luaL_newmetatable(L, PREPARED_TYPE);
    lua_pushcfunction(L, release_prepared);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}
