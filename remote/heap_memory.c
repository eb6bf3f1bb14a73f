#include "remote/heap_memory.h"

#include <stdlib.h>

static bool read_word(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    struct remote_heap *heap = memory->user;
    const uint64_t at = address & ~(uint64_t)(REMOTE_PAGE - 1);
    struct remote_page *page = &heap->pages[at / REMOTE_PAGE % REMOTE_HEAP_PAGES];

    if ((address & 7) != 0 || at == 0)
        return false;
    if (page->at != at) {
        page->at = at;
        page->is_there = remote_memory_read(heap->pid, at, page->word, REMOTE_PAGE) == REMOTE_PAGE;
    }
    *out = page->word[address % REMOTE_PAGE / sizeof *out];
    return page->is_there;
}

struct remote_heap *remote_heap_open(pid_t pid)
{
    struct remote_heap *heap = calloc(1, sizeof *heap);

    if (heap) {
        heap->pid = pid;
        heap->memory = (struct sfb_memory){ .read = read_word, .user = heap };
    }
    return heap;
}

void remote_heap_refresh(struct remote_heap *heap)
{
    for (unsigned i = 0; i < REMOTE_HEAP_PAGES; i++)
        if (heap->pages[i].at != 0) /* one that is not written takes no memory */
            heap->pages[i].at = 0;
}
