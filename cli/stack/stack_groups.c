#include "cli/stack/stack_groups.h"

#include <stdlib.h>
#include <string.h>

#include "cli/stack/stack_python.h"

static int compare_waits(const struct sfb_remote_thread *a, const struct sfb_remote_thread *b)
{
    if (a->state != b->state || a->end != b->end)
        return a->state != b->state ? a->state - b->state : (int)a->end - (int)b->end;
    if (a->in_call != b->in_call || a->call != b->call)
        return a->in_call != b->in_call ? a->in_call - b->in_call : a->call < b->call ? -1 : 1;
    if (a->why != b->why)
        return strcmp(a->why ? a->why : "", b->why ? b->why : "");
    return (int)a->how - (int)b->how;
}

/* Equal: the same frames, Python functions, ends, states, system calls, and what they have of the GIL. */
static int compare_stacks(const struct sfb_remote_thread *a, const struct sfb_remote_thread *b)
{
    if (a->frame_count != b->frame_count)
        return a->frame_count < b->frame_count ? -1 : 1;
    for (size_t i = 0; i < a->frame_count; i++)
        if (a->frames[i].address != b->frames[i].address)
            return a->frames[i].address < b->frames[i].address ? -1 : 1;
    if (a->python_count > 0 || b->python_count > 0) {
        const int order = stack_python_compare(a, b);

        if (order != 0)
            return order;
    }
    if (a->python_gil != b->python_gil)
        return a->python_gil < b->python_gil ? -1 : 1;
    return compare_waits(a, b);
}

static int by_stack(const void *a, const void *b)
{
    const struct sfb_remote_thread *x = *(const struct sfb_remote_thread *const *)a;
    const struct sfb_remote_thread *y = *(const struct sfb_remote_thread *const *)b;
    const int order = compare_stacks(x, y);

    return order ? order : (x->tid > y->tid) - (x->tid < y->tid);
}

static int by_size(const void *a, const void *b, void *user)
{
    const struct stack_group *x = a, *y = b;
    const struct stack_groups *groups = user;

    if (x->leads != y->leads)
        return x->leads ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return groups->order[x->first]->tid < groups->order[y->first]->tid ? -1 : 1;
}

bool stack_groups_make(struct stack_groups *out, const struct sfb_remote_thread *threads,
                       size_t count, pid_t leader)
{
    out->order = calloc(count + 1, sizeof(const struct sfb_remote_thread *));
    out->groups = calloc(count + 1, sizeof *out->groups);
    out->count = 0;
    if (!out->order || !out->groups)
        return false;
    for (size_t i = 0; i < count; i++)
        out->order[i] = &threads[i];
    qsort(out->order, count, sizeof(const struct sfb_remote_thread *), by_stack);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_stacks(out->order[i - 1], out->order[i]) != 0)
            out->groups[out->count++] = (struct stack_group){ .first = i };
        out->groups[out->count - 1].count++;
        out->groups[out->count - 1].leads |= leader != 0 && out->order[i]->tid == leader;
    }
    qsort_r(out->groups, out->count, sizeof *out->groups, by_size, out);
    return true;
}

void stack_groups_free(struct stack_groups *groups)
{
    free(groups->order);
    free(groups->groups);
}
