#include "profiler/agent/python/python_calls.h"

#include <string.h>

#include "base/memory.h"
#include "profiler/agent/agent.h"
#include "profiler/agent/known.h"
#include "profiler/agent/modules.h"
#include "unwind/runtime/cpython_code.h"
#include "unwind/runtime/cpython_frames.h"
#include "unwind/runtime/cpython_gil.h"

enum {
    FRAMES_MAX =
        8192, /* of a stack: the C frame of a deep recursion is known behind its last one */
    RUNTIME_SIZE = 0x28b00, /* bytes of _PyRuntime, at least: 3.11 has the smallest */
    PAUSE_MAX = 256,        /* samples between two looks for a thread without a state */
    DOUBTS_MAX = 512        /* pages that may be gone, probed for one stack's tasks: some 50 us */
};

/* Written once, before `state`. */
static struct sfb_cpython cpython;
static uint32_t state;
static uint32_t checked; /* number of the interpreter that `state` is of */

enum { UNKNOWN, FITS, REFUSED };

bool sfb_python_is_read(void)
{
    struct sfb_cpython_place place;
    const uint32_t number = sfb_python_where(&place);

    return number != 0 && (__atomic_load_n(&state, __ATOMIC_RELAXED) != REFUSED ||
                           __atomic_load_n(&checked, __ATOMIC_RELAXED) != number);
}

/* --- The interpreter ------------------------------------------------------------------------------ */

/* Several threads may find the same at once. */
static bool attach(struct sfb_memory *memory)
{
    struct sfb_cpython_place place;
    const uint32_t number = sfb_python_where(&place);
    struct sfb_cpython found;

    if (number == 0)
        return false;
    __atomic_store_n(&state, UNKNOWN, __ATOMIC_RELEASE);
    __atomic_store_n(&checked, number, __ATOMIC_RELEASE);
    switch (sfb_cpython_attach(&found, memory, &place)) {
    case SFB_CPYTHON_FITS:
        cpython = found;
        __atomic_store_n(&state, FITS, __ATOMIC_RELEASE);
        return true;
    case SFB_CPYTHON_NOT_STARTED: return false;
    case SFB_CPYTHON_UNKNOWN_VERSION:
    case SFB_CPYTHON_FREE_THREADED:
    case SFB_CPYTHON_OTHER_LAYOUT:
    case SFB_CPYTHON_UNREADABLE:
        if (__atomic_exchange_n(&state, REFUSED, __ATOMIC_RELAXED) != REFUSED)
            sfb_agent_lose(SFB_LOSS_PYTHON);
        return false;
    }
    return false;
}

/* Whether the interpreter of now is known. One that was opened may have been closed since. */
static bool is_checked(void)
{
    return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == FITS &&
           (_PyRuntime || __atomic_load_n(&checked, __ATOMIC_RELAXED) ==
                              __atomic_load_n(&sfb_python_opened, __ATOMIC_ACQUIRE));
}

/* --- The thread ----------------------------------------------------------------------------------- */

/*
 * Tells whether a state is in the interpreter's list of threads, and is this thread's. One that ended has been freed, and
 * its memory may still look like it.
 */
static bool is_linked(struct sfb_memory *memory, uint64_t at, uint64_t tid)
{
    const struct sfb_cpython_layout *l = cpython.layout;
    uint64_t before, interpreter, link;

    /* The first thread's is a part of _PyRuntime. */
    if (at - cpython.place.runtime > RUNTIME_SIZE)
        sfb_python_forget(memory, at);
    if (!sfb_cpython_is_of(&cpython, memory, at, tid) || !sfb_memory_read(memory, at, &before) ||
        !sfb_memory_read(memory, at + l->thread_interpreter, &interpreter))
        return false;
    if (before != 0)
        return sfb_memory_read(memory, before + l->thread_next, &link) && link == at;
    return sfb_memory_read(memory, interpreter + l->interpreter_threads, &link) && link == at;
}

