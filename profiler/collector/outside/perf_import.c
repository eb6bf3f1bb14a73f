#include "profiler/collector/outside/perf_import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/collector/outside/outside_samples.h"
#include "profiler/collector/outside/perf_file.h"
#include "profiler/collector/outside/perf_registers.h"
#include "sfb/abi.h"
#include "symbols/own_vdso.h"
#include "unwind/machine/arch.h"

struct import {
    struct perf_file file;
    const struct perf_file_event *event; /* whose samples are taken */
    void *vdso;
    size_t vdso_size;
};

static const uint64_t second_ns = 1000000000;

/* --- Which event, and what its samples weigh --------------------------------------------------------- */

static bool has_stacks(const struct perf_file_event *e)
{
    return e->layout.sample_type & PERF_SAMPLE_STACK_USER &&
           e->layout.sample_type & PERF_SAMPLE_REGS_USER &&
           !(e->layout.sample_type & PERF_SAMPLE_BRANCH_STACK);
}

static const struct perf_file_event *choose_event(const struct perf_file *file)
{
    for (size_t i = 0; i < file->events.count; i++)
        if (has_stacks(&file->events.at[i]))
            return &file->events.at[i];
    return NULL;
}

/* Clocks count ns. */
static bool is_clock(const struct perf_file_event *e)
{
    return e->type == PERF_TYPE_SOFTWARE &&
           (e->config == PERF_COUNT_SW_CPU_CLOCK || e->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Of a frequency each sample stands for its part of a second; else the unit is the event's own. */
static uint64_t weight_of(const struct perf_file_event *e, const struct perf_sample *s)
{
    const uint64_t period = s->period != 0 ? s->period : e->period;

    if (!is_clock(e) && e->is_frequency && e->period > 0)
        return second_ns / e->period;
    return is_clock(e) && e->is_frequency && s->period == 0 && e->period > 0 ? second_ns / e->period
                                                                             : period;
}

static uint32_t rate_of(const struct perf_file_event *e)
{
    if (e->is_frequency)
        return e->period <= UINT32_MAX ? (uint32_t)e->period : 0;
    return is_clock(e) && e->period > 0 && e->period <= second_ns
               ? (uint32_t)(second_ns / e->period)
               : 0;
}

/* --- Files ------------------------------------------------------------------------------------------- */

/* The build-ids are in a list of their own. The vDSO is the one of this boot, or of none that is known. */
static void describe(void *user, struct sfb_copied_mapping *out, uint32_t pid,
                     const struct perf_mmap *record)
{
    struct import *import = user;
    const struct perf_file_id *id =
        out->build_id_size == 0 ? perf_file_build_id(&import->file, record->path) : NULL;

    (void)pid;
    if (id) {
        out->build_id = id->bytes;
        out->build_id_size = id->size;
    }
    if (strcmp(record->path, "[vdso]") == 0) {
        out->image = import->vdso;
        out->image_size = import->vdso_size;
    }
}

/* --- From the file to the recording ------------------------------------------------------------------ */

static bool fail(struct perf_import *out, const char *why)
{
    snprintf(out->why, sizeof out->why, "%s", why);
    return false;
}

static uint64_t first_time(const struct perf_file *f)
{
    for (size_t i = 0; i < f->entries.count; i++)
        if (f->entries.at[i].time != 0)
            return f->entries.at[i].time;
    return 0;
}

static uint64_t last_time(const struct perf_file *f)
{
    return f->entries.count > 0 ? f->entries.at[f->entries.count - 1].time : 0;
}

static struct sfb_recording_writer *open_writer(const struct import *import, const char *path,
                                                int fd)
{
    struct sfb_recording_writer_options how = SFB_RECORDING_WRITER_OPTIONS_INIT;
    struct sfb_recording_writer *writer = NULL;
    const struct sfb_recording_start start = {
        .monotonic = first_time(&import->file),
        .rate_hz = rate_of(import->event),
        .engine = import->event->user_only ? SFB_ENGINE_PERF_USER : SFB_ENGINE_PERF,
        .recorder_pid = (uint32_t)getpid(),
        .abi = SFB_ARCH_ABI,
        .engine_text = "copied stacks of `perf record`",
        .version = "perf",
        .host = import->file.host ? import->file.host : "",
        .command = path,
        .command_size = strlen(path) + 1,
    };

    return sfb_recording_writer_open(&writer, fd, &start, &how) == SFB_OK ? writer : NULL;
}

static bool take_sample(struct perf_import *out, struct import *import, struct outside *outside,
                        const struct perf_file_event *event, const struct perf_record *record)
{
    struct perf_sample sample;

    if (event != import->event) {
        out->other_events++;
        return true;
    }
    if (!perf_sample_read(&sample, &event->layout, record)) {
        outside_damaged(outside);
        return true;
    }
    return outside_take_sample(outside, &event->layout, &sample, weight_of(event, &sample));
}

static bool take_all(struct perf_import *out, struct import *import, struct outside *outside)
{
    bool good = true;

    for (size_t i = 0; i < import->file.entries.count && good; i++) {
        const struct perf_record record =
            perf_file_record(&import->file, &import->file.entries.at[i]);
        struct perf_ids ids;
        const struct perf_file_event *event = perf_file_event_of(&import->file, &record, &ids);

        good = record.type == PERF_RECORD_SAMPLE ? take_sample(out, import, outside, event, &record)
                                                 : outside_take(outside, &record, &ids);
    }
    return good;
}

/* What is missing stands in the recording, too. */
static void tell_losses(struct perf_import *out, struct sfb_recording_writer *writer,
                        const struct import *import)
{
    const struct sfb_recording_losses losses[] = {
        { .reason = SFB_LOSS_RING_FULL,
          .count = out->totals.lost,
          .text = "perf record lost them" },
        { .reason = SFB_LOSS_BAD_RING, .count = out->totals.unreadable, .text = "damaged records" },
    };

    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (losses[i].count > 0)
            sfb_recording_put_losses(writer, &losses[i]);
    if (import->file.compressed)
        fail(out, "it is packed (perf record -z), and what is packed is not read");
    else if (import->file.cut)
        fail(out, "damaged: it ends within a record, or has other bytes");
    else if (out->totals.unreadable > 0)
        snprintf(out->why, sizeof out->why, "%" PRIu64 " of its records are damaged",
                 out->totals.unreadable);
}

/* Where the kernel's code was: "[kernel.kallsyms]_text" is mapped at the offset of that. @return 1: not known */
static uint64_t kernel_text(const struct perf_file *f)
{
    static const char name[] = "[kernel.kallsyms]_";

    for (size_t i = 0; i < f->entries.count; i++) {
        const struct perf_record record = perf_file_record(f, &f->entries.at[i]);
        struct perf_mmap m;

        if (record.type != PERF_RECORD_MMAP && record.type != PERF_RECORD_MMAP2)
            continue;
        if (perf_mmap_read(&m, &record) && strncmp(m.path, name, sizeof name - 1) == 0)
            return m.offset != 0 ? m.offset : m.start;
    }
    return 1;
}

static bool convert(struct perf_import *out, struct import *import, const char *path, int fd)
{
    struct sfb_recording_writer *writer = open_writer(import, path, fd);
    const struct outside_options how = { .writer = writer,
                                         .engine = import->event->user_only ? SFB_ENGINE_PERF_USER
                                                                            : SFB_ENGINE_PERF,
                                         .kernel = !import->event->user_only,
                                         .kernel_text = kernel_text(&import->file),
                                         .describe = describe,
                                         .user = import };
    struct outside *outside = writer ? outside_open(&how) : NULL;
    const uint64_t end = last_time(&import->file);
    bool good = outside && take_all(out, import, outside);

    if (outside) {
        good = outside_end(outside, end) && good;
        out->totals = *outside_totals(outside);
        outside_close(outside);
    }
    if (good)
        tell_losses(out, writer, import);
    if (writer)
        good = sfb_recording_writer_close(writer, end, "perf record") == SFB_OK && good;
    return good || fail(out, strerror(errno != 0 ? errno : ENOMEM));
}

bool perf_import(struct perf_import *out, const uint8_t *data, size_t size, const char *path,
                 int fd)
{
    struct import import = { .event = NULL };
    bool good = false;
    const char *why;

    *out = (struct perf_import){ .why = "" };
    import.vdso = object_own_vdso(&import.vdso_size);
    why = perf_file_read(&import.file, data, size);
    if (!why && import.file.machine && strcmp(import.file.machine, perf_machine) != 0)
        why = "it is of another machine";
    if (!why) {
        import.event = choose_event(&import.file);
        if (!import.event)
            why = "its samples have no stacks: record with `perf record --call-graph dwarf`";
    }
    good = why ? fail(out, why) : convert(out, &import, path, fd);
    perf_file_free(&import.file);
    return good;
}
