/* Which processes are a loss: children of this one are looked at as those of a recorded program are. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/collector/processes/follow.h"
#include "profiler/collector/processes/tasks.h"
#include "profiler/collector/processes/untracked.h"
#include "profiler/collector/rings/drain.h"
#include "profiler/collector/rings/unrecorded.h"
#include "support/folder.h"
#include "support/test.h"

static struct sfb_shared *shared;
static struct sfb_recording_writer *writer;
static struct sfb_recorder_drain *drain;
static struct sfb_recorder_follow *follow;

static void begin(void)
{
    const struct sfb_recording_start start = {
        .engine_text = "", .version = "", .host = "", .command = ""
    };
    struct sfb_recorder_drain_options options = { .fd = -1, .first_pid = 1 };
    int fd;

    folder_enter();
    fd = open("it.sfbr", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    shared = mmap(NULL, sfb_shared_size(SFB_SHARED_CPU_RING), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cr_assert(fd >= 0 && shared != MAP_FAILED);
    shared->mode = SFB_SHARED_CPU;
    shared->ring_bytes = SFB_SHARED_CPU_RING;
    cr_assert_eq(sfb_recording_writer_open(&writer, fd, &start, NULL), SFB_OK);
    follow = sfb_recorder_follow_open(
        &(struct sfb_recorder_follow_options){ .shared = shared, .first = 1, .writer = writer });
    cr_assert(follow != NULL);
    options.shared = shared;
    options.writer = writer;
    options.watcher = sfb_recorder_follow_watcher(follow);
    cr_assert_eq(sfb_recorder_drain_open(&drain, &options), SFB_OK);
    sfb_recorder_follow_drain(follow, drain);
}

static void end(void)
{
    sfb_recorder_drain_finish(drain);
    sfb_recorder_drain_close(drain);
    sfb_recorder_follow_close(follow);
    sfb_recording_writer_close(writer, 0, "test");
    munmap(shared, sfb_shared_size(SFB_SHARED_CPU_RING));
    folder_remove();
}

TestSuite(record_untracked, .init = begin, .fini = end);

/* @return losses after four looks: two would do */
static uint64_t look(void)
{
    struct sfb_recorder_totals totals;

    for (unsigned i = 0; i < 4; i++)
        sfb_recorder_untracked_processes(follow);
    sfb_recorder_drain_totals(drain, &totals);
    return totals.lost[SFB_LOSS_NOT_FOLLOWED];
}

/* A parent that does not wait for them is no reason to call them lost. */
Test(record_untracked, counts_no_zombies)
{
    for (unsigned i = 0; i < 5; i++) {
        siginfo_t info;
        const pid_t child = fork();

        cr_assert_geq(child, 0);
        if (child == 0)
            _exit(0);
        cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    }
    cr_expect_eq(look(), 0);
    while (wait(NULL) > 0)
        continue;
}

/* Executes a program, and is stopped before its first instruction, as a debugger does it. @return its pid */
static pid_t stop_at_exec(const char *program, char *const environment[])
{
    char *const arguments[] = { (char *)(uintptr_t)program, NULL };
    const pid_t child = fork();
    int status;

    cr_assert_geq(child, 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
            execve(program, arguments, environment);
        _exit(99);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(ne(int, WIFSTOPPED(status), 0));
    return child;
}

static void kill_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

Test(record_untracked, waits_for_an_agent_that_is_not_loaded_yet)
{
    char session[] = SFB_SHARED_ENVIRONMENT "=x", other[] = "OTHER=" SFB_SHARED_ENVIRONMENT "=x";
    const pid_t loading = stop_at_exec("/bin/true", (char *const[]){ session, NULL });
    pid_t never;

    cr_expect_eq(look(), 0);
    never = stop_at_exec("/bin/true", (char *const[]){ other, NULL });
    cr_expect_eq(look(), 1);
    kill_child(never);
    never = stop_at_exec(SFB_RECORD_STATIC, (char *const[]){ session, NULL });
    cr_expect_eq(look(), 2);
    kill_child(never);
    kill_child(loading);
}

/* A program that works until it is killed, and was executed already. @return its pid */
static pid_t burn(const char *program)
{
    char session[] = SFB_SHARED_ENVIRONMENT "=x";
    char *const environment[] = { session, NULL };
    int executed[2];
    pid_t child;
    char byte;

    cr_assert_eq(pipe2(executed, O_CLOEXEC), 0);
    child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        close(STDOUT_FILENO);
        execle(program, program, "burn", "100000", (char *)NULL, environment);
        _exit(99);
    }
    close(executed[1]);
    cr_assert_eq(read(executed[0], &byte, 1), 0); /* exec has closed the other end */
    close(executed[0]);
    return child;
}

static void wait_for_cpu(pid_t child, uint64_t ns)
{
    uint64_t cpu;

    do
        cr_assert(sfb_recorder_process_cpu(child, &cpu));
    while (cpu < ns);
}

/* One that works without an agent is not waited for: the loader takes much less. */
Test(record_untracked, waits_for_a_second_of_cpu_time)
{
    const pid_t child = burn(SFB_RECORD_PROGRAM);

    cr_expect_eq(look(), 0);
    wait_for_cpu(child, 1300000000);
    cr_expect_eq(look(), 1);
    kill_child(child);
}

/* What is not recorded is named, as far as it was seen: the kernel has fifteen letters of a name. */
Test(record_untracked, adds_up_what_programs_without_an_agent_use)
{
    const pid_t child = burn(SFB_RECORD_STATIC);
    char text[256], want[64];

    snprintf(want, sizeof want, "; without an agent: %.15s ", strrchr(SFB_RECORD_STATIC, '/') + 1);
    wait_for_cpu(child, 20000000);
    cr_expect_eq(look(), 1);
    kill_child(child);
    sfb_recorder_drain_account(drain, 9000000, 0, text, sizeof text);
    cr_expect_str_eq(text, "");
    sfb_recorder_untracked_processes(follow);
    sfb_recorder_drain_account(drain, 5000000000, 0, text, sizeof text);
    cr_expect(strstr(text, want) != NULL, "%s: %s", want, text);
    cr_expect(strstr(text, "all used 5000 ms") == text, "%s", text);
}

static pthread_barrier_t made, done;
static pid_t of_the_last;

static void *live(void *is_last)
{
    if (is_last) {
        of_the_last = fork();
        if (of_the_last == 0) {
            pause();
            _exit(0);
        }
    }
    pthread_barrier_wait(&made);
    pthread_barrier_wait(&done);
    return NULL;
}

/* Whichever of its threads made them. */
Test(record_untracked, sees_the_children_of_all_threads)
{
    enum { THREADS = 300 };
    pthread_t threads[THREADS];
    pid_t children[16];
    size_t count;
    bool seen = false;

    pthread_barrier_init(&made, NULL, THREADS + 1);
    pthread_barrier_init(&done, NULL, THREADS + 1);
    for (size_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, live, i + 1 == THREADS ? &made : NULL), 0);
    pthread_barrier_wait(&made);
    count = sfb_recorder_children_of(getpid(), children, 16);
    for (size_t i = 0; i < count; i++)
        seen |= children[i] == of_the_last;
    cr_expect(seen, "%zu children", count);
    kill_child(of_the_last);
    pthread_barrier_wait(&done);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}
