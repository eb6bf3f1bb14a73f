#include "unwind/capture/async_walk.h"

#include "base/memory.h"
#include "unwind/machine/arch.h"
#include "unwind/machine/insn_patterns.h"
#include "unwind/process/live_memory.h"
#include "unwind/process/loader.h"
#include "unwind/walk/module_rule.h"
#include "unwind/walk/position.h"
#include "unwind/walk/replay.h"

/* A coroutine's share of the budget: two searches of a table. 262,144 coroutines by default. */
enum { WORK = 64 };

/* No function is so long. Only frames nearer to `entry` are looked up. */
enum { FUNCTION_MAX = 1 << 24 };

/* What the frame reached is part of. */
enum part { STACK, COROUTINES, CONTEXTS };

/* Reads a word of a coroutine. @return false: unreadable, or no address of a coroutine */
static bool read_word(struct sfb_async_walk *a, uint64_t address, uint64_t *out)
{
    struct sfb_memory *memory = a->options->read ? &a->stack.walker.own_memory : &a->memory;

    return (address & 7) == 0 && sfb_memory_read(memory, address, out);
}

/* Notes the frame of the stack that the walk is on. */
static void note_frame(struct sfb_async_walk *a, uint8_t kind, uint8_t source)
{
    a->kind = kind;
    a->source = source;
    a->address = a->stack.fast.pc;
}

/* The address of the frame reached, to look it up: of a return address the byte before. */
static uint64_t lookup_pc(const struct sfb_async_walk *a)
{
    return a->address - (a->kind == SFB_FRAME_RA);
}

/* Not inlined: few walks need the room. */
static __attribute__((noinline)) bool function_start(const struct sfb_walk *w, uint64_t pc,
                                                     uint64_t *start)
{
    struct sfb_module scratch;
    const struct sfb_module *module = w->modules->find(w->modules, pc, &scratch);

    return module && sfb_module_function(module, pc, start) == SFB_OK;
}

/* @return whether the address is in the function, or the part of one, that starts there */
static bool is_in(const struct sfb_async_walk *a, uint64_t address, uint64_t function)
{
    uint64_t start;

    return function_start(&a->stack.walker, address, &start) && start == function;
}

static bool is_function(const struct sfb_async_walk *a, uint64_t address)
{
    return is_in(a, address, address);
}

/*
 * Tells whether a coroutine was there before: one is kept, and exchanged after 1, 2, 4, ... more, so a
 * circle of any length comes back to it (Brent).
 */
static bool closes_circle(struct sfb_async_walk *a, uint64_t coroutine)
{
    if (coroutine == a->seen)
        return true;
    if (++a->since == a->until) {
        a->seen = coroutine;
        a->since = 0;
        a->until *= 2;
    }
    return false;
}

static enum sfb_status give(struct sfb_async_walk *a, uint64_t resume)
{
    a->kind = SFB_FRAME_ASYNC;
    a->source = SFB_SOURCE_ASYNC;
    a->address = resume;
    return SFB_OK;
}

/* --- C++20 ------------------------------------------------------------------------------------ */

/* Tells whether the first row there is that of a part of a function: something was pushed. */
static __attribute__((noinline)) bool begins_pushed(const struct sfb_walk *w, uint64_t start)
{
    struct sfb_module scratch;
    const struct sfb_module *module = w->modules->find(w->modules, start, &scratch);
    struct sfb_rule rule;
    uint64_t same;

    return module && sfb_module_rule(module, start, &rule, &same) == SFB_OK && same == start &&
           (rule.cfa_base != SFB_BASE_SP || rule.cfa_offset != (SFB_ARCH_LR ? 0 : 8));
}

/*
 * gcc moves what runs rarely out of a function, to a part with a row of its own. Tells whether that part is the coroutine's:
 * its function jumps there.
 */
static bool is_cold_part(struct sfb_async_walk *a, uint64_t start)
{
    enum { HOT_MAX = 1 << 15, STEP = 512, COLD_MAX = 1 << 16 };
    struct sfb_walk *w = &a->stack.walker;
    uint64_t target, jump;

    if (!begins_pushed(w, start))
        return false;
    for (uint64_t at = a->entry, end; at - a->entry < HOT_MAX && is_in(a, at, a->entry); at = end) {
        end = at + STEP;
        while ((jump = sfb_arch_find_jump(&w->table_memory, at, end, start, start + COLD_MAX,
                                          &target)) != 0) {
            if (!sfb_walker_spend(w, WORK))
                return false;
            if (is_in(a, jump, a->entry) && is_in(a, target, start))
                return true;
            at = jump + 1;
        }
        if (!sfb_walker_spend(w, WORK))
            return false;
    }
    return false;
}

