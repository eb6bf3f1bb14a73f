#include "cli/commands.h"

#include <string.h>
#include <unistd.h>

static const struct tool_command *const of_names[] = { &tool_symbolize, &tool_collect, NULL };
#ifdef SFB_HAVE_TOOLCHAIN
static const struct tool_command *const of_sframe[] = { &tool_check, &tool_diff, &tool_synth,
                                                        &tool_dump, NULL };
#endif
static const struct tool_command *const of_cbf[] = { &tool_decode, &tool_encode, NULL };
#ifdef SFB_HAVE_PROFILER
static const struct tool_command *const of_programs[] = { &tool_record, &tool_report, &tool_merge,
                                                          &tool_stack,  &tool_ctl,    NULL };
#endif

const struct command_group command_groups[] = {
#ifdef SFB_HAVE_PROFILER
    { "programs", of_programs },
#endif
    { "names of functions", of_names },
#ifdef SFB_HAVE_TOOLCHAIN
    { "SFrame sections", of_sframe },
#endif
    { "backtraces", of_cbf },           { NULL, NULL },
};

const struct tool_command *commands_find(const char *name)
{
    for (const struct command_group *g = command_groups; g->title; g++)
        for (const struct tool_command *const *c = g->commands; *c; c++)
            if (strcmp(name, (*c)->name) == 0)
                return *c;
    return NULL;
}

/* --- Unknown commands --------------------------------------------------------------------------- */

/* Commands of other profilers, with their equivalents here. */
static const struct {
    const char *name, *instead;
} others[] = {
    { "top",
      "'sfb report --top' shows the functions of a recording, 'sfb record --progress' counts" },
    { "stat", "'sfb record -- PROGRAM' samples CPU time; counters are for 'perf stat'" },
    { "annotate", "'sfb report --list FUNCTION' shows source lines with their CPU time" },
    { "script", "'sfb report --rows' writes each stack as JSON, --folded as a line" },
    { "flamegraph", "'sfb report --html FILE' writes a page with flame graphs" },
    { "mem", "'sfb record --heap -- PROGRAM' records allocations" },
    { "kmem", "'sfb record --heap -- PROGRAM' records allocations of a program" },
    { "heap", "'sfb record --heap -- PROGRAM' records allocations" },
    { "leaks", "'sfb record --heap -- PROGRAM', then 'sfb report --leaks'" },
    { "attach", "'sfb stack PID' shows the stacks of a process that runs" },
    { "pstack", "'sfb stack PID' shows the stacks of a process" },
    { "gstack", "'sfb stack PID' shows the stacks of a process" },
    { "core", "'sfb stack CORE' shows the stacks of a core file" },
    { "addr2line", "'sfb symbolize --object FILE ADDRESS' names addresses" },
    { "objdump", "'sfb dump FILE' prints an SFrame section as objdump does" },
};

static bool ends_in(const char *text, const char *end)
{
    const size_t size = strlen(text), end_size = strlen(end);

    return size > end_size && strcmp(text + size - end_size, end) == 0;
}

/* @return the command for a file that stands in place of a command; NULL: it is no such file */
static const char *as_file(const char *name)
{
    if (ends_in(name, ".sfbr") && commands_find("report"))
        return "sfb report";
    if (strchr(name, '/') && access(name, X_OK) == 0 && commands_find("record"))
        return "sfb record --";
    return NULL;
}

static enum tool_exit complain_of_option(const char *name)
{
    static const char *const options[] = { "help", "version" };
    const char *word = name + strspn(name, "-");
    struct nearest nearest;
    char guesses[64];

    nearest_begin(&nearest, word, strlen(word));
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        nearest_add(&nearest, options[i], options[i]);
    nearest_end(&nearest);
    if (nearest.count == 0 && commands_find("record"))
        return tool_complain(TOOL_USAGE,
                             "unknown option '%s': options stand behind a command, as in 'sfb "
                             "record %s'; see 'sfb --help'",
                             name, name);
    return tool_complain(TOOL_USAGE, "unknown option '%s'%s; see 'sfb --help'", name,
                         tool_guesses(guesses, sizeof guesses, &nearest, "--"));
}

enum tool_exit commands_complain(const char *name)
{
    const char *file = as_file(name);
    struct nearest nearest;
    char guesses[128];

    if (name[0] == '-')
        return complain_of_option(name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i].name) == 0)
            return tool_complain(TOOL_USAGE, "unknown command '%s': %s", name, others[i].instead);
    if (file)
        return tool_complain(TOOL_USAGE,
                             "unknown command '%s' (did you mean '%s %s'?); see 'sfb --help'", name,
                             file, name);
    nearest_begin(&nearest, name, strlen(name));
    for (const struct command_group *g = command_groups; g->title; g++)
        for (const struct tool_command *const *c = g->commands; *c; c++)
            nearest_add(&nearest, (*c)->name, (*c)->name);
    nearest_add(&nearest, "help", "help");
    nearest_add(&nearest, "version", "version");
    nearest_end(&nearest);
    return tool_complain(TOOL_USAGE, "unknown command '%s'%s; see 'sfb --help'", name,
                         tool_guesses(guesses, sizeof guesses, &nearest, ""));
}
