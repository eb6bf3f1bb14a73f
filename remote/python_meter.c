#include "remote/python_meter.h"

#include <string.h>

#include "base/memory.h"

enum { PAGE = 4096, PAGE_UNITS = 32 };

static bool read_word(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    struct remote_python_meter *m = memory->user;
    const uint64_t page = address / PAGE;
    uint64_t *lately = &m->pages[page % REMOTE_PYTHON_METER_PAGES];

    if (!remote_python_meter_take(m, *lately == page ? 1 : 1 + PAGE_UNITS))
        return false;
    *lately = page;
    return sfb_memory_read(m->of, address, out);
}

void remote_python_meter_read(struct remote_python_meter *m)
{
    m->read_units = REMOTE_PYTHON_READ_UNITS;
    m->read_frames = REMOTE_PYTHON_READ_FRAMES;
    m->read_texts = REMOTE_PYTHON_READ_TEXTS;
}

void remote_python_meter_look(struct remote_python_meter *m, struct sfb_memory *of)
{
    m->memory = (struct sfb_memory){ .read = read_word, .user = m };
    m->of = of;
    memset(m->pages, 0, sizeof m->pages);
    m->look_units = REMOTE_PYTHON_LOOK_UNITS;
    m->look_frames = REMOTE_PYTHON_LOOK_FRAMES;
}

/* @return false: fewer than that are left, and the look is over */
static bool take(struct remote_python_meter *m, uint64_t count, uint32_t *look, uint32_t *read)
{
    if (count > *look || count > *read) {
        m->look_units = 0;
        return false;
    }
    *look -= (uint32_t)count;
    *read -= (uint32_t)count;
    return true;
}

bool remote_python_meter_take(struct remote_python_meter *m, uint64_t units)
{
    return take(m, units, &m->look_units, &m->read_units);
}

bool remote_python_meter_take_frame(struct remote_python_meter *m)
{
    return take(m, 1, &m->look_frames, &m->read_frames);
}

bool remote_python_meter_take_text(struct remote_python_meter *m, size_t size)
{
    uint32_t look = UINT32_MAX;

    return take(m, size, &look, &m->read_texts);
}
