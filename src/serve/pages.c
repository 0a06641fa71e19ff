#include "serve/pages.h"

#include <inttypes.h>

#include "base/clock.h"
#include "http/status.h"

static const uint64_t max_content = UINT64_C(1) << 30;
static const uint64_t max_fibonacci = 50;
static const int64_t max_delay = 600 * NS_PER_SECOND;
static const uint64_t max_window = (UINT64_C(1) << 31) - 1; /* RFC 9113 6.5.2 */

/* A request on its way through its page. */
struct call {
    struct pages *pages;
    struct incoming *incoming;
    struct fault *fault;
    struct slice rest; /* of the path, behind the page's name: "" or "/..." */
};

struct page {
    const char *name;  /* first segment of the path */
    const char *usage; /* for people: the list at / and in errors */
    bool any_method;   /* otherwise GET and HEAD */
    bool uncounted;
    bool (*answer)(struct call *call); /* false: the rest of the path is not as `usage` says */
};

/* 64 bytes, a thousand times: the content of /bytes and /chunked. */
#define FOUR(text) text text text text
#define LINE "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-\n"
static const char pattern[] = FOUR(FOUR(FOUR(FOUR(FOUR(LINE)))));

#define SLICE(text) ((struct slice){ text, sizeof text - 1 })

static void answer_with(struct incoming *incoming, int status, struct slice type, const char *data, size_t length)
{
    incoming->answer.status = status;
    incoming->answer.type = type;
    incoming->answer.content = (struct content){ data, length, length };
}

/* Answers with what was put into incoming->text. */
static void answer_text(struct incoming *incoming, int status)
{
    answer_with(incoming, status, SLICE("text/plain"), incoming->text.data, incoming->text.length);
}

static void answer_pattern(struct incoming *incoming, uint64_t length, size_t piece)
{
    incoming->answer.status = 200;
    incoming->answer.type = SLICE("application/octet-stream");
    incoming->answer.content = (struct content){ pattern, sizeof pattern - 1, length };
    incoming->answer.piece = piece;
}

static bool skip(struct slice *rest, char c)
{
    if (!rest->length || *rest->data != c)
        return false;
    rest->data++;
    rest->length--;
    return true;
}

/* Takes "/" and a number up to `max` off; false when there is none. */
static bool take_number(struct slice *rest, uint64_t max, uint64_t *number)
{
    if (!skip(rest, '/') || !rest->length || (unsigned)(*rest->data - '0') > 9)
        return false;
    for (*number = 0; rest->length && (unsigned)(*rest->data - '0') <= 9; skip(rest, *rest->data)) {
        *number = *number * 10 + (uint64_t)(*rest->data - '0');
        if (*number > max)
            return false;
    }
    return true;
}

/* The same, where k, M and G stand for powers of 1024. */
static bool take_size(struct slice *rest, uint64_t max, uint64_t *size)
{
    if (!take_number(rest, max, size))
        return false;
    int shift = skip(rest, 'k') || skip(rest, 'K') ? 10 : skip(rest, 'M') ? 20 : skip(rest, 'G') ? 30 : 0;
    *size <<= shift; /* below 2^60 */
    return *size <= max;
}

static bool page_hello(struct call *call)
{
    static const char hello[] = "hello, world\n";
    if (call->rest.length)
        return false;
    answer_with(call->incoming, 200, SLICE("text/plain"), hello, sizeof hello - 1);
    return true;
}

static bool page_echo(struct call *call)
{
    struct incoming *incoming = call->incoming;
    if (incoming->is_head || slice_is(incoming->method, "GET")) {
        buf_append(&incoming->text, "GET", 3); /* to HEAD, too: what GET would have */
        buf_append(&incoming->text, incoming->head.data + incoming->method.length, incoming->head.length - incoming->method.length);
        answer_text(incoming, 200);
    } else {
        struct slice type = incoming->type.length ? incoming->type : SLICE("application/octet-stream");
        answer_with(incoming, 200, type, incoming->body.data, incoming->body.length);
    }
    return true;
}

/* Exponential on purpose: the work is the point. */
__attribute__((noinline, noclone)) static uint64_t fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* The same, able to give up every millisecond or so. */
static uint64_t fibonacci_until(unsigned n, const atomic_bool *stopping)
{
    if (n <= 28)
        return fibonacci(n);
    if (atomic_load_explicit(stopping, memory_order_relaxed))
        return 0;
    return fibonacci_until(n - 1, stopping) + fibonacci_until(n - 2, stopping);
}

