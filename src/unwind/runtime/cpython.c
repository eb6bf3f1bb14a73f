#include "unwind/runtime/cpython.h"

#include "base/memory.h"

enum {
    THREADS_MAX = 65536, /* of all interpreters: a circle ends there */
    INTERPRETERS_MAX = 1024
};

const char *sfb_cpython_fit_str(enum sfb_cpython_fit fit)
{
    switch (fit) {
    case SFB_CPYTHON_FITS: return "";
    case SFB_CPYTHON_NOT_STARTED: return "it has no interpreter yet";
    case SFB_CPYTHON_UNKNOWN_VERSION: return "frames of 3.11 to 3.14 are known";
    case SFB_CPYTHON_FREE_THREADED: return "frames of builds without the GIL are not known";
    case SFB_CPYTHON_OTHER_LAYOUT: return "its structures do not fit the table of this version";
    case SFB_CPYTHON_UNREADABLE: return "its memory could not be read";
    }
    return "unknown";
}

static bool read32(struct sfb_memory *memory, uint64_t address, uint32_t *out)
{
    return sfb_memory_copy(memory, address, out, sizeof *out);
}

/* "xdebugpy", version, free_threaded, and then the offsets themselves, of which the table has some. */
static enum sfb_cpython_fit check_debug_offsets(const struct sfb_cpython *c,
                                                struct sfb_memory *memory)
{
    static const char cookie[8] = { 'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y' };
    uint64_t word, wanted = 0;

    for (unsigned i = 0; i < sizeof cookie; i++)
        wanted |= (uint64_t)(uint8_t)cookie[i] << 8 * i;
    if (!sfb_memory_read(memory, c->place.runtime, &word))
        return SFB_CPYTHON_UNREADABLE;
    if (word != wanted || !sfb_memory_read(memory, c->place.runtime + 8, &word) ||
        word != c->version || !sfb_memory_read(memory, c->place.runtime + 16, &word))
        return SFB_CPYTHON_OTHER_LAYOUT;
    if (word != 0)
        return SFB_CPYTHON_FREE_THREADED;
    for (unsigned i = 0; i < SFB_CPYTHON_DEBUG_MAX && c->layout->debug[i].value != 0; i++)
        if (!sfb_memory_read(memory, c->place.runtime + 8u * c->layout->debug[i].index, &word) ||
            word != c->layout->debug[i].value)
            return SFB_CPYTHON_OTHER_LAYOUT;
    return SFB_CPYTHON_FITS;
}

/* Pointers that must lead back: from an interpreter to the runtime, and from its first thread to it. */
static enum sfb_cpython_fit check_links(const struct sfb_cpython *c, struct sfb_memory *memory)
{
    const struct sfb_cpython_layout *l = c->layout;
    uint64_t interpreter, thread, back;

    if (!sfb_memory_read(memory, c->place.runtime + l->runtime_interpreters, &interpreter))
        return SFB_CPYTHON_UNREADABLE;
    if (interpreter == 0)
        return SFB_CPYTHON_NOT_STARTED;
    if (l->interpreter_runtime != 0 &&
        (!sfb_memory_read(memory, interpreter + l->interpreter_runtime, &back) ||
         back != c->place.runtime))
        return SFB_CPYTHON_OTHER_LAYOUT;
    if (!sfb_memory_read(memory, interpreter + l->interpreter_threads, &thread))
        return SFB_CPYTHON_OTHER_LAYOUT;
    if (thread == 0)
        return SFB_CPYTHON_NOT_STARTED;
    if (!sfb_memory_read(memory, thread + l->thread_interpreter, &back) || back != interpreter)
        return SFB_CPYTHON_OTHER_LAYOUT;
    return SFB_CPYTHON_FITS;
}

enum sfb_cpython_fit sfb_cpython_attach(struct sfb_cpython *out, struct sfb_memory *memory,
                                        const struct sfb_cpython_place *place)
{
    struct sfb_cpython c = { .place = *place };
    enum sfb_cpython_fit fit = SFB_CPYTHON_FITS;

    out->version = 0;
    if (!read32(memory, place->version, &c.version))
        return SFB_CPYTHON_UNREADABLE;
    out->version = c.version;
    c.layout = sfb_cpython_layout(c.version);
    if (!c.layout)
        return SFB_CPYTHON_UNKNOWN_VERSION;
    if (c.layout->debug[0].value != 0)
        fit = check_debug_offsets(&c, memory);
    if (fit == SFB_CPYTHON_FITS)
        fit = check_links(&c, memory);
    if (fit == SFB_CPYTHON_FITS)
        *out = c;
    return fit;
}

/* --- Threads -------------------------------------------------------------------------------------- */

bool sfb_cpython_is_of(const struct sfb_cpython *c, struct sfb_memory *memory, uint64_t state,
                       uint64_t native_id)
{
    uint64_t id;

    return sfb_memory_read(memory, state + c->layout->thread_native_id, &id) && id == native_id;
}

unsigned sfb_cpython_states(uint64_t out[SFB_CPYTHON_STATES], const struct sfb_cpython *c,
                            struct sfb_memory *memory, uint64_t native_id)
{
    const struct sfb_cpython_layout *l = c->layout;
    uint64_t interpreter = 0, thread;
    unsigned count = 0, threads = 0;

    if (!sfb_memory_read(memory, c->place.runtime + l->runtime_interpreters, &interpreter))
        return 0;
    for (unsigned i = 0; interpreter != 0 && i < INTERPRETERS_MAX; i++) {
        if (!sfb_memory_read(memory, interpreter + l->interpreter_threads, &thread))
            break;
        for (; thread != 0 && threads < THREADS_MAX; threads++) {
            if (count < SFB_CPYTHON_STATES && sfb_cpython_is_of(c, memory, thread, native_id))
                out[count++] = thread;
            if (!sfb_memory_read(memory, thread + l->thread_next, &thread))
                break;
        }
        if (!sfb_memory_read(memory, interpreter + l->interpreter_next, &interpreter))
            break;
    }
    return count;
}