/* @return whether the thread has states */
static bool find_states(struct sfb_python_thread *p, struct sfb_memory *memory, uint64_t tid)
{
    if (p->pause > 0) {
        p->pause--;
        return false;
    }
    p->state_count = sfb_cpython_states(p->states, &cpython, memory, tid);
    p->misses = p->state_count > 0 ? 0 : p->misses + 1;
    if (p->state_count == 0)
        p->pause = p->misses < 8 ? (1u << p->misses) - 1 : PAUSE_MAX;
    return p->state_count > 0;
}

static bool have_states(struct sfb_python_thread *p, struct sfb_memory *memory, uint64_t tid)
{
    for (uint32_t i = 0; i < p->state_count; i++)
        if (!is_linked(memory, p->states[i], tid))
            p->state_count = 0;
    return p->state_count > 0 || find_states(p, memory, tid);
}

/* What is known during one walk. */
struct sample {
    struct sfb_python_thread *thread;
    const struct sfb_python_sink *sink;
    struct sfb_python_runs *runs;
    struct sfb_memory memory;
    uint64_t file, file_hash; /* of the function before */
    unsigned new;             /* functions that were sent */
};

/* --- Functions ------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 29;
}

/*
 * Identifies a function: its code object's address is used again, with the addresses of its strings. Their own hashes
 * (ob_shash, in the word before their state) are of what they contain.
 *
 * @return 0: unreadable
 */
static uint64_t key_of(struct sample *s, const struct sfb_cpython_code *code, uint64_t address)
{
    enum { HASH = 24 };
    struct sfb_memory *memory = &s->memory;
    uint64_t name, size, first, key;

    /* All functions of a module have one string. */
    if (code->file != s->file && !sfb_memory_read(memory, code->file + HASH, &s->file_hash))
        return 0;
    s->file = code->file;
    if (!sfb_memory_read(memory, code->name + HASH, &name) ||
        !sfb_memory_read(memory, code->lines + SFB_CPYTHON_OBJECT_SIZE, &size) ||
        !sfb_memory_read(memory, code->lines + SFB_CPYTHON_BYTES, &first))
        return 0;
    key = mix(address, code->name);
    key = mix(key, code->file ^ name);
    key = mix(key, code->lines ^ s->file_hash);
    key = mix(key, size ^ (uint64_t)code->first_line << 32);
    return mix(key, size >= sizeof first ? first : 0) | 1;
}

/*
 * Sends a function, or what stands in its place: its name is in p->name, with its size in head.
 *
 * @param lines  its table; 0: none
 * @return false: no room
 */
static bool send(struct sample *s, struct sfb_shared_code *head, uint64_t lines)
{
    const struct sfb_python_sink *sink = s->sink;
    struct sfb_python_thread *p = s->thread;
    struct sfb_memory *memory = &s->memory;
    uint64_t lines_size = 0;
    uint8_t *at;
    size_t size;

    if (lines != 0 && sfb_memory_read(memory, lines + SFB_CPYTHON_OBJECT_SIZE, &lines_size) &&
        lines_size <= SFB_SHARED_CODE_LINES)
        head->lines_size = (uint32_t)lines_size;
    size = sizeof *head + head->name_size + head->file_size + head->lines_size;
    at = sink->reserve(sink->with, size);
    if (!at)
        return false;
    memcpy(at + sizeof *head, p->name, head->name_size);
    memcpy(at + sizeof *head + head->name_size, p->file, head->file_size);
    if (head->lines_size > 0 &&
        sfb_cpython_lines(at + sizeof *head + head->name_size + head->file_size, head->lines_size,
                          memory, lines) != head->lines_size)
        head->lines_size = 0;
    memcpy(at, head, sizeof *head);
    sink->publish(sink->with, (struct sfb_shared_code *)(void *)at, size);
    return true;
}

/* Sends what is new, as many as one stack may. @return whether it is known from now on */
static bool make_known(struct sample *s, struct sfb_shared_code *head, uint64_t lines)
{
    s->new ++;
    if (!send(s, head, lines)) {
        s->new = s->sink->new_max; /* the others come with later stacks */
        return false;
    }
    sfb_known_keep(head->code);
    return true;
}

