/* Servers under test: started, watched, measured and ended with everything that they started. The server is this program again, told by its first argument what to do. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <unistd.h>

#include "base/clock.h"
#include "target/target.h"

enum { MEGABYTE = 1 << 20 };

/* What the server does */

static double own_cpu(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 + (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static void spin(double seconds)
{
    while (own_cpu() < seconds)
        for (volatile int i = 0; i < 100000; i++)
            continue;
}

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        _exit(9);
}

/* A process in a session of its own whose parent is gone. */
static void leave_orphan(void)
{
    if (fork() == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        if (fork() == 0) {
            say("orphan\n");
            for (;;)
                pause();
        }
        _exit(0);
    }
    wait(NULL);
}

/* The same, and its environment is gone, too: it is this program again, without one. */
static void leave_unmarked(void)
{
    char *const argv[] = { "/proc/self/exe", "plain", NULL }, *const env[] = { NULL };
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            execve("/proc/self/exe", argv, env);
        _exit(0);
    }
    wait(NULL);
}

static int act(const char *what)
{
    if (!strcmp(what, "spin")) {
        pid_t child = fork();
        spin(0.5); /* each of the two */
        if (!child)
            _exit(0);
        wait(NULL);
    } else if (!strcmp(what, "memory")) {
        memset(mmap(NULL, 200 * MEGABYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, 200 * MEGABYTE);
    } else if (!strcmp(what, "deaf")) {
        signal(SIGTERM, SIG_IGN);
    } else if (!strcmp(what, "orphan")) {
        leave_orphan();
    } else if (!strcmp(what, "unmarked")) {
        leave_unmarked();
    } else if (!strcmp(what, "babble")) {
        for (;;)
            say("and another thing, and another thing, and another thing\n");
    } else if (!strcmp(what, "end")) {
        say("cannot listen: the port is taken\n");
        return 3;
    } else if (!strcmp(what, "environment")) {
        say(getenv("COLOUR"));
    } else if (!strcmp(what, "long")) {
        for (int i = 0; i < 100000; i++)
            say("another line of the log\n");
    }
    say("ready\n");
    for (;;)
        pause();
}

/* Helpers */

static char program[4096];

static struct target *start(const char *what)
{
    const char *failed;
    char *const argv[] = { program, (char *)what, NULL };
    char *const env[] = { "COLOUR=blue\n", NULL };
    struct target *target = target_start(&(struct process_options){ .argv = argv, .env = env }, &failed);
    assert_non_null(target);
    return target;
}

static void wait_for(struct target *target, const char *text)
{
    while (!target->process.tail.length || !memmem(target->process.tail.data, target->process.tail.length, text, strlen(text))) {
        assert_true(target_running(target));
        poll(NULL, 0, 5);
        target_look(target);
    }
}

static bool exists(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

/* Tests */

static void test_cpu_is_that_of_all_its_processes(void **state)
{
    struct target *target = start("spin");
    wait_for(target, "ready");
    target_look(target);
    double used = target->samples[target->count - 1].cpu; /* two processes ran for half a second each */
    assert_true(used > 0.95 && used < 1.05 + 0.02); /* two ticks of the kernel's clock */
    target_stop(target, NS_PER_SECOND);
    target_free(target);
}

static void test_memory_is_what_is_resident(void **state)
{
    struct target *plain = start("plain"), *target = start("memory");
    wait_for(plain, "ready");
    wait_for(target, "ready");
    target_look(plain);
    target_look(target);
    double more = (double)(target->samples[target->count - 1].memory - plain->samples[plain->count - 1].memory) / MEGABYTE;
    assert_true(more > 195 && more < 205);
    double proportional = (double)tree_proportional(&target->tree) / MEGABYTE;
    assert_true(proportional == 0 || (proportional > 195 && proportional < 220)); /* 0: this kernel does not say */
    target_stop(plain, NS_PER_SECOND);
    target_stop(target, NS_PER_SECOND);
    target_free(plain);
    target_free(target);
}

static void test_a_deaf_server_is_killed(void **state)
{
    struct target *target = start("deaf");
    wait_for(target, "ready");
    pid_t pid = target->root;
    target_stop(target, 50 * NS_PER_MS);
    assert_false(exists(pid));
    assert_true(WIFSIGNALED(target->process.status));
    assert_int_equal(WTERMSIG(target->process.status), SIGKILL);
    target_free(target);
}

static void test_orphans_end_with_it(void **state)
{
    struct target *target = start("orphan");
    wait_for(target, "ready");
    wait_for(target, "orphan");
    target->found_at = 0;
    target_look(target);
    assert_int_equal(target->tree.count, 2);
    pid_t orphan = target->tree.members[0].pid == target->root ? target->tree.members[1].pid : target->tree.members[0].pid;
    assert_true(getpgid(orphan) != getpgid(target->root));
    target_stop(target, 50 * NS_PER_MS);
    assert_false(exists(orphan));
    target_free(target);
}

/* A child of this process beside the target's own one; 0: none. */
static pid_t adopted(const struct target *target)
{
    struct tree all = { 0 };
    pid_t found = 0;
    tree_find(&all, &(struct tree_roots){ .pid = getpid() });
    for (size_t i = 0; i < all.count; i++)
        if (all.members[i].parent == getpid() && all.members[i].pid != target->root && !all.members[i].zombie)
            found = all.members[i].pid;
    tree_free(&all);
    return found;
}

static void test_orphans_without_an_environment_end_with_it(void **state)
{
    struct target *target = start("unmarked");
    pid_t orphan;
    wait_for(target, "ready");
    while (!(orphan = adopted(target)))
        poll(NULL, 0, 5);
    assert_int_equal(target_stop(target, 50 * NS_PER_MS), 0);
    assert_false(exists(orphan));
    target_free(target);
}

static void test_a_babbler_is_not_listened_to_for_ever(void **state)
{
    struct target *target = start("babble");
    wait_for(target, "thing"); /* looks end */
    assert_true(target->process.tail.length <= 16384);
    target_stop(target, 50 * NS_PER_MS);
    target_free(target);
}

static void test_an_interruption_ends_the_patience(void **state)
{
    struct target *target = start("deaf");
    sigset_t set;
    int number;
    wait_for(target, "ready");
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    kill(getpid(), SIGINT); /* held back since the start */
    target_stop(target, 3600 * NS_PER_SECOND);
    assert_int_equal(WTERMSIG(target->process.status), SIGKILL);
    assert_int_equal(sigwait(&set, &number), 0);
    target_free(target);
}

static void test_kill_reaches_all(void **state)
{
    struct target *target = start("orphan");
    wait_for(target, "ready");
    wait_for(target, "orphan");
    targets_kill();
    while (target_running(target) || target->tree.count) {
        poll(NULL, 0, 5);
        target->found_at = 0;
        target_look(target);
    }
    target_free(target);
}

static void test_an_early_end_is_seen(void **state)
{
    struct target *target = start("end");
    while (target_running(target)) {
        poll(NULL, 0, 5);
        target_look(target);
    }
    assert_true(targets_ended());
    assert_true(WIFEXITED(target->process.status));
    assert_int_equal(WEXITSTATUS(target->process.status), 3);
    assert_memory_equal(target->process.tail.data, "cannot listen", 13);
    target_stop(target, 0);
    assert_false(targets_ended());
    target_free(target);
}

static void test_environment_is_added_to(void **state)
{
    struct target *target = start("environment");
    wait_for(target, "ready");
    assert_memory_equal(target->process.tail.data, "blue\nready", 10);
    target_free(target);
}

static void test_a_long_log_is_bounded(void **state)
{
    struct target *target = start("long");
    wait_for(target, "ready");
    assert_true(target->process.tail.length <= 16384);
    target_free(target);
}

static void test_what_cannot_be_started(void **state)
{
    const char *failed;
    char *const argv[] = { "no-such-program-anywhere", NULL }, *const here[] = { program, NULL };
    assert_null(target_start(&(struct process_options){ .argv = argv }, &failed));
    assert_int_equal(errno, ENOENT);
    assert_string_equal(failed, "cannot start");
    assert_null(target_start(&(struct process_options){ .argv = here, .cwd = "/no/such/folder" }, &failed));
    assert_int_equal(errno, ENOENT);
    assert_string_equal(failed, "cannot enter");
}

static void test_another_process_is_watched(void **state)
{
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(listener, 1), 0);
    getsockname(listener, (struct sockaddr *)&address, &length);
    assert_int_equal(tree_listener(ntohs(address.sin_port)), getpid());

    double before = own_cpu();
    struct target *target = target_watch(getpid());
    assert_non_null(target);
    spin(before + 0.3);
    target_look(target);
    double used = target->samples[target->count - 1].cpu;
    assert_true(used > 0.27 && used < 0.36);
    target_stop(target, 0);
    target_free(target);
    close(listener);
    assert_int_equal(tree_listener(ntohs(address.sin_port)), 0);
    assert_null(target_watch(INT32_MAX));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_is_that_of_all_its_processes), cmocka_unit_test(test_memory_is_what_is_resident), cmocka_unit_test(test_a_deaf_server_is_killed),
        cmocka_unit_test(test_orphans_end_with_it), cmocka_unit_test(test_kill_reaches_all), cmocka_unit_test(test_an_early_end_is_seen),
        cmocka_unit_test(test_environment_is_added_to), cmocka_unit_test(test_a_long_log_is_bounded), cmocka_unit_test(test_what_cannot_be_started),
        cmocka_unit_test(test_another_process_is_watched), cmocka_unit_test(test_orphans_without_an_environment_end_with_it),
        cmocka_unit_test(test_a_babbler_is_not_listened_to_for_ever), cmocka_unit_test(test_an_interruption_ends_the_patience),
    };
    if (argc > 1)
        return act(argv[1]);
    program[readlink("/proc/self/exe", program, sizeof program - 1)] = '\0';
    return cmocka_run_group_tests(tests, NULL, NULL);
}
