#define _GNU_SOURCE
#include "run/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "script/vu.h"

enum {
    RESUMES_A_ROUND = 128, /* of about 64 users, most of whom end an iteration and begin another; then the writes go out */
    ROUNDS_A_TURN = 64,   /* tasks that spawn tasks may go on for ever: the clock and the sockets are looked at nevertheless */
    PUBLISH_MS = 200,
    PUBLISH_WARMING_MS = 100,
    MANY_NAMES = 50,     /* totals over so many cost a quarter of a millisecond: they are published once a second */
    PUBLISH_MANY_MS = 1000,
};

static void tell_runner(struct worker *worker)
{
    uint64_t one = 1;
    if (write(worker->run->events, &one, sizeof one) < 0)
        perror("luabench: eventfd");
}

static void set_state(struct worker *worker, enum worker_state state)
{
    atomic_store(&worker->state, state);
    tell_runner(worker);
}

static void interrupt_all(struct worker *worker)
{
    for (size_t i = 0; i < worker->run->plan->scenario_count; i++)
        group_interrupt(&worker->groups[i]);
}

static void end_warm_ups(struct worker *worker)
{
    int order = ORDER_MEASURE;
    for (size_t i = 0; i < worker->run->plan->scenario_count; i++)
        group_measure(&worker->groups[i], worker->run->measured);
    atomic_compare_exchange_strong(&worker->order, &order, ORDER_NONE); /* unless it is to be interrupted now */
}

static void obey(struct worker *worker)
{
    int order = atomic_load_explicit(&worker->order, memory_order_acquire);
    if (order == ORDER_INTERRUPT)
        interrupt_all(worker);
    else if (order == ORDER_MEASURE)
        end_warm_ups(worker);
}

/* The turn */

static int64_t next_arrival(const struct worker *worker)
{
    int64_t next = NS_NEVER;
    for (size_t i = 0; i < worker->open_count; i++)
        if (worker->open_groups[i]->next_due < next)
            next = worker->open_groups[i]->next_due;
    return next;
}

static void start_arrivals(struct worker *worker, int64_t now)
{
    for (size_t i = 0; i < worker->open_count; i++)
        if (worker->open_groups[i]->next_due <= now)
            open_turn(worker->open_groups[i], now);
}

static void turn(struct worker *worker)
{
    struct vm *vm = worker->vm;
    struct loop *loop = &worker->loop;
    struct strand *strand;
    loop->alarm = next_arrival(worker);
    loop_poll(loop, !vm_busy(vm) && loop->alarm > loop->now);
    vm->read_since = loop->since;
    obey(worker);
    vm_polled(vm);
    vm_reap(vm);
    start_arrivals(worker, loop->now);
    int round = 0;
    do {
        for (int i = 0; i < RESUMES_A_ROUND && (strand = vm_next(vm)); i++)
            group_ran(&worker->groups[strand->vu->scenario->index], strand);
        pool_flush(worker->pool);
    } while (!list_empty(&vm->ready) && ++round < ROUNDS_A_TURN);
    if (vm->stop_text && !worker->stop_run) {
        worker->stop_run = true;
        tell_runner(worker);
    }
}

static void publish(struct worker *worker)
{
    for (size_t i = 0; i < worker->metrics.scenario_count; i++) {
        const struct pool_counts *counts = &worker->vm->scenarios[i].connections;
        worker->metrics.scenarios[i].connections = (struct connection_counts){
            .opened = counts->opened, .reused = counts->reused, .closed_by_peer = counts->closed_by_peer, .unasked = counts->unasked,
            .open = counts->open, .max_open = counts->max_open,
        };
    }
    pthread_mutex_lock(&worker->lock);
    metrics_total(&worker->metrics, &worker->totals);
    if (worker->has_warm_up)
        metrics_total_warm_up(&worker->metrics, &worker->warm_up);
    pthread_mutex_unlock(&worker->lock);
}

/* True while a warm-up goes on whose end is to be found. */
static bool finds_warm_up(const struct worker *worker)
{
    for (size_t i = 0; i < worker->run->plan->scenario_count; i++)
        if (worker->groups[i].plan->warm_up_auto && worker->vm->scenarios[i].warming)
            return true;
    return false;
}

static int64_t publish_period(const struct worker *worker)
{
    size_t names = 0;
    for (size_t i = 0; i < worker->metrics.scenario_count; i++)
        names += worker->metrics.scenarios[i].name_count;
    if (names > MANY_NAMES)
        return PUBLISH_MANY_MS * NS_PER_MS;
    return (finds_warm_up(worker) ? PUBLISH_WARMING_MS : PUBLISH_MS) * NS_PER_MS;
}

