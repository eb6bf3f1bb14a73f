#include "profiler/tests/report_formats/heap_run.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/tests/report/made_heap.h"
#include "support/test.h"

enum { EVENTS = 20000, SITES = 6, SIZES = 40, BLOCKS = EVENTS };

static struct block {
    uint32_t site;
    uint64_t size;
} blocks[BLOCKS];

static const uint64_t *callers_of(unsigned site)
{
    static uint64_t callers[SITES][3];

    for (unsigned i = 0; i < 3; i++)
        callers[site][i] = made_inside(site >> i & 1 ? report_inner : report_outer) + 1;
    return callers[site];
}

static void begin(void)
{
    made_begin();
    made_own_modules();
    made_heap_begin(0, 0);
    for (unsigned i = 0; i < SITES; i++)
        made_heap_site(i + 1, 1, made_stack(made_inside(report_outer), callers_of(i), 3, false));
}

/* Temporary is what is freed by the event behind its allocation; heaptrack tells blocks of one stack and size not apart. */
void heap_run_write(unsigned seed, struct heap_truth *t)
{
    size_t count = 0;
    struct block last = { 0, 0 };
    bool was_allocated = false;

    memset(t, 0, sizeof *t);
    srandom(seed);
    begin();
    for (size_t i = 0; i < EVENTS; i++) {
        const uint64_t ms = i * 3000 / EVENTS;
        const bool frees = count > 0 && random() % 100 < 48;
        /* The newest, or any. */
        const size_t at = frees && random() % 2 ? count - 1 : (size_t)random() % (count + !count);
        struct block b = { 1 + (uint32_t)random() % SITES, (uint64_t)(random() % SIZES * 24) };

        if (frees) {
            b = blocks[at];
            blocks[at] = blocks[--count];
            t->temporary += was_allocated && b.site == last.site && b.size == last.size;
            t->live_bytes -= b.size;
        } else {
            blocks[count++] = b;
            t->allocations++;
            t->allocated_bytes += b.size;
            t->live_bytes += b.size;
            if (t->live_bytes > t->peak_bytes)
                t->peak_bytes = t->live_bytes;
        }
        made_heap_events(b.site, ms, b.size, 1, frees);
        last = b;
        was_allocated = !frees;
    }
    t->live_blocks = count;
    made_end("exit");
}
