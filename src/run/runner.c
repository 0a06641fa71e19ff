#define _GNU_SOURCE
#include "run/runner.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/exporter.h"
#include "run/health.h"
#include "run/heartbeat.h"
#include "run/journal_writer.h"
#include "run/judge.h"
#include "run/limits.h"
#include "run/progress.h"
#include "run/signals.h"
#include "run/threads.h"
#include "run/warm.h"
#include "run/worker.h"
#include "script/results.h"
#include "script/vu.h"
#include "target/target.h"

enum {
    TICK_MS = 50,
    UNRESPONSIVE_MS = 1000,  /* a worker that has not looked at an order for so long is stuck */
    OVERDUE_MS = 500,        /* and one that goes on for so long after the load should have ended, so that the run ends within a second of that */
    HEARD_MS = 100,          /* within which workers hear of an order */
    HEAD_START_MS = 2,       /* the workers' threads are awake by then, so that the first arrivals are not late */
    SPARE_DESCRIPTORS = 64,
    FILES_OF_WORKER = 6, /* its loop, its timer, what wakes it, a name being resolved */
    EXIT_CANNOT_RUN = 3,
    EXIT_SCRIPT = 2,
};

struct runner {
    struct vm *control;
    const struct plan *plan;
    struct run run;
    struct worker *workers;
    struct heartbeat *heartbeats;
    struct vm **states; /* the workers', for vm_prepare */
    unsigned worker_count;
    int signals; /* signalfd */
    struct progress_state progress;
    struct judge judge;
    struct journal_writer journal;
    struct exporter *exporter; /* NULL: there is none */
    struct health health;
    struct warm warm;
    bool interrupted, stopping, server_ended;
    int64_t heard_at;   /* ns: the first signal; 0: none */
    bool loaded;        /* the load has begun */
    int64_t ordered_at; /* ns: when the workers were told to interrupt everything; 0: not */
    struct stuck stuck;
    bool has_stuck;
    int64_t ended_at, started_at;
    struct name_metrics *totals; /* of the results: by scenario, and of all */
    char **notices; /* owned */
    size_t notice_count;
};

__attribute__((format(printf, 2, 3))) static void note(struct runner *runner, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    runner->notices = mem_resize(runner->notices, (runner->notice_count + 1) * sizeof *runner->notices);
    runner->notices[runner->notice_count++] = mem_text(text, strlen(text));
}

static void check_descriptors(struct runner *runner)
{
    uint64_t users = threads_users(runner->plan, MODEL_CLOSED), limit = limits_of_files(); /* max_users of the open model is a limit, not a number */
    if (users + SPARE_DESCRIPTORS > limit)
        note(runner, "%llu user%s may need more connections than the %llu open files allowed here (raise it: ulimit -n)", (unsigned long long)users,
             users == 1 ? "" : "s", (unsigned long long)limit);
}

/* Starting */

static bool start_workers(struct runner *runner)
{
    runner->workers = mem_array(runner->worker_count, sizeof *runner->workers);
    runner->heartbeats = mem_array(runner->worker_count, sizeof *runner->heartbeats);
    for (unsigned i = 0; i < runner->worker_count; i++) {
        struct worker *worker = &runner->workers[i];
        worker->run = &runner->run;
        worker->share = share_within(runner->plan->share, (struct share){ i, runner->worker_count });
        worker->journal = runner->journal.journals ? &runner->journal.journals[i] : NULL;
        if (!worker_start(worker)) {
            fprintf(stderr, "luabench: thread %u of %u cannot be started: %s\n", i + 1, runner->worker_count, strerror(errno));
            runner->worker_count = i;
            return false;
        }
    }
    return true;
}

static void wait_for_event(struct runner *runner, int timeout)
{
    uint64_t count;
    struct pollfd fds[] = { { .fd = runner->run.events, .events = POLLIN }, { .fd = runner->signals, .events = POLLIN } };
    if (poll(fds, 2, timeout) > 0 && fds[0].revents && read(runner->run.events, &count, sizeof count) < 0)
        perror("luabench: eventfd");
}

static unsigned count_state(const struct runner *runner, enum worker_state state)
{
    unsigned count = 0;
    for (unsigned i = 0; i < runner->worker_count; i++)
        count += atomic_load(&runner->workers[i].state) == (int)state;
    return count;
}

/* True when all have loaded their scripts. */
static bool wait_until_ready(struct runner *runner)
{
    while (count_state(runner, WORKER_LOADING))
        wait_for_event(runner, TICK_MS);
    return !count_state(runner, WORKER_FAILED);
}

