#include "profiler/report/text/advice.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/report/model/amount.h"
#include "profiler/report/text/names_advice.h"
#include "profiler/report/text/runtime.h"
#include "util/foreign.h"

/* Our own words have no backslash: what is foreign in a text is escaped with it. */
static void put(FILE *to, const char *text)
{
    fputs("    try: ", to);
    foreign_print(to, text);
    fputc('\n', to);
}

/* --- Looks ---------------------------------------------------------------------------------------- */

enum { WALL_RATE_MOST = 1000 };

/* What is between two looks is not seen. */
static void put_looks(FILE *to, const struct report_data *data, const char *without_wall,
                      const char *without_looks)
{
    if (!report_data_is_wall(data)) {
        put(to, without_looks);
        return;
    }
    fputs("    try: ", to);
    if (data->start.rate_hz < WALL_RATE_MOST)
        fprintf(to, "sfb record --wall --wall-rate %d; or, ", WALL_RATE_MOST);
    fprintf(to, "of CPU time alone, %s\n", without_wall);
}

static void put_unfound(FILE *to, const struct report_data *data)
{
    put_looks(to, data, "sfb record -- PROGRAM: it records each program from its beginning",
              "sfb record without --engine looks, or perf record");
}

static bool has_lost(const struct report_data *data, uint32_t reason)
{
    for (size_t i = 0; i < data->losses.count; i++)
        if (data->losses.at[i].reason == reason)
            return true;
    return false;
}

void report_advice_unfound(FILE *to, const struct report_data *data)
{
    if (!has_lost(data, SFB_LOSS_CPU))
        put_unfound(to, data);
}

/* --- What is missing -------------------------------------------------------------------------------- */

void report_advice_loss(FILE *to, const struct report_data *data, uint32_t reason)
{
    static const char without_agent[] = "perf record, which needs no agent in the program; "
                                        "profiler/docs/PROFILING.md, \"What you do not see\"";
    static const char late[] =
        "profiler/docs/PROFILING.md, \"What you do not see\": code that blocks "
        "signals for long";
    static const char *const texts[SFB_LOSS_COUNT] = {
        [SFB_LOSS_RING_FULL] = "a lower sfb record --rate, or a processor that is left to sfb",
        [SFB_LOSS_NO_RING] = "sfb record --no-children, or fewer threads at a time",
        [SFB_LOSS_NO_PROCESS] = "sfb record --no-children, or fewer processes at a time",
        [SFB_LOSS_BAD_RING] = "valgrind: the program writes to memory that is not its own",
        [SFB_LOSS_NO_TIMER] = "a larger limit of pending signals: ulimit -i",
        [SFB_LOSS_NESTED] = "a lower sfb record --rate",
        [SFB_LOSS_NOT_FOLLOWED] = without_agent,
        [SFB_LOSS_MODULES] = "sfb record once more: functions of such modules have no names",
        [SFB_LOSS_FILE] = "a larger --max-size, or more room on the disk",
        [SFB_LOSS_HEAP_EVENTS] = "sfb record --heap-wait, which loses no event, or --heap-rate",
        [SFB_LOSS_LATE] = late,
        [SFB_LOSS_CPU] = without_agent,
        [SFB_LOSS_FILTER] = without_agent,
        [SFB_LOSS_PYTHON] = "CPython 3.11 to 3.14, with the GIL; profiler/docs/PYTHON.md",
        [SFB_LOSS_PYTHON_FUNCTIONS] =
            "a shorter recording, or exec() of fewer texts; profiler/docs/PYTHON.md",
        [SFB_LOSS_PYTHON_OBJECTS] = "python without PYTHONMALLOC and -X dev",
        [SFB_LOSS_LATER] = "sfb merge of the version that wrote the recordings",
        [SFB_LOSS_SPACE] = "a larger limit on address space: ulimit -v",
    };

    static const char descriptors[] = "a larger limit of descriptors: ulimit -n";
    const bool looks = data->start.engine == SFB_ENGINE_LOOKS;

    if (looks && (reason == SFB_LOSS_CPU || reason == SFB_LOSS_NOT_FOLLOWED))
        put_unfound(to, data);
    else if (looks && (reason == SFB_LOSS_NO_PROCESS || reason == SFB_LOSS_NO_TIMER))
        put(to, descriptors);
    else if (reason < SFB_LOSS_COUNT && texts[reason])
        put(to, texts[reason]);
}

/* Whether most unsampled time is of threads of at most 20 periods: the part of a period at a thread's end. */
static bool is_of_short_threads(const struct report_model *model)
{
    enum { PERIODS = 20 };
    uint64_t sum = 0;

    for (size_t i = 0; i < model->members.count; i++) {
        const struct report_member *m = &model->members.at[i];
        const uint32_t rate = model->sources[m->source].data->start.rate_hz;

        if (rate > 0 && m->thread->cpu_ns / PERIODS < 1000000000 / rate)
            sum = report_saturated(sum, report_member_unsampled(model, m));
    }
    return sum >= model->unsampled / 2;
}

