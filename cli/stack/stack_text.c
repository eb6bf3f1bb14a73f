#include "cli/stack/stack_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/frame_print.h"
#include "cli/stack/stack_groups.h"
#include "cli/stack/stack_python.h"
#include "cli/stack/waits.h"
#include "crash/names.h"
#include "util/counted.h"
#include "util/foreign.h"

enum { SHOWN = 12 }; /* threads of a group by their numbers, and what they wait for by itself */

/* --- Frames --------------------------------------------------------------------------------------- */

/* @return frames from i on that repeat it, without it */
static size_t repeats(const struct sfb_remote_thread *t, size_t i,
                      const struct stack_python *python)
{
    size_t last = t->frame_count, count = 0;

    /* Up to the next frame with Python functions. */
    if (python->end < t->python_count && t->python[python->end].frame < last)
        last = t->python[python->end].frame;
    while (i + count + 1 < last && t->frames[i + count + 1].address == t->frames[i].address)
        count++;
    return count;
}

static void print_end(const struct sfb_remote_thread *t)
{
    if (t->end == SFB_END)
        return;
    if (t->frame_count == 0)
        printf("no stack: %s\n", t->why ? t->why : sfb_status_str(t->end));
    else if (t->end == SFB_UNPROVEN_END)
        printf("... %s\n", sfb_status_str(t->end));
    else
        printf("... truncated: %s%s%s\n", sfb_status_str(t->end), t->why ? "; " : "",
               t->why ? t->why : "");
}

static void print_frames(const struct stack_text *print, const struct sfb_remote_thread *t)
{
    struct stack_python python = { 0, 0 };

    for (size_t i = 0; i < t->frame_count; i++) {
        const struct frame_print frame = { i, t->frames[i].address, print->names };
        const bool has_python = stack_python_of(&python, t, i);
        const size_t more = has_python ? 0 : repeats(t, i, &python);

        if (has_python)
            stack_python_print(t, &python);
        if (!stack_python_shows_native(print->languages, &python))
            continue;
        frame_print(print->symbols, &frame, sfb_remote_frame_lookup(t, i));
        if (more > 0) {
            printf("#%zu .. (repeated %s more)\n", i + 1, counted(more, "times").text);
            i += more;
        }
    }
    if (print->languages == STACK_PYTHON && t->python_count == 0)
        printf("no Python function\n");
    if (t->python_unplaced > 0)
        printf("... %s: the C function that runs them was not found\n",
               counted(t->python_unplaced, "Python functions").text);
    print_end(t);
}

/* --- Headings ------------------------------------------------------------------------------------- */

/* The numbers of a group's threads, with ranges. */
static void print_numbers(const struct sfb_remote_thread *const *threads, size_t count)
{
    size_t shown = 0;

    for (size_t i = 0; i < count; i++) {
        size_t last = i;

        while (last + 1 < count && threads[last + 1]->tid == threads[last]->tid + 1)
            last++;
        if (shown++ == SHOWN) {
            printf(" and %zu more", count - i);
            return;
        }
        printf(last > i + 1 ? " %d to %d" : " %d", (int)threads[i]->tid, (int)threads[last]->tid);
        i = last > i + 1 ? last : i;
    }
}

static bool same_names(const struct sfb_remote_thread *const *threads, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (strcmp(threads[i]->name, threads[0]->name) != 0)
            return false;
    return true;
}

/* What the threads of a group wait for, if all of them wait for the same. */
static void print_wait(const struct stack_text *print,
                       const struct sfb_remote_thread *const *threads, size_t count)
{
    const char *name = sfb_remote_call_name(threads[0]->call);
    struct waits_text first, other;

    if (!waits_describe(&first, print->remote, print->pid, threads[0]))
        return;
    for (size_t i = 1; i < count; i++)
        if (!waits_in_the_same(threads[0], threads[i]) &&
            (!waits_describe(&other, print->remote, print->pid, threads[i]) ||
             strcmp(other.text, first.text) != 0)) {
            printf(" in %s", name ? name : "a system call");
            return;
        }
    printf(" in ");
    foreign_print(stdout, first.text);
}

static uint64_t cpu_time(const struct sfb_remote_thread *const *threads, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += threads[i]->cpu_time;
    return sum;
}

static void print_heading(const struct stack_text *print,
                          const struct sfb_remote_thread *const *threads, size_t count)
{
    const uint64_t us = cpu_time(threads, count) / 1000;

    if (count == 1)
        printf("thread");
    else
        printf("%zu threads:", count);
    print_numbers(threads, count);
    if (same_names(threads, count)) {
        printf(" \"");
        foreign_print(stdout, threads[0]->name);
        putchar('"');
    }
    if (print->pid != 0)
        printf(", %s", waits_state(threads[0]->state));
    else if (threads[0]->in_call)
        printf(",");
    print_wait(print, threads, count);
    if (threads[0]->python_gil == SFB_REMOTE_GIL_HELD)
        printf(", holds the GIL");
    else if (threads[0]->python_gil == SFB_REMOTE_GIL_WAITED)
        printf(", waits for the GIL");
    if (print->pid != 0)
        printf(", CPU %" PRIu64 ".%06" PRIu64 " s", us / 1000000, us % 1000000);
    putchar('\n');
}

static void print_group(const struct stack_text *print,
                        const struct sfb_remote_thread *const *threads, size_t count)
{
    putchar('\n');
    print_heading(print, threads, count);
    print_frames(print, threads[0]);
}

/* --- The process ---------------------------------------------------------------------------------- */

/* " SIGSEGV (11) code SEGV_MAPERR (1) address 0x0", as the first line of a crash report has it. */
static void print_signal(const struct sfb_remote_core *core)
{
    const char *name = sigabbrev_np(core->signal);

    if (core->signal == 0) {
        printf("saved alive");
        return;
    }
    printf("%s%s (%d)", name ? "SIG" : "signal", name ? name : "", core->signal);
    if (core->has_code)
        printf(" code %s (%d)", sfb_crash_code_name(core->signal, core->code), core->code);
    if (core->has_code && core->code > 0)
        printf(" address 0x%" PRIx64, core->address);
    else if (core->has_code)
        printf(" sender %d", (int)core->sender);
}

static void print_core(const struct stack_text *print, const struct sfb_remote_core *core,
                       size_t count)
{
    printf("core of process %d \"", (int)core->pid);
    foreign_print(stdout, print->name);
    printf("\": %s, ", counted(count, "threads").text);
    print_signal(core);
    putchar('\n');
}

static void print_process(const struct stack_text *print, const struct sfb_remote_thread *threads,
                          size_t count)
{
    size_t stopped = 0;

    for (size_t i = 0; i < count; i++)
        stopped += threads[i].how == SFB_REMOTE_STOPPED;
    printf("process %d \"", (int)print->pid);
    foreign_print(stdout, print->name);
    printf("\": %s, of which %zu stopped for a moment\n", counted(count, "threads").text, stopped);
}

bool stack_text_print(const struct stack_text *print)
{
    size_t count;
    const struct sfb_remote_thread *threads = sfb_remote_threads(print->remote, &count);
    struct stack_groups groups;
    const struct sfb_remote_core *core = sfb_remote_core_of(print->remote);
    const bool good = stack_groups_make(&groups, threads, count, core ? threads[0].tid : 0);

    if (core)
        print_core(print, core, count);
    else
        print_process(print, threads, count);
    stack_python_print_why(print->remote);
    for (size_t i = 0; good && i < groups.count; i++)
        print_group(print, groups.order + groups.groups[i].first, groups.groups[i].count);
    stack_groups_free(&groups);
    return good;
}
