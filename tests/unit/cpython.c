/* Python frames in made-up memory: chains, texts and tables of lines, sound and torn. */
#include <string.h>

#include "support/test.h"
#include "unwind/runtime/cpython_async.h"
#include "unwind/runtime/cpython_code.h"
#include "unwind/runtime/cpython_frames.h"
#include "unwind/runtime/cpython_gil.h"

enum { BASE = 0x10000, WORDS = 4096, TYPE = BASE + 8 };

struct fake {
    struct sfb_memory memory;
    uint64_t word[WORDS];
    unsigned reads;
};

static bool read_fake(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    struct fake *f = memory->user;

    f->reads++;
    if ((address & 7) != 0 || address - BASE >= sizeof f->word)
        return false;
    *out = f->word[(address - BASE) / 8];
    return true;
}

static void put(struct fake *f, uint64_t address, uint64_t value)
{
    f->word[(address - BASE) / 8] = value;
}

static void put_byte(struct fake *f, uint64_t address, uint8_t value)
{
    memcpy((uint8_t *)f->word + (address - BASE), &value, 1);
}

static struct sfb_cpython python(unsigned minor)
{
    return (struct sfb_cpython){ .layout = sfb_cpython_layout(3u << 24 | minor << 16),
                                 .place.code_type = TYPE };
}

static uint64_t put_code(struct fake *f, uint64_t at)
{
    put(f, at, 1);
    put(f, at + 8, TYPE);
    return at;
}

static void put_frame(struct fake *f, const struct sfb_cpython *c, uint64_t at, uint64_t code,
                      uint64_t previous)
{
    put(f, at + c->layout->frame_code, code);
    put(f, at + c->layout->frame_previous, previous);
    put(f, at + c->layout->frame_instruction, code + c->layout->code_instructions + 6);
}

static void begin(struct fake *f)
{
    memset(f, 0, sizeof *f);
    f->memory = (struct sfb_memory){ .read = read_fake, .user = f };
}

enum { STATE = BASE + 0x100, FRAME_1 = BASE + 0x400, FRAME_2 = BASE + 0x500, CODE = BASE + 0x800 };
enum { CFRAME_1 = BASE + 0x2000, CFRAME_2 = BASE + 0x2100, CFRAME_ROOT = BASE + 0x2200 };

/* Two runs of a frame each, as 3.11 has them. */
static void put_two_runs(struct fake *f, const struct sfb_cpython *c)
{
    const struct sfb_cpython_layout *l = c->layout;

    put_code(f, CODE);
    put_frame(f, c, FRAME_1, CODE, FRAME_2);
    put_frame(f, c, FRAME_2, CODE, 0);
    put_byte(f, FRAME_1 + l->frame_is_entry, 1);
    put_byte(f, FRAME_2 + l->frame_is_entry, 1);
    put(f, STATE + l->thread_frame, CFRAME_1);
    put(f, CFRAME_1 + l->cframe_current, FRAME_1);
    put(f, CFRAME_1 + l->cframe_previous, CFRAME_2);
    put(f, CFRAME_2 + l->cframe_current, FRAME_2);
    put(f, CFRAME_2 + l->cframe_previous, CFRAME_ROOT);
}

static void expect_events(struct fake *f, const struct sfb_cpython *c,
                          const enum sfb_cpython_event *wanted, size_t count)
{
    struct sfb_cpython_frame frame;
    struct sfb_cpython_walk walk;

    sfb_cpython_walk_begin(&walk, c, &f->memory, STATE);
    for (size_t i = 0; i < count; i++)
        cr_expect(eq(int, sfb_cpython_walk_next(&walk, &frame), wanted[i]), "event %zu", i);
}

#define EXPECT_EVENTS(f, c, ...)                                                                   \
    expect_events(f, c, (const enum sfb_cpython_event[]){ __VA_ARGS__ },                           \
                  sizeof((const enum sfb_cpython_event[]){ __VA_ARGS__ }) /                        \
                      sizeof(enum sfb_cpython_event))

