/*
 * The chain of frames, innermost first.
 *
 * 3.11: state -> _PyCFrame (on the C stack) -> current_frame -> previous ... A run ends at a frame with is_entry whose
 * `previous` is the next _PyCFrame's current_frame. is_entry alone is not enough: a generator keeps it from its last
 * start, and generator.throw() chains one without a start.
 *
 * 3.12 and later: state -> frame -> previous ... shim, a frame on the C stack -> previous ...
 *
 * The innermost end may be torn where a signal interrupts a push or a pop. A frame counts if its code object is one.
 */
#include "unwind/runtime/cpython_frames.h"

#include "base/memory.h"

static bool read_word(const struct sfb_cpython_walk *w, uint64_t address, uint64_t *out)
{
    return (address & 7) == 0 && sfb_memory_read(w->memory, address, out);
}

static bool read_byte(const struct sfb_cpython_walk *w, uint64_t address, uint8_t *out)
{
    uint64_t word;

    if (!read_word(w, address & ~(uint64_t)7, &word))
        return false;
    *out = (uint8_t)(word >> 8 * (address & 7));
    return true;
}

void sfb_cpython_walk_begin(struct sfb_cpython_walk *out, const struct sfb_cpython *cpython,
                            struct sfb_memory *memory, uint64_t state)
{
    const struct sfb_cpython_layout *l = cpython->layout;
    uint64_t start = 0;

    *out = (struct sfb_cpython_walk){ .cpython = cpython, .memory = memory };
    out->torn = !read_word(out, state + l->thread_frame, &start);
    if (out->torn || start == 0)
        return;
    out->cframe = l->by_cframe ? start : 0;
    if (l->by_cframe)
        out->torn = !read_word(out, start + l->cframe_current, &out->frame);
    else
        out->frame = start;
}

/*
 * Tells whether a reference count is of an object that lives. CPython's allocator keeps a link in the count's place when
 * it takes an object back, and leaves the type: an address of its arenas has some of these bits. 3.14 has flags above them.
 */
static bool is_living(uint64_t count)
{
    return (uint32_t)count != 0 && (count >> 32 & 0xffff) == 0;
}

/* Tells whether a pointer is of a code object that lives. */
static bool is_code(const struct sfb_cpython_walk *w, uint64_t code)
{
    uint64_t type, count;

    return code != 0 && read_word(w, code + SFB_CPYTHON_OBJECT_TYPE, &type) &&
           type == w->cpython->place.code_type && read_word(w, code, &count) && is_living(count);
}

static enum sfb_cpython_event tear(struct sfb_cpython_walk *w)
{
    w->torn = true;
    return SFB_CPYTHON_TORN;
}

/*
 * 3.11: behind an entry frame.
 *
 * @param next  the _PyCFrame before this one's
 * @return whether the run of this _PyCFrame ends there
 */
static bool is_run_end(const struct sfb_cpython_walk *w, uint64_t *next)
{
    uint64_t outer;

    return w->cframe != 0 && read_word(w, w->cframe + w->cpython->layout->cframe_previous, next) &&
           read_word(w, *next + w->cpython->layout->cframe_current, &outer) && outer == w->frame;
}

static enum sfb_cpython_event end_run_of_cframe(struct sfb_cpython_walk *w,
                                                struct sfb_cpython_frame *out)
{
    out->anchor = w->cframe;
    w->cframe = w->next_cframe;
    w->at_run = false;
    w->pending = false;
    return SFB_CPYTHON_RUN;
}

/* Brent's: the mark moves on at each power of two. */
static bool is_circle(struct sfb_cpython_walk *w)
{
    if (w->frame == w->mark || w->given == SFB_CPYTHON_FRAMES_MAX)
        return true;
    if ((w->given & (w->given - 1)) == 0)
        w->mark = w->frame;
    w->given++;
    return false;
}

static enum sfb_cpython_event give_frame(struct sfb_cpython_walk *w, struct sfb_cpython_frame *out)
{
    const struct sfb_cpython_layout *l = w->cpython->layout;
    uint64_t code, instruction, previous, offset;
    uint8_t entry = 0;

    /* All of the frame first, then of the code: a policy may know the page that it read last. */
    if (!read_word(w, w->frame + l->frame_code, &code) ||
        !read_word(w, w->frame + l->frame_instruction, &instruction) ||
        !read_word(w, w->frame + l->frame_previous, &previous))
        return tear(w);
    if (l->tie == SFB_CPYTHON_CFRAME &&
        (!read_byte(w, w->frame + l->frame_is_entry, &entry) || entry > 1))
        return tear(w);
    code &= ~(uint64_t)l->tag_bits;
    if (!is_code(w, code))
        return tear(w);
    offset = instruction - (code + l->code_instructions);
    out->address = w->frame;
    out->code = code;
    out->instruction = offset < INT32_MAX ? (uint32_t)offset : SFB_CPYTHON_BEFORE;
    w->frame = previous;
    w->pending = true;
    w->at_run = entry != 0 && is_run_end(w, &w->next_cframe);
    return SFB_CPYTHON_FRAME;
}

enum sfb_cpython_event sfb_cpython_walk_next(struct sfb_cpython_walk *w,
                                             struct sfb_cpython_frame *out)
{
    const struct sfb_cpython_layout *l = w->cpython->layout;
    uint64_t shim;
    uint8_t owner;

    if (w->torn)
        return SFB_CPYTHON_TORN;
    if (w->at_run)
        return end_run_of_cframe(w, out);
    if (w->frame == 0)
        return w->pending ? tear(w) : SFB_CPYTHON_END;
    if (is_circle(w))
        return tear(w);
    if (l->tie == SFB_CPYTHON_CFRAME)
        return give_frame(w, out);
    if (!read_byte(w, w->frame + l->frame_owner, &owner))
        return tear(w);
    if (owner < l->shim_owner)
        return give_frame(w, out);
    shim = w->frame;
    if (!read_word(w, shim + l->frame_previous, &w->frame))
        return tear(w);
    out->anchor = shim;
    w->pending = false;
    return SFB_CPYTHON_RUN;
}
