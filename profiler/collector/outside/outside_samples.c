#include "profiler/collector/outside/outside_samples.h"

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

bool outside_take_stack(struct outside *o, uint32_t pid, uint32_t tid, uint64_t time,
                        uint64_t weight, const struct sfb_copied_stack *stack)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, true);
    struct outside_thread *t = p ? outside_tasks_thread(&o->tasks, tid, p) : NULL;
    struct sfb_copied_backtrace found = { .end = SFB_UNREADABLE };
    struct sfb_recording_sample event = { .time = time, .weight = weight, .engine = o->how.engine };

    if (!t)
        return false;
    if (p->time == 0)
        p->time = time;
    if (!outside_begin_process(o, p) || !outside_begin_thread(o, t, p, time) ||
        !outside_list_modules(o, p, time))
        return false;
    for (size_t i = 0; i < stack->before_count; i++)
        kernel_names_note(o->kernel, p->id, stack->before[i]);
    if (walk(o, p, stack, &found) &&
        !outside_put(
            o, sfb_recording_put_stack(o->how.writer, &event.stack, p->id, o->cbf, found.size)))
        return false;
    event.thread = t->id;
    event.end = found.end;
    p->weight += weight;
    o->totals.samples++;
    o->totals.weight += weight;
    return outside_put(o, sfb_recording_put_sample(o->how.writer, &event));
}

bool outside_take_sample(struct outside *o, const struct perf_layout *layout,
                         const struct perf_sample *s, uint64_t weight)
{
    uint64_t before[KERNEL_FRAMES];
    struct sfb_copied_stack stack = { .before = before };

    if (o->how.kernel) {
        stack.before_count = kernel_frames(before, s);
        if (stack.before_count == 0 && is_kernel(s->ip))
            before[stack.before_count++] = s->ip;
    }
    if (s->abi == PERF_REGISTERS_64 && s->registers) {
        perf_registers_read(&stack.registers, layout->registers, s->registers);
        stack.address = stack.registers.reg[perf_register_sp];
        stack.bytes = s->stack;
        stack.size = s->stack_size;
        stack.whole = s->stack_size < s->stack_room;
    }
    return outside_take_stack(o, s->ids.pid, s->ids.tid, s->ids.time, weight, &stack);
}
