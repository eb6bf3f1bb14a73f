#include "cli/stack/stack_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/stack/stack_python.h"
#include "cli/stack/waits.h"
#include "profiler/report/formats/json.h"

static void print_text(const char *name, const char *text)
{
    printf(",\"%s\":", name);
    report_json_text(stdout, text);
}

struct functions {
    const struct stack_text *print;
    bool first;
};

static void print_function(void *user, const struct symbols_function *f)
{
    struct functions *functions = user;
    char *name = f->name ? object_demangle(f->name, functions->print->names) : NULL;

    printf("%s{\"inlined\":%s", functions->first ? "" : ",", f->inlined ? "true" : "false");
    functions->first = false;
    if (name)
        print_text("name", name);
    free(name);
    if (f->path)
        print_text("file", f->path);
    if (f->line > 0)
        printf(",\"line\":%d", f->line);
    if (f->module)
        print_text("module", f->module);
    putchar('}');
}

static void print_python(const struct sfb_remote_thread *t, const struct stack_python *python)
{
    printf(",\"python\":[");
    for (size_t i = python->first; i < python->end; i++) {
        const struct sfb_remote_python *f = &t->python[i];

        printf("%s{\"certain\":%s", i > python->first ? "," : "", f->name ? "true" : "false");
        if (f->name) {
            print_text("name", f->name);
            print_text("file", f->file);
        }
        if (f->line > 0)
            printf(",\"line\":%u", f->line);
        putchar('}');
    }
    putchar(']');
}

static void print_frame(const struct stack_text *print, const struct sfb_remote_thread *t, size_t i,
                        struct stack_python *python)
{
    const struct sfb_remote_frame *f = &t->frames[i];
    struct functions functions = { print, true };

    printf("%s{\"address\":\"0x%" PRIx64 "\",\"kind\":\"%s\",\"source\":\"%s\",\"functions\":[",
           i > 0 ? "," : "", f->address, f->kind == SFB_FRAME_PC ? "pc" : "ra",
           sfb_source_str((enum sfb_source)f->source));
    symbols_find(print->symbols, sfb_remote_frame_lookup(t, i), print_function, &functions);
    putchar(']');
    if (stack_python_of(python, t, i))
        print_python(t, python);
    putchar('}');
}

static void print_call(const struct stack_text *print, const struct sfb_remote_thread *t)
{
    const char *name = sfb_remote_call_name(t->call);
    struct waits_text wait;

    if (!waits_describe(&wait, print->remote, print->pid, t))
        return;
    printf(",\"call\":{\"number\":%" PRId64, t->call);
    if (name)
        print_text("name", name);
    print_text("text", wait.text);
    printf(",\"arguments\":[");
    for (unsigned i = 0; i < 6; i++)
        printf("%s\"0x%" PRIx64 "\"", i > 0 ? "," : "", t->argument[i]);
    printf("]}");
}

static void print_thread(const struct stack_text *print, const struct sfb_remote_thread *t)
{
    static const char *const hows[] = { [SFB_REMOTE_UNREAD] = "unread",
                                        [SFB_REMOTE_ASLEEP] = "asleep",
                                        [SFB_REMOTE_STOPPED] = "stopped",
                                        [SFB_REMOTE_SAVED] = "saved" };
    static const char *const gils[] = { [SFB_REMOTE_GIL_HELD] = "held",
                                        [SFB_REMOTE_GIL_WAITED] = "waited",
                                        [SFB_REMOTE_GIL_RELEASED] = "released" };
    struct stack_python python = { 0, 0 };

    printf("{\"tid\":%d", (int)t->tid);
    print_text("name", t->name);
    printf(",\"state\":\"%c\",\"cpu_ns\":%" PRIu64 ",\"read\":\"%s\"", t->state, t->cpu_time,
           hows[t->how]);
    if (t->why)
        print_text("why", t->why);
    print_call(print, t);
    print_text("end", t->end == SFB_END ? "outermost" : sfb_status_str(t->end));
    if (t->python_gil != SFB_REMOTE_GIL_UNKNOWN)
        printf(",\"gil\":\"%s\"", gils[t->python_gil]);
    printf(",\"python_unplaced\":%zu,\"frames\":[", t->python_unplaced);
    for (size_t i = 0; i < t->frame_count; i++)
        print_frame(print, t, i, &python);
    printf("]}");
}

/* Members of a core's process alone. */
static void print_core(const struct sfb_remote_core *core)
{
    print_text("arguments", core->arguments);
    printf(",\"signal\":%d,\"lost\":%" PRIu64, core->signal, core->lost);
    if (core->has_code)
        printf(",\"code\":%d", core->code);
    if (core->has_code && core->code > 0)
        printf(",\"address\":\"0x%" PRIx64 "\"", core->address);
    else if (core->has_code)
        printf(",\"sender\":%d", (int)core->sender);
}

void stack_json_print(const struct stack_text *print)
{
    size_t count;
    const struct sfb_remote_thread *threads = sfb_remote_threads(print->remote, &count);

    const struct sfb_remote_core *core = sfb_remote_core_of(print->remote);
    const char *why, *interpreter = sfb_remote_interpreter(print->remote, &why);

    printf("{\"pid\":%d", (int)(core ? core->pid : print->pid));
    print_text("name", print->name);
    if (core)
        print_core(core);
    if (interpreter)
        print_text("interpreter", interpreter);
    if (interpreter && why[0])
        print_text("python_why", why);
    printf(",\"threads\":[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            putchar(',');
        print_thread(print, &threads[i]);
    }
    printf("]}\n");
}
