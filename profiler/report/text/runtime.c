#include "profiler/report/text/runtime.h"

#include <string.h>

#include "util/base_name.h"
#include "util/foreign.h"

/* An option, and what of it stands in the command of a program that has it. */
struct option {
    const char *text, *mark;
};

/* Versions of a program are called alike: python3.11. */
static const struct {
    const char *program;
    struct option names, callers;
} runtimes[] = {
    { "java",
      { "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit", "DumpPerfMapAtExit" },
      { "java -XX:+PreserveFramePointer", "+PreserveFramePointer" } },
    { "node", { "node --perf-basic-prof", "--perf-basic-prof" }, { NULL, NULL } },
    { "python", { "python3 -X perf (from Python 3.12 on)", "perf" }, { NULL, NULL } },
    { "dotnet", { "DOTNET_PerfMapEnabled=1 in the environment", NULL }, { NULL, NULL } },
    { "ruby", { "ruby --yjit-perf", "--yjit-perf" }, { NULL, NULL } },
};

/* @return its index; the number of runtimes: it is not known */
static size_t find(const struct report_process *process)
{
    const char *name = sfb_base_name(process->program);
    size_t i = 0;

    for (; i < sizeof runtimes / sizeof *runtimes; i++) {
        const size_t size = strlen(runtimes[i].program);

        if (strncmp(name, runtimes[i].program, size) == 0 &&
            strspn(name + size, "0123456789.") == strlen(name + size))
            break;
    }
    return i;
}

/* @return NULL, too, if the program was started with it: it did not help */
static const char *text_of(const struct option *option, const struct report_process *p)
{
    if (option->mark && p->arguments &&
        memmem(p->arguments, p->arguments_size, option->mark, strlen(option->mark)))
        return NULL;
    return option->text;
}

bool report_runtime_is_known(const struct report_process *process)
{
    return find(process) < sizeof runtimes / sizeof *runtimes;
}

const char *report_runtime_names(const struct report_process *process)
{
    return report_runtime_is_known(process) ? text_of(&runtimes[find(process)].names, process)
                                            : NULL;
}

const char *report_runtime_callers(const struct report_process *process)
{
    return report_runtime_is_known(process) ? text_of(&runtimes[find(process)].callers, process)
                                            : NULL;
}

void report_runtime_program_put(FILE *to, const struct report_process *process)
{
    foreign_print(to, sfb_base_name(process->program));
}