/* Tells whether the walk is on the frame of the innermost coroutine. */
static bool is_innermost(struct sfb_async_walk *a)
{
    const uint64_t pc = lookup_pc(a);
    uint64_t start;

    return a->entry != 0 && pc - a->entry + FUNCTION_MAX < (uint64_t)2 * FUNCTION_MAX &&
           function_start(&a->stack.walker, pc, &start) &&
           (start == a->entry || is_cold_part(a, start));
}

/* Goes to the coroutine that awaits the present one. */
static enum sfb_status next_coroutine(struct sfb_async_walk *a)
{
    const void *at = (const void *)(uintptr_t)a->at; /* NOLINT(performance-no-int-to-ptr) */
    uint64_t next, entry;

    if (!sfb_walker_spend(&a->stack.walker, WORK))
        return SFB_WORK_LIMIT;
    next = (uintptr_t)a->options->continuation(a->options->continuation_user, at);
    if (next == 0)
        return sfb_capture_walk_outermost(&a->stack);
    if (closes_circle(a, next))
        return SFB_CONTINUATION_CIRCLE;
    if (!read_word(a, next, &entry) || !is_function(a, entry))
        return SFB_BAD_CONTINUATION;
    a->at = next;
    return give(a, entry);
}

static enum sfb_status begin_in_coroutine(struct sfb_async_walk *a)
{
    a->part = COROUTINES;
    a->at = a->seen = (uintptr_t)a->options->coroutine;
    return a->entry != 0 && is_function(a, a->entry) ? give(a, a->entry) : SFB_BAD_CONTINUATION;
}

/* --- Swift ------------------------------------------------------------------------------------ */

struct context {
    uint64_t parent; /* 0: none, and the task ends there */
    uint64_t resume; /* where the parent goes on; 0: it does not */
};

static bool read_context(struct sfb_async_walk *a, uint64_t address, struct context *out)
{
    return read_word(a, address, &out->parent) && read_word(a, address + 8, &out->resume);
}

/* Tells whether code that no table has may begin there: most resume functions of Swift have no row. */
static __attribute__((noinline)) bool is_bare_code(const struct sfb_async_walk *a, uint64_t address)
{
    struct sfb_loaded module;
    uint64_t start;

    return sfb_loaded_find(&module, address) && address < module.text_end &&
           !function_start(&a->stack.walker, address, &start);
}

static bool is_resume_function(const struct sfb_async_walk *a, uint64_t address)
{
    return is_function(a, address) || is_bare_code(a, address);
}

/*
 * Words of a suspended task: where it goes on, and the context that is handed to it (class AsyncTask of Swift 6.2.3: 7 and
 * 8 words behind its start).
 */
enum { TASK_RESUME = 56, TASK_CONTEXT = 64 };

/* Goes to the function of a suspended task that will run next. */
static enum sfb_status begin_in_task(struct sfb_async_walk *a)
{
    const uint64_t task = (uintptr_t)a->options->coroutine;
    struct context callee;
    uint64_t resume;

    a->part = CONTEXTS;
    if (!read_word(a, task + TASK_RESUME, &resume) || !read_word(a, task + TASK_CONTEXT, &a->at) ||
        !is_resume_function(a, resume))
        return SFB_BAD_CONTINUATION;
    /* A function that goes on behind a call is handed the callee's context: its own is the parent. */
    if (read_context(a, a->at, &callee) && callee.resume == resume)
        a->at = callee.parent;
    return give(a, resume);
}

/* @return whether what is there looks like a context */
static bool is_context(struct sfb_async_walk *a, uint64_t address)
{
    struct context context;
    uint64_t word;

    return address != 0 && read_context(a, address, &context) &&
           is_resume_function(a, context.resume) &&
           (context.parent == 0 || read_word(a, context.parent, &word));
}

/* Goes to the function that awaits the present one. */
static enum sfb_status next_context(struct sfb_async_walk *a)
{
    struct context context;

    if (!sfb_walker_spend(&a->stack.walker, WORK))
        return SFB_WORK_LIMIT;
    if (a->at == 0)
        return sfb_capture_walk_outermost(&a->stack);
    if (closes_circle(a, a->at))
        return SFB_CONTINUATION_CIRCLE;
    if (!read_context(a, a->at, &context))
        return SFB_BAD_CONTINUATION;
    if (context.resume == 0)
        return sfb_capture_walk_outermost(&a->stack);
    if (!is_resume_function(a, context.resume))
        return SFB_BAD_CONTINUATION;
    a->at = context.parent;
    return give(a, context.resume);
}

/* @return what the register holds on the frame reached; 0: it is not known */
static __attribute__((noinline)) uint64_t in_register(struct sfb_async_walk *a)
{
    struct sfb_walk *w = &a->stack.walker;
    const struct sfb_context anchor = *w->anchor;
    const uint8_t anchor_kind = w->anchor_kind;

    if (!sfb_walker_is_at_anchor(w) && !sfb_replay(w)) {
        *w->anchor = anchor;
        w->anchor_kind = anchor_kind;
        return 0;
    }
    return w->anchor->valid >> SFB_ARCH_SWIFT_CONTEXT & 1 ? w->anchor->reg[SFB_ARCH_SWIFT_CONTEXT]
                                                          : 0;
}