static bool page_fibonacci(struct call *call)
{
    uint64_t n;
    if (!take_number(&call->rest, max_fibonacci, &n) || call->rest.length)
        return false;
    buf_printf(&call->incoming->text, "%" PRIu64 "\n", fibonacci_until((unsigned)n, call->pages->stopping));
    answer_text(call->incoming, 200);
    return true;
}

static bool page_delay(struct call *call)
{
    uint64_t ms;
    int64_t delay;
    if (!take_number(&call->rest, (uint64_t)(max_delay / NS_PER_MS), &ms))
        return false;
    delay = (int64_t)ms * NS_PER_MS;
    if (skip(&call->rest, '.'))
        for (int64_t unit = NS_PER_MS / 10; call->rest.length && (unsigned)(*call->rest.data - '0') <= 9; unit /= 10, skip(&call->rest, *call->rest.data))
            delay += (*call->rest.data - '0') * unit;
    if (call->rest.length || delay > max_delay)
        return false;
    buf_printf(&call->incoming->text, "%.9g ms later\n", (double)delay / NS_PER_MS);
    answer_text(call->incoming, 200);
    call->incoming->answer.delay = delay;
    return true;
}

/* Header lines without which some status codes are not complete (RFC 9110 15). */
static const char *status_lines(int status)
{
    switch (status) {
    case 301: case 302: case 303: case 307: case 308:
        return "Location: /hello\r\n";
    case 401:
        return "WWW-Authenticate: Basic realm=\"luabench\"\r\n";
    case 405:
        return "Allow: GET, HEAD\r\n";
    case 407:
        return "Proxy-Authenticate: Basic realm=\"luabench\"\r\n";
    default:
        return NULL;
    }
}

static bool page_status(struct call *call)
{
    struct incoming *incoming = call->incoming;
    uint64_t status;
    if (!take_number(&call->rest, 599, &status) || call->rest.length || status < 200)
        return false;
    if (status != 204 && status != 205 && status != 304) {
        const char *reason = status_reason((int)status);
        buf_printf(&incoming->text, "%d%s%s\n", (int)status, *reason ? " " : "", reason);
        answer_text(incoming, (int)status);
    }
    incoming->answer.status = (int)status;
    incoming->answer.lines = status_lines((int)status);
    return true;
}

static bool page_bytes(struct call *call)
{
    uint64_t length;
    if (!take_size(&call->rest, max_content, &length) || call->rest.length)
        return false;
    answer_pattern(call->incoming, length, 0);
    return true;
}

static bool page_chunked(struct call *call)
{
    uint64_t count, size;
    if (!take_number(&call->rest, max_content, &count) || !take_size(&call->rest, max_content, &size) || call->rest.length)
        return false;
    if (!size || count > max_content / size)
        return false;
    answer_pattern(call->incoming, count * size, (size_t)size);
    return true;
}

/* Faults */

static void fail_with(struct call *call, enum fault_kind kind, uint64_t number)
{
    call->fault->kind = kind;
    call->fault->number = (uint32_t)number;
}

/* The rest of the path is empty, or the number of bytes that the answer has before it breaks off. */
static bool take_cut(struct call *call, enum answer_end end, uint64_t code)
{
    uint64_t length;
    if (!call->rest.length)
        return true;
    if (!take_size(&call->rest, max_content, &length) || call->rest.length || !length)
        return false;
    answer_pattern(call->incoming, length, 0);
    call->incoming->answer.end = end;
    call->incoming->answer.code = (uint32_t)code;
    return true;
}

static bool page_reset(struct call *call)
{
    uint64_t code;
    if (!take_number(&call->rest, UINT32_MAX, &code) || !take_cut(call, ANSWER_RESET, code))
        return false;
    fail_with(call, FAULT_RESET, code);
    return true;
}

static bool page_close(struct call *call)
{
    if (!take_cut(call, ANSWER_CUT, 0))
        return false;
    fail_with(call, FAULT_CLOSE, 0);
    return true;
}

