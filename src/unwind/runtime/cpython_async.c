/*
 * A running task (its step is called by the event loop):
 *
 *     3.14   state -> running task
 *     before Handle._run(self), the frame behind the run -> _callback, a wrapper of C -> task
 *
 * What awaits a future, a task or another one:
 *
 *     3.14   awaited_by -> future or task, until it is a task
 *     all    callback -> task_wakeup, a method of the task whose fut_waiter is that future
 *     all    callback -> a closure (gather) or a partial (wait_for) with another future, of which one of the above is known
 *
 * Where a task stands: its coroutine's frame, whose stack has on top what that awaits, a coroutine again.
 */
#include "unwind/runtime/cpython_async.h"

#include <string.h>

#include "base/memory.h"
#include "unwind/runtime/cpython_code.h"

enum {
    HANDLE_CALLBACK = 24, /* __slots__ of asyncio.Handle are sorted */
    WRAPPER_TASK = 16,    /* task's step: sw_task */
    METHOD_SELF = 24,     /* task_wakeup: m_self */
    FUTURE_CALLBACK = 24,
    CLOSURE = 72, /* of a function */
    PARTIAL_ARGUMENTS = 24,
    TUPLE_ITEMS = 24,
    CELL = 16,
    WRAPPED = 16, /* the generator of coroutine_wrapper, async_generator_asend */
    OWNED_BY_GENERATOR = 1,
    CELLS_MAX = 8,
    FUTURES_MAX = 8,
    STACK_MAX = 1 << 16,
    PAGE = 4096
};

/*
 * Doubts the page of an address, unless it is one of the last pages doubted: objects of one size share pages.
 *
 * @return false: the sample's budget is spent
 */
static bool doubt_page(struct sfb_cpython_async *a, uint64_t address)
{
    const uint64_t page = address / PAGE;

    for (uint32_t i = 0; i < SFB_CPYTHON_DOUBTED; i++)
        if (a->doubted[i] == page)
            return true;
    if (a->doubts_left == 0)
        return false;
    a->doubts_left--;
    a->doubted[a->doubted_next++ % SFB_CPYTHON_DOUBTED] = page;
    a->doubt(a->memory, address);
    return true;
}

static bool read_word(struct sfb_cpython_async *a, uint64_t address, uint64_t *out)
{
    if (address < PAGE || (address & 7) != 0 || (a->doubt && !doubt_page(a, address)))
        return false;
    return sfb_memory_read(a->memory, address, out);
}

static uint64_t word_at(struct sfb_cpython_async *a, uint64_t address)
{
    uint64_t word;

    return read_word(a, address, &word) ? word : 0;
}

static uint8_t byte_at(struct sfb_cpython_async *a, uint64_t address)
{
    return (uint8_t)(word_at(a, address & ~(uint64_t)7) >> 8 * (address & 7));
}

/* --- Tasks ---------------------------------------------------------------------------------------- */

static bool has_coroutine(struct sfb_cpython_async *a, uint64_t task, uint64_t coroutine)
{
    uint64_t found;

    return task != 0 && read_word(a, task + a->cpython->layout->task_coroutine, &found) &&
           found == coroutine;
}

bool sfb_cpython_async_begin(struct sfb_cpython_async *a, uint64_t state, uint64_t inner,
                             uint64_t outer)
{
    const struct sfb_cpython_layout *l = a->cpython->layout;
    const uint64_t coroutine = inner - l->generator_frame;
    const uint64_t owner = inner + l->frame_owner;
    uint64_t callback, word, handle;

    a->task = 0;
    a->tasks = a->count = 0;
    memset(a->doubted, 0, sizeof a->doubted);
    /* Both frames were just read: no doubt. */
    if (l->task_coroutine == 0 || !sfb_memory_read(a->memory, owner & ~(uint64_t)7, &word) ||
        (uint8_t)(word >> 8 * (owner & 7)) != OWNED_BY_GENERATOR)
        return false;
    if (l->thread_running_task != 0) {
        a->task = word_at(a, state + l->thread_running_task);
        return has_coroutine(a, a->task, coroutine);
    }
    if (outer == 0 || !sfb_memory_read(a->memory, outer + l->frame_locals, &handle))
        return false;
    callback = word_at(a, handle + HANDLE_CALLBACK);
    a->task = word_at(a, callback + WRAPPER_TASK);
    if (has_coroutine(a, a->task, coroutine))
        return true;
    a->task = word_at(a, callback + METHOD_SELF);
    return has_coroutine(a, a->task, coroutine);
}

/* @return the task that is called back by a future and says that it waits for it; 0: none */
static uint64_t waiter_of(struct sfb_cpython_async *a, uint64_t future)
{
    const uint64_t task = word_at(a, word_at(a, future + FUTURE_CALLBACK) + METHOD_SELF);

    return task != 0 && future != 0 && word_at(a, task + a->cpython->layout->task_waiter) == future
               ? task
               : 0;
}

/* By another future that the callback of this one has. */
static uint64_t waiter_behind(struct sfb_cpython_async *a, uint64_t future)
{
    const uint64_t callback = word_at(a, future + FUTURE_CALLBACK);
    const uint64_t closure = word_at(a, callback + CLOSURE);
    const uint64_t cells = word_at(a, closure + SFB_CPYTHON_OBJECT_SIZE);
    uint64_t task =
        waiter_of(a, word_at(a, word_at(a, callback + PARTIAL_ARGUMENTS) + TUPLE_ITEMS));

    for (uint64_t i = 0; task == 0 && i < cells && i < CELLS_MAX; i++)
        task = waiter_of(a, word_at(a, word_at(a, closure + TUPLE_ITEMS + 8 * i) + CELL));
    return task;
}