static void detail(struct connection_details *details, const struct pool_counts *counts)
{
    for (const struct address_counts *each = counts->addresses; each; each = each->next) {
        char text[ADDRESS_TEXT] = "(other)";
        if (each->address.length)
            address_text(&each->address, text);
        details_add_address(details, &(struct address_metrics){ .address = text, .opened = each->opened, .failed = each->failed, .requests = each->requests });
    }
    for (const struct agreed_counts *each = counts->agreed; each; each = each->next)
        details_add_agreed(details, &(struct agreed_metrics){
            .http = each->http == 2 ? "2" : each->http ? "1.1" : "(other)", .tls = (char *)each->version, .cipher = (char *)each->cipher,
            .opened = each->opened, .resumed = each->resumed });
}

/* Once, at the end. */
static void detail_connections(struct worker *worker)
{
    for (size_t i = 0; i < worker->metrics.scenario_count; i++)
        detail(&worker->metrics.scenarios[i].connection_details, &worker->vm->scenarios[i].connections);
}

/* Copies everything for thresholds that may end the run, at most twice a second. */
static void publish_figures(struct worker *worker)
{
    int64_t now = clock_ns();
    if (!(worker->run->plan->watched || worker->run->plan->exported) || now < worker->next_figures)
        return;
    worker->next_figures = now + NS_PER_SECOND / 2;
    pthread_mutex_lock(&worker->lock);
    metrics_free(&worker->figures);
    plan_metrics_init(worker->run->plan, &worker->figures);
    metrics_merge(&worker->figures, &worker->metrics);
    pthread_mutex_unlock(&worker->lock);
}

static void on_publish(struct timer *timer)
{
    struct worker *worker = container_of(timer, struct worker, publish_timer);
    publish(worker);
    publish_figures(worker);
    vm_tune_collector(worker->vm);
    timers_set(&worker->loop.timers, timer, clock_ns() + publish_period(worker));
}

int64_t worker_cpu(const struct worker *worker)
{
    struct timespec used = { 0 };
    clockid_t clock;
    if (!pthread_getcpuclockid(worker->thread, &clock))
        clock_gettime(clock, &used);
    return (int64_t)used.tv_sec * NS_PER_SECOND + used.tv_nsec;
}

/* Stages */

static bool still_preparing(const struct worker *worker)
{
    for (size_t i = 0; i < worker->open_count; i++)
        if (worker->open_groups[i]->preparing)
            return true;
    return false;
}

static void prepare(struct worker *worker)
{
    for (size_t i = 0; i < worker->run->plan->scenario_count; i++) {
        vm_set_shared(worker->vm, i, &worker->run->once.shared[i]);
        group_prepare(&worker->groups[i]);
    }
    while (still_preparing(worker))
        turn(worker);
}

/* Whatever came before: no user is left, and the figures are complete. */
static void end_load(struct worker *worker)
{
    interrupt_all(worker);
    vm_reap(worker->vm);
    pool_flush(worker->pool);
    for (size_t i = 0; i < worker->run->plan->scenario_count; i++)
        worker->durations[i] = worker->groups[i].duration;
    publish(worker);
    detail_connections(worker);
}

static void load(struct worker *worker)
{
    const struct plan *plan = worker->run->plan;
    worker->cpu_before = worker_cpu(worker);
    timers_set(&worker->loop.timers, &worker->publish_timer, worker->run->start + PUBLISH_MS * NS_PER_MS);
    for (size_t i = 0; i < plan->scenario_count; i++)
        group_start(&worker->groups[i], worker->run->start);
    worker->loop.returned = clock_ns(); /* what came before is none of the load's */
    while (worker->active) {
        turn(worker);
        gauge_polled(&worker->gauge, &worker->loop);
    }
    timers_clear(&worker->publish_timer);
    worker->cpu = worker_cpu(worker) - worker->cpu_before;
    for (size_t i = 0; i < plan->scenario_count; i++)
        worker->shared_changed[i] = vm_shared_changed(worker->vm, i);
    end_load(worker);
}

static void run_stage(struct worker *worker)
{
    struct run *run = worker->run;
    switch (worker->stage) {
    case STAGE_SETUP: once_setup(worker->vm, &run->once, &worker->order); break;
    case STAGE_PREPARE: prepare(worker); break;
    case STAGE_LOAD: load(worker); break;
    case STAGE_ABORT: end_load(worker); break;
    case STAGE_TEARDOWN: once_teardown(worker->vm, &run->once, &worker->order); break;
    case STAGE_EXIT: break;
    }
}

/* The thread */

static void write_line(void *context, const char *text, size_t length, bool once)
{
    struct run *run = context;
    if (once)
        lines_add_once(&run->lines, text, length);
    else
        lines_add(&run->lines, text, length);
}

/* Of the connections that users share this worker has its part. */
static void share_connections(struct worker *worker)
{
    struct vm *vm = worker->vm;
    for (size_t i = 0; i < vm->scenario_count; i++) {
        struct client_options *options = &vm->scenarios[i].client_options;
        if (options->shared)
            options->connections = (unsigned)share_of(worker->share, options->connections);
    }
}

