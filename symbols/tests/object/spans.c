/* Which of many ranges an address is in. */
#include "symbols/spans.h"

#include <stdlib.h>

#include "support/test.h"

enum { SPACE = 64 };

/* What spans.h says, looked for in all ranges. */
static uint32_t search(const struct object_range *ranges, size_t count, uint64_t address,
                       enum object_overlap overlap)
{
    const struct object_range *best = NULL;

    for (size_t i = 0; i < count; i++)
        if (ranges[i].start <= address && address < ranges[i].end &&
            (!best || (overlap == OBJECT_LOWEST_ID ? ranges[i].id < best->id
                                                   : ranges[i].start >= best->start)))
            best = &ranges[i];
    return best ? best->id : OBJECT_NO_SPAN;
}

Test(spans, agree_with_a_search_through_all_ranges)
{
    unsigned seed = 1;

    for (int round = 0; round < 20000; round++) {
        const enum object_overlap overlap = round % 2 ? OBJECT_LAST_START : OBJECT_LOWEST_ID;
        struct object_range all[12];
        struct object_ranges ranges = { NULL, 0, 0 };
        struct object_spans spans;
        size_t count = (size_t)(rand_r(&seed) % 13);

        for (size_t i = 0; i < count; i++) {
            all[i].start = (uint64_t)(rand_r(&seed) % SPACE);
            all[i].end = (uint64_t)(rand_r(&seed) % SPACE);
            all[i].id = (uint32_t)(rand_r(&seed) % 8);
            cr_assert(object_ranges_add(&ranges, all[i].start, all[i].end, all[i].id));
        }
        cr_assert(object_spans_make(&spans, &ranges, overlap));
        cr_assert(spans.count <= 2 * count);
        for (uint64_t address = 0; address < SPACE; address++)
            cr_assert(object_spans_find(&spans, address) == search(all, count, address, overlap),
                      "round %d, address %d", round, (int)address);
        object_spans_free(&spans);
    }
}

Test(spans, reach_the_last_address)
{
    struct object_ranges ranges = { NULL, 0, 0 };
    struct object_spans spans;

    cr_assert(object_ranges_add(&ranges, 5, UINT64_MAX, 7));
    cr_assert(object_spans_make(&spans, &ranges, OBJECT_LAST_START));
    cr_expect(object_spans_find(&spans, 4) == OBJECT_NO_SPAN);
    cr_expect(object_spans_find(&spans, 5) == 7);
    cr_expect(object_spans_find(&spans, UINT64_MAX - 1) == 7);
    cr_expect(object_spans_find(&spans, UINT64_MAX) == OBJECT_NO_SPAN);
    object_spans_free(&spans);
}
