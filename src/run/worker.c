#include "run/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "script/vu.h"

enum {
    RESUMES_A_ROUND = 64, /* then the writes go out */
    PUBLISH_MS = 200,
    MANY_NAMES = 50,     /* totals over so many cost a quarter of a millisecond: they are published once a second */
    PUBLISH_MANY_MS = 1000,
    FIRST_REST_MS = 1,    /* after a failed iteration, doubling to: */
    LAST_REST_MS = 100,
};

/* The users of one scenario on this worker. */
struct group {
    struct worker *worker;
    size_t index;
    const struct scenario_plan *plan;
    struct scenario_metrics *metrics;
    struct link users;
    struct user_changes changes;
    struct user_change change; /* the next one */
    bool has_change;
    uint64_t sequence;   /* iterations started here, when they are not claimed */
    struct timer start_timer, end_timer, grace_timer;
    bool stopping; /* no iteration is started any more */
    bool ended;
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

/* Users */

static int64_t since_start(const struct group *group, int64_t offset)
{
    return ns_after(group->worker->run->start, offset);
}

/* Called whenever the group may have lost its last user. */
static void end_if_empty(struct group *group)
{
    bool all_started = group->stopping || !group->has_change;
    if (group->ended || !all_started || !list_empty(&group->users))
        return;
    group->ended = true;
    timers_clear(&group->start_timer);
    timers_clear(&group->end_timer);
    timers_clear(&group->grace_timer);
    struct worker *worker = group->worker;
    worker->durations[group->index] = clock_ns() - since_start(group, group->plan->start_after);
    worker->active--;
}

static void end_user(struct group *group, struct vu *vu)
{
    group->metrics->users--;
    vu_free(vu);
    end_if_empty(group);
}

/* The number of the next iteration; false when there is none left for anybody. */
static bool claim(struct group *group, uint64_t *sequence)
{
    struct worker *worker = group->worker;
    if (group->plan->iterations != NO_LIMIT)
        return schedule_claim(&worker->run->claims[group->index], sequence);
    *sequence = share_member(worker->share, group->sequence++) + 1;
    return true;
}

static void begin_iteration(struct group *group, struct vu *vu, int64_t due)
{
    uint64_t sequence;
    if (group->stopping || vu->iteration >= group->plan->iterations_per_user || !claim(group, &sequence)) {
        end_user(group, vu);
        return;
    }
    group->metrics->iterations.scheduled++;
    vu_begin(vu, sequence, due);
}

static void start_user(struct group *group, uint64_t number, int64_t due)
{
    struct vu *vu = vu_new(group->worker->vm, group->index, number + 1);
    list_append(&group->users, &vu->all);
    if (++group->metrics->users > group->metrics->users_max)
        group->metrics->users_max = group->metrics->users;
    begin_iteration(group, vu, due);
}

/* Starts every user that is due, and sets the timer for the next one. */
static void on_start(struct timer *timer)
{
    struct group *group = container_of(timer, struct group, start_timer);
    int64_t now = clock_ns();
    while (!group->stopping && group->has_change) {
        int64_t due = since_start(group, group->change.at);
        if (due > now) {
            timers_set(&group->worker->loop.timers, timer, due);
            return;
        }
        struct user_change change = group->change;
        group->has_change = schedule_next_change(&group->changes, &group->change);
        if (change.begins)
            start_user(group, change.number, due);
    }
    end_if_empty(group);
}

static void interrupt_user(struct group *group, struct vu *vu)
{
    if (vu->running) {
        group->metrics->iterations.interrupted++;
        vu_interrupt(vu);
        vm_reap(group->worker->vm); /* its exchange, cancelled, must have left the pool */
    }
    end_user(group, vu);
}

/* No iteration is started any more; users between two iterations and users in pace() end at once. */
static void stop_group(struct group *group)
{
    group->stopping = true;
    struct link *next;
    for (struct link *link = group->users.next; link != &group->users; link = next) {
        struct vu *vu = container_of(link, struct vu, all);
        next = link->next;
        if (vu->running && !vu->pacing)
            continue;
        if (vu->running) {
            group->metrics->iterations.completed++;
            hist_record(&group->metrics->iteration_duration, clock_ns() - vu->began);
            vu_interrupt(vu);
        }
        end_user(group, vu);
    }
    end_if_empty(group);
}

static void interrupt_group(struct group *group)
{
    stop_group(group);
    while (!list_empty(&group->users))
        interrupt_user(group, container_of(group->users.next, struct vu, all));
    end_if_empty(group);
}

static void on_end(struct timer *timer)
{
    struct group *group = container_of(timer, struct group, end_timer);
    stop_group(group);
    if (!group->ended)
        timers_set(&group->worker->loop.timers, &group->grace_timer, since_start(group, schedule_deadline(group->plan)));
}

static void on_grace(struct timer *timer)
{
    interrupt_group(container_of(timer, struct group, grace_timer));
}

static void interrupt_all(struct worker *worker)
{
    for (size_t i = 0; i < worker->run->plan->scenario_count; i++)
        interrupt_group(&worker->groups[i]);
}

static void open_group(struct worker *worker, size_t index)
{
    struct group *group = &worker->groups[index];
    const struct scenario_plan *plan = &worker->run->plan->scenarios[index];
    group->worker = worker;
    group->index = index;
    group->plan = plan;
    group->metrics = &worker->metrics.scenarios[index];
    schedule_changes(&group->changes, plan, worker->share);
    group->has_change = schedule_next_change(&group->changes, &group->change);
    link_init(&group->users);
    timer_init(&group->start_timer, on_start);
    timer_init(&group->end_timer, on_end);
    timer_init(&group->grace_timer, on_grace);
    worker->active++;
    timers_set(&worker->loop.timers, &group->start_timer, since_start(group, plan->start_after));
    if (plan->duration != NS_NEVER)
        timers_set(&worker->loop.timers, &group->end_timer, since_start(group, schedule_end(plan)));
}

/* The turn */

static int64_t rest_after_failure(unsigned failures)
{
    int64_t ms = FIRST_REST_MS;
    while (failures-- > 1 && ms < LAST_REST_MS)
        ms *= 2;
    return (ms < LAST_REST_MS ? ms : LAST_REST_MS) * NS_PER_MS;
}

static void next_iteration(struct group *group, struct vu *vu)
{
    if (!vu->waited)
        list_append(&group->worker->vm->yielded, &vu->link); /* the others first */
    else
        begin_iteration(group, vu, vu->next_due ? vu->next_due : clock_ns());
}

static void iteration_completed(struct group *group, struct vu *vu)
{
    group->metrics->iterations.completed++;
    hist_record(&group->metrics->iteration_duration, clock_ns() - vu->began);
    vu->iteration_failures = 0;
}

static void iteration_failed(struct group *group, struct vu *vu)
{
    group->metrics->iterations.failed++;
    if (group->stopping)
        end_user(group, vu);
    else
        vu_rest(vu, clock_ns() + rest_after_failure(++vu->iteration_failures));
}

static void stop_run(struct worker *worker)
{
    atomic_store(&worker->stop_run, true);
    tell_runner(worker);
}

static void step(struct worker *worker, struct vu *vu)
{
    struct group *group = &worker->groups[vu->scenario_index];
    if (!vu->running) {
        begin_iteration(group, vu, vu->next_due ? vu->next_due : clock_ns());
        return;
    }
    switch (vu_resume(vu)) {
    case VU_WAITS: break;
    case VU_COMPLETED:
        iteration_completed(group, vu);
        next_iteration(group, vu);
        break;
    case VU_FAILED: iteration_failed(group, vu); break;
    case VU_LEAVES:
        iteration_completed(group, vu);
        end_user(group, vu);
        break;
    case VU_STOPS_RUN:
        group->metrics->iterations.interrupted++;
        end_user(group, vu);
        stop_run(worker);
        break;
    }
}

static void turn(struct worker *worker)
{
    vm_polled(worker->vm);
    vm_reap(worker->vm);
    struct vu *vu;
    do {
        for (int i = 0; i < RESUMES_A_ROUND && (vu = vm_next(worker->vm)); i++)
            step(worker, vu);
        pool_flush(worker->pool);
    } while (!list_empty(&worker->vm->ready));
}

static void publish(struct worker *worker)
{
    for (size_t i = 0; i < worker->metrics.scenario_count; i++) {
        const struct pool_counts *counts = &worker->vm->scenarios[i].connections;
        worker->metrics.scenarios[i].connections = (struct connection_counts){
            .opened = counts->opened, .reused = counts->reused, .closed_by_peer = counts->closed_by_peer, .open = counts->open, .max_open = counts->max_open,
        };
    }
    pthread_mutex_lock(&worker->lock);
    metrics_total(&worker->metrics, &worker->totals);
    pthread_mutex_unlock(&worker->lock);
}

static int64_t publish_period(const struct worker *worker)
{
    size_t names = 0;
    for (size_t i = 0; i < worker->metrics.scenario_count; i++)
        names += worker->metrics.scenarios[i].name_count;
    return (names > MANY_NAMES ? PUBLISH_MANY_MS : PUBLISH_MS) * NS_PER_MS;
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

static void on_publish(struct timer *timer)
{
    struct worker *worker = container_of(timer, struct worker, publish_timer);
    publish(worker);
    vm_tune_collector(worker->vm);
    timers_set(&worker->loop.timers, timer, clock_ns() + publish_period(worker));
}

/* ns of CPU time that the worker's thread has used; any thread may ask. */
static int64_t thread_cpu(const struct worker *worker)
{
    struct timespec used = { 0 };
    clockid_t clock;
    if (!pthread_getcpuclockid(worker->thread, &clock))
        clock_gettime(clock, &used);
    return (int64_t)used.tv_sec * NS_PER_SECOND + used.tv_nsec;
}

static void run_load(struct worker *worker)
{
    worker->cpu_before = thread_cpu(worker);
    timer_init(&worker->publish_timer, on_publish);
    timers_set(&worker->loop.timers, &worker->publish_timer, worker->run->start + PUBLISH_MS * NS_PER_MS);
    for (size_t i = 0; i < worker->run->plan->scenario_count; i++)
        open_group(worker, i);
    while (worker->active) {
        loop_poll(&worker->loop, !vm_busy(worker->vm));
        if (atomic_load_explicit(&worker->order, memory_order_relaxed) == ORDER_INTERRUPT)
            interrupt_all(worker);
        turn(worker);
    }
    vm_reap(worker->vm);
    publish(worker);
    detail_connections(worker);
    worker->cpu = thread_cpu(worker) - worker->cpu_before;
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
static bool load(struct worker *worker)
{
    struct run *run = worker->run;
    struct command command;
    if (!loop_init(&worker->loop)) {
        perror("luabench: a worker's event loop cannot be made");
        return false;
    }
    worker->pool = pool_new(&worker->loop);
    worker->vm = vm_new(VM_WORKER);
    vm_command(worker->vm, run->argc, run->argv, &command);
    command_free(&command);
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

static void *thread_main(void *argument)
{
    struct worker *worker = argument;
    if (!load(worker)) {
        set_state(worker, WORKER_FAILED);
        return NULL;
    }
    set_state(worker, WORKER_READY);
    while (sem_wait(&worker->run->go))
        ;
    if (!worker->cancelled) {
        atomic_store(&worker->state, WORKER_RUNNING);
        run_load(worker);
    }
    set_state(worker, WORKER_ENDED);
    return NULL;
}

static void init_metrics(struct worker *worker)
{
    const struct plan *plan = worker->run->plan;
    const char **names = mem_array(plan->scenario_count, sizeof *names);
    for (size_t i = 0; i < plan->scenario_count; i++)
        names[i] = plan->scenarios[i].name;
    metrics_init(&worker->metrics, names, plan->scenario_count);
    free(names);
}

bool worker_start(struct worker *worker)
{
    const struct plan *plan = worker->run->plan;
    worker->groups = mem_array(plan->scenario_count, sizeof *worker->groups);
    worker->durations = mem_array(plan->scenario_count, sizeof *worker->durations);
    init_metrics(worker);
    pthread_mutex_init(&worker->lock, NULL);
    return !pthread_create(&worker->thread, NULL, thread_main, worker);
}

void worker_order(struct worker *worker, enum worker_order order)
{
    atomic_store(&worker->order, order);
    loop_wake(&worker->loop);
}

void worker_totals(struct worker *worker, struct metrics_totals *into)
{
    pthread_mutex_lock(&worker->lock);
    metrics_totals_merge(into, &worker->totals);
    pthread_mutex_unlock(&worker->lock);
}

void worker_abandon(struct worker *worker)
{
    for (size_t i = 0; i < worker->run->plan->scenario_count; i++) {
        struct group *group = &worker->groups[i];
        for (struct link *link = group->users.next; link != &group->users; link = link->next) {
            struct vu *vu = container_of(link, struct vu, all);
            group->metrics->iterations.interrupted += vu->running;
            vu_abandon(vu);
        }
        worker->durations[i] = clock_ns() - since_start(group, group->plan->start_after);
    }
    vm_reap(worker->vm);
    publish(worker);
    detail_connections(worker);
    worker->cpu = thread_cpu(worker) - worker->cpu_before;
}

void worker_join(struct worker *worker)
{
    pthread_join(worker->thread, NULL);
    vm_free(worker->vm);
    if (worker->pool)
        pool_free(worker->pool);
    if (worker->loop.ev)
        loop_free(&worker->loop);
    free(worker->groups);
    pthread_mutex_destroy(&worker->lock);
}

void worker_free(struct worker *worker)
{
    metrics_totals_free(&worker->totals);
    metrics_free(&worker->metrics);
    free(worker->durations);
}