/*
 * Finds the context of the function that the frame reached has called: in the register, or where functions
 * without a row have it. Interrupted, it is in the register there, too, up to a call; else below their frame record.
 *
 * @return 0: not found
 */
static uint64_t find_context(struct sfb_async_walk *a)
{
    uint64_t found = in_register(a);

    if (found == 0)
        found = a->interrupted;
    if (is_context(a, found))
        return found;
    return read_word(a, a->callee_fp - 8, &found) && is_context(a, found) ? found : 0;
}

/* @return what the register holds on the frame reached, if a signal interrupted it; else 0 */
static uint64_t in_interrupted(const struct sfb_async_walk *a)
{
    const struct sfb_context *anchor = a->stack.walker.anchor;

    return a->kind == SFB_FRAME_PC && sfb_walker_is_at_anchor(&a->stack.walker) &&
                   anchor->valid >> SFB_ARCH_SWIFT_CONTEXT & 1
               ? anchor->reg[SFB_ARCH_SWIFT_CONTEXT]
               : 0;
}

static enum sfb_status step_on_stack(struct sfb_async_walk *a)
{
    const uint64_t fp = a->stack.fast.fp, interrupted = in_interrupted(a);
    enum sfb_status status = sfb_capture_walk_step(&a->stack);

    a->in_runtime = false;
    if (status != SFB_OK)
        return status;
    note_frame(a, (uint8_t)a->stack.walker.current.kind, (uint8_t)a->stack.walker.current.source);
    /* A job runner finds its function in the task: functions that the runtime calls by name are its own. */
    a->in_runtime = sfb_swift_runtime_has(&a->runtime, lookup_pc(a)) &&
                    !sfb_arch_is_direct_call(&a->stack.walker.table_memory, a->address);
    a->callee_fp = fp;
    a->interrupted = interrupted;
    return SFB_OK;
}

/*
 * The runtime calls other functions than jobs, too, and has async functions of its own: of its frames that
 * have called a function with a context, the outermost is the job runner's. Finds it, by a walk to the end of the stack.
 */
static __attribute__((noinline)) void find_runner(struct sfb_async_walk *a)
{
    const struct sfb_async_walk here = *a;
    const struct sfb_context anchor = *a->stack.walker.anchor;
    uint64_t sp = a->stack.fast.sp;
    uint32_t work;

    while (step_on_stack(a) == SFB_OK)
        if (a->in_runtime && find_context(a) != 0)
            sp = a->stack.fast.sp;
    work = a->stack.walker.work;
    *a = here;
    *a->stack.walker.anchor = anchor;
    a->stack.walker.work = work;
    a->runner_known = true;
    a->runner_sp = sp;
}

/* Tells whether the walk, which is on a frame of the runtime, is on the job runner's. */
static bool is_runner(struct sfb_async_walk *a)
{
    if (a->runner_known && a->stack.fast.sp != a->runner_sp)
        return false;
    a->at = find_context(a);
    if (a->at == 0)
        return false;
    if (!a->runner_known)
        find_runner(a);
    return a->stack.fast.sp == a->runner_sp;
}

/* ---------------------------------------------------------------------------------------------- */

enum sfb_status sfb_async_begin(struct sfb_async_walk *out,
                                const struct sframe_backtrace_options *options)
{
    out->options = options;
    out->part = STACK;
    out->seen = 0;
    out->since = 0;
    out->until = 1;
    sfb_memory_doubted(&out->memory);
    if (!options->continuation || !read_word(out, (uintptr_t)options->coroutine, &out->entry))
        out->entry = 0;
    sfb_capture_walk_begin_walker(&out->stack.walker);
    note_frame(out, out->stack.walker.anchor_kind, SFB_SOURCE_START);
    out->runtime = (struct sfb_swift_runtime){ 0, 0, false };
    out->in_runtime = out->runner_known = false;
    if (!(options->flags & SFRAME_BACKTRACE_SUSPENDED))
        return SFB_OK;
    return options->continuation ? begin_in_coroutine(out) : begin_in_task(out);
}

enum sfb_status sfb_async_step(struct sfb_async_walk *a)
{
    enum sfb_status status;

    if (a->part == COROUTINES)
        return next_coroutine(a);
    if (a->part == CONTEXTS)
        return next_context(a);
    if (is_innermost(a)) {
        a->part = COROUTINES;
        a->at = a->seen = (uintptr_t)a->options->coroutine;
        return next_coroutine(a);
    }
    status = step_on_stack(a);
    if (status != SFB_OK || !a->in_runtime || !is_runner(a))
        return status;
    a->part = CONTEXTS;
    return next_context(a);
}
