#include "remote/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "remote/module_file.h"
#include "remote/task_files.h"
#include "symbols/exported.h"
#include "symbols/load_bias.h"
#include "symbols/process.h"
#include "unwind/runtime/cpython_async.h"
#include "unwind/runtime/cpython_code.h"
#include "unwind/runtime/cpython_frames.h"
#include "unwind/runtime/cpython_gil.h"
#include "util/grow.h"

enum {
    TEXT_MAX = 1024,    /* bytes of a name; of a file's path */
    LINES_MAX = 1 << 20 /* bytes of a table of lines */
};

/* --- The interpreter ------------------------------------------------------------------------------ */

/* By its name, or the program itself: it may have one linked into it. */
static bool may_have_interpreter(const struct object_maps *maps, size_t module)
{
    const char *path = maps->modules[module].path, *base = strrchr(path, '/');

    return module == 0 || strstr(base ? base : path, "python");
}

static void name_version(struct remote_python *p, uint32_t version)
{
    snprintf(p->what, sizeof p->what, "CPython %u.%u.%u", version >> 24, version >> 16 & 0xff,
             version >> 8 & 0xff);
}

/* @return whether the module has an interpreter */
static bool find_in_module(struct remote_python *p, const struct object_maps *maps, size_t module,
                           const struct remote_python_files *files)
{
    static const char *const names[] = { "_PyRuntime", "PyCode_Type", "Py_Version" };
    const struct object_mapping *first = &maps->mappings[maps->modules[module].first];
    uint64_t at[3], bias = 0;
    size_t size = 0;
    char *bytes = files->open(files->user, module, &size);
    Elf *elf = bytes ? elf_memory(bytes, size) : NULL;
    const bool found =
        elf && object_find_exported(elf, names, 3, at) &&
        object_bias_of_mapping(elf, first->start, first->offset, first->executable, &bias);

    elf_end(elf);
    if (!found)
        return false;
    p->cpython.place = (struct sfb_cpython_place){ at[0] + bias, at[1] + bias, at[2] + bias };
    return true;
}

static void attach(struct remote_python *p)
{
    const struct sfb_cpython_place place = p->cpython.place;
    const enum sfb_cpython_fit fit = sfb_cpython_attach(&p->cpython, p->memory, &place);

    p->fits = fit == SFB_CPYTHON_FITS;
    p->not_started = fit == SFB_CPYTHON_NOT_STARTED;
    name_version(p, p->cpython.version);
    snprintf(p->why, sizeof p->why, "%s", sfb_cpython_fit_str(fit));
    if (p->fits && !p->lines)
        p->lines = malloc(LINES_MAX);
    if (p->fits && !p->lines)
        p->fits = false;
}

void remote_python_find(struct remote_python *p, const struct object_maps *maps,
                        const struct remote_python_files *files)
{
    remote_python_meter_read(&p->meter);
    if (elf_version(EV_CURRENT) == EV_NONE)
        return;
    for (size_t i = 0; i < maps->module_count; i++)
        if (may_have_interpreter(maps, i) && find_in_module(p, maps, i, files)) {
            attach(p);
            return;
        }
}

/* --- In a process --------------------------------------------------------------------------------- */

struct opened {
    const struct object_process *process;
    struct object_opened file;
};

static void *open_module(void *user, size_t module, size_t *size)
{
    struct opened *o = user;
    struct object_process_module facts;
    bool found;

    object_opened_close(&o->file);
    o->file = (struct object_opened){ .fd = -1 };
    object_process_module(&facts, o->process, module);
    found = !facts.module.image && remote_module_file(&o->file, &facts.module);
    object_process_module_free(&facts);
    return found ? elf_rawfile(o->file.elf, size) : NULL;
}

bool remote_python_find_in(struct remote_python *p, pid_t pid, int tasks)
{
    struct object_process process;
    const char *cause;
    struct opened opened = { &process, { .fd = -1 } };
    const struct remote_python_files files = { open_module, &opened };

    remote_python_meter_read(&p->meter);
    if (p->fits)
        return true;
    if (!object_process_open(&process, pid, &cause))
        return true; /* it has ended: said elsewhere */
    if (!p->heap)
        p->heap = remote_heap_open(pid);
    if (p->heap) {
        remote_heap_refresh(p->heap);
        p->memory = &p->heap->memory;
        p->tasks = tasks;
        remote_python_find(p, &process.maps, &files);
    }
    object_opened_close(&opened.file);
    object_process_close(&process);
    return p->heap != NULL;
}

void remote_python_retry(struct remote_python *p)
{
    remote_python_meter_read(&p->meter);
    if (!p->not_started || !p->heap)
        return;
    remote_heap_refresh(p->heap);
    attach(p);
}

void remote_python_close(struct remote_python *p)
{
    free(p->heap);
    free(p->lines);
}

