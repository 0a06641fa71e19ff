#define _GNU_SOURCE
#include "run/journal_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/shown.h"

enum {
    LOOK_MS = 10,        /* between two looks into the journals */
    BATCH = 512,         /* records after which their room is given back */
    WRITE_AT = 64 * 1024, /* bytes of lines after which they are written */
    POLL_MS = 100,
    PATIENCE_MS = 2000,  /* at the end, for a pipe that takes nothing */
};

struct journal_file {
    const struct journal_file_plan *plan;
    const struct journal_lines *lines;
    int fd;
    int error;         /* errno of the first thing that went wrong */
    struct buf text;   /* lines that are not written yet */
    uint64_t waiting;  /* how many these are */
    uint64_t written, missing;
};

/* Writing */

/* A pipe may take nothing for a while. False when that is to be the end. */
static bool wait_for_room(struct journal_writer *writer, int fd, int *waited)
{
    struct pollfd room = { .fd = fd, .events = POLLOUT };
    if (poll(&room, 1, POLL_MS) == 0 && atomic_load(&writer->stopping))
        *waited += POLL_MS;
    return *waited < PATIENCE_MS;
}

static int write_all(struct journal_writer *writer, int fd, const char *data, size_t length)
{
    int waited = 0;
    while (length) {
        ssize_t written = write(fd, data, length);
        if (written < 0 && errno == EAGAIN && !wait_for_room(writer, fd, &waited))
            return ETIMEDOUT;
        if (written < 0 && errno != EAGAIN && errno != EINTR)
            return errno;
        if (written > 0) {
            data += written;
            length -= (size_t)written;
            waited = 0;
        }
    }
    return 0;
}

static void flush_file(struct journal_writer *writer, struct journal_file *file)
{
    if (!file->text.length)
        return;
    file->error = write_all(writer, file->fd, file->text.data, file->text.length);
    *(file->error ? &file->missing : &file->written) += file->waiting;
    file->waiting = 0;
    file->text.length = 0;
}

static void add_line(struct journal_writer *writer, struct journal_file *file, const struct journal_record *record, const struct label *label)
{
    buf_reserve(&file->text, JOURNAL_LINE);
    char *at = file->text.data + file->text.length, *end = file->lines->line(at, record, label, &writer->view);
    if (end == at)
        return;
    if (file->error) {
        file->missing++;
        return;
    }
    file->text.length += (size_t)(end - at);
    file->waiting++;
    if (file->text.length >= WRITE_AT)
        flush_file(writer, file);
}

/* How many users there are, as far as the records say. */
static void view_users(struct journal_writer *writer, unsigned worker, const struct journal_record *record, size_t scenario)
{
    uint32_t *known = &writer->users[scenario * (writer->count + 1) + worker], *sum = &writer->users[scenario * (writer->count + 1) + writer->count];
    writer->view.all_users += record->users - (uint64_t)*known;
    *sum += record->users - *known;
    *known = record->users;
    writer->view.users = *sum;
}

static void add_record(struct journal_writer *writer, unsigned worker, const struct journal_record *record)
{
    const struct label *label = labels_of(&writer->labels, record->name);
    view_users(writer, worker, record, label->scenario);
    for (size_t i = 0; i < writer->plan->journal.file_count; i++)
        add_line(writer, &writer->files[i], record, label);
}

/* True when there was something. */
static bool empty_journal(struct journal_writer *writer, unsigned worker)
{
    const struct journal_record *records;
    size_t count, all = 0;
    while ((count = journal_waiting(&writer->journals[worker], &records)) && all < JOURNAL_RECORDS) {
        count = count < BATCH ? count : BATCH;
        for (size_t i = 0; i < count; i++)
            add_record(writer, worker, &records[i]);
        journal_take(&writer->journals[worker], count);
        all += count;
    }
    return all > 0;
}

static bool empty_all(struct journal_writer *writer)
{
    bool any = false;
    for (unsigned i = 0; i < writer->count; i++)
        any = empty_journal(writer, i) || any;
    for (size_t i = 0; i < writer->plan->journal.file_count; i++)
        flush_file(writer, &writer->files[i]);
    return any;
}