static bool page_goaway(struct call *call)
{
    uint64_t code = 0;
    if (call->rest.length && (!take_number(&call->rest, UINT32_MAX, &code) || call->rest.length))
        return false;
    fail_with(call, FAULT_GOAWAY, code);
    buf_printf(&call->incoming->text, "no further requests on this connection\n");
    answer_text(call->incoming, 200);
    return true;
}

/* A limit, and for how many milliseconds it holds. */
static bool limit(struct call *call, enum fault_kind kind, uint64_t number)
{
    uint64_t ms = 0;
    if (call->rest.length && (!take_number(&call->rest, (uint64_t)(max_delay / NS_PER_MS), &ms) || call->rest.length))
        return false;
    fail_with(call, kind, number);
    call->fault->lasts = (int64_t)ms * NS_PER_MS;
    buf_printf(&call->incoming->text, "%" PRIu64 "\n", number);
    answer_text(call->incoming, 200);
    return true;
}

static bool page_streams(struct call *call)
{
    uint64_t number;
    return take_number(&call->rest, UINT32_MAX, &number) && limit(call, FAULT_STREAMS, number);
}

static bool page_window(struct call *call)
{
    uint64_t number;
    return take_size(&call->rest, max_window, &number) && limit(call, FAULT_WINDOW, number);
}

/* A request without a body; one with a body is refused before that comes. */
static bool page_reject(struct call *call)
{
    if (call->rest.length)
        return false;
    buf_printf(&call->incoming->text, "413 %s\n", status_reason(413));
    answer_text(call->incoming, 413);
    return true;
}

/* The table */

static bool page_root(struct call *call);
static bool page_requests(struct call *call);

static const struct page pages_by_name[] = {
    { "", "/                 this list", .answer = page_root },
    { "hello", "/hello            hello, world", .answer = page_hello },
    { "echo", "/echo             the body of the request; for GET its request line and header lines; any method", .any_method = true, .answer = page_echo },
    { "fibonacci", "/fibonacci/N      the Nth Fibonacci number, computed recursively; N up to 50", .answer = page_fibonacci },
    { "delay", "/delay/MS         after MS milliseconds, which may have decimals, up to 600000; any method", .any_method = true, .answer = page_delay },
    { "status", "/status/CODE      this status, 200 to 599; any method", .any_method = true, .answer = page_status },
    { "bytes", "/bytes/N          N bytes, up to 1G; k, M and G are powers of 1024", .answer = page_bytes },
    { "chunked", "/chunked/N/SIZE   N chunks of SIZE bytes, together up to 1G", .answer = page_chunked },
    { "reject", "/reject           413, before the body has come; any method", .any_method = true, .answer = page_reject },
    { "reset", "/reset/CODE[/N]   a reset instead of an answer, or after N bytes of one; any method", .any_method = true, .answer = page_reset },
    { "close", "/close[/N]        the end of the connection instead of an answer, or after N bytes of one; any method", .any_method = true, .answer = page_close },
    { "goaway", "/goaway[/CODE]    the connection takes no further requests", .answer = page_goaway },
    { "streams", "/streams/N[/MS]   HTTP/2: at most N streams on this connection from now on, or for MS milliseconds", .answer = page_streams },
    { "window", "/window/N[/MS]    HTTP/2: windows of N bytes on this connection likewise", .answer = page_window },
    { "requests", "/requests[/NAME]  how many requests were answered so far, or only those of /NAME, \"other\" and \"refused\" ones; these are not counted", .uncounted = true, .answer = page_requests },
};
/* Where the others are counted. */
static const struct page other_page = { .name = "other" }, refused_page = { .name = "refused" };

enum { PAGES = sizeof pages_by_name / sizeof *pages_by_name, OTHER = PAGES, REFUSED, COUNTED };
_Static_assert((int)COUNTED <= (int)PAGES_MAX, "room for the counts");

static void list_pages(struct buf *text)
{
    for (const struct page *page = pages_by_name; page < pages_by_name + PAGES; page++)
        buf_printf(text, "%s\n", page->usage);
}

static bool page_root(struct call *call)
{
    if (call->rest.length)
        return false;
    buf_printf(&call->incoming->text, "luabench serve answers:\n\n");
    list_pages(&call->incoming->text);
    answer_text(call->incoming, 200);
    return true;
}