Test(cpython, gives_a_run_for_each_cframe)
{
    const struct sfb_cpython c = python(11);
    struct sfb_cpython_frame frame;
    struct sfb_cpython_walk walk;
    static struct fake f;

    begin(&f);
    put_two_runs(&f, &c);
    EXPECT_EVENTS(&f, &c, SFB_CPYTHON_FRAME, SFB_CPYTHON_RUN, SFB_CPYTHON_FRAME, SFB_CPYTHON_RUN,
                  SFB_CPYTHON_END, SFB_CPYTHON_END);
    sfb_cpython_walk_begin(&walk, &c, &f.memory, STATE);
    sfb_cpython_walk_next(&walk, &frame);
    cr_expect(eq(u64, frame.code, CODE));
    cr_expect(eq(u32, frame.instruction, 6));
    sfb_cpython_walk_next(&walk, &frame);
    cr_expect(eq(u64, frame.anchor, CFRAME_1));
}

Test(cpython, does_not_take_a_stale_entry_for_the_end_of_a_run)
{
    const struct sfb_cpython c = python(11);
    static struct fake f;

    begin(&f);
    put_two_runs(&f, &c);
    put(&f, CFRAME_1 + c.layout->cframe_previous, CFRAME_ROOT);
    EXPECT_EVENTS(&f, &c, SFB_CPYTHON_FRAME, SFB_CPYTHON_FRAME, SFB_CPYTHON_RUN, SFB_CPYTHON_END);
}

Test(cpython, calls_frames_without_an_end_torn)
{
    const struct sfb_cpython c = python(11);
    static struct fake f;

    begin(&f);
    put_two_runs(&f, &c);
    put_byte(&f, FRAME_2 + c.layout->frame_is_entry, 0);
    EXPECT_EVENTS(&f, &c, SFB_CPYTHON_FRAME, SFB_CPYTHON_RUN, SFB_CPYTHON_FRAME, SFB_CPYTHON_TORN,
                  SFB_CPYTHON_TORN);
}

Test(cpython, refuses_what_is_no_living_code)
{
    const struct sfb_cpython c = python(11);
    static struct fake f;

    begin(&f);
    put_two_runs(&f, &c);
    put(&f, CODE, 0); /* no reference is left */
    EXPECT_EVENTS(&f, &c, SFB_CPYTHON_TORN);
    put(&f, CODE, 0x7f1234567890); /* the allocator's link */
    EXPECT_EVENTS(&f, &c, SFB_CPYTHON_TORN);
    put(&f, CODE, 0xffffffff); /* immortal */
    EXPECT_EVENTS(&f, &c, SFB_CPYTHON_FRAME);
    put(&f, CODE, UINT64_C(4) << 48 | 1); /* flags */
    EXPECT_EVENTS(&f, &c, SFB_CPYTHON_FRAME);
    put(&f, CODE, 1);
    put(&f, CODE + 8, TYPE + 8);
    EXPECT_EVENTS(&f, &c, SFB_CPYTHON_TORN);
    put_code(&f, CODE);
    put(&f, FRAME_1 + c.layout->frame_code, CODE + 1);
    EXPECT_EVENTS(&f, &c, SFB_CPYTHON_TORN);
}

Test(cpython, gives_a_run_for_each_shim)
{
    const struct sfb_cpython c = python(14);
    static struct fake f;

    begin(&f);
    put_code(&f, CODE);
    put_frame(&f, &c, FRAME_1, CODE | 1, CFRAME_1); /* a tagged reference */
    put(&f, STATE + c.layout->thread_frame, FRAME_1);
    put_byte(&f, CFRAME_1 + c.layout->frame_owner, 3);
    EXPECT_EVENTS(&f, &c, SFB_CPYTHON_FRAME, SFB_CPYTHON_RUN, SFB_CPYTHON_END);
}