static void *thread_main(void *argument)
{
    struct journal_writer *writer = argument;
    struct pollfd wake = { .fd = writer->wake, .events = POLLIN };
    while (!atomic_load(&writer->stopping)) {
        empty_all(writer);
        poll(&wake, 1, LOOK_MS);
    }
    while (empty_all(writer))
        ;
    return NULL;
}

/* Beginning and end */

/* Pipes must not hold the thread up for good. */
static int open_file(const char *path)
{
    struct stat about;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd >= 0 && !fstat(fd, &about) && !S_ISREG(about.st_mode))
        fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static bool open_files(struct journal_writer *writer)
{
    static const struct journal_lines *const formats[] = { [JOURNAL_NDJSON] = &journal_ndjson, [JOURNAL_JTL] = &journal_jtl };
    const struct journal_plan *plan = &writer->plan->journal;
    char name[SHOWN_SIZE];
    writer->files = mem_array(plan->file_count, sizeof *writer->files);
    for (size_t i = 0; i < plan->file_count; i++) {
        struct journal_file *file = &writer->files[i];
        *file = (struct journal_file){ .plan = &plan->files[i], .lines = formats[plan->files[i].format], .fd = open_file(plan->files[i].path) };
        if (file->fd < 0) {
            fprintf(stderr, "luabench: -o: cannot write %s: %s\n", shown(file->plan->path, name), strerror(errno));
            return false;
        }
        buf_append(&file->text, file->lines->header, strlen(file->lines->header));
    }
    return true;
}

static int64_t wall_offset(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec - clock_ns();
}

bool journal_writer_open(struct journal_writer *writer, const struct plan *plan, unsigned workers)
{
    *writer = (struct journal_writer){ .plan = plan, .wake = -1 };
    if (!plan->journal.file_count)
        return true;
    writer->count = workers;
    if (!open_files(writer))
        return false;
    writer->view.wall = wall_offset();
    labels_init(&writer->labels, plan);
    writer->users = mem_array(plan->scenario_count * (workers + 1), sizeof *writer->users);
    void *journals = NULL;
    if (posix_memalign(&journals, 64, workers * sizeof *writer->journals))
        abort();
    writer->journals = journals;
    for (unsigned i = 0; i < workers; i++)
        journal_init(&writer->journals[i]);
    return true;
}

void journal_writer_begin(struct journal_writer *writer)
{
    if (!writer->journals)
        return;
    writer->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    writer->runs = !pthread_create(&writer->thread, NULL, thread_main, writer);
}

static uint64_t all_lost(const struct journal_writer *writer)
{
    uint64_t lost = 0;
    for (unsigned i = 0; i < writer->count; i++)
        lost += journal_lost(&writer->journals[i]);
    return lost;
}

void journal_writer_end(struct journal_writer *writer)
{
    uint64_t one = 1;
    if (!writer->journals)
        return;
    atomic_store(&writer->stopping, true);
    if (writer->runs && write(writer->wake, &one, sizeof one) == sizeof one)
        pthread_join(writer->thread, NULL);
    else
        thread_main(writer);
    writer->runs = false;
    writer->outcomes = mem_array(writer->plan->journal.file_count, sizeof *writer->outcomes);
    for (size_t i = 0; i < writer->plan->journal.file_count; i++) {
        struct journal_file *file = &writer->files[i];
        int closed = close(file->fd) ? errno : 0; /* a full disk behind a network may show only here */
        file->fd = -1;
        writer->outcomes[i] = (struct journal_outcome){
            .path = file->plan->path, .error = file->error ? file->error : closed, .lines = file->written, .missing = file->missing + all_lost(writer),
        };
    }
}

void journal_writer_free(struct journal_writer *writer)
{
    if (writer->runs)
        journal_writer_end(writer);
    for (size_t i = 0; writer->files && i < writer->plan->journal.file_count; i++) {
        if (writer->files[i].fd >= 0 && writer->files[i].plan)
            close(writer->files[i].fd);
        buf_free(&writer->files[i].text);
    }
    for (unsigned i = 0; writer->journals && i < writer->count; i++)
        journal_free(&writer->journals[i]);
    if (writer->journals)
        labels_free(&writer->labels);
    if (writer->wake >= 0)
        close(writer->wake);
    free(writer->journals);
    free(writer->files);
    free(writer->users);
    free(writer->outcomes);
}