/* What the control state does in the workers' states before they begin; 0, or the exit status when they are not to begin. */
static int prepare(struct runner *runner)
{
    runner->states = mem_array(runner->worker_count, sizeof *runner->states);
    for (unsigned i = 0; i < runner->worker_count; i++)
        runner->states[i] = runner->workers[i].vm;
    return vm_prepare(runner->control, runner->states, runner->worker_count);
}

/* While it runs */

static void interrupt(struct runner *runner)
{
    if (!runner->ordered_at)
        runner->ordered_at = clock_ns();
    for (unsigned i = 0; i < runner->worker_count; i++) {
        int state = atomic_load(&runner->workers[i].state);
        if (state == WORKER_IDLE || state == WORKER_BUSY)
            worker_order(&runner->workers[i], ORDER_INTERRUPT);
    }
}

static void read_signals(struct runner *runner)
{
    enum heard heard = signals_read(runner->signals, &runner->heard_at);
    if (heard == HEARD_AGAIN) {
        fputs("\nluabench: interrupted again: ended at once, without results\n", stderr);
        targets_kill();
        _exit(EXIT_INTERRUPTED);
    }
    if (heard == HEARD_ONCE) {
        runner->interrupted = true;
        interrupt(runner);
    }
}

static void check_stop_run(struct runner *runner)
{
    for (unsigned i = 0; i < runner->worker_count; i++)
        if (atomic_load(&runner->workers[i].stop_run) && !runner->ordered_at)
            interrupt(runner);
}

/* A server under test that is gone has nothing more to answer. */
static void check_servers(struct runner *runner)
{
    targets_tick();
    if (targets_ended() && !runner->ordered_at) {
        runner->server_ended = true;
        interrupt(runner);
    }
}

/* "waiting up to 30 s for 41 users; Ctrl-C ends now", once, when the time is over. */
static void announce_grace(struct runner *runner)
{
    char text[120];
    int64_t duration = schedule_duration(runner->plan), grace = 0;
    if (runner->stopping || duration == NS_NEVER || clock_ns() < runner->run.start + duration + TICK_MS * NS_PER_MS)
        return;
    runner->stopping = true;
    for (size_t i = 0; i < runner->plan->scenario_count; i++)
        if (runner->plan->scenarios[i].graceful_stop > grace)
            grace = runner->plan->scenarios[i].graceful_stop;
    uint64_t users = runner->progress.counted.now.users;
    if (!users || !grace || runner->ordered_at || runner->plan->progress == PROGRESS_NONE)
        return;
    int length = snprintf(text, sizeof text, "waiting up to %g s for running iterations (%llu user%s); Ctrl-C ends now", ns_to_seconds(grace), (unsigned long long)users,
                          users == 1 ? "" : "s");
    vm_live_notice(runner->control, text, (size_t)length);
}

static void park_worker(struct runner *runner, unsigned index)
{
    struct worker *worker = &runner->workers[index];
    if (!watch_locate(&worker->watch, worker->thread) && !watch_park(&worker->watch, worker->thread))
        return; /* it has come back meanwhile */
    if (!runner->has_stuck) {
        runner->has_stuck = true;
        runner->stuck.scenario = worker->vm->running->vu->scenario->plan->name;
        snprintf(runner->stuck.where, sizeof runner->stuck.where, "%s", worker->watch.where);
    }
    worker_abandon(worker);
    interrupt(runner);
}

/* Hears where a worker has been computing for long, if it has. */
static void find_slow_place(struct runner *runner, struct worker *worker, struct heartbeat *beat)
{
    char where[WATCH_WHERE];
    if (heartbeat_place(beat, worker, where) && runner->health.active)
        health_place(&runner->health, where);
}

static bool both_longer(int64_t a, int64_t b, int64_t ms)
{
    return a > ms * NS_PER_MS && b > ms * NS_PER_MS;
}

/* True when a worker that has been in Lua for `slice` ns should have heard of the end. */
static bool is_deaf(const struct runner *runner, const struct worker *worker, int64_t slice, int64_t now)
{
    if (runner->ordered_at && both_longer(now - runner->ordered_at, slice, UNRESPONSIVE_MS))
        return true;
    return worker->stage == STAGE_LOAD && both_longer(now - ns_after(runner->run.start, schedule_last_deadline(runner->plan)), slice, OVERDUE_MS);
}

