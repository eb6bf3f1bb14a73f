#include "cli/check/files.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbols/archive.h"
#include "util/foreign.h"
#include "util/input.h"

/* ---- progress ---- */

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double started, shown;

static void show_progress(const char *name, uint64_t done, uint64_t all)
{
    const double now = seconds();
    char escaped[61];

    if (started <= 0)
        started = now;
    if (now - started < 1.0 || now - shown < 0.2)
        return;
    shown = now;
    foreign_escape(escaped, sizeof escaped, name, strlen(name), FOREIGN_NAME);
    fprintf(stderr, "\r\033[Ksfb: %s: %.0f %%", escaped,
            all > 0 ? 100.0 * (double)done / (double)all : 0.0);
}

static void clear_progress(void)
{
    if (shown > 0)
        fprintf(stderr, "\r\033[K");
    shown = 0;
}

/* ---- a file ---- */

/* Context of the callback that reports findings. */
struct telling {
    struct report *report;
    const struct report_file *file;
};

static void take_finding(void *data, const struct check *c, const struct finding *finding)
{
    const struct telling *t = data;

    clear_progress();
    report_finding(t->report, t->file, c, finding);
}

static void check_one(struct run *run, const struct report_file *file, uint8_t *image, size_t size)
{
    struct telling telling = { &run->report, file };
    struct check_options options = run->options;
    struct check_result result;

    options.take = take_finding;
    options.take_data = &telling;
    options.policy = &run->policy;
    if (isatty(STDERR_FILENO))
        options.progress = show_progress;
    report_begin(&run->report, file);
    check_image(&result, file->name, image, size, &options);
    clear_progress();
    report_end(&run->report, file, &result);
    if (result.fault.cause)
        run->exit_status = tool_complain_of(TOOL_USAGE, file->name, &result.fault);
    else if (findings_bad(&result.findings))
        run->exit_status = tool_worse(run->exit_status, TOOL_BAD_DATA);
    check_result_free(&result);
}

void run_unreadable(struct run *run, const char *path, const struct object_fault *fault)
{
    const struct report_file file = { path, path, 0 };
    const struct check_result result = { .fault = *fault };

    report_begin(&run->report, &file);
    report_end(&run->report, &file, &result);
    run->exit_status = TOOL_USAGE;
}

/* The same, with the complaint. */
static void refuse(struct run *run, const char *path, const char *cause)
{
    const struct object_fault fault = { .cause = cause };

    run_unreadable(run, path, &fault);
    tool_complain_of(TOOL_USAGE, path, &fault);
}

/* ---- archives ---- */

/* What is visited of an archive. */
struct members {
    struct run *run;
    const struct input *input;
};

static void check_member(void *data, const struct object_member *member)
{
    const struct members *m = data;
    char *name = NULL;

    if (asprintf(&name, "%s(%s)", m->input->name, member->name) < 0) {
        m->run->no_memory = true;
        return;
    }
    check_one(m->run, &(struct report_file){ name, m->input->name, member->at },
              m->input->data + member->at, member->size);
    free(name);
}

/* Archives without any member exist: libraries that another one has swallowed, such as libpthread.a. */
static void check_empty(struct run *run, const struct input *input)
{
    const struct report_file file = { input->name, input->name, 0 };
    struct check_result result = { .has_section = false };

    if (!object_archive_is_empty(input->data, input->size)) {
        refuse(run, input->name, "an archive without members that can be read");
        return;
    }
    run->no_memory |= !findings_init(&result.findings, 0, &(struct findings_ears){ .take = NULL });
    report_begin(&run->report, &file);
    report_end(&run->report, &file, &result);
    check_result_free(&result);
}

static void check_archive(struct run *run, const struct input *input)
{
    struct members members = { run, input };
    bool any;

    if (!object_archive_members(input->data, input->size, check_member, &members, &any))
        refuse(run, input->name, "the archive cannot be read");
    else if (!any)
        check_empty(run, input);
}

void run_file(struct run *run, const char *path)
{
    struct input input;
    const char *cause = input_open(&input, path);

    if (cause) {
        run_unreadable(run, input.name, &(struct object_fault){ .cause = cause });
        tool_complain(TOOL_USAGE, "%s: %s", input.name, cause);
        return;
    }
    switch (run->options.raw ? OBJECT_NO_ARCHIVE : object_archive_kind(input.data, input.size)) {
    case OBJECT_NO_ARCHIVE:
        check_one(run, &(struct report_file){ input.name, input.name, 0 }, input.data, input.size);
        break;
    case OBJECT_ARCHIVE: check_archive(run, &input); break;
    case OBJECT_THIN_ARCHIVE:
        refuse(run, input.name, "a thin archive: check its members, which are files");
        break;
    }
    input_free(&input);
}