static uint64_t awaited_by(struct sfb_cpython_async *a, uint64_t future)
{
    const struct sfb_cpython_layout *l = a->cpython->layout;

    for (unsigned i = 0; i < FUTURES_MAX && future != 0; i++) {
        if (byte_at(a, future + l->task_awaited_by_is_set) != 0) /* by several */
            return 0;
        future = word_at(a, future + l->task_awaited_by);
        if (future != 0 && byte_at(a, future + l->task_is_task) == 1)
            return future;
    }
    return 0;
}

static uint64_t find_waiter(struct sfb_cpython_async *a)
{
    uint64_t task = 0;

    if (a->cpython->layout->task_awaited_by != 0)
        task = awaited_by(a, a->task);
    if (task == 0)
        task = waiter_of(a, a->task);
    return task != 0 ? task : waiter_behind(a, a->task);
}

/* --- Frames --------------------------------------------------------------------------------------- */

/* Whether an object has a frame of its own, as coroutines and generators have. */
static bool read_frame(struct sfb_cpython_async *a, uint64_t object, struct sfb_cpython_frame *out)
{
    const struct sfb_cpython_layout *l = a->cpython->layout;
    const uint64_t frame = object + l->generator_frame;
    struct sfb_cpython_code facts;
    uint64_t instruction, offset, code;

    if (object == 0 || byte_at(a, frame + l->frame_owner) != OWNED_BY_GENERATOR ||
        !read_word(a, frame + l->frame_code, &code) ||
        !read_word(a, frame + l->frame_instruction, &instruction))
        return false;
    code &= ~(uint64_t)l->tag_bits;
    if (code == 0 || word_at(a, code + SFB_CPYTHON_OBJECT_TYPE) != a->cpython->place.code_type ||
        !sfb_cpython_code(&facts, a->cpython, a->memory, code))
        return false;
    offset = instruction - (code + l->code_instructions);
    *out = (struct sfb_cpython_frame){ .code = code,
                                       .instruction = offset < INT32_MAX ? (uint32_t)offset
                                                                         : SFB_CPYTHON_BEFORE,
                                       .address = frame };
    return true;
}

/* @return what the frame of a coroutine awaits; 0: not known */
static uint64_t awaits(struct sfb_cpython_async *a, uint64_t frame)
{
    const struct sfb_cpython_layout *l = a->cpython->layout;
    const uint64_t top = word_at(a, frame + l->frame_stack);

    if (l->stack_by_pointer)
        return top < 8 ? 0 : word_at(a, top - 8) & ~(uint64_t)l->tag_bits;
    if ((int32_t)top <= 0 || (int32_t)top > STACK_MAX)
        return 0;
    return word_at(a, frame + l->frame_locals + 8 * ((uint32_t)top - UINT64_C(1)));
}

bool sfb_cpython_async_next(struct sfb_cpython_async *a)
{
    uint64_t object;

    if (a->task == 0 || ++a->tasks > SFB_CPYTHON_AWAIT_TASKS)
        return false;
    a->task = find_waiter(a);
    a->count = 0;
    if (a->task == 0)
        return false;
    object = word_at(a, a->task + a->cpython->layout->task_coroutine);
    while (a->count < SFB_CPYTHON_AWAIT_FRAMES) {
        struct sfb_cpython_frame *frame = &a->frames[a->count];

        if (!read_frame(a, object, frame) &&
            (object == 0 || a->count == 0 || !read_frame(a, word_at(a, object + WRAPPED), frame)))
            break;
        object = awaits(a, frame->address);
        a->count++;
    }
    return a->count > 0;
}

/* --- Names ---------------------------------------------------------------------------------------- */

/* "Task-7": asyncio counts those without a name. @param name  at least 16 bytes */
static bool is_counted(const char *name)
{
    static const char task[] = "Task-";
    const char *at = name + sizeof task - 1;

    if (memcmp(name, task, sizeof task - 1) != 0 || *at == '\0')
        return false;
    while (*at >= '0' && *at <= '9')
        at++;
    return *at == '\0';
}

/* From 3.12 on a name may be a number yet: a text has the type that the names of code have. */
size_t sfb_cpython_async_name(char *out, size_t room, struct sfb_cpython_async *a)
{
    const struct sfb_cpython_layout *l = a->cpython->layout;
    const uint64_t name = word_at(a, a->task + l->task_name);
    struct sfb_cpython_frame frame;
    uint64_t text;
    size_t size;

    out[0] = '\0';
    if (name == 0 || !read_frame(a, word_at(a, a->task + l->task_coroutine), &frame))
        return 0;
    text = word_at(a, frame.code + l->code_qualified_name);
    if (text == 0 ||
        word_at(a, name + SFB_CPYTHON_OBJECT_TYPE) != word_at(a, text + SFB_CPYTHON_OBJECT_TYPE))
        return 0;
    size = sfb_cpython_text(out, room, a->cpython, a->memory, name);
    return is_counted(out) ? 0 : size;
}
