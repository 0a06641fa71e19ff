/* truthd: an HTTP/1.1 server whose latencies are known. One thread, epoll, an absolute timerfd and a heap of due answers; it writes down when it read each request
 * and when it wrote each answer, so that a load tester's report can be held against what really happened.
 *
 *     truthd        prints "listening on PORT, control on PORT" and serves until it is killed, or standard input ends
 *     truthd LAW N [SEED]   prints the first N delays of a law in nanoseconds, a line each, and serves nothing
 *
 * Control: one line a connection.
 *     reset LAW [seed=N] [stall=S:T:FIRST]   clears the journal and sets the law of law.h; the first request after it is time 0. The whole loop sleeps S milliseconds
 *                                            at FIRST and every T after it (T = 0: once)
 *     stats      JSON: requests, connections, cpu, stalls
 *     log        the records of journal.h, raw, in the host's byte order, to the end of the connection */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "journal.h"
#include "law.h"

enum { EVENTS = 256, HEAD_MAX = 8192, BODY = 100, DESCRIPTORS = 16384 };

struct connection {
    uint32_t number;
    bool waiting;  /* for its answer; what it sends meanwhile stays in `head` */
    size_t record; /* index of the request that waits */
    int pieces;    /* of a trickled answer: still to come */
    size_t length;
    char head[HEAD_MAX];
};

struct due {
    int64_t time;
    int fd;
    uint32_t number; /* of the connection: a descriptor may be another one's by then */
};

struct stall_plan {
    int64_t length, period, first; /* nanoseconds; length 0: none */
    int64_t next;                  /* absolute; 0 before the first request */
};

static struct law law;
static struct stall_plan plan;
static struct journal journal;
static int64_t first_read, queue_free; /* 0: none yet; when the queue's server will be free */
static struct connection *connections[DESCRIPTORS];
static uint32_t connection_count;
static struct due heap[DESCRIPTORS * 2];
static size_t heap_count;
static char good[512], refused[512];
static size_t good_length, refused_length, head_length;
static int epoll, timer, listener, control;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t nanoseconds(double milliseconds)
{
    return (int64_t)(milliseconds * 1e6 + 0.5);
}

static struct timespec as_timespec(int64_t time)
{
    return (struct timespec){ .tv_sec = time / 1000000000, .tv_nsec = time % 1000000000 };
}

/* The heap of due answers: earliest on top. */