/* Parks workers whose script never returns: beyond --script-timeout, or deaf to an interruption or the end. Returns in how many ms to look again. */
static int check_heartbeats(struct runner *runner)
{
    int64_t now = clock_ns();
    int next = TICK_MS;
    for (unsigned i = 0; i < runner->worker_count; i++) {
        int64_t slice = heartbeat_slice(&runner->heartbeats[i], &runner->workers[i], now);
        bool deaf = is_deaf(runner, &runner->workers[i], slice, now);
        find_slow_place(runner, &runner->workers[i], &runner->heartbeats[i]);
        if (runner->heartbeats[i].since && !runner->heartbeats[i].asked)
            next = HEARTBEAT_MS;
        if (slice > runner->plan->script_timeout || deaf)
            park_worker(runner, i);
    }
    return next;
}

/* They end a moment from now, when all workers have heard of it. */
static void end_warm_ups(struct runner *runner)
{
    runner->run.measured = clock_ns() + HEARD_MS * NS_PER_MS;
    runner->progress.warm = runner->run.measured;
    for (unsigned i = 0; i < runner->worker_count; i++)
        if (atomic_load(&runner->workers[i].state) == WORKER_BUSY)
            worker_order(&runner->workers[i], ORDER_MEASURE);
}

/* Until no worker is busy. */
static void watch_stage(struct runner *runner)
{
    int period = TICK_MS;
    while (count_state(runner, WORKER_BUSY)) {
        wait_for_event(runner, period);
        read_signals(runner);
        check_stop_run(runner);
        check_servers(runner);
        health_tick(&runner->health, period * NS_PER_MS);
        period = check_heartbeats(runner);
        progress_tick(&runner->progress, runner->stopping);
        if (runner->loaded)
            announce_grace(runner);
        if (runner->loaded && !runner->ordered_at && warm_tick(&runner->warm))
            end_warm_ups(runner);
        if (runner->loaded && !runner->ordered_at && judge_tick(&runner->judge))
            interrupt(runner);
    }
}

/* Stages */

static void begin(struct runner *runner, unsigned index, enum stage stage)
{
    if (atomic_load(&runner->workers[index].state) == WORKER_IDLE)
        worker_begin(&runner->workers[index], stage);
}

static void run_on_first(struct runner *runner, enum stage stage)
{
    begin(runner, 0, stage);
    watch_stage(runner);
}

static void run_on_all(struct runner *runner, enum stage stage)
{
    for (unsigned i = 0; i < runner->worker_count; i++)
        begin(runner, i, stage);
    watch_stage(runner);
}

static bool may_go_on(const struct runner *runner)
{
    return !runner->interrupted && !runner->ordered_at && !runner->has_stuck && !runner->run.once.scenario && !runner->workers[0].vm->stop_text;
}

static bool has_open(const struct plan *plan)
{
    for (size_t i = 0; i < plan->scenario_count; i++)
        if (plan->scenarios[i].model == MODEL_OPEN)
            return true;
    return false;
}

static void begin_health(struct runner *runner)
{
    struct gauge **gauges = mem_array(runner->worker_count, sizeof *gauges);
    pid_t *threads = mem_array(runner->worker_count, sizeof *threads);
    for (unsigned i = 0; i < runner->worker_count; i++) {
        gauges[i] = &runner->workers[i].gauge;
        threads[i] = runner->workers[i].thread_id;
    }
    health_begin(&runner->health, runner->run.start, gauges, threads, runner->worker_count);
    free(gauges);
    free(threads);
}

static void load(struct runner *runner)
{
    runner->run.start = clock_ns() + (has_open(runner->plan) ? HEAD_START_MS * NS_PER_MS : 0);
    runner->started_at = time(NULL);
    runner->loaded = true;
    runner->judge = (struct judge){
        .control = runner->control, .plan = runner->plan, .workers = runner->workers, .worker_count = runner->worker_count, .start = runner->run.start,
        .next = runner->run.start + NS_PER_SECOND, .exporter = runner->exporter,
    };
    progress_begin(&runner->progress);
    begin_health(runner);
    warm_begin(&runner->warm, runner->control, runner->plan, runner->workers, runner->worker_count, runner->run.start);
    run_on_all(runner, STAGE_LOAD);
    health_end(&runner->health);
    if (runner->run.measured)
        warm_settle(runner->plan, runner->run.start, runner->run.measured);
}

