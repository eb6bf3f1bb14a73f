#include "report/text/runtime.h"

#include <string.h>

#include "object/foreign.h"

/* Versions of a program are called alike: python3.11. */
static const struct {
    const char *program, *names, *callers;
} runtimes[] = {
    { "java", "java -XX:+DumpPerfMapAtExit", "java -XX:+PreserveFramePointer" },
    { "node", "node --perf-basic-prof", NULL },
    { "python", "python3 -X perf (from Python 3.12 on)", NULL },
    { "dotnet", "DOTNET_PerfMapEnabled=1 in the environment", NULL },
    { "ruby", "ruby --yjit-perf", NULL },
};

static const char *base_name(const struct report_process *process)
{
    const char *slash = strrchr(process->program, '/');

    return slash ? slash + 1 : process->program;
}

/* @return its index; the number of runtimes: it is not known */
static size_t find(const struct report_process *process)
{
    const char *name = base_name(process);
    size_t i = 0;

    for (; i < sizeof runtimes / sizeof *runtimes; i++) {
        const size_t size = strlen(runtimes[i].program);

        if (strncmp(name, runtimes[i].program, size) == 0 &&
            strspn(name + size, "0123456789.") == strlen(name + size))
            break;
    }
    return i;
}

const char *report_runtime_names(const struct report_process *process)
{
    const size_t i = find(process);

    return i < sizeof runtimes / sizeof *runtimes ? runtimes[i].names : NULL;
}

const char *report_runtime_callers(const struct report_process *process)
{
    const size_t i = find(process);

    return i < sizeof runtimes / sizeof *runtimes ? runtimes[i].callers : NULL;
}

void report_runtime_program_put(FILE *to, const struct report_process *process)
{
    foreign_print(to, base_name(process));
}