static void heap_push(struct due item)
{
    if (heap_count == sizeof heap / sizeof *heap) {
        fprintf(stderr, "truthd: too many answers are due\n");
        abort();
    }
    size_t i = heap_count++;
    for (; i > 0 && heap[(i - 1) / 2].time > item.time; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = item;
}

static struct due heap_pop(void)
{
    struct due top = heap[0], last = heap[--heap_count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < heap_count; i = child) {
        if (child + 1 < heap_count && heap[child + 1].time < heap[child].time)
            child++;
        if (last.time <= heap[child].time)
            break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return top;
}

/* Connections. */

static void drop(int fd)
{
    struct connection *connection = connections[fd];
    if (connection->waiting && connection->record < journal.count && journal.records[connection->record].connection == connection->number &&
        journal.records[connection->record].outcome != OUTCOME_HANG)
        journal.records[connection->record].outcome = OUTCOME_GONE;
    free(connection);
    connections[fd] = NULL;
    close(fd);
}

static void reset_by_peer(int fd)
{
    struct linger linger = { .l_onoff = 1 };
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    connections[fd]->waiting = false;
    drop(fd);
}

static bool put(int fd, const char *bytes, size_t length)
{
    if (send(fd, bytes, length, MSG_NOSIGNAL) == (ssize_t)length)
        return true;
    drop(fd);
    return false;
}

static void read_request(int fd, int64_t time);

static void finish(int fd)
{
    connections[fd]->waiting = false;
    if (connections[fd]->length > 0)
        read_request(fd, now());
}

/* One piece of a trickled answer; the first one has the head. */
static void put_piece(int fd, struct record *record, int64_t time)
{
    struct connection *connection = connections[fd];
    int all = (int)law.a, sent = all - connection->pieces;
    size_t from = sent == 0 ? 0 : head_length + (size_t)(BODY * sent / all), to = head_length + (size_t)(BODY * (sent + 1) / all);
    record->written = time;
    record->bytes = (uint32_t)to;
    if (!put(fd, good + from, to - from))
        return;
    if (--connection->pieces == 0)
        finish(fd);
    else
        heap_push((struct due){ .time = record->due + nanoseconds(law.b) * (sent + 1), .fd = fd, .number = connection->number });
}

static void answer(int fd)
{
    struct record *record = &journal.records[connections[fd]->record];
    int64_t time = now();
    if (law.kind == LAW_TRICKLE) {
        put_piece(fd, record, time);
        return;
    }
    record->written = time;
    if (record->outcome == OUTCOME_RESET) {
        reset_by_peer(fd);
        return;
    }
    bool ok = record->outcome == OUTCOME_OK;
    record->bytes = (uint32_t)(ok ? good_length : refused_length);
    if (put(fd, ok ? good : refused, record->bytes))
        finish(fd);
}

static int64_t due_time(int64_t read, int64_t delay)
{
    if (law.kind != LAW_QUEUE_EXP && law.kind != LAW_QUEUE_DET)
        return read + delay;
    queue_free = (read > queue_free ? read : queue_free) + delay;
    return queue_free;
}

static void begin_time(int64_t time)
{
    first_read = time;
    if (plan.length > 0)
        plan.next = time + plan.first;
}

static void take_request(int fd, int64_t time)
{
    struct connection *connection = connections[fd];
    if (first_read == 0)
        begin_time(time);
    struct record *record = journal_add(&journal);
    struct answer next = law_answer(&law, record->n, time - first_read);
    *record = (struct record){ .read = time, .due = due_time(time, next.delay), .connection = connection->number, .n = record->n, .outcome = next.outcome };
    connection->record = record->n;
    connection->waiting = true;
    connection->pieces = law.kind == LAW_TRICKLE ? (int)law.a : 0;
    if (next.outcome == OUTCOME_HANG)
        return;
    if (next.outcome == OUTCOME_RESET && !put(fd, good, head_length))
        return;
    if (record->due <= time)
        answer(fd);
    else
        heap_push((struct due){ .time = record->due, .fd = fd, .number = connection->number });
}

/* Takes the first whole head from the buffer, if there is one. Requests have no bodies. */
static void read_request(int fd, int64_t time)
{
    struct connection *connection = connections[fd];
    char *end = connection->waiting ? NULL : memmem(connection->head, connection->length, "\r\n\r\n", 4);
    if (!end)
        return;
    size_t used = (size_t)(end + 4 - connection->head);
    memmove(connection->head, end + 4, connection->length - used);
    connection->length -= used;
    take_request(fd, time);
}

static void hear(int fd)
{
    struct connection *connection = connections[fd];
    ssize_t got = recv(fd, connection->head + connection->length, HEAD_MAX - connection->length, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        drop(fd);
        return;
    }
    connection->length += (size_t)got;
    read_request(fd, now());
}

static void greet(void)
{
    int fd, on = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (fd >= DESCRIPTORS) {
            close(fd);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connections[fd] = calloc(1, sizeof *connections[fd]);
        connections[fd]->number = ++connection_count;
        journal.connections++;
        struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
            die("epoll_ctl");
    }
}

/* Control. */

static bool read_option(const char *word)
{
    double length, period, first;
    if (sscanf(word, "seed=%" SCNu64, &law.seed) == 1)
        return true;
    if (sscanf(word, "stall=%lf:%lf:%lf", &length, &period, &first) != 3)
        return false;
    plan = (struct stall_plan){ .length = nanoseconds(length), .period = nanoseconds(period), .first = nanoseconds(first) };
    return true;
}

static const char *reset(char *words)
{
    char *rest, *word = strtok_r(words, " ", &rest);
    law.seed = 0;
    plan = (struct stall_plan){ 0 };
    if (!word || law_parse(&law, word) != 0)
        return "no such law\n";
    while ((word = strtok_r(NULL, " ", &rest)) != NULL)
        if (!read_option(word))
            return "no such option\n";
    journal_reset(&journal);
    first_read = queue_free = 0;
    heap_count = 0;
    return "ok\n";
}

static void send_whole(int fd, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        ssize_t sent = send(fd, at, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        at += sent;
        length -= (size_t)sent;
    }
}

static void obey(int fd)
{
    static char line[1024], stats[1 << 16];
    FILE *in = fdopen(dup(fd), "r");
    if (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (strncmp(line, "reset ", 6) == 0) {
            const char *reply = reset(line + 6);
            send_whole(fd, reply, strlen(reply));
        } else if (strcmp(line, "stats") == 0) {
            send_whole(fd, stats, journal_stats(&journal, stats, sizeof stats));
        } else if (strcmp(line, "log") == 0) {
            send_whole(fd, journal.records, journal.count * sizeof *journal.records);
        }
    }
    if (in)
        fclose(in);
    close(fd);
}

static void accept_control(void)
{
    int fd = accept4(control, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        obey(fd);
}

/* The loop. */

static void arm(void)
{
    int64_t time = heap_count > 0 ? heap[0].time : 0;
    if (plan.next > 0 && (time == 0 || plan.next < time))
        time = plan.next;
    struct itimerspec at = { .it_value = as_timespec(time) };
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static void stall(void)
{
    int64_t start = now();
    if (plan.next == 0 || start < plan.next)
        return;
    struct timespec end = as_timespec(plan.next + plan.length);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {
    }
    journal_add_stall(&journal, start, now());
    plan.next = plan.period > 0 ? plan.next + plan.period : 0;
}

static void answer_what_is_due(void)
{
    while (heap_count > 0 && heap[0].time <= now()) {
        struct due due = heap_pop();
        struct connection *connection = connections[due.fd];
        if (connection && connection->number == due.number && connection->waiting)
            answer(due.fd);
    }
}

static bool handle(const struct epoll_event *event)
{
    int fd = event->data.fd;
    if (fd == STDIN_FILENO)
        return read(STDIN_FILENO, (char[64]){ 0 }, 64) > 0;
    if (fd == listener)
        greet();
    else if (fd == control)
        accept_control();
    else if (fd != timer && connections[fd])
        hear(fd);
    return true;
}

static void run(void)
{
    struct epoll_event events[EVENTS];
    for (;;) {
        arm();
        int ready = epoll_wait(epoll, events, EVENTS, -1);
        stall();
        for (int i = 0; i < ready; i++)
            if (!handle(&events[i]))
                return;
        answer_what_is_due();
    }
}

static int listen_on(int *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 8192) != 0 || getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        die("listen");
    *port = ntohs(address.sin_port);
    return fd;
}

static void watch(int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll_ctl");
}

static void make_answers(void)
{
    char body[BODY + 1];
    memset(body, 'x', BODY);
    body[BODY] = '\0';
    head_length = (size_t)snprintf(good, sizeof good, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", BODY);
    good_length = head_length + (size_t)snprintf(good + head_length, sizeof good - head_length, "%s", body);
    refused_length = (size_t)snprintf(refused, sizeof refused, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: %d\r\n\r\n%s", BODY, body);
}

static int print_delays(int argc, char **argv)
{
    law.seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (law_parse(&law, argv[1]) != 0) {
        fprintf(stderr, "truthd: no such law: %s\n", argv[1]);
        return 2;
    }
    for (uint64_t n = 0, count = strtoull(argv[2], NULL, 10); n < count; n++) {
        struct answer next = law_answer(&law, n, 0);
        printf("%" PRId64 " %d\n", next.delay, (int)next.outcome);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2)
        return print_delays(argc, argv);
    struct rlimit descriptors = { DESCRIPTORS, DESCRIPTORS };
    setrlimit(RLIMIT_NOFILE, &descriptors);
    prctl(PR_SET_TIMERSLACK, 1);
    int port, control_port;
    epoll = epoll_create1(EPOLL_CLOEXEC);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    listener = listen_on(&port);
    control = listen_on(&control_port);
    make_answers();
    watch(timer);
    watch(listener);
    watch(control);
    watch(STDIN_FILENO);
    printf("listening on %d, control on %d\n", port, control_port);
    fflush(stdout);
    run();
    return 0;
}