/* An interruption of the load is none of the teardown. */
static void tear_down(struct runner *runner)
{
    runner->ordered_at = 0;
    worker_order(&runner->workers[0], ORDER_NONE);
    run_on_first(runner, STAGE_TEARDOWN);
    progress_done(&runner->progress);
    if (runner->run.once.notice)
        note(runner, "%s", runner->run.once.notice);
}

/* The run from setup to teardown. */
static void carry_out(struct runner *runner)
{
    bool once = once_needed(runner->workers[0].vm);
    runner->started_at = time(NULL);
    progress_init(&runner->progress, runner->control, runner->plan, &runner->run, runner->workers, runner->worker_count);
    if (once)
        run_on_first(runner, STAGE_SETUP);
    if (may_go_on(runner))
        run_on_all(runner, STAGE_PREPARE);
    if (may_go_on(runner))
        load(runner);
    else
        run_on_all(runner, STAGE_ABORT);
    runner->ended_at = clock_ns();
    progress_done(&runner->progress);
    if (once)
        tear_down(runner);
}

/* The end */

/* Merges the other workers' figures into those of the first. */
static void merge_workers(struct runner *runner, struct results *results)
{
    struct worker *first = &runner->workers[0];
    for (unsigned i = 0; i < runner->worker_count; i++) {
        struct worker *worker = &runner->workers[i];
        results->cpu += worker->cpu;
        if (!results->stopped)
            results->stopped = worker->vm->stop_text;
        if (worker == first)
            continue;
        metrics_merge(&first->metrics, &worker->metrics);
        metrics_merge_timelines(&first->metrics, &worker->metrics);
        hist_merge(&first->vm->lag, &worker->vm->lag);
        for (size_t s = 0; s < runner->plan->scenario_count; s++)
            if (worker->durations[s] > first->durations[s])
                first->durations[s] = worker->durations[s];
    }
}

/* What functions of the script have done to what they share. */
static void note_changes(struct runner *runner)
{
    for (size_t s = 0; s < runner->plan->scenario_count; s++)
        for (unsigned i = 0; i < runner->worker_count; i++)
            if (runner->workers[i].shared_changed[s]) {
                note(runner, "a function of scenario \"%s\" has changed `shared`: each thread has a copy of its own, so the others did not see it; use user.vars",
                     runner->plan->scenarios[s].name);
                break;
            }
}

/* How long figures were taken: from the start, or the end of the first warm-up, to the end. */
static int64_t measured_time(const struct runner *runner)
{
    int64_t time = runner->loaded ? runner->ended_at - runner->run.start - schedule_measured(runner->plan) : 0;
    return time > 0 ? time : 0;
}

/* The same of each scenario, from its own start. */
static void take_warm_ups_off(struct runner *runner, int64_t *durations)
{
    for (size_t s = 0; s < runner->plan->scenario_count; s++) {
        durations[s] -= runner->plan->scenarios[s].warm_up;
        durations[s] = durations[s] > 0 ? durations[s] : 0;
    }
}

static int64_t *windows_of(const struct runner *runner)
{
    int64_t *windows = mem_array(runner->plan->scenario_count, sizeof *windows);
    for (size_t s = 0; s < runner->plan->scenario_count; s++)
        windows[s] = schedule_window(&runner->plan->scenarios[s], runner->workers[0].durations[s]);
    return windows;
}

static int report(struct runner *runner)
{
    struct metrics *all = &runner->workers[0].metrics;
    char unbalanced[300];
    struct results results = {
        .started_at = runner->started_at, .duration = measured_time(runner), .interrupted = runner->interrupted, .server_ended = runner->server_ended, .plan = runner->plan,
        .metrics = all, .durations = runner->workers[0].durations, .series = runner->progress.series, .series_count = runner->progress.series_count,
        .threads = runner->worker_count, .setup_failed = runner->run.once.scenario, .setup_failure = runner->run.once.failure,
    };
    journal_writer_end(&runner->journal);
    results.journals = runner->journal.outcomes;
    results.journal_count = runner->journal.outcomes ? runner->plan->journal.file_count : 0;
    merge_workers(runner, &results);
    take_warm_ups_off(runner, runner->workers[0].durations);
    note_changes(runner);
    int64_t *windows = windows_of(runner);
    results.windows = windows;
    results.window = schedule_whole_window(runner->plan, results.duration);
    results.notices = (const char *const *)runner->notices;
    results.notice_count = runner->notice_count;
    runner->totals = mem_array(runner->plan->scenario_count + 1, sizeof *runner->totals);
    metrics_add_up(all, runner->totals);
    results.totals = runner->totals;
    results.lag = &runner->workers[0].vm->lag;
    results.health = runner->loaded ? &runner->health.figures : NULL;
    results.stuck = runner->has_stuck ? &runner->stuck : NULL;
    if (!metrics_balance(all, unbalanced, sizeof unbalanced))
        results.unbalanced = unbalanced;
    int status = vm_finish(runner->control, &results);
    free(windows);
    return status;
}

