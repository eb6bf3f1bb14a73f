#include "profiler/agent/python/python_memory.h"

#include "base/memory.h"
#include "unwind/process/pages.h"

static uint64_t *slot_of(struct sfb_python_pages *pages, uint64_t page)
{
    return &pages->page[(page ^ page >> 8) % SFB_PYTHON_PAGES];
}

static bool read_word(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    const uint64_t page = address / SFB_PAGE_SIZE;
    uint64_t *slot = slot_of(memory->user, page);

    if ((address & 7) != 0 || page == 0)
        return false;
    if (*slot != page) {
        if (!sfb_page_probe(address))
            return false;
        *slot = page;
    }
    /* What follows is mostly on the same page: plain loads. */
    memory->lo = page * SFB_PAGE_SIZE;
    memory->hi = memory->lo + SFB_PAGE_SIZE;
    *out = sfb_load(address);
    return true;
}

void sfb_python_memory(struct sfb_memory *out, struct sfb_python_pages *pages)
{
    *out = (struct sfb_memory){ .read = read_word, .user = pages };
}

void sfb_python_forget(struct sfb_memory *memory, uint64_t address)
{
    const uint64_t page = address / SFB_PAGE_SIZE;
    uint64_t *slot = slot_of(memory->user, page);

    memory->lo = memory->hi = 0;

    if (*slot == page)
        *slot = 0;
}