Test(cpython, ends_in_a_circle)
{
    const struct sfb_cpython c = python(13);
    struct sfb_cpython_frame frame;
    struct sfb_cpython_walk walk;
    static struct fake f;
    unsigned frames = 0;

    begin(&f);
    put_code(&f, CODE);
    put_frame(&f, &c, FRAME_1, CODE, FRAME_2);
    put_frame(&f, &c, FRAME_2, CODE, FRAME_1);
    put(&f, STATE + c.layout->thread_frame, FRAME_1);
    sfb_cpython_walk_begin(&walk, &c, &f.memory, STATE);
    while (sfb_cpython_walk_next(&walk, &frame) == SFB_CPYTHON_FRAME)
        frames++;
    cr_expect(le(u32, frames, 8));
    cr_expect(eq(int, sfb_cpython_walk_next(&walk, &frame), SFB_CPYTHON_TORN));
}

/* --- The interpreter ------------------------------------------------------------------------------ */

enum { RUNTIME = BASE + 0x1000, INTERPRETER = BASE + 0x3000, VERSION = BASE };

static enum sfb_cpython_fit attach(struct fake *f)
{
    const struct sfb_cpython_place place = { RUNTIME, TYPE, VERSION };
    struct sfb_cpython out;

    return sfb_cpython_attach(&out, &f->memory, &place);
}

Test(cpython, checks_the_layout_of_an_interpreter)
{
    const struct sfb_cpython_layout *l = sfb_cpython_layout(0x030b02f0);
    static struct fake f;

    begin(&f);
    put(&f, VERSION, 0x030a0df0);
    cr_expect(eq(int, attach(&f), SFB_CPYTHON_UNKNOWN_VERSION));
    put(&f, VERSION, 0x030b02f0);
    cr_expect(eq(int, attach(&f), SFB_CPYTHON_NOT_STARTED));
    put(&f, RUNTIME + l->runtime_interpreters, INTERPRETER);
    cr_expect(eq(int, attach(&f), SFB_CPYTHON_OTHER_LAYOUT));
    put(&f, INTERPRETER + l->interpreter_runtime, RUNTIME);
    cr_expect(eq(int, attach(&f), SFB_CPYTHON_NOT_STARTED));
    put(&f, INTERPRETER + l->interpreter_threads, STATE);
    cr_expect(eq(int, attach(&f), SFB_CPYTHON_OTHER_LAYOUT));
    put(&f, STATE + l->thread_interpreter, INTERPRETER);
    cr_expect(eq(int, attach(&f), SFB_CPYTHON_FITS));
}

Test(cpython, finds_the_states_of_a_thread_and_ends_in_circles)
{
    struct sfb_cpython c = python(11);
    const struct sfb_cpython_layout *l = c.layout;
    uint64_t found[SFB_CPYTHON_STATES];
    static struct fake f;

    begin(&f);
    c.place.runtime = RUNTIME;
    put(&f, RUNTIME + l->runtime_interpreters, INTERPRETER);
    put(&f, INTERPRETER + l->interpreter_threads, STATE);
    put(&f, STATE + l->thread_native_id, 4711);
    cr_expect(eq(u32, sfb_cpython_states(found, &c, &f.memory, 4711), 1));
    cr_expect(eq(u64, found[0], STATE));
    cr_expect(eq(u32, sfb_cpython_states(found, &c, &f.memory, 4712), 0));
    put(&f, STATE + l->thread_next, STATE);
    put(&f, INTERPRETER + l->interpreter_next, INTERPRETER);
    cr_expect(eq(u32, sfb_cpython_states(found, &c, &f.memory, 4711), SFB_CPYTHON_STATES));
}

/* Any words: each walk ends, within its limits. */
Test(cpython, survives_random_memory)
{
    static struct fake f;
    uint64_t seed = 1;

    for (unsigned round = 0; round < 2000; round++) {
        const struct sfb_cpython c = python(11 + round % 4);
        struct sfb_cpython_frame frame;
        struct sfb_cpython_walk walk;
        unsigned events = 0;
        char text[64];

        begin(&f);
        for (unsigned i = 0; i < WORDS; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            f.word[i] = seed >> 62 ? BASE + (seed >> 33) % sizeof f.word / 8 * 8 : seed >> 40;
        }
        for (unsigned i = 0; i < WORDS; i += 2)
            f.word[i] = i % 32 ? f.word[i] : TYPE;
        sfb_cpython_walk_begin(&walk, &c, &f.memory, STATE);
        while (sfb_cpython_walk_next(&walk, &frame) <= SFB_CPYTHON_RUN)
            events++;
        cr_assert(le(u32, events, 2 * SFB_CPYTHON_FRAMES_MAX));
        cr_expect(
            lt(sz, sfb_cpython_text(text, sizeof text, &c, &f.memory, f.word[7]), sizeof text));
    }
}

