#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "cli/crash_report.h"
#include "cli/symbolize/swift_json.h"
#include "util/base_name.h"
#include "util/foreign.h"
#include "util/hex_text.h"

/* Repeated frames are written one by one: beyond so many they count as omitted. */
enum { FRAMES_MOST = 1 << 16 };

/* --- Values: a NULL stands for no memory, and json_object_set_new() refuses it -------------------------- */

static json_t *text_of(const char *text)
{
    json_t *value = json_string(text);
    char *escaped;

    if (value)
        return value;
    escaped = foreign_copy(text, FOREIGN_NAME); /* it is no UTF-8 */
    value = escaped ? json_string(escaped) : NULL;
    free(escaped);
    return value;
}

static json_t *hex_of(uint64_t number)
{
    return json_sprintf("0x%016" PRIx64, number);
}

/* --- Frames ---------------------------------------------------------------------------------------------- */

struct log {
    const struct stack_print *print;
    json_t *frames;
    size_t count;
    bool good; /* there was memory */
    /* The frame at hand. */
    enum sfb_frame_kind kind;
    uint64_t address;
};

static const char *kind_of(enum sfb_frame_kind kind)
{
    switch (kind) {
    case SFB_FRAME_PC: return "programCounter";
    case SFB_FRAME_RA: return "returnAddress";
    case SFB_FRAME_ASYNC: return "asyncResumePoint";
    case SFB_FRAME_OMIT: return "omittedFrames";
    }
    return "truncated";
}

static void add(struct log *log, json_t *frame)
{
    log->good = json_array_append_new(log->frames, frame) == 0 && log->good;
}

static void set(struct log *log, json_t *object, const char *key, json_t *value)
{
    log->good = json_object_set_new(object, key, value) == 0 && log->good;
}

static void set_place(struct log *log, json_t *frame, const struct symbols_function *f)
{
    json_t *place = json_object();

    set(log, place, "file", text_of(f->path ? f->path : f->file));
    set(log, place, "line", json_integer(f->line));
    set(log, place, "column", json_integer(f->column > 0 ? f->column : 0));
    set(log, frame, "sourceLocation", place);
}

static void set_symbol(struct log *log, json_t *frame, const struct symbols_function *f)
{
    const uint64_t offset = f->inlined ? 0 : log->address - f->start;
    char *name = object_demangle(f->name, log->print->names);
    json_t *described = text_of(name ? name : f->name);

    if (described && offset > 0) {
        json_t *whole = json_sprintf("%s + %" PRIu64, json_string_value(described), offset);

        json_decref(described);
        described = whole;
    }
    set(log, frame, "symbol", text_of(f->name));
    set(log, frame, "offset", json_integer((json_int_t)offset));
    set(log, frame, "description", described);
    free(name);
}

static void add_function(void *user, const struct symbols_function *f)
{
    struct log *log = user;
    json_t *frame = json_object();

    set(log, frame, "kind", json_string(kind_of(log->kind)));
    set(log, frame, "address", hex_of(log->address));
    if (f->inlined)
        set(log, frame, "inlined", json_true());
    if (f->name)
        set_symbol(log, frame, f);
    if (f->module)
        set(log, frame, "image", text_of(f->module));
    if (f->file && f->line > 0)
        set_place(log, frame, f);
    add(log, frame);
}

static void add_omitted(struct log *log, uint64_t count)
{
    json_t *frame = json_object();

    set(log, frame, "kind", json_string(kind_of(SFB_FRAME_OMIT)));
    set(log, frame, "count", json_integer((json_int_t)(count & INT64_MAX)));
    add(log, frame);
}

/* @param before  its address is looked up one byte before */
static void add_item(struct log *log, const struct sfb_cbf_item *item, bool before)
{
    uint64_t left = item->count;

    if (item->kind == SFB_FRAME_OMIT) {
        for (; left > 0 && log->count < FRAMES_MOST; left--, log->count++)
            add_omitted(log, item->value);
        return;
    }
    log->kind = item->kind;
    log->address = item->value;
    for (; left > 0 && log->count < FRAMES_MOST; left--, log->count++)
        symbols_find(log->print->symbols, before && item->value > 0 ? item->value - 1 : item->value,
                     add_function, log);
    if (left > 0)
        add_omitted(log, left);
}

