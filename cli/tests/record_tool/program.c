/* A program that `sfb record` runs, for its tests: what it does is its first argument. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "support/agent_memory.h"

static volatile unsigned long sink;

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* In user mode: the clock is a system call. */
static void burn(double ms)
{
    const double end = seconds(CLOCK_THREAD_CPUTIME_ID) + ms / 1e3;

    while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        for (unsigned i = 0; i < 10000; i++)
            sink += i;
}

static void make_file(const char *name)
{
    close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* It says that it runs, by a file, and goes on until there is another one. */
static void burn_until_file(const char *name)
{
    make_file("ready");
    while (access(name, F_OK) != 0)
        burn(1);
}

static void pause_for(double ms)
{
    const struct timespec t = { (time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000 };

    nanosleep(&t, NULL);
}

static void *thread(void *ms)
{
    burn(*(double *)ms);
    return NULL;
}

static void burn_in_threads(double ms)
{
    pthread_t threads[3];

    for (unsigned i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, thread, &ms);
    burn(ms);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* Another process kills it, at an instant that it does not choose. */
static void be_killed(double ms)
{
    if (fork() == 0) {
        pause_for(ms);
        kill(getppid(), SIGKILL);
        _exit(0);
    }
    burn_in_threads(10000);
}

static void be_a_daemon(double ms)
{
    if (fork() != 0)
        exit(0);
    setsid();
    syscall(SYS_close_range, 0, ~0U, 0);
    burn(ms);
    exit(0);
}

/* Until the recorder has ended the recording, and said so in the memory. */
static void burn_until_the_end(void)
{
    const struct sfb_shared *shared = memory_shared();

    make_file("ready");
    while (!memory_is_over(shared))
        burn(1);
}

static void note_signal(int number)
{
    (void)number;
    make_file("signalled");
}

/* The recorder, which is the parent, stands still while this burns so much CPU time. */
static void burn_unrecorded(double ms)
{
    burn(20);
    kill(getppid(), SIGSTOP);
    burn(ms);
    kill(getppid(), SIGCONT);
    burn(200);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/*
 * Overwrites what it shares with the recorder, behind the first page: at random, with small and with wild numbers.
 * A SIGSEGV in the agent is its own fault.
 */
static void be_hostile(uint64_t seed, double ms)
{
    const double end = seconds(CLOCK_PROCESS_CPUTIME_ID) + ms / 1e3;
    const size_t rings_at = 4096 + (size_t)512 * 262144;
    unsigned char *memory;
    const size_t size = memory_find(&memory);
    uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;

    if (size < rings_at)
        exit(90);
    while (seconds(CLOCK_PROCESS_CPUTIME_ID) < end) {
        for (unsigned i = 0; i < 200; i++) {
            const uint64_t r = next_random(&random);
            const size_t slot = r % 4 == 0   ? 4096 + (r >> 8) % 4 * 262144 + (r >> 20) % 4096
                                : r % 4 == 1 ? rings_at + (r >> 8) % 4 * 61440 + (r >> 20) % 4096
                                             : rings_at + (r >> 8) % 4 * 61440 + (r >> 20) % 61440;
            uint64_t value = r >> 40;

            if (r >> 60 == 0)
                value = next_random(&random);
            memcpy(memory + (slot & ~(size_t)7), &value, sizeof value);
        }
        burn(1);
    }
}

/* Claims slots for a process and a thread of somebody else, to whom signals would be sent. */
static void name_others(uint32_t other, double ms)
{
    const size_t rings_at = 4096 + (size_t)512 * 262144;
    unsigned char *memory;

    if (memory_find(&memory) < rings_at)
        exit(90);
    for (uint32_t slot = 8; slot < 10; slot++) {
        /* Of a process: state, pid. Of a ring: state, slot of the process, pid, tid. */
        const uint32_t process[] = { 2, other }, own = (uint32_t)getpid(),
                       ring[] = { 2, slot == 8 ? 8 : 0, slot == 8 ? other : own, other };

        memcpy(memory + rings_at + slot * (size_t)61440, ring, sizeof ring);
        if (slot == 8)
            memcpy(memory + 4096 + slot * (size_t)262144, process, sizeof process);
    }
    burn(ms);
}

/* Not by pthread_create(), as an agent sees it. */
static int other_thread(void *ms)
{
    burn(*(double *)ms);
    return 0;
}

static void burn_in_another(double ms)
{
    thrd_t thread;

    if (thrd_create(&thread, other_thread, &ms) == thrd_success)
        thrd_join(thread, NULL);
}

/* Executes itself so many times. */
static void execute(char **argv, double times)
{
    char next[32];

    if (times < 1)
        return;
    burn(0.4);
    snprintf(next, sizeof next, "%d", (int)times - 1);
    if (strcmp(argv[1], "exec") == 0)
        execl(argv[0], argv[0], argv[1], next, NULL);
    else
        syscall(SYS_execve, argv[0], (char *[]){ argv[0], argv[1], next, NULL }, environ);
    exit(98);
}

/* All of them at the same time. */
static void have_children(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (fork() == 0) {
            pause_for(400);
            burn(5);
            _exit(0);
        }
    while (wait(NULL) > 0)
        continue;
}

/* By posix_spawn(), so that no copy of this program comes before: one after the other. */
static void spawn(int count, char **arguments)
{
    for (pid_t child; count > 0; count--)
        if (posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) == 0)
            waitpid(child, NULL, 0);
}

static void write_perf_map(void)
{
    char path[64];
    FILE *map;

    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    map = fopen(path, "we");
    if (map) {
        fprintf(map, "1000 10 made_at_run_time\n");
        fclose(map);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const double number = argc > 2 ? strtod(argv[2], NULL) : 0;

    if (strcmp(what, "burn") == 0) {
        burn(number);
    } else if (strcmp(what, "until-file") == 0 && argc > 2) {
        burn_until_file(argv[2]);
    } else if (strcmp(what, "until-ended") == 0) {
        burn_until_the_end();
    } else if (strcmp(what, "unrecorded") == 0) {
        burn_unrecorded(number);
    } else if (strcmp(what, "threads") == 0) {
        burn_in_threads(number);
    } else if (strcmp(what, "sleep") == 0) {
        make_file("ready");
        pause_for(number);
    } else if (strcmp(what, "status") == 0) {
        burn(30);
        return (int)number;
    } else if (strcmp(what, "signal") == 0) {
        burn(30);
        raise((int)number);
    } else if (strcmp(what, "killed") == 0) {
        be_killed(number);
    } else if (strcmp(what, "daemon") == 0) {
        be_a_daemon(number);
    } else if (strcmp(what, "hostile") == 0) {
        be_hostile((uint64_t)number, 300);
    } else if (strcmp(what, "another") == 0) {
        burn_in_another(number);
    } else if (strcmp(what, "exec") == 0 || strcmp(what, "raw_exec") == 0) {
        execute(argv, number);
    } else if (strcmp(what, "children") == 0) {
        have_children((unsigned)number);
    } else if (strcmp(what, "others") == 0) {
        name_others((uint32_t)number, 400);
    } else if (strcmp(what, "ignore") == 0) {
        signal(SIGTERM, note_signal);
        burn_until_the_end();
        make_file("done");
    } else if (strcmp(what, "map") == 0) {
        write_perf_map();
        burn(number);
    } else if (strcmp(what, "print") == 0) {
        printf("%s\n", argc > 2 && getenv(argv[2]) ? getenv(argv[2]) : "");
    } else if (strcmp(what, "spawn") == 0) { /* so often, what follows */
        spawn((int)number, argv + 3);
    } else if (strcmp(what, "run") == 0) { /* another program beside this one, and waits for it */
        const pid_t child = fork();

        if (child == 0) {
            execv(argv[2], argv + 2);
            _exit(127);
        }
        waitpid(child, NULL, 0);
    } else {
        return 99;
    }
    printf("cpu %.9f\n", seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
