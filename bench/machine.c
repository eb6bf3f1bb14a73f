#include "machine.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "chain.h"
#include "peers.h"

static int pinned = -1;
static int spare = -1; /* another CPU that this process was allowed to use */
static cpu_set_t allowed;
static bool realtime;

void machine_pin(void)
{
    cpu_set_t one;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET((size_t)cpu, &allowed)) {
            spare = pinned;
            pinned = cpu;
        }
    }
    if (pinned < 0) {
        return;
    }
    CPU_ZERO(&one);
    CPU_SET((size_t)pinned, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) {
        pinned = -1;
        return;
    }
    /* Usually root's privilege: without it whatever else runs on this CPU stands in the quartiles.
     */
    realtime =
        sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 20 }) == 0;
}

static void unpin(void)
{
    sched_setaffinity(0, sizeof allowed, &allowed);
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ .sched_priority = 0 });
}

bool machine_has_two(void)
{
    return spare >= 0;
}

int machine_start_elsewhere(pthread_t *out, void *(*function)(void *))
{
    pthread_attr_t attributes;
    cpu_set_t one;
    int status;

    CPU_ZERO(&one);
    CPU_SET((size_t)spare, &one);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
    status = pthread_create(out, &attributes, function, NULL);
    pthread_attr_destroy(&attributes);
    return status == 0 ? 0 : -1;
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

    /* As the runs will be. */
    machine_pin();
    describe_cpu(out);
    unpin();
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