/* @param behind  the first pc is that behind the instruction it is about. @return SFB_END, or the fault of the data */
static enum sfb_status add_frames(struct log *log, struct backtraces *b, bool behind)
{
    struct sfb_cbf_item next, item = { .count = 0 };
    enum sfb_status status;
    bool first = true;

    /* One is held back: a return address before a pc is the kernel's, of a signal's handler. */
    while ((status = backtraces_frame(b, &next)) == SFB_OK) {
        if (item.count > 0) {
            add_item(log, &item,
                     (item.kind == SFB_FRAME_RA && next.kind != SFB_FRAME_PC) || (behind && first));
            first = false;
        }
        item = next;
    }
    if (item.count > 0)
        add_item(log, &item, item.kind == SFB_FRAME_RA || (behind && first));
    if (status != SFB_END || sfb_cbf_decoder_truncated(&b->decoder)) {
        json_t *frame = json_object();

        set(log, frame, "kind", json_string("truncated"));
        add(log, frame);
    }
    return status;
}

/* --- A log ------------------------------------------------------------------------------------------------ */

/* What a report says beside its stack. */
struct about {
    const char *description;
    uint64_t fault;
    char thread[64];   /* name; "": not known */
    json_t *registers; /* NULL: not known */
    const struct loaded_module *modules;
    size_t module_count;
};

static json_t *time_now(void)
{
    struct timespec now = { .tv_sec = 0 };
    char date[64] = "";
    struct tm tm;

    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &tm))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    return json_sprintf("%s.%06ldZ", date, now.tv_nsec / 1000);
}

/* Swift's word. A report says by its registers where it was made; all else is of this machine. */
static const char *architecture_of(const struct about *about)
{
    struct utsname own;
    bool amd64;

    if (about->registers)
        amd64 = json_object_get(about->registers, "rip") != NULL;
    else
        amd64 = uname(&own) == 0 && strcmp(own.machine, "x86_64") == 0;
    return amd64 ? "x86_64" : "arm64";
}

static void set_thread(struct log *log, json_t *object, const struct about *about)
{
    json_t *threads = json_array(), *thread = json_object();

    if (about->thread[0])
        set(log, thread, "name", text_of(about->thread));
    set(log, thread, "crashed", json_true());
    if (about->registers)
        set(log, thread, "registers", json_incref(about->registers));
    set(log, thread, "frames", json_incref(log->frames));
    log->good = json_array_append_new(threads, thread) == 0 && log->good;
    set(log, object, "threads", threads);
}

static void set_images(struct log *log, json_t *object, const struct about *about)
{
    json_t *images = json_array();

    for (size_t i = 0; i < about->module_count; i++) {
        const struct loaded_module *m = &about->modules[i];
        char build_id[2 * sizeof m->build_id + 1];
        json_t *image = json_object();

        set(log, image, "name", text_of(sfb_base_name(m->path)));
        sfb_hex_text(build_id, m->build_id, m->size);
        if (m->size > 0)
            set(log, image, "buildId", json_string(build_id));
        set(log, image, "path", text_of(m->path));
        set(log, image, "baseAddress", hex_of(m->start));
        set(log, image, "endOfText", hex_of(m->end));
        log->good = json_array_append_new(images, image) == 0 && log->good;
    }
    set(log, object, "images", images);
}

static enum tool_exit put(struct log *log, const struct about *about)
{
    json_t *object = json_object();
    enum tool_exit exit_status = TOOL_DONE;

    set(log, object, "timestamp", time_now());
    set(log, object, "kind", json_string("crashReport"));
    set(log, object, "description", text_of(about->description));
    set(log, object, "faultAddress", hex_of(about->fault));
    set(log, object, "platform", json_string("Linux"));
    set(log, object, "architecture", json_string(architecture_of(about)));
    set_thread(log, object, about);
    if (about->module_count > 0)
        set_images(log, object, about);
    set(log, object, "backtraceTime", json_real(0.0));
    if (log->good && json_dumpf(object, stdout, JSON_INDENT(2)) == 0)
        putchar('\n');
    else
        exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    json_decref(object);
    return exit_status;
}

enum tool_exit swift_json_write(const struct stack_print *print, struct backtraces *b)
{
    const struct about about = { .description = "backtrace" };
    enum tool_exit exit_status = TOOL_DONE;
    enum sfb_status status;

