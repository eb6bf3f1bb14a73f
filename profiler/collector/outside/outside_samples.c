#include "profiler/collector/outside/outside_samples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "profiler/collector/outside/outside_pause.h"
#include "profiler/collector/outside/outside_python.h"
#include "profiler/collector/outside/outside_write.h"
#include "profiler/collector/outside/perf_registers.h"

enum { KERNEL_FRAMES = 128 }; /* kernel.perf_event_max_stack is 127 */

/* The kernel's part of the chain, innermost first. */
static size_t kernel_frames(uint64_t *out, const struct perf_sample *s)
{
    bool kernel = false;
    size_t count = 0;

    for (size_t i = 0; i < s->chain_count && count < KERNEL_FRAMES; i++) {
        const uint64_t address = perf_chain_at(s, i);

        if (address >= (uint64_t)PERF_CONTEXT_MAX)
            kernel = address == (uint64_t)PERF_CONTEXT_KERNEL;
        else if (kernel)
            out[count++] = address;
    }
    return count;
}

/* Addresses of the upper half are the kernel's, on both machines. */
static bool is_kernel(uint64_t address)
{
    return address >> 63;
}

/* @return false: it cannot be walked */
static bool walk(struct outside *o, const struct outside_process *p,
                 const struct sfb_copied_stack *stack, struct sfb_copied_backtrace *out)
{
    const bool good = sfb_copied_walk(p->space, stack, out, o->cbf, OUTSIDE_CBF) == SFB_OK;

    o->totals.no_stack += !good;
    o->totals.copied += stack->size;
    o->totals.cut += good && out->end == SFB_STACK_CUT;
    o->totals.complete += good && (out->end == SFB_END || out->end == SFB_UNPROVEN_END);
    return good;
}

/* Finds a thread, which has begun then. @return NULL: no memory, or the recording cannot be written */
static struct outside_thread *begin(struct outside *o, uint32_t pid, uint32_t tid, uint64_t time,
                                    struct outside_process **out)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, true);
    struct outside_thread *t = p ? outside_tasks_thread(&o->tasks, tid, p) : NULL;

    if (!t)
        return NULL;
    if (p->time == 0)
        p->time = time;
    *out = p;
    return outside_begin_process(o, p) && outside_begin_thread(o, t, p, time) &&
                   outside_list_modules(o, p, time)
               ? t
               : NULL;
}

static bool put_stack(struct outside *o, const struct outside_process *p,
                      const struct sfb_copied_stack *stack, const struct outside_python *python,
                      struct outside_place *out)
{
    struct sfb_copied_backtrace found = { .end = SFB_UNREADABLE };
    bool good = true;

    *out = (struct outside_place){ .stack = 0 };
    for (size_t i = 0; i < stack->before_count; i++)
        kernel_names_note(o->kernel, p->id, stack->before[i]);
    if (walk(o, p, stack, &found))
        good = python ? outside_python_put(o, p->id, python, found.size, found.frames, &out->stack)
                      : outside_put(o, sfb_recording_put_stack(o->how.writer, &out->stack, p->id,
                                                               o->cbf, found.size));
    out->end = found.end;
    return good;
}

bool outside_take_stack(struct outside *o, uint32_t pid, uint32_t tid, uint64_t time,
                        uint64_t weight, const struct sfb_copied_stack *stack,
                        const struct outside_python *python, struct outside_place *place)
{
    struct sfb_recording_sample event = { .time = time, .weight = weight, .engine = o->how.engine };
    struct outside_process *p;
    const struct outside_thread *t;

    *place = (struct outside_place){ .stack = 0 };
    if (outside_was_paused(o, time)) {
        outside_pass_over(o, pid, weight);
        return true;
    }
    t = begin(o, pid, tid, time, &p);
    if (!t || !put_stack(o, p, stack, python, place))
        return false;
    event.thread = t->id;
    event.stack = place->stack;
    event.end = place->end;
    p->weight += weight;
    o->totals.samples++;
    o->totals.weight += weight;
    return outside_put(o, sfb_recording_put_sample(o->how.writer, &event));
}

bool outside_find_place(struct outside *o, uint32_t pid, uint32_t tid, uint64_t time,
                        const struct sfb_copied_stack *stack, const struct outside_python *python,
                        struct outside_place *place)
{
    struct outside_process *p;

    return begin(o, pid, tid, time, &p) && put_stack(o, p, stack, python, place);
}