/* @return the key of a function that is sent; 0: it is not */
static uint64_t name_code(struct sample *s, uint64_t address)
{
    struct sfb_python_thread *p = s->thread;
    struct sfb_memory *memory = &s->memory;
    struct sfb_shared_code head = { .padding = 0 };
    struct sfb_cpython_code code;

    if (!sfb_cpython_code(&code, &cpython, memory, address))
        return 0;
    head.code = key_of(s, &code, address);
    if (head.code == 0 || sfb_known_has(head.code))
        return head.code;
    if (s->new >= s->sink->new_max)
        return 0;
    head.first_line = code.first_line;
    head.name_size =
        (uint16_t)sfb_cpython_text(p->name, sizeof p->name, &cpython, memory, code.name);
    head.file_size =
        (uint16_t)sfb_cpython_text(p->file, sizeof p->file, &cpython, memory, code.file);
    return make_known(s, &head, code.lines) ? head.code : 0;
}

/* The same for a text in p->name that is no function. */
static uint64_t name_text(struct sample *s, size_t size)
{
    struct sfb_shared_code head = { .code = 1, .name_size = (uint16_t)size };

    for (size_t i = 0; i < size; i++)
        head.code = mix(head.code, (uint8_t)s->thread->name[i]);
    head.code |= 1;
    if (sfb_known_has(head.code))
        return head.code;
    return s->new < s->sink->new_max &&make_known(s, &head, 0) ? head.code : 0;
}

/* --- Calls ---------------------------------------------------------------------------------------- */

/* Probes anew what a signal may find torn: the innermost frame, and its code. */
static void doubt_innermost(const struct sfb_cpython_walk *walk)
{
    uint64_t code;

    sfb_python_forget(walk->memory, walk->frame);
    if (walk->frame != 0 && (walk->frame & 7) == 0 &&
        sfb_memory_read(walk->memory, walk->frame + cpython.layout->frame_code, &code))
        sfb_python_forget(walk->memory, code);
}

static void add_call(struct sample *s, uint64_t key, uint32_t instruction)
{
    struct sfb_python_thread *p = s->thread;

    if (p->count < SFB_SHARED_CALLS_MAX)
        p->calls[p->count++] = (struct sfb_shared_call){ .code = key,
                                                         .instruction = instruction,
                                                         .frame = (uint32_t)s->runs->count };
    else
        p->calls[SFB_SHARED_CALLS_MAX - 1].code = 0; /* what follows is left out */
}

/* A task that the program named stands behind its functions. */
static void add_task(struct sample *s)
{
    struct sfb_python_thread *p = s->thread;
    const size_t prefix = sizeof SFB_CPYTHON_TASK - 1;
    const size_t size =
        sfb_cpython_async_name(p->name + prefix, sizeof p->name - prefix, &p->async);

    if (size == 0)
        return;
    memcpy(p->name, SFB_CPYTHON_TASK, prefix);
    add_call(s, name_text(s, prefix + size), SFB_CPYTHON_BEFORE);
}

/*
 * Adds what awaits the coroutine that a run is of: the functions of tasks that do not run.
 *
 * @param inner  address of the run's outermost frame
 * @param outer  of the frame behind it; 0: none
 */
static void add_awaits(struct sample *s, uint64_t at, uint64_t inner, uint64_t outer)
{
    static const char await[] = SFB_CPYTHON_AWAIT;
    struct sfb_python_thread *p = s->thread;
    struct sfb_cpython_async *a = &p->async;

    a->cpython = &cpython;
    a->memory = &s->memory;
    a->doubt = sfb_python_forget;
    if (!sfb_cpython_async_begin(a, at, inner, outer))
        return;
    add_task(s);
    while (p->count < SFB_SHARED_CALLS_MAX && sfb_cpython_async_next(a)) {
        memcpy(p->name, await, sizeof await);
        add_call(s, name_text(s, sizeof await - 1), SFB_CPYTHON_BEFORE);
        for (uint32_t i = a->count; i-- > 0;)
            add_call(s, name_code(s, a->frames[i].code), a->frames[i].instruction);
        add_task(s);
    }
}