void report_advice_unsampled(FILE *to, const struct report_model *model)
{
    const struct report_data *looks = NULL;
    bool closed = false, refused = false, user = false, outside = false, late = false;

    for (size_t i = 0; i < model->source_count; i++) {
        const struct report_data *data = model->sources[i].data;
        const char *text = data->start.engine_text ? data->start.engine_text : "";

        closed |= strstr(text, "perf_event_paranoid") != NULL;
        refused |= strncmp(text, "perf:", sizeof "perf:" - 1) == 0;
        user |= data->start.engine == SFB_ENGINE_PERF_USER;
        outside |= data->start.engine == SFB_ENGINE_OUTSIDE_USER;
        looks = !looks && data->start.engine == SFB_ENGINE_LOOKS ? data : looks;
        late |= has_lost(data, SFB_LOSS_LATE);
    }
    if (closed)
        put(to, "sysctl kernel.perf_event_paranoid=2: perf misses less than timers");
    else if (refused)
        put(to, "perf, which sees more than timers: the first line says what refuses it");
    else if (outside)
        put(to, "root, or sysctl kernel.perf_event_paranoid=1: kernel time is sampled, too");
    else if (user)
        put(to, "sfb record --engine perf, which samples the kernel's time, too");
    else if (looks)
        put_looks(to, looks, "sfb record without --wall: its samples miss less than looks",
                  "sfb record without --engine looks: between two looks nothing is seen");
    else if (is_of_short_threads(model))
        put(to, "a higher sfb record --rate: time behind a thread's last sample is never sampled");
    else if (!late) /* else that is said as a loss */
        put(to, "profiler/docs/PROFILING.md, \"Engines\": kernel time between ticks");
}

/* --- Stacks that are cut off -------------------------------------------------------------------- */

/* @return the outermost location of a stack that is cut off; REPORT_NONE: it is not, or has no frame */
static uint32_t last_location(const struct report_model *model, uint32_t number)
{
    const struct report_stack *stack = number == REPORT_NONE ? NULL : &model->stacks.at[number];

    if (!stack || !stack->truncated)
        return REPORT_NONE;
    for (uint32_t i = stack->count; i-- > 0;) {
        const uint32_t frame = model->frames.at[stack->at + i];

        if (frame < model->locations.count)
            return frame;
    }
    return REPORT_NONE;
}

/* The module in which most stacks end that are cut off, and a process of them. */
struct cut {
    uint32_t module; /* REPORT_NONE: none has a frame */
    const struct report_process *process;
    uint64_t asleep, others; /* time of all of them */
};

/* @return false: no memory */
static bool find_cut(struct cut *out, const struct report_model *model)
{
    uint64_t *samples = calloc(model->modules.count + 1, sizeof *samples);

    *out = (struct cut){ .module = REPORT_NONE };
    if (!samples)
        return false;
    for (size_t i = 0; i < model->rows.count; i++) {
        const struct report_row *row = &model->rows.at[i];
        const uint32_t location = last_location(model, row->stack);
        uint32_t module;
        uint64_t *part;

        if (location == REPORT_NONE)
            continue;
        part = report_waits_in(model, row->stack) ? &out->asleep : &out->others;
        *part = report_saturated(*part, report_weight(model, row));
        module = model->locations.at[location].module;
        samples[module] = report_saturated(samples[module], row->values[0]);
        if (out->module == REPORT_NONE || samples[module] > samples[out->module] ||
            (module == out->module && !out->process)) {
            out->module = module;
            out->process = model->members.at[row->member].process;
        }
    }
    free(samples);
    return true;
}

static enum sfb_status most_often(const struct report_model *model)
{
    size_t most = SFB_OK;

    for (size_t i = 0; i < sizeof model->by_end / sizeof *model->by_end; i++)
        if (i != SFB_OK && i != SFB_END && model->by_end[i] > 0 &&
            (most == SFB_OK || model->by_end[i] > model->by_end[most]))
            most = i;
    return (enum sfb_status)most;
}

/* Whether the walk found no rule for the caller: tables, or frame pointers, would have one. */
static bool is_miss(enum sfb_status status)
{
    return status == SFB_OK || (status >= SFB_NO_MODULE && status <= SFB_NO_EH_FRAME);
}

/* Whether a frame pointer of unknown value may have led the walk astray. */
static bool may_lack_fp(enum sfb_status status)
{
    return status == SFB_UNREADABLE || status == SFB_NO_PROGRESS || status == SFB_MISALIGNED ||
           status == SFB_ZERO_RA || status == SFB_NO_REGISTER;
}

static void put_module(FILE *to, const struct report_model *model, const char *before,
                       uint32_t module, const char *behind)
{
    fprintf(to, "    try: %s for ", before);
    foreign_print(to, report_text(model, model->modules.at[module].name));
    fprintf(to, "%s\n", behind);
}