/* --- Texts and lines ------------------------------------------------------------------------------ */

static size_t text_of(char *out, size_t room, const void *characters, unsigned width, size_t count)
{
    const struct sfb_cpython c = python(11);
    static struct fake f;

    begin(&f);
    put(&f, CODE + 16, count);
    put(&f, CODE + 32, 0x20 | width << 2);
    memcpy((uint8_t *)f.word + (CODE + c.layout->string_other - BASE), characters, width * count);
    return sfb_cpython_text(out, room, &c, &f.memory, CODE);
}

Test(cpython, writes_strings_of_each_width_as_utf_8)
{
    const uint8_t narrow[] = { 'g', 'r', 0xf6, 0xdf, 'e' };
    const uint16_t wide[] = { 'a', 0x51fd, 0xd800, 0x6570 };
    const uint32_t widest[] = { 0x103a0, 'b' };
    char text[64];

    text_of(text, sizeof text, narrow, 1, 5);
    cr_expect_str_eq(text, "größe");
    text_of(text, sizeof text, wide, 2, 4);
    cr_expect_str_eq(text, "a函\xef\xbf\xbd数");
    text_of(text, sizeof text, widest, 4, 2);
    cr_expect_str_eq(text, "𐎠b");
    cr_expect(eq(sz, text_of(text, 5, narrow, 1, 5), 4)); /* no half of a character */
    cr_expect_str_eq(text, "grö");
    cr_expect(eq(sz, text_of(text, sizeof text, narrow, 3, 1), 0));
}

