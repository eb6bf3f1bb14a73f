#include "machine.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "chain.h"
#include "peers.h"

static int pinned = -1;
static bool realtime;

void machine_pin(void)
{
    cpu_set_t allowed;
    cpu_set_t one;
    size_t last = CPU_SETSIZE;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;
    }
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) {
            last = cpu;
        }
    }
    if (last == CPU_SETSIZE) {
        return;
    }
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) {
        pinned = (int)last;
    }
    /* Usually root's privilege: without it whatever else runs on this CPU stands in the quartiles.
     */
    realtime =
        sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 20 }) == 0;
}

static void describe_cpu(FILE *out)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[512];
    char model[512] = "unknown";

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "model name : %511[^\n]", model) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    fprintf(out, "cpu        %s, ", model);
    if (pinned >= 0) {
        fprintf(out, "pinned to cpu %d%s", pinned, realtime ? ", SCHED_FIFO" : "");
    } else {
        fprintf(out, "not pinned");
    }

    double load = 0;

    if (getloadavg(&load, 1) == 1) {
        fprintf(out, ", load %.1f", load);
    }
    fprintf(out, "\n");
}

void machine_describe(FILE *out)
{
    struct utsname system;

    describe_cpu(out);
    if (uname(&system) == 0) {
        fprintf(out, "system     %s %s, glibc %s\n", system.sysname, system.release,
                gnu_get_libc_version());
    }
#ifdef __clang__
    fprintf(out, "library    built by clang %s (%s)\n", __clang_version__, BENCH_BUILD_TYPE);
#else
    fprintf(out, "library    built by gcc %s (%s)\n", __VERSION__, BENCH_BUILD_TYPE);
#endif
    fprintf(out, "chain      built by %s, %s\n", chain_compiler(), BENCH_ASSEMBLER_VERSION);
    peers_describe(out);
}
