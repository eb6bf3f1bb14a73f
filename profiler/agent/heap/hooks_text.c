/*
 * strdup() and strndup(). The C library's call malloc(), which is ours, so they are passed on. An allocator's own
 * (mimalloc) call its malloc() directly, past our hooks: these are replaced by ours.
 */
#include "profiler/agent/heap/hooks_text.h"

#include <string.h>

#include "profiler/agent/heap/next.h"

static char *copy(const char *text, size_t length, SFB_HEAP_CALLER)
{
    char *copied = sfb_heap_malloc(length + 1, pc, sp, fp);

    if (!copied)
        return NULL;
    copied[length] = '\0';
    return memcpy(copied, text, length);
}

char *sfb_heap_strdup(const char *text, SFB_HEAP_CALLER)
{
    if (!sfb_heap_next.has_strdup)
        return sfb_heap_next.strdup(text);
    return copy(text, strlen(text), pc, sp, fp);
}

char *sfb_heap_strndup(const char *text, size_t most, SFB_HEAP_CALLER)
{
    if (!sfb_heap_next.has_strdup)
        return sfb_heap_next.strndup(text, most);
    return copy(text, strnlen(text, most), pc, sp, fp);
}
