/* Work in the first thread, and the ways out of a process. */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/tests/record/burn.h"
#include "profiler/tests/record/program.h"

static int burn(char *words[])
{
    burn_ms((unsigned)atoi(words[0]));
    return 0;
}

static int leave_at_once(char *words[])
{
    burn(words);
    _exit(3);
}

static int leave_C(char *words[])
{
    burn(words);
    _Exit(4);
}

static int leave_quickly(char *words[])
{
    burn(words);
    quick_exit(5);
}

static int leave_by_exit(char *words[])
{
    burn(words);
    exit(6);
}

static int leave_by_kernel(char *words[])
{
    burn(words);
    syscall(SYS_exit_group, 7);
    return 1;
}

static int leave_killed(char *words[])
{
    burn(words);
    raise(SIGKILL);
    return 1;
}

static __attribute__((noinline)) int descend(unsigned depth)
{
    volatile int more = 0;

    if (depth == 0)
        burn_ms(100);
    else
        more = descend(depth - 1);
    return more + 1;
}

static int deep(char *words[])
{
    return descend((unsigned)atoi(words[0])) < 0;
}

static int in_system_calls(char *words[])
{
    uint64_t end = cpu_of(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)atoi(words[0]) * 1000000U;

    while (cpu_of(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 100; i++)
            syscall(SYS_getrusage, RUSAGE_SELF, &(struct rusage){ 0 });
    return 0;
}

/* Shared memory of a mebibyte and more that would be in a core dump: "dd" among VmFlags leaves it out. */
static int dumps(char *words[])
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    bool shared = false;
    char line[512];
    long kib = 0;

    burn_ms((unsigned)atoi(words[0]));
    while (maps && fgets(line, sizeof line, maps)) {
        if (strstr(line, " rw-s "))
            shared = true;
        else if (strstr(line, " r--p ") || strstr(line, " rw-p ") || strstr(line, " r-xp "))
            shared = false;
        if (shared && sscanf(line, "Size: %ld kB", &kib) != 1 && kib >= 1024 &&
            strncmp(line, "VmFlags:", 8) == 0 && !strstr(line, " dd "))
            return 1;
    }
    return !maps || fclose(maps);
}

const struct program_mode program_ends[] = {
    { "dumps", dumps },
    { "burn", burn },
    { "_exit", leave_at_once },
    { "_Exit", leave_C },
    { "quick_exit", leave_quickly },
    { "exit", leave_by_exit },
    { "exit_group", leave_by_kernel },
    { "killed", leave_killed },
    { "deep", deep },
    { "kernel", in_system_calls },
    { NULL, NULL },
};
