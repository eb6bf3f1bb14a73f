#include "cli/stack/stack_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/frame_print.h"
#include "cli/stack/stack_groups.h"
#include "cli/stack/waits.h"
#include "util/counted.h"
#include "util/foreign.h"

enum { SHOWN = 12 }; /* threads of a group by their numbers, and what they wait for by itself */

/* --- Frames --------------------------------------------------------------------------------------- */

/* @return frames from i on that repeat it, without it */
static size_t repeats(const struct sfb_remote_thread *t, size_t i)
{
    size_t count = 0;

    while (i + count + 1 < t->frame_count &&
           t->frames[i + count + 1].address == t->frames[i].address)
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
    for (size_t i = 0; i < t->frame_count; i++) {
        const struct frame_print frame = { i, t->frames[i].address, print->names };
        const size_t more = repeats(t, i);

        frame_print(print->symbols, &frame, sfb_remote_frame_lookup(t, i));
        if (more > 1) {
            printf("#%zu .. (repeated %s more)\n", i + 1, counted(more, "times").text);
            i += more;
        }
    }
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
        if (!waits_describe(&other, print->remote, print->pid, threads[i]) ||
            strcmp(other.text, first.text) != 0) {
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
    printf(", %s", waits_state(threads[0]->state));
    print_wait(print, threads, count);
    printf(", CPU %" PRIu64 ".%06" PRIu64 " s\n", us / 1000000, us % 1000000);
}

static void print_group(const struct stack_text *print,
                        const struct sfb_remote_thread *const *threads, size_t count)
{
    putchar('\n');
    print_heading(print, threads, count);
    print_frames(print, threads[0]);
}

/* --- The process ---------------------------------------------------------------------------------- */

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
    const bool good = stack_groups_make(&groups, threads, count);

    print_process(print, threads, count);
    for (size_t i = 0; good && i < groups.count; i++)
        print_group(print, groups.order + groups.groups[i].first, groups.groups[i].count);
    stack_groups_free(&groups);
    return good;
}
