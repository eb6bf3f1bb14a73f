#include "cli/heap_overruns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stack_print.h"
#include "symbols/image_modules.h"

static bool begin(void *user, const uint64_t numbers[SFB_LIVE_BEGIN_NUMBERS], const char *path)
{
    const struct heap_overruns *o = user;

    return !o->next || !o->next->begin || o->next->begin(o->next->user, numbers, path);
}

static bool list(void *user, uint64_t number, uint64_t time, const void *map, size_t size)
{
    struct heap_overruns *o = user;

    free(o->map);
    o->map = malloc(size > 0 ? size : 1);
    o->size = o->map ? size : 0;
    if (o->map && size > 0)
        memcpy(o->map, map, size);
    return !o->next || !o->next->list || o->next->list(o->next->user, number, time, map, size);
}

static void print_frames(struct heap_overruns *o, const void *cbf, size_t size)
{
    const struct stack_print print = { o->symbols, o->names };
    struct image_modules images = { .count = 0 };
    struct backtraces b = { .flags = SFB_CBF_STREAM, .quiet = true };
    struct sfb_error error;

    b.input.name = "a stack";
    b.input.data = malloc(size);
    if (!b.input.data)
        return;
    memcpy(b.input.data, cbf, size);
    b.input.size = size;
    if (o->size > 0)
        image_modules_read(&images, o->map, o->size, &error);
    symbols_use_modules(o->symbols, images.modules, images.count);
    if (backtraces_next(&b) == SFB_OK)
        stack_print(&print, &b, false, NULL);
    symbols_use_modules(o->symbols, NULL, 0); /* they are not borrowed any longer */
    image_modules_free(&images);
    backtraces_close(&b);
}

static bool stack(void *user, const void *cbf, size_t size,
                  const uint64_t numbers[SFB_LIVE_STACK_NUMBERS])
{
    struct heap_overruns *o = user;
    const uint64_t live = numbers[SFB_LIVE_STACK_OVERRUNS],
                   freed = numbers[SFB_LIVE_STACK_OVERRUNS_FREED];

    if (live + freed > 0) {
        printf("overrun: %lu live and %lu freed blocks, which were allocated at\n",
               (unsigned long)live, (unsigned long)freed);
        o->stacks++;
        o->exit_status = TOOL_BAD_DATA;
        if (o->symbols)
            print_frames(o, cbf, size);
        putchar('\n');
    }
    return !o->next || !o->next->stack || o->next->stack(o->next->user, cbf, size, numbers);
}

static bool print_stack(void *user, const void *cbf, size_t size,
                        const uint64_t numbers[SFB_LIVE_STACK_NUMBERS])
{
    if (numbers[SFB_LIVE_STACK_BLOCKS] > 0)
        print_frames(user, cbf, size);
    return true;
}

static bool end(void *user, const uint64_t numbers[SFB_LIVE_END_NUMBERS])
{
    const struct heap_overruns *o = user;

    return !o->next || !o->next->end || o->next->end(o->next->user, numbers);
}

void heap_overruns_begin(struct heap_overruns *out, struct symbols *symbols,
                         enum object_name_style names, const struct sfb_live_visitor *next,
                         struct sfb_live_visitor *visitor)
{
    *out = (struct heap_overruns){ .symbols = symbols, .names = names, .next = next };
    *visitor = (struct sfb_live_visitor){
        .user = out, .begin = begin, .list = list, .stack = stack, .end = end
    };
}

void heap_overruns_begin_all(struct heap_overruns *out, struct symbols *symbols,
                             enum object_name_style names, struct sfb_live_visitor *visitor)
{
    heap_overruns_begin(out, symbols, names, NULL, visitor);
    visitor->stack = print_stack;
}

void heap_overruns_end(struct heap_overruns *o)
{
    free(o->map);
    o->map = NULL;
}