static uint64_t counted(const struct pages *pages, int page)
{
    uint64_t sum = 0;
    for (int i = 0; i < pages->count; i++)
        sum += atomic_load_explicit(&pages->tallies[i].answered[page], memory_order_relaxed);
    return sum;
}

/* The count that is kept under `name`, -1 without one. */
static int count_of(struct slice name)
{
    if (slice_is(name, other_page.name))
        return OTHER;
    if (slice_is(name, refused_page.name))
        return REFUSED;
    for (int i = 0; i < PAGES; i++)
        if (slice_is(name, pages_by_name[i].name))
            return i;
    return -1;
}

static bool page_requests(struct call *call)
{
    int first = 0, last = COUNTED - 1;
    uint64_t sum = 0;
    if (skip(&call->rest, '/'))
        first = last = count_of(call->rest);
    else if (call->rest.length)
        return false;
    if (first < 0)
        return false;
    for (int i = first; i <= last; i++)
        sum += counted(call->pages, i);
    buf_printf(&call->incoming->text, "%" PRIu64 "\n", sum);
    answer_text(call->incoming, 200);
    return true;
}

/* The page of `path`, NULL without one; `*rest` is what follows its name. */
static const struct page *find_page(struct slice path, struct slice *rest)
{
    if (!skip(&path, '/'))
        return NULL;
    const char *slash = memchr(path.data, '/', path.length);
    size_t length = slash ? (size_t)(slash - path.data) : path.length;
    *rest = (struct slice){ path.data + length, path.length - length };
    path.length = length;
    for (const struct page *page = pages_by_name; page < pages_by_name + PAGES; page++)
        if (slice_is(path, page->name))
            return page;
    return NULL;
}

void pages_prepare(struct incoming *incoming)
{
    struct slice rest;
    const struct page *page = find_page(incoming->path, &rest);
    incoming->keep_body = page && page->answer == page_echo;
    if (page && page->answer == page_reject)
        incoming->max_body = 0;
}

static void not_found(struct incoming *incoming)
{
    buf_printf(&incoming->text, "nothing is here; luabench serve answers:\n\n");
    list_pages(&incoming->text);
    answer_text(incoming, 404);
}

static void bad_path(const struct page *page, struct incoming *incoming)
{
    buf_printf(&incoming->text, "this path is not as it should be:\n\n%s\n", page->usage);
    answer_text(incoming, 400);
}

/* Answers with the methods that there are: to OPTIONS because it asks, to others because they are not among them. */
static void allow(struct incoming *incoming, const char *lines)
{
    incoming->answer.lines = lines;
    incoming->answer.status = 204;
    if (slice_is(incoming->method, "OPTIONS"))
        return;
    buf_printf(&incoming->text, "this path has GET and HEAD only\n");
    answer_text(incoming, 405);
}

void pages_answer(struct pages *pages, struct incoming *incoming, struct fault *fault)
{
    struct call call = { .pages = pages, .incoming = incoming, .fault = fault };
    const struct page *page = find_page(incoming->path, &call.rest);
    incoming->page = page ? page : &other_page;
    if (slice_is(incoming->path, "*") && slice_is(incoming->method, "OPTIONS"))
        allow(incoming, "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n");
    else if (!page)
        not_found(incoming);
    else if (!page->any_method && !incoming->is_head && !slice_is(incoming->method, "GET"))
        allow(incoming, "Allow: GET, HEAD, OPTIONS\r\n");
    else if (!page->answer(&call))
        bad_path(page, incoming);
}

void pages_refuse(struct incoming *incoming)
{
    int status = incoming->answer.status;
    buf_clear(&incoming->text, SIZE_MAX);
    buf_printf(&incoming->text, "%d %s: %s\n", status, status_reason(status), incoming->why);
    answer_text(incoming, status);
    incoming->page = incoming->max_body ? &refused_page : find_page(incoming->path, &(struct slice){ 0 }); /* /reject alone allows none */
}

void pages_count(struct pages *pages, const struct incoming *incoming)
{
    const struct page *page = incoming->page;
    int index = page == &other_page ? OTHER : page == &refused_page ? REFUSED : (int)(page - pages_by_name);
    if (page->uncounted)
        return;
    _Atomic uint64_t *count = &pages->tallies[pages->index].answered[index];
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed); /* no other thread writes it */
}