Test(cpython, finds_lines_in_each_kind_of_entry)
{
    /* Units, kind: short form, one line, no columns, long, no location. Lines from 10 on. */
    const uint8_t table[] = { 0x80, 0x00,                   /* 1 unit, line 10 */
                              0xd9, 0x00, 0x01,             /* 2 units, line 11 */
                              0xe8, 0x0d,                   /* 1 unit, 6 lines back: 5 */
                              0xf0, 0x4a, 0x01, 0x00, 1, 1, /* 1 unit, 37 lines on: 42 */
                              0xf8 };                       /* 1 unit, no line */
    static const uint32_t lines[] = { 10, 11, 11, 5, 42, 0, 0 };

    for (uint32_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(eq(u32, sfb_cpython_line(table, sizeof table, 10, 2 * i), lines[i]), "%u", i);
    cr_expect(eq(u32, sfb_cpython_line(table, sizeof table, 10, SFB_CPYTHON_BEFORE), 10));
    for (size_t size = 0; size < sizeof table; size++) /* cut off: no line, and no read behind it */
        cr_expect(eq(u32, sfb_cpython_line(table, size, 10, 10), 0));
    cr_expect(eq(u32, sfb_cpython_line((const uint8_t[]){ 0x00 }, 1, 10, 0), 0));
}

/* --- The GIL -------------------------------------------------------------------------------------- */

enum { OWNER = BASE + 0x3000, GIL = BASE + 0x1000, OTHER = BASE + 0x4000 };

static enum sfb_cpython_gil gil_of(struct fake *f, const struct sfb_cpython *c, uint64_t *gil)
{
    const uint64_t states[] = { STATE };

    return sfb_cpython_gil_of(gil, c, &f->memory, states, 1);
}

/* @return the GIL, free */
static uint64_t put_gil(struct fake *f, struct sfb_cpython *c, unsigned minor)
{
    *c = python(minor);
    begin(f);
    c->place.runtime = GIL - c->layout->gil;
    if (minor == 11)
        return GIL;
    put(f, STATE + c->layout->thread_interpreter, OWNER);
    put(f, OWNER + c->layout->gil, GIL);
    return GIL;
}

Test(cpython, says_which_thread_holds_the_gil)
{
    static struct fake f;
    struct sfb_cpython c;
    uint64_t gil;

    for (unsigned minor = 11; minor <= 14; minor++) {
        put_gil(&f, &c, minor);
        cr_expect(eq(int, gil_of(&f, &c, &gil), SFB_CPYTHON_GIL_RELEASED), "3.%u", minor);
        cr_expect(eq(u64, gil, GIL));
        put(&f, GIL + SFB_CPYTHON_GIL_LOCKED, 0x700000001); /* the int alone counts */
        put(&f, GIL + SFB_CPYTHON_GIL_HOLDER, OTHER);
        cr_expect(eq(int, gil_of(&f, &c, &gil), SFB_CPYTHON_GIL_RELEASED));
        put(&f, GIL + SFB_CPYTHON_GIL_HOLDER, STATE);
        cr_expect(eq(int, gil_of(&f, &c, &gil), SFB_CPYTHON_GIL_HELD));
        put(&f, GIL + SFB_CPYTHON_GIL_LOCKED, 0x700000000); /* it held it last */
        cr_expect(eq(int, gil_of(&f, &c, &gil), SFB_CPYTHON_GIL_RELEASED));
    }
}

Test(cpython, does_not_know_a_gil_that_is_not_made_or_not_readable)
{
    static struct fake f;
    struct sfb_cpython c;
    uint64_t gil;

    for (unsigned minor = 11; minor <= 14; minor++) {
        put_gil(&f, &c, minor);
        put(&f, GIL + SFB_CPYTHON_GIL_LOCKED, UINT32_MAX);
        cr_expect(eq(int, gil_of(&f, &c, &gil), SFB_CPYTHON_GIL_UNKNOWN), "3.%u", minor);
        cr_expect(eq(u64, gil, 0));
    }
    put(&f, OWNER + c.layout->gil, 0);
    cr_expect(eq(int, gil_of(&f, &c, &gil), SFB_CPYTHON_GIL_UNKNOWN));
    put(&f, OWNER + c.layout->gil, GIL + 4);
    cr_expect(eq(int, gil_of(&f, &c, &gil), SFB_CPYTHON_GIL_UNKNOWN));
    put(&f, STATE + c.layout->thread_interpreter, BASE - 8);
    cr_expect(eq(int, gil_of(&f, &c, &gil), SFB_CPYTHON_GIL_UNKNOWN));
}

Test(cpython, knows_the_futexes_of_a_gil)
{
    cr_expect(not(sfb_cpython_gil_has(0, SFB_CPYTHON_GIL_WAITS)));
    cr_expect(not(sfb_cpython_gil_has(GIL, GIL + SFB_CPYTHON_GIL_WAITS - 4)));
    cr_expect(sfb_cpython_gil_has(GIL, GIL + SFB_CPYTHON_GIL_WAITS));
    cr_expect(sfb_cpython_gil_has(GIL, GIL + SFB_CPYTHON_GIL_WAITS + 140));
    cr_expect(not(sfb_cpython_gil_has(GIL, GIL + 512)));
}

/* --- Tasks of asyncio ----------------------------------------------------------------------------- */

enum { TASKS = BASE + 0x5000, TASK_STEP = 0x400, COROUTINE = 0x100, CALLBACK = 0x300 };

static uint64_t task_at(unsigned number)
{
    return TASKS + number * TASK_STEP;
}

static uint64_t frame_of_task(const struct sfb_cpython *c, unsigned number)
{
    return task_at(number) + COROUTINE + c->layout->generator_frame;
}

/* A task whose coroutine stands at a line of its own, and awaits nothing that has a frame. */
static void put_task(struct fake *f, const struct sfb_cpython *c, unsigned number)
{
    const struct sfb_cpython_layout *l = c->layout;
    const uint64_t frame = frame_of_task(c, number);

    put(f, task_at(number) + l->task_coroutine, task_at(number) + COROUTINE);
    put_frame(f, c, frame, CODE, 0);
    put(f, frame + l->frame_instruction, CODE + l->code_instructions + 2 * number);
    put_byte(f, frame + l->frame_owner, 1);
}

/* The second task awaits the first one. */
static void put_await(struct fake *f, const struct sfb_cpython *c, unsigned first, unsigned second)
{
    const struct sfb_cpython_layout *l = c->layout;
    const uint64_t callback = task_at(first) + CALLBACK;

    if (l->task_awaited_by != 0) {
        put(f, task_at(first) + l->task_awaited_by, task_at(second));
        put_byte(f, task_at(second) + l->task_is_task, 1);
        return;
    }
    put(f, task_at(first) + 24, callback);
    put(f, callback + 24, task_at(second));
    put(f, task_at(second) + l->task_waiter, task_at(first));
}

/* Tasks 0 to 2, of which the first one runs: by the thread's state, or by the event loop's handle. */
static void put_tasks(struct fake *f, struct sfb_cpython_async *a, struct sfb_cpython *c,
                      unsigned minor)
{
    const struct sfb_cpython_layout *l;

    *c = python(minor);
    l = c->layout;
    begin(f);
    put_code(f, CODE);
    for (unsigned i = 0; i < 3; i++)
        put_task(f, c, i);
    put_await(f, c, 0, 1);
    put_await(f, c, 1, 2);
    if (l->thread_running_task != 0)
        put(f, STATE + l->thread_running_task, task_at(0));
    put(f, FRAME_1 + l->frame_locals, BASE + 0x2000);
    put(f, BASE + 0x2000 + 24, BASE + 0x2100);
    put(f, BASE + 0x2100 + 16, task_at(0));
    *a = (struct sfb_cpython_async){ .cpython = c, .memory = &f->memory };
}

Test(cpython, gives_the_tasks_that_await_one_that_runs)
{
    static struct fake f;
    static struct sfb_cpython_async a;
    struct sfb_cpython c;

    for (unsigned minor = 11; minor <= 14; minor++) {
        put_tasks(&f, &a, &c, minor);
        cr_assert(sfb_cpython_async_begin(&a, STATE, frame_of_task(&c, 0), FRAME_1), "3.%u", minor);
        for (unsigned i = 1; i < 3; i++) {
            cr_assert(sfb_cpython_async_next(&a), "3.%u, task %u", minor, i);
            cr_expect(eq(u64, a.task, task_at(i)));
            cr_expect(eq(u32, a.count, 1));
            cr_expect(eq(u64, a.frames[0].code, CODE));
            cr_expect(eq(u32, a.frames[0].instruction, 2 * i));
        }
        cr_expect(not(sfb_cpython_async_next(&a)));
    }
}

Test(cpython, knows_no_task_without_a_proof)
{
    static struct fake f;
    static struct sfb_cpython_async a;
    struct sfb_cpython c;

    for (unsigned minor = 11; minor <= 14; minor++) {
        put_tasks(&f, &a, &c, minor);
        cr_expect(not(sfb_cpython_async_begin(&a, STATE, FRAME_2, FRAME_1)),
                  "3.%u, a frame of no coroutine", minor);
        put(&f, task_at(0) + c.layout->task_coroutine, OTHER);
        cr_expect(not(sfb_cpython_async_begin(&a, STATE, frame_of_task(&c, 0), FRAME_1)),
                  "3.%u, another coroutine", minor);
        put_tasks(&f, &a, &c, minor);
        put(&f, task_at(0) + c.layout->task_awaited_by, OTHER); /* nothing is there */
        if (c.layout->task_awaited_by == 0)
            put(&f, task_at(1) + c.layout->task_waiter, OTHER);
        cr_assert(sfb_cpython_async_begin(&a, STATE, frame_of_task(&c, 0), FRAME_1));
        cr_expect(not(sfb_cpython_async_next(&a)), "3.%u, it awaits something else", minor);
    }
}

Test(cpython, ends_at_last_in_a_circle_of_tasks)
{
    static struct fake f;
    static struct sfb_cpython_async a;
    struct sfb_cpython c;
    unsigned given = 0;

    for (unsigned minor = 11; minor <= 14; minor++) {
        put_tasks(&f, &a, &c, minor);
        put_await(&f, &c, 2, 0);
        /* A coroutine that awaits itself. */
        put(&f, frame_of_task(&c, 1) + c.layout->frame_stack,
            c.layout->stack_by_pointer ? frame_of_task(&c, 1) + c.layout->frame_locals + 8 : 1);
        put_byte(&f, frame_of_task(&c, 1) + c.layout->frame_owner, 1);
        put(&f, frame_of_task(&c, 1) + c.layout->frame_locals, task_at(1) + COROUTINE);
        cr_assert(sfb_cpython_async_begin(&a, STATE, frame_of_task(&c, 0), FRAME_1));
        for (given = 0; given < 1000 && sfb_cpython_async_next(&a); given++)
            cr_expect(le(u32, a.count, SFB_CPYTHON_AWAIT_FRAMES));
        cr_expect(eq(u32, given, SFB_CPYTHON_AWAIT_TASKS), "3.%u", minor);
    }
}

/* --- Doubt ---------------------------------------------------------------------------------------- */

enum { DOUBTS_MAX = 64, PAGE = 4096 };

static struct {
    uint64_t page[DOUBTS_MAX];
    unsigned count;
} doubts;

static void note_doubt(struct sfb_memory *memory, uint64_t address)
{
    (void)memory;
    cr_assert(doubts.count < DOUBTS_MAX);
    doubts.page[doubts.count++] = address / PAGE;
}

/* @return tasks given behind the first one */
static unsigned tasks_within(struct sfb_cpython_async *a, const struct sfb_cpython *c,
                             uint32_t budget)
{
    unsigned given = 0;

    doubts.count = 0;
    a->doubt = note_doubt;
    a->doubts_left = budget;
    if (sfb_cpython_async_begin(a, STATE, frame_of_task(c, 0), FRAME_1))
        while (sfb_cpython_async_next(a))
            given++;
    return given;
}

/* A doubt costs a system call, and objects of one size share pages. */
Test(cpython, doubts_each_page_of_tasks_once)
{
    static struct fake f;
    static struct sfb_cpython_async a;
    struct sfb_cpython c;

    for (unsigned minor = 11; minor <= 14; minor++) {
        put_tasks(&f, &a, &c, minor);
        for (unsigned again = 0; again < 2; again++) {
            cr_expect(eq(u32, tasks_within(&a, &c, DOUBTS_MAX), 2), "3.%u", minor);
            cr_expect(eq(u32, doubts.count, DOUBTS_MAX - a.doubts_left));
            cr_expect(ne(u32, doubts.count, 0), "each begin() doubts anew");
            for (unsigned i = 0; i < doubts.count; i++)
                for (unsigned j = 0; j < i; j++)
                    cr_expect(ne(u64, doubts.page[i], doubts.page[j]), "3.%u", minor);
        }
    }
}

Test(cpython, finds_no_more_tasks_once_the_doubts_are_spent)
{
    static struct fake f;
    static struct sfb_cpython_async a;
    struct sfb_cpython c;
    unsigned needed;

    for (unsigned minor = 11; minor <= 14; minor++) {
        put_tasks(&f, &a, &c, minor);
        cr_assert(eq(u32, tasks_within(&a, &c, DOUBTS_MAX), 2));
        needed = doubts.count;
        cr_expect(eq(u32, tasks_within(&a, &c, needed), 2), "3.%u", minor);
        for (unsigned budget = 0; budget < needed; budget++) {
            cr_expect(lt(u32, tasks_within(&a, &c, budget), 2), "3.%u, %u doubts", minor, budget);
            cr_expect(eq(u32, doubts.count, budget));
        }
    }
}
