#include "remote/heap_memory.h"

#include <stdlib.h>
#include <string.h>

static bool read_word(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    struct remote_heap *heap = memory->user;
    const uint64_t at = address & ~(uint64_t)(REMOTE_PAGE - 1);
    const size_t slot = at / REMOTE_PAGE % REMOTE_HEAP_PAGES;
    struct remote_page *page = &heap->pages[slot];
    uint64_t *words = heap->words[slot].word;

    if ((address & 7) != 0 || at == 0)
        return false;
    if (page->at != at) {
        page->at = at;
        page->is_there = remote_memory_read(heap->pid, at, words, REMOTE_PAGE) == REMOTE_PAGE;
    }
    *out = page->is_there ? words[address % REMOTE_PAGE / sizeof *out] : 0;
    return page->is_there;
}

struct remote_heap *remote_heap_open(pid_t pid)
{
    struct remote_heap *heap = malloc(sizeof *heap); /* most of it is never used: not zeroed */

    if (heap) {
        memset(heap->pages, 0, sizeof heap->pages);
        heap->pid = pid;
        heap->memory = (struct sfb_memory){ .read = read_word, .user = heap };
    }
    return heap;
}

void remote_heap_refresh(struct remote_heap *heap)
{
    for (unsigned i = 0; i < REMOTE_HEAP_PAGES; i++)
        heap->pages[i].at = 0;
}