/* --- Frames --------------------------------------------------------------------------------------- */

/* @return where the text is; 0, which is "", without memory */
static size_t add_text(struct remote_python_stack *s, const char *text, size_t size)
{
    size_t at;

    if (s->text_size + size + 1 > s->text_room) {
        const size_t room = 2 * s->text_room + size + 4096;
        char *grown = realloc(s->texts, room);

        if (!grown)
            return 0;
        s->texts = grown;
        s->text_room = room;
    }
    at = s->text_size;
    memcpy(s->texts + at, text, size);
    s->texts[at + size] = '\0';
    s->text_size += size + 1;
    return at;
}

/* Copies and searches the table: for an instruction that was not seen before. */
static uint32_t line_of(struct remote_python *p, const struct sfb_cpython_code *code,
                        uint32_t instruction)
{
    enum { SEARCHED = 4 }; /* bytes in the time of a word */
    size_t size;

    if (instruction == SFB_CPYTHON_BEFORE)
        return code->first_line;
    size = sfb_cpython_lines(p->lines, LINES_MAX, &p->meter.memory, code->lines);
    return size > 0 && size <= LINES_MAX && remote_python_meter_take(&p->meter, size / SEARCHED)
               ? sfb_cpython_line(p->lines, size, code->first_line, instruction)
               : 0;
}

/*
 * Finds an earlier frame of a code; also of the instruction, if `by` is `same`.
 *
 * @param slot  written: where a frame that is new is to be put
 */
static const struct remote_python_frame *find_same(const struct remote_python_stack *s,
                                                   uint32_t *by,
                                                   const struct remote_python_frame *f,
                                                   uint32_t **slot)
{
    enum { STEPS = 8 };
    const uint32_t instruction = by == s->same ? f->instruction : 0;
    const uint64_t hash = (f->code ^ (uint64_t)instruction << 40) * UINT64_C(0x9e3779b97f4a7c15);

    for (uint32_t i = 0; i < STEPS; i++) {
        const struct remote_python_frame *found;

        *slot = &by[((hash >> 32) + i) % REMOTE_PYTHON_SAME];
        if (**slot == 0)
            return NULL;
        found = &s->frames[**slot - 1];
        if (found->code == f->code && (by != s->same || found->instruction == f->instruction))
            return found;
    }
    return NULL;
}

static size_t read_text(struct remote_python_stack *s, struct remote_python *p, uint64_t string)
{
    char text[TEXT_MAX];
    const size_t size = sfb_cpython_text(text, sizeof text, &p->cpython, &p->meter.memory, string);

    return remote_python_meter_take_text(&p->meter, size) ? add_text(s, text, size) : 0;
}

/* Of recursion names and lines are read once. */
static void read_frame(struct remote_python_stack *s, struct remote_python *p,
                       struct remote_python_frame *frame)
{
    uint32_t *slot, *slot_of_code;
    const struct remote_python_frame *same = find_same(s, s->same, frame, &slot),
                                     *named = find_same(s, s->same_code, frame, &slot_of_code);
    struct sfb_cpython_code code;

    if (same) {
        frame->name = same->name;
        frame->file = same->file;
        frame->line = same->line;
        return;
    }
    if (!sfb_cpython_code(&code, &p->cpython, &p->meter.memory, frame->code))
        return;
    frame->name = named ? named->name : read_text(s, p, code.name);
    frame->file = named ? named->file : read_text(s, p, code.file);
    frame->line = line_of(p, &code, frame->instruction);
    *slot = (uint32_t)s->count + 1;
    if (!named)
        *slot_of_code = (uint32_t)s->count + 1;
}

/* @return false: no memory, or as many as may be */
static bool add_frame(struct remote_python_stack *s, struct remote_python *p,
                      const struct sfb_cpython_frame *f)
{
    struct remote_python_frame frame = { .code = f->code, .instruction = f->instruction };

    if (!remote_python_meter_take_frame(&p->meter))
        return false;
    if (!array_make_room(&s->frames, s->count, &s->room, sizeof *s->frames))
        return false;
    read_frame(s, p, &frame);
    if (remote_python_meter_is_over(&p->meter))
        return false; /* the look ends: no slot is read again */
    s->frames[s->count++] = frame;
    return true;
}

/* What is not certain takes its place, too. */
static void add_torn(struct remote_python_stack *s)
{
    if (array_make_room(&s->frames, s->count, &s->room, sizeof *s->frames))
        s->frames[s->count++] = (struct remote_python_frame){ .torn = true };
}

