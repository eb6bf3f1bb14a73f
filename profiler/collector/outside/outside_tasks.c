#include "profiler/collector/outside/outside_tasks.h"

#include <stdlib.h>

/* @return which of the numbers is the newest; NULL: no memory, or not known and not to be added */
static uint32_t *newest_of(struct report_index *index, uint32_t **all, size_t *count, size_t *room,
                           uint32_t number, bool add)
{
    uint32_t at, *next;
    bool known;

    if (!add)
        return report_index_has(index, number, 0, &at) ? *all + at : NULL;
    if (!report_index_find(index, number, 0, (uint32_t)*count, &at, &known))
        return NULL;
    if (known)
        return at < *count ? *all + at : NULL;
    next = report_array_next((void **)all, count, room, sizeof **all);
    if (next)
        *next = REPORT_NONE;
    return next;
}

static uint32_t *newest_process(struct outside_tasks *t, uint32_t pid, bool add)
{
    return newest_of(&t->pids, &t->process_of.at, &t->process_of.count, &t->process_of.room, pid,
                     add);
}

static uint32_t *newest_thread(struct outside_tasks *t, uint32_t tid, bool add)
{
    return newest_of(&t->tids, &t->thread_of.at, &t->thread_of.count, &t->thread_of.room, tid, add);
}

static struct outside_process *next_process(struct outside_tasks *t)
{
    struct outside_process *process;

    if (t->free_processes.count == 0)
        return REPORT_NEXT(t->processes);
    process = &t->processes.at[t->free_processes.at[--t->free_processes.count]];
    *process = (struct outside_process){ .pid = 0 };
    return process;
}

static struct outside_thread *next_thread(struct outside_tasks *t)
{
    struct outside_thread *thread;

    if (t->free_threads.count == 0)
        return REPORT_NEXT(t->threads);
    thread = &t->threads.at[t->free_threads.at[--t->free_threads.count]];
    *thread = (struct outside_thread){ .tid = 0 };
    return thread;
}

struct outside_process *outside_tasks_process(struct outside_tasks *t, uint32_t pid, bool add)
{
    uint32_t *newest = newest_process(t, pid, add);
    struct outside_process *process;
    struct sfb_copied_space *space;

    if (!newest)
        return NULL;
    if (*newest != REPORT_NONE)
        return &t->processes.at[*newest];
    if (!add)
        return NULL;
    space = sfb_copied_space_open(t->files, NULL);
    process = space ? next_process(t) : NULL;
    if (!process) {
        sfb_copied_space_close(space);
        return NULL;
    }
    process->space = space;
    process->pid = pid;
    process->slot = *newest = (uint32_t)(process - t->processes.at);
    return process;
}

struct outside_thread *outside_tasks_known(struct outside_tasks *t, uint32_t tid)
{
    const uint32_t *newest = newest_thread(t, tid, false);

    return newest && *newest != REPORT_NONE ? &t->threads.at[*newest] : NULL;
}

struct outside_thread *outside_tasks_thread(struct outside_tasks *t, uint32_t tid,
                                            struct outside_process *process)
{
    uint32_t *newest = newest_thread(t, tid, true);
    struct outside_thread *thread;

    if (!newest)
        return NULL;
    if (*newest != REPORT_NONE && t->threads.at[*newest].process == process->slot)
        return &t->threads.at[*newest];
    if (*newest != REPORT_NONE) /* the end of its process was not seen */
        outside_tasks_forget_thread(t, &t->threads.at[*newest]);
    thread = next_thread(t);
    if (!thread)
        return NULL;
    thread->tid = tid;
    thread->process = process->slot;
    process->alive++;
    *newest = (uint32_t)(thread - t->threads.at);
    return thread;
}

/* Without memory a place is not used again. */
static void free_place(uint32_t *next, uint32_t place)
{
    if (next)
        *next = place;
}

void outside_tasks_forget_thread(struct outside_tasks *t, struct outside_thread *thread)
{
    const uint32_t place = (uint32_t)(thread - t->threads.at);
    uint32_t *newest = newest_thread(t, thread->tid, false);

    if (!newest || *newest != place)
        return;
    *newest = REPORT_NONE;
    t->processes.at[thread->process].alive--;
    thread->process = REPORT_NONE;
    free_place(REPORT_NEXT(t->free_threads), place);
}

void outside_tasks_forget_process(struct outside_tasks *t, struct outside_process *process)
{
    uint32_t *newest = newest_process(t, process->pid, false);

    if (newest && *newest == process->slot)
        *newest = REPORT_NONE;
    for (size_t i = 0; i < t->threads.count && process->alive > 0; i++)
        if (t->threads.at[i].process == process->slot)
            outside_tasks_forget_thread(t, &t->threads.at[i]);
    sfb_copied_space_close(process->space);
    process->space = NULL;
    free(process->program);
    process->program = NULL;
    free_place(REPORT_NEXT(t->free_processes), process->slot);
}

void outside_tasks_free(struct outside_tasks *t)
{
    for (size_t i = 0; i < t->processes.count; i++) {
        sfb_copied_space_close(t->processes.at[i].space);
        free(t->processes.at[i].program);
    }
    free(t->processes.at);
    free(t->threads.at);
    free(t->process_of.at);
    free(t->thread_of.at);
    free(t->free_processes.at);
    free(t->free_threads.at);
    report_index_free(&t->pids);
    report_index_free(&t->tids);
    sfb_copied_files_close(t->files);
}