/* Loads the script a second time, in this worker's own state. */
static bool load_script(struct worker *worker)
{
    struct run *run = worker->run;
    struct command command;
    if (!loop_init(&worker->loop)) {
        perror("luabench: a worker's event loop cannot be made");
        return false;
    }
    worker->pool = pool_new(&worker->loop);
    worker->vm = vm_new(VM_WORKER, run->plan->script_memory > 0);
    worker->vm->memory.limit = run->plan->script_memory;
    worker->vm->seed = run->plan->seed;
    worker->vm->slot = run->plan->slot;
    vm_command(worker->vm, run->argc, run->argv, &command);
    bool loaded = command.action == ACTION_RUN;
    command_free(&command);
    if (!loaded)
        return false;
    watch_init(&worker->watch, worker->vm);
    watch_thread(&worker->watch);
    worker->vm->log = write_line;
    worker->vm->log_context = run;
    if (!vm_attach(worker->vm, run->plan, &worker->loop, worker->pool, &worker->metrics)) {
        fprintf(stderr, "luabench: the script defines other scenarios in a worker thread than before; a script must define the same ones each time it is loaded\n");
        return false;
    }
    share_connections(worker);
    return true;
}

static void open_groups(struct worker *worker)
{
    struct run *run = worker->run;
    for (size_t i = 0; i < run->plan->scenario_count; i++) {
        struct group *group = &worker->groups[i];
        group_open(group, worker->vm, i, worker->share, &run->claims[i], &worker->active);
        if (group_is_open(group))
            worker->open_groups[worker->open_count++] = group;
        worker->has_warm_up = worker->has_warm_up || group->plan->warm_up;
    }
}

static void *thread_main(void *argument)
{
    struct worker *worker = argument;
    if (!load_script(worker)) {
        set_state(worker, WORKER_FAILED);
        return NULL;
    }
    worker->thread_id = gettid();
    open_groups(worker);
    timer_init(&worker->publish_timer, on_publish);
    do {
        set_state(worker, WORKER_IDLE);
        while (sem_wait(&worker->go))
            ;
        run_stage(worker);
    } while (worker->stage != STAGE_EXIT);
    return NULL;
}

bool worker_start(struct worker *worker)
{
    const struct plan *plan = worker->run->plan;
    worker->groups = mem_array(plan->scenario_count, sizeof *worker->groups);
    worker->open_groups = mem_array(plan->scenario_count, sizeof *worker->open_groups);
    worker->durations = mem_array(plan->scenario_count, sizeof *worker->durations);
    worker->shared_changed = mem_array(plan->scenario_count, sizeof *worker->shared_changed);
    sem_init(&worker->go, 0, 0);
    plan_metrics_init(plan, &worker->metrics);
    worker->metrics.journal = worker->journal;
    plan_metrics_init(plan, &worker->figures);
    pthread_mutex_init(&worker->lock, NULL);
    return !pthread_create(&worker->thread, NULL, thread_main, worker);
}

void worker_begin(struct worker *worker, enum stage stage)
{
    worker->stage = stage;
    atomic_store(&worker->state, WORKER_BUSY);
    sem_post(&worker->go);
}

void worker_order(struct worker *worker, enum worker_order order)
{
    atomic_store(&worker->order, order);
    loop_wake(&worker->loop);
}

void worker_totals(struct worker *worker, struct metrics_totals *into, struct metrics_totals *warm_up)
{
    pthread_mutex_lock(&worker->lock);
    metrics_totals_merge(into, &worker->totals);
    metrics_totals_merge(warm_up, &worker->warm_up);
    pthread_mutex_unlock(&worker->lock);
}

void worker_figures(struct worker *worker, struct metrics *into)
{
    pthread_mutex_lock(&worker->lock);
    metrics_merge(into, &worker->figures);
    pthread_mutex_unlock(&worker->lock);
}

void worker_abandon(struct worker *worker)
{
    for (size_t i = 0; i < worker->run->plan->scenario_count; i++) {
        group_abandon(&worker->groups[i]);
        worker->durations[i] = worker->groups[i].duration;
    }
    vm_reap(worker->vm);
    publish(worker);
    detail_connections(worker);
    worker->cpu = worker_cpu(worker) - worker->cpu_before;
    atomic_store(&worker->state, WORKER_PARKED);
}

void worker_join(struct worker *worker)
{
    pthread_join(worker->thread, NULL);
    for (size_t i = 0; i < worker->run->plan->scenario_count && worker->groups[i].vm; i++)
        group_close(&worker->groups[i]);
    vm_free(worker->vm);
    if (worker->pool)
        pool_free(worker->pool);
    if (worker->loop.ev)
        loop_free(&worker->loop);
    free(worker->groups);
    free(worker->open_groups);
    sem_destroy(&worker->go);
    pthread_mutex_destroy(&worker->lock);
}

void worker_free(struct worker *worker)
{
    metrics_totals_free(&worker->totals);
    gauge_free(&worker->gauge);
    metrics_free(&worker->metrics);
    metrics_free(&worker->figures);
    metrics_totals_free(&worker->warm_up);
    free(worker->durations);
    free(worker->shared_changed);
}