bool outside_take_wait(struct outside *o, uint32_t pid, uint32_t tid,
                       const struct sfb_recording_wait *wait)
{
    struct sfb_recording_wait event = *wait;
    struct outside_process *p;
    const struct outside_thread *t = begin(o, pid, tid, wait->time, &p);

    if (!t)
        return false;
    event.thread = t->id;
    o->totals.waits++;
    o->totals.waited += wait->weight;
    return outside_put(o, sfb_recording_put_wait(o->how.writer, &event));
}

bool outside_put_awaited(struct outside *o, uint32_t pid, const struct sfb_recording_awaited *event,
                         uint32_t *id)
{
    const struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);
    struct sfb_recording_awaited put = *event;
    uint32_t number, *known;
    char *key;
    bool good;

    *id = 0;
    if (!p || p->id == 0)
        return true;
    if (asprintf(&key, "%u %u %" PRIx64 " %s", (unsigned)p->id, (unsigned)event->kind,
                 event->address, event->name) < 0)
        return false;
    good = report_strings_add(&o->awaited, key, &number);
    free(key);
    if (!good)
        return false;
    known =
        number < o->awaited_ids.count ? &o->awaited_ids.at[number] : REPORT_NEXT(o->awaited_ids);
    if (!known)
        return false;
    if (*known == 0) {
        put.id = o->ids->awaited + 1;
        put.process = p->id;
        if (!outside_put(o, sfb_recording_put_awaited(o->how.writer, &put)))
            return false;
        *known = ++o->ids->awaited;
    }
    *id = *known;
    return true;
}

bool outside_thread_id(struct outside *o, uint32_t pid, uint32_t tid, uint64_t time, uint32_t *id)
{
    struct outside_process *p;
    const struct outside_thread *t = begin(o, pid, tid, time, &p);

    *id = t ? t->id : 0;
    return t != NULL;
}

bool outside_end_thread(struct outside *o, uint32_t pid, uint32_t tid, uint64_t time, uint64_t cpu,
                        uint64_t unsampled)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);
    struct outside_thread *t = p ? outside_tasks_known(&o->tasks, tid) : NULL;
    const struct sfb_recording_thread_end event = {
        .id = t ? t->id : 0, .time = time, .cpu_ns = cpu, .unsampled_ns = unsampled
    };

    if (!t || t->id == 0 || t->process != p->slot)
        return true;
    p->weight += unsampled;
    o->totals.unsampled += unsampled;
    outside_tasks_forget_thread(&o->tasks, t);
    return outside_put(o, sfb_recording_put_thread_end(o->how.writer, &event));
}

static void stack_of_sample(struct sfb_copied_stack *out, const struct perf_layout *layout,
                            const struct perf_sample *s)
{
    if (s->abi != PERF_REGISTERS_64 || !s->registers)
        return;
    perf_registers_read(&out->registers, layout->registers, s->registers);
    out->address = out->registers.reg[perf_register_sp];
    out->bytes = s->stack;
    out->size = s->stack_size;
    out->whole = s->stack_size < s->stack_room;
}

bool outside_place_sample(struct outside *o, const struct perf_layout *layout,
                          const struct perf_sample *s, struct outside_place *place,
                          struct sfb_context *registers)
{
    struct sfb_copied_stack stack = { .before_count = 0 };

    *place = (struct outside_place){ .stack = 0 };
    *registers = (struct sfb_context){ .valid = 0 };
    if (s->ids.pid == 0 || s->stack_size == 0)
        return true;
    stack_of_sample(&stack, layout, s);
    *registers = stack.registers;
    return outside_find_place(o, s->ids.pid, s->ids.tid, s->ids.time, &stack, NULL, place);
}

bool outside_take_sample(struct outside *o, const struct perf_layout *layout,
                         const struct perf_sample *s, uint64_t weight)
{
    uint64_t before[KERNEL_FRAMES];
    struct sfb_copied_stack stack = { .before = before };
    struct outside_place place;

    if (o->how.kernel) {
        stack.before_count = kernel_frames(before, s);
        if (stack.before_count == 0 && is_kernel(s->ip))
            before[stack.before_count++] = s->ip;
    }
    stack_of_sample(&stack, layout, s);
    return outside_take_stack(o, s->ids.pid, s->ids.tid, s->ids.time, weight, &stack, NULL, &place);
}
