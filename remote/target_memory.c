#include "remote/target_memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "util/grow.h"

enum { RED_ZONE = 128 };

size_t remote_memory_read(pid_t pid, uint64_t address, void *out, size_t size)
{
    struct iovec to = { out, size };
    struct iovec from = { (void *)(uintptr_t)address,
                          size }; /* NOLINT(performance-no-int-to-ptr) */
    ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);

    return got > 0 ? (size_t)got : 0;
}

bool remote_memory_open(struct remote_memory *out, pid_t pid)
{
    *out = (struct remote_memory){ .pid = pid };
    out->pages = calloc(REMOTE_PAGES, sizeof *out->pages);
    return out->pages != NULL;
}

/* "55d0-55e0 r-xp 00001000 08:01 1234    /path" */
static bool parse_area(struct remote_area *out, const char *line)
{
    char *at;

    out->start = strtoull(line, &at, 16);
    if (*at != '-')
        return false;
    out->end = strtoull(at + 1, &at, 16);
    if (*at != ' ' || strlen(at) < 5)
        return false;
    out->executable = at[3] == 'x';
    return true;
}

bool remote_memory_refresh(struct remote_memory *m)
{
    char path[32], *line = NULL;
    size_t size = 0, room = 0;
    bool good = true;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)m->pid);
    maps = fopen(path, "re");
    if (!maps)
        return false;
    errno = ESRCH; /* without mappings */
    for (size_t i = 0; i < REMOTE_PAGES; i++)
        m->pages[i] = (struct remote_page){ .at = 0 };
    free(m->areas);
    m->areas = NULL;
    m->area_count = 0;
    while (good && getline(&line, &size, maps) > 0) {
        struct remote_area area;

        if (!parse_area(&area, line))
            continue;
        good = array_make_room(&m->areas, m->area_count, &room, sizeof *m->areas);
        if (good)
            m->areas[m->area_count++] = area;
    }
    free(line);
    fclose(maps);
    return good;
}

void remote_memory_close(struct remote_memory *memory)
{
    free(memory->pages);
    free(memory->words);
    free(memory->areas);
}

/* @return the mapping with an address; NULL: not mapped when they were read */
static const struct remote_area *find_area(const struct remote_memory *m, uint64_t address)
{
    size_t low = 0, high = m->area_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (m->areas[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->area_count && m->areas[low].start <= address ? &m->areas[low] : NULL;
}

static bool is_code(const struct remote_memory *m, uint64_t address)
{
    const struct remote_area *area = find_area(m, address);

    return area && area->executable;
}

bool remote_stack_reserve(struct remote_stack *stack, size_t size)
{
    uint8_t *more = size > stack->room ? realloc(stack->bytes, size) : stack->bytes;

    if (!more)
        return false;
    stack->bytes = more;
    stack->room = size > stack->room ? size : stack->room;
    return true;
}

bool remote_stack_copy(struct remote_stack *out, const struct remote_memory *memory, uint64_t sp,
                       size_t most)
{
    const uint64_t from = sp & ~(uint64_t)7;
    const struct remote_area *area = find_area(memory, from);

    /* At the inner end of a stack there may be no room below. */
    out->at = (from & (REMOTE_PAGE - 1)) >= RED_ZONE ? from - RED_ZONE
                                                     : from & ~(uint64_t)(REMOTE_PAGE - 1);
    out->size = area && area->end - out->at < most ? (size_t)(area->end - out->at) : most;
    if (!remote_stack_reserve(out, out->size)) {
        out->size = 0;
        return false;
    }
    out->size = remote_memory_read(memory->pid, out->at, out->bytes, out->size) & ~(size_t)7;
    return out->size > from - out->at;
}

/* Looks have many processes, which come and go, and few are read by pages: room for those is taken when it is needed. */
static bool has_words(struct remote_memory *m)
{
    if (!m->words)
        m->words = malloc(REMOTE_PAGES * sizeof *m->words);
    return m->words != NULL;
}

/* @return the page; NULL: not readable */
static const struct remote_page_words *find_page(struct remote_memory *m, uint64_t at, bool code)
{
    const size_t slot = at / REMOTE_PAGE % REMOTE_PAGES;
    struct remote_page *page = &m->pages[slot];

    if (!has_words(m))
        return NULL;
    if (page->at != at || (page->walk != 0 && page->walk != m->walk)) {
        page->at = at;
        page->is_there =
            remote_memory_read(m->pid, at, m->words[slot].word, REMOTE_PAGE) == REMOTE_PAGE;
    }
    page->walk = code ? 0 : m->walk;
    return page->is_there ? &m->words[slot] : NULL;
}

/* @return whether a copy has the word */
static bool read_copy(const struct remote_words *w, uint64_t address, uint64_t *out)
{
    for (unsigned i = 0; i < REMOTE_STACKS; i++) {
        const struct remote_stack *s = &w->stacks[i];

        if (address - s->at < s->size) {
            memcpy(out, s->bytes + (address - s->at), sizeof *out);
            return true;
        }
    }
    return false;
}

static bool read_word(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    struct remote_words *w = memory->user;
    const struct remote_page_words *page;
    bool code;

    if (address & 7)
        return false;
    if (read_copy(w, address, out))
        return true;
    code = is_code(w->target, address);
    if (!code && w->only_copy) {
        w->cut = address;
        return false;
    }
    page = find_page(w->target, address & ~(uint64_t)(REMOTE_PAGE - 1), code);
    if (!page)
        return false;
    w->more |= !code;
    *out = page->word[address % REMOTE_PAGE / sizeof *out];
    return true;
}

void remote_words_begin(struct remote_words *out, struct remote_memory *target,
                        const struct remote_stack *stacks, bool only_copy)
{
    *out = (struct remote_words){ .memory = { .read = read_word, .user = out },
                                  .target = target,
                                  .stacks = stacks,
                                  .only_copy = only_copy };
    if (++target->walk == 0)
        target->walk = 1;
}