/* A parked thread cannot be joined, and its Lua state not be closed: the process ends here, with everything written. */
static void end_if_stuck(struct runner *runner, int status)
{
    if (!runner->has_stuck)
        return;
    targets_kill();
    fflush(NULL);
    _exit(status);
}

/* False, and said, when too few files can be opened for the run to begin. */
static bool open_events(struct runner *runner)
{
    runner->signals = signals_open();
    runner->run.events = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (runner->signals >= 0 && runner->run.events >= 0 && limits_can_open(runner->worker_count * FILES_OF_WORKER + 1))
        return true;
    fprintf(stderr, "luabench: too few files can be opened for %u thread%s (raise the limit: ulimit -n)\n", runner->worker_count, runner->worker_count == 1 ? "" : "s");
    return false;
}

static struct claims claims_of(const struct plan *plan, const struct scenario_plan *scenario)
{
    uint64_t total = scenario->iterations == NO_LIMIT ? NO_LIMIT : share_of(plan->share, scenario->iterations);
    return (struct claims){ .total = total, .warm_up = scenario->warm_up, .share = plan->share };
}

static void open_run(struct runner *runner, int argc, char **argv)
{
    struct run *run = &runner->run;
    run->plan = runner->plan;
    run->argc = argc;
    run->argv = argv;
    run->claims = mem_array(runner->plan->scenario_count, sizeof *run->claims);
    for (size_t i = 0; i < runner->plan->scenario_count; i++)
        run->claims[i] = claims_of(runner->plan, &runner->plan->scenarios[i]);
    once_init(&run->once, runner->plan->scenario_count);
    lines_init(&run->lines);
}

static void close_run(struct runner *runner)
{
    for (unsigned i = 0; i < runner->worker_count; i++)
        begin(runner, i, STAGE_EXIT);
    for (unsigned i = 0; i < runner->worker_count; i++) {
        worker_join(&runner->workers[i]);
        worker_free(&runner->workers[i]);
    }
    for (size_t i = 0; i < runner->notice_count; i++)
        free(runner->notices[i]);
    free(runner->notices);
    once_free(&runner->run.once, runner->plan->scenario_count);
    exporter_free(runner->exporter);
    journal_writer_free(&runner->journal);
    free(runner->workers);
    free(runner->heartbeats);
    health_free(&runner->health);
    warm_free(&runner->warm);
    free(runner->states);
    for (size_t i = 0; runner->totals && i <= runner->plan->scenario_count; i++)
        name_metrics_free(&runner->totals[i]);
    free(runner->totals);
    free(runner->run.claims);
    lines_free(&runner->run.lines);
    close(runner->signals);
    close(runner->run.events);
}

int runner_run(struct vm *control, const struct plan *plan, int argc, char **argv)
{
    struct runner runner = { .control = control, .plan = plan, .worker_count = threads_choose(plan) };
    int status = EXIT_CANNOT_RUN;
    const char *why = plan_load_tls(plan);
    if (why) {
        fprintf(stderr, "luabench: %s\n", why);
        return EXIT_SCRIPT;
    }
    if (!journal_writer_open(&runner.journal, plan, runner.worker_count)) {
        journal_writer_free(&runner.journal);
        return EXIT_SCRIPT;
    }
    open_run(&runner, argc, argv);
    if (!open_events(&runner)) {
        runner.worker_count = 0; /* none was started */
        close_run(&runner);
        return EXIT_CANNOT_RUN;
    }
    if (plan->exported && !(runner.exporter = exporter_new(plan->export_host, plan->export_port))) {
        runner.worker_count = 0; /* none was started */
        close_run(&runner);
        return EXIT_SCRIPT;
    }
    journal_writer_begin(&runner.journal);
    check_descriptors(&runner);
    bool ready = start_workers(&runner);
    ready = wait_until_ready(&runner) && ready;
    if (ready)
        ready = !(status = prepare(&runner));
    signals_loaded();
    if (ready) {
        carry_out(&runner);
        progress_fetch(&runner.progress);
        status = report(&runner);
        end_if_stuck(&runner, status);
        progress_free(&runner.progress);
    }
    close_run(&runner);
    return status;
}