void report_advice_truncated(FILE *to, const struct report_model *model)
{
    static const char limits[] = "docs/LIMITS.md has code whose callers cannot be found";
    const enum sfb_status why = most_often(model);
    const char *option;
    struct cut cut;
    bool has_file;

    if (why == SFB_FRAME_LIMIT) {
        put(to, "sfb record --max-frames 16384");
        return;
    }
    if ((!is_miss(why) && !may_lack_fp(why)) || !find_cut(&cut, model) ||
        cut.module == REPORT_NONE) {
        put(to, limits);
        return;
    }
    option = report_runtime_callers(cut.process);
    has_file = report_text(model, model->modules.at[cut.module].path)[0] != '\0';
    /* The caller is in code that was made at run time: the tables of the module that it called are complete. */
    if (why == SFB_NO_MODULE && report_runtime_is_known(cut.process)) {
        put(to, option && cut.asleep <= cut.others ? option : limits);
        return;
    }
    /* Of a thread that sleeps the kernel tells pc and sp alone. */
    if (may_lack_fp(why) && has_file && cut.asleep > cut.others) {
        put_module(to, model, "-fomit-frame-pointer", cut.module,
                   ": of a thread that sleeps the frame pointer is not known. sfb stack PID stops "
                   "it, and reads it");
    } else if (may_lack_fp(why)) {
        put(to, limits);
    } else if (has_file) {
        put_module(to, model,
                   cut.asleep > cut.others
                       ? "-fasynchronous-unwind-tables"
                       : "-fasynchronous-unwind-tables, or -fno-omit-frame-pointer,",
                   cut.module, "");
    } else if (option || report_runtime_is_known(cut.process)) {
        put(to, option ? option : limits);
    } else {
        fputs("    try: frame pointers in the code that ", to);
        report_runtime_program_put(to, cut.process);
        fputs(" makes\n", to);
    }
}

/* --- Functions without names --------------------------------------------------------------------- */

/* The process that was most in nameless code of no module. */
static const struct report_process *find_maker(const struct report_model *model, uint32_t module)
{
    const struct report_process *maker = NULL;
    uint64_t most = 0;

    for (size_t i = 0; i < model->rows.count; i++) {
        const struct report_row *row = &model->rows.at[i];
        struct report_steps steps = report_steps_of(model, row->stack);
        struct report_step leaf;

        if (!report_steps_next(&steps, &leaf) || !leaf.line ||
            model->functions.at[leaf.line->function].module != module ||
            report_weight(model, row) <= most)
            continue;
        most = report_weight(model, row);
        maker = model->members.at[row->member].process;
    }
    return maker;
}

static void put_maker(FILE *to, const struct report_model *model, uint32_t module)
{
    const struct report_process *process = find_maker(model, module);
    const char *option = process ? report_runtime_names(process) : NULL;

    if (option) {
        put(to, option);
    } else if (process) {
        fputs("    try: a /tmp/perf-PID.map, which some runtimes write: the code is made by ", to);
        report_runtime_program_put(to, process);
        fputc('\n', to);
    }
}

/* Package names, each between two spaces. */
struct packages {
    char text[2 * REPORT_ADVICE_SIZE];
    size_t size; /* without the last space */
};

/* Several modules may be of one package. A name that finds no room is left out. */
static void add_package(struct packages *p, const char *name)
{
    char word[REPORT_ADVICE_SIZE + 2];
    const size_t size = (size_t)snprintf(word, sizeof word, " %s ", name);

    if (strstr(p->text, word) || p->size + size >= sizeof p->text)
        return;
    memcpy(p->text + p->size, word, size + 1);
    p->size += size - 1;
}

static void put_packages(FILE *to, struct packages *p)
{
    const bool symbols = strstr(p->text, "-dbgsym ") != NULL;

    if (p->size == 0)
        return;
    p->text[p->size] = '\0';
    fputs("    try: apt install", to);
    foreign_print(to, p->text);
    fputs(symbols ? " (-dbgsym: of Debian's debug archive)\n" : "\n", to);
}

/* What is advised of a module: asked for once. */
struct module_advice {
    enum report_advice kind;
    char text[REPORT_ADVICE_SIZE];
};

void report_advice_nameless(FILE *to, const struct report_model *model, const uint32_t *modules,
                            size_t count)
{
    struct module_advice *all = calloc(count + 1, sizeof *all);
    struct packages packages = { .size = 0 };

    for (size_t i = 0; all && i < count; i++) {
        const struct report_module *m = &model->modules.at[modules[i]];
        const char *path = report_text(model, m->path);

        if (path[0] && model->names_advised)
            all[i].kind = report_names_advice(path, m->build_id, m->build_id_size, all[i].text);
        if (all[i].kind == REPORT_ADVICE_PACKAGE)
            add_package(&packages, all[i].text);
    }
    put_packages(to, &packages);
    for (size_t i = 0; all && i < count; i++) {
        if (!report_text(model, model->modules.at[modules[i]].path)[0])
            put_maker(to, model, modules[i]);
        else if (all[i].kind == REPORT_ADVICE_TEXT)
            put(to, all[i].text);
    }
    free(all);
}