/* Calls behind the last run are not proven: they are left out. */
static void read_state(struct sample *s, uint64_t at)
{
    struct sfb_python_thread *p = s->thread;
    struct sfb_cpython_frame frame;
    struct sfb_cpython_walk walk;
    uint64_t inner = 0, last = 0,
             key = 0; /* recursion: nothing changes during a sample, for calls hold their code */
    uint32_t proven = p->count;

    sfb_cpython_walk_begin(&walk, &cpython, &s->memory, at);
    if (s->sink->torn)
        doubt_innermost(&walk);
    for (uint32_t frames = 0; frames < FRAMES_MAX; frames++) {
        const enum sfb_cpython_event event = sfb_cpython_walk_next(&walk, &frame);

        if (event == SFB_CPYTHON_FRAME) {
            if (frame.code != last && p->count < SFB_SHARED_CALLS_MAX)
                key = name_code(s, frame.code);
            last = frame.code;
            inner = frame.address;
            add_call(s, key, frame.instruction);
        } else if (event == SFB_CPYTHON_RUN && s->runs->count < SFB_PYTHON_RUNS_MAX) {
            add_awaits(s, at, inner, walk.frame);
            s->runs->marks[s->runs->count].at = frame.anchor;
            s->runs->end[s->runs->count++] = p->count;
            proven = p->count;
            if (p->count == SFB_SHARED_CALLS_MAX)
                break;
        } else {
            break;
        }
    }
    p->count = proven;
}

/*
 * A subinterpreter that ends frees its GIL. None of this thread's states is of such a one: they were found in its list just
 * now; but another thread may end it meanwhile, so the page is probed anew.
 */
static uint32_t read_gil(struct sfb_python_thread *p, struct sfb_memory *memory)
{
    uint64_t gil;

    for (uint32_t i = 0; i < p->state_count; i++) {
        gil = sfb_cpython_gil_at(&cpython, memory, p->states[i]);
        if (gil - cpython.place.runtime > RUNTIME_SIZE)
            sfb_python_forget(memory, gil);
    }
    return (uint32_t)sfb_cpython_gil_of(&gil, &cpython, memory, p->states, p->state_count);
}

static uint32_t read_thread(struct sfb_python_thread *p, struct sfb_python_runs *runs,
                            const struct sfb_python_sink *sink, uint64_t tid)
{
    struct sample s = { .thread = p, .sink = sink, .runs = runs };

    p->async.doubts_left = DOUBTS_MAX;
    sfb_python_memory(&s.memory, &p->pages);
    if (!is_checked() && !attach(&s.memory))
        return 0;
    if (!have_states(p, &s.memory, tid))
        return 0;
    p->gil = read_gil(p, &s.memory);
    for (uint32_t i = 0; i < p->state_count; i++)
        read_state(&s, p->states[i]);
    return p->count;
}

uint32_t sfb_python_read(struct sfb_python_thread *p, struct sfb_python_runs *runs,
                         const struct sfb_python_sink *sink, uint64_t tid)
{
    uint32_t count;

    runs->count = 0;
    p->count = 0;
    p->gil = SFB_GIL_UNKNOWN;
    if (_PyRuntime)
        return read_thread(p, runs, sink, tid);
    /* One that was opened may be closed by another thread: not while it is read. */
    if (!sfb_modules_read_begin())
        return 0;
    memset(&p->pages, 0, sizeof p->pages); /* it may have been closed since: pages are gone */
    count = read_thread(p, runs, sink, tid);
    sfb_modules_read_end();
    return count;
}

uint64_t sfb_python_hash(const struct sfb_python_thread *p)
{
    uint64_t hash = p->count;

    for (uint32_t i = 0; i < p->count; i++)
        hash = mix(mix(hash, p->calls[i].code),
                   p->calls[i].instruction | (uint64_t)p->calls[i].frame << 32);
    return hash;
}

uint32_t sfb_python_place(struct sfb_python_thread *p, const struct sfb_python_runs *runs)
{
    uint32_t from = 0, kept = 0;

    for (size_t i = 0; i < runs->count; i++)
        for (; from < runs->end[i]; from++)
            if (runs->marks[i].frame != SFB_MARK_UNPLACED) {
                p->calls[kept] = p->calls[from];
                p->calls[kept++].frame = runs->marks[i].frame;
            }
    p->count = kept;
    return kept;
}
