/*
 * Dies as it is told to, with the crash handler's report on stdout: core_program null|thread|handler|abort|divide; or, for gcore,
 * says that it waits, and waits: core_program wait.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sframe_backtrace_crash.h"

#define APART __attribute__((noinline, used))

static volatile int zero, sink;
static char byte;

APART static void inner(const char *how)
{
    if (strcmp(how, "abort") == 0)
        abort();
    else if (strcmp(how, "divide") == 0)
        sink = 1000 / zero; /* 1 would be compared, not divided */
    else if (strcmp(how, "wait") == 0)
        sink = (int)read(STDIN_FILENO, &byte, 1);
    else
        *(volatile int *)(size_t)(16 + zero) = 1;
    sink++;
}

APART static void outer(const char *how, int depth)
{
    if (depth > 0)
        outer(how, depth - 1);
    else
        inner(how);
    sink++;
}

static void handle(int number)
{
    (void)number;
    outer("null", 2);
}

static void *run(void *how)
{
    if (strcmp(how, "handler") == 0)
        raise(SIGUSR1);
    outer(how, 3);
    return NULL;
}

int main(int argc, char **argv)
{
    struct sframe_backtrace_crash_options options = SFRAME_BACKTRACE_CRASH_OPTIONS_INIT;
    char null[] = "null", *how = argc > 1 ? argv[1] : null;
    pthread_t thread;

    options.fd = STDOUT_FILENO;
    if (sframe_backtrace_install_crash_handler(&options) != SFB_OK ||
        signal(SIGUSR1, handle) == SIG_ERR)
        return 2;
    if (strcmp(how, "wait") == 0) {
        printf("there\n");
        fflush(stdout);
    }
    if (strcmp(how, "thread") != 0)
        run(how);
    else if (pthread_create(&thread, NULL, run, how) == 0)
        pthread_join(thread, NULL);
    return 0;
}