/* A text that is no function stands like one. @return false: no memory, or as many as may be */
static bool add_mark(struct remote_python_stack *s, struct remote_python *p, const char *text,
                     size_t size)
{
    struct remote_python_frame frame = { .instruction = SFB_CPYTHON_BEFORE };

    if (!remote_python_meter_take_frame(&p->meter) ||
        !remote_python_meter_take_text(&p->meter, size) ||
        !array_make_room(&s->frames, s->count, &s->room, sizeof *s->frames))
        return false;
    frame.name = add_text(s, text, size);
    s->frames[s->count++] = frame;
    return true;
}

static bool add_task(struct remote_python_stack *s, struct remote_python *p,
                     struct sfb_cpython_async *a)
{
    char text[TEXT_MAX] = SFB_CPYTHON_TASK;
    const size_t prefix = sizeof SFB_CPYTHON_TASK - 1;
    const size_t size = sfb_cpython_async_name(text + prefix, sizeof text - prefix, a);

    return size == 0 || add_mark(s, p, text, prefix + size);
}

/* What awaits the coroutine that a run is of. */
static bool add_awaits(struct remote_python_stack *s, struct remote_python *p, uint64_t state,
                       uint64_t inner, uint64_t outer)
{
    struct sfb_cpython_async a = { .cpython = &p->cpython, .memory = &p->meter.memory };
    bool good;

    if (!sfb_cpython_async_begin(&a, state, inner, outer))
        return true;
    good = add_task(s, p, &a);
    while (good && sfb_cpython_async_next(&a)) {
        good = add_mark(s, p, SFB_CPYTHON_AWAIT, sizeof SFB_CPYTHON_AWAIT - 1);
        for (uint32_t i = a.count; good && i-- > 0;)
            good = add_frame(s, p, &a.frames[i]);
        good = good && add_task(s, p, &a);
    }
    return good;
}

static void read_state(struct remote_python_stack *s, struct remote_python *p, uint64_t state)
{
    struct sfb_cpython_walk walk;
    struct sfb_cpython_frame frame;
    uint64_t inner = 0;
    size_t first = s->count;
    bool good = true;

    sfb_cpython_walk_begin(&walk, &p->cpython, &p->meter.memory, state);
    while (good)
        switch (sfb_cpython_walk_next(&walk, &frame)) {
        case SFB_CPYTHON_FRAME:
            good = add_frame(s, p, &frame);
            inner = frame.address;
            break;
        case SFB_CPYTHON_RUN:
            good = add_awaits(s, p, state, inner, walk.frame);
            for (; first < s->count; first++)
                s->frames[first].anchor = frame.anchor;
            break;
        case SFB_CPYTHON_TORN: good = false; break;
        case SFB_CPYTHON_END: return;
        }
    add_torn(s);
}

void remote_python_read(struct remote_python_stack *s, struct remote_python *p, pid_t own_tid)
{
    uint64_t states[SFB_CPYTHON_STATES];
    unsigned count;

    s->count = 0;
    s->gil = SFB_CPYTHON_GIL_UNKNOWN;
    s->gil_at = 0;
    s->text_size = 0;
    memset(s->same, 0, sizeof s->same);
    memset(s->same_code, 0, sizeof s->same_code);
    add_text(s, "", 0);
    remote_python_meter_look(&p->meter, p->memory);
    count = sfb_cpython_states(states, &p->cpython, &p->meter.memory, (uint64_t)own_tid);
    s->gil = (uint32_t)sfb_cpython_gil_of(&s->gil_at, &p->cpython, &p->meter.memory, states, count);
    for (unsigned i = 0; i < count && !remote_python_meter_is_over(&p->meter); i++)
        read_state(s, p, states[i]);
    if (remote_python_meter_is_over(&p->meter) && s->count == 0)
        add_torn(s);
}

void remote_python_look(struct remote_python_stack *s, struct remote_python *p, pid_t tid)
{
    bool nested;

    s->count = 0;
    s->gil = SFB_CPYTHON_GIL_UNKNOWN;
    s->gil_at = 0;
    if (!p || !p->fits)
        return;
    remote_heap_refresh(p->heap);
    remote_python_read(s, p, remote_task_own_number(&nested, p->tasks, tid));
}

void remote_python_note_futex(struct remote_python_stack *s, uint64_t futex)
{
    if (sfb_cpython_gil_has(s->gil_at, futex))
        s->gil = SFB_CPYTHON_GIL_WAITED;
}

pid_t remote_python_gil_owner(struct remote_python *p, uint64_t gil)
{
    uint64_t state, native;

    if (!p->fits || !p->heap)
        return 0;
    remote_heap_refresh(p->heap);
    if (!sfb_cpython_gil_holder(&state, p->memory, gil) || state == 0 ||
        !sfb_memory_read(p->memory, state + p->cpython.layout->thread_native_id, &native) ||
        native > INT32_MAX)
        return 0;
    return (pid_t)native;
}

void remote_python_free(struct remote_python_stack *s)
{
    free(s->frames);
    free(s->texts);
}