    while (exit_status == TOOL_DONE && (status = backtraces_next(b)) == SFB_OK) {
        struct log log = { .print = print, .frames = json_array(), .good = true };

        status = add_frames(&log, b, false);
        exit_status = put(&log, &about);
        json_decref(log.frames);
        if (status != SFB_END)
            break;
    }
    if (exit_status == TOOL_DONE && (status != SFB_END || symbols_refused(print->symbols)))
        exit_status = TOOL_BAD_DATA;
    return exit_status;
}

/* --- Reports of the crash handler ---------------------------------------------------------------------------- */

/* Swift's names of what we call otherwise. @return NULL: Swift has no such register */
static const char *swift_name(const char *name)
{
    static const char *const names[][2] = {
        { "eflags", "rflags" }, { "x29", "fp" }, { "x30", "lr" },    { "err", NULL },
        { "trapno", NULL },     { "cr2", NULL }, { "pstate", NULL }, { "fault_address", NULL },
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], name) == 0)
            return names[i][1];
    return name;
}

#define REGISTER "register "

/* "register rip 0x55dd513ffff3": these lines stand before all others of a report. */
static json_t *registers_of(const struct input *input, size_t start)
{
    const char *at = (const char *)input->data + start,
               *end = (const char *)input->data + input->size;
    json_t *registers = json_object();

    while ((at = memchr(at, '\n', (size_t)(end - at))) && ++at < end) {
        const size_t left = (size_t)(end - at);
        char line[128], *name = line + strlen(REGISTER), *value;
        const char *swift;

        snprintf(line, sizeof line, "%.*s", left < sizeof line ? (int)left : (int)sizeof line - 1,
                 at);
        value = strstr(line, " 0x");
        if (strncmp(line, REGISTER, strlen(REGISTER)) != 0 || !value || value <= name)
            break;
        *value++ = '\0';
        swift = swift_name(name);
        if (swift)
            json_object_set_new(registers, swift, hex_of(strtoull(value, NULL, 16)));
    }
    if (json_object_size(registers) > 0)
        return registers;
    json_decref(registers);
    return NULL;
}

static void read_headline(struct about *out, const char *headline)
{
    const char *fault = strstr(headline, " address 0x"), *name = strchr(headline, '"');

    out->description = headline;
    if (fault)
        out->fault = strtoull(fault + strlen(" address "), NULL, 16);
    if (name)
        snprintf(out->thread, sizeof out->thread, "%.*s", (int)strcspn(name + 1, "\""), name + 1);
}

static enum tool_exit write_report(const struct stack_print *print, struct crash_report *report,
                                   const struct input *input)
{
    struct log log = { .print = print, .frames = json_array(), .good = true };
    struct backtraces b = { .input = { input->name, report->cbf.bytes, report->cbf.size } };
    struct about about = { .modules = report->modules, .module_count = report->module_count };
    enum tool_exit exit_status = TOOL_DONE, written;

    read_headline(&about, report->headline ? report->headline : "?");
    about.registers = registers_of(input, report->start);
    if (!symbols_use_modules(print->symbols, report->modules, report->module_count))
        log.good = false;
    else if (report->cbf.size > 0 && (backtraces_next(&b) != SFB_OK ||
                                      add_frames(&log, &b, report->pc_is_behind) != SFB_END))
        exit_status = TOOL_BAD_DATA;
    for (size_t i = 0; i < report->module_count; i++)
        if (report->modules[i].refused)
            exit_status = TOOL_BAD_DATA;
    if (!report->complete)
        exit_status =
            tool_complain(TOOL_BAD_DATA, "%s: a report without its last line", input->name);
    written = put(&log, &about);
    json_decref(log.frames);
    json_decref(about.registers);
    symbols_use_process(print->symbols);
    return tool_worse(exit_status, written);
}

enum tool_exit swift_json_write_reports(const struct stack_print *print, const struct input *input,
                                        size_t *count)
{
    struct crash_report report = { .headline = NULL };
    enum tool_exit exit_status = TOOL_DONE;
    size_t offset = 0;

    for (*count = 0; crash_report_read(&report, input, &offset, &exit_status); ++*count) {
        exit_status = tool_worse(exit_status, write_report(print, &report, input));
        crash_report_free(&report);
    }
    return exit_status;
}
