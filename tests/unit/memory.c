/* What is read of a broken address space: all that can be, nothing that cannot. */
#include <errno.h>
#include <string.h>

#include "support/guarded.h"
#include "support/test.h"
#include "unwind/process/live_memory.h"

Test(memory, probe_tells_what_is_readable)
{
    struct guarded g = guarded_new(4096);
    uint64_t end = (uintptr_t)g.end;
    static const char constant[] = "read-only";

    errno = 77;
    cr_expect(sfb_pages_probe(end - 4096, 4096));
    cr_expect(sfb_pages_probe(end - 1, 1));
    cr_expect(not(sfb_pages_probe(end, 1)), "PROT_NONE");
    cr_expect(not(sfb_pages_probe(end - 1, 2)), "one byte too far");
    cr_expect(not(sfb_pages_probe(0, 8)), "the zero page");
    cr_expect(not(sfb_pages_probe(0x8000000000000000u, 8)), "not canonical");
    cr_expect(not(sfb_pages_probe(0xffffffff81000000u, 8)), "the kernel's");
    cr_expect(not(sfb_pages_probe(~(uint64_t)0, 8)), "wraps");
    cr_expect(sfb_pages_probe((uintptr_t)constant, sizeof constant), "read-only");
    cr_expect(sfb_pages_probe(~(uint64_t)0, 0), "no bytes");
    cr_expect(eq(int, errno, 77), "errno is the program's");
}

Test(memory, live_reads_up_to_the_guard_page_and_not_on)
{
    struct guarded g = guarded_new(2 * 4096);
    uint64_t end = (uintptr_t)g.end, sp = end - 3 * 4096 + 64, word = 0;
    volatile uint64_t low = 8; /* gcc would warn of a load from a constant address */
    struct sfb_memory m;

    memset(g.map, 0x5a, (size_t)(g.end - g.map));
    sfb_memory_live(&m, sp, false);
    for (uint64_t a = sp & ~7ull; a < end; a += 8)
        cr_assert(sfb_memory_read(&m, a, &word));
    cr_expect(eq(u64, word, 0x5a5a5a5a5a5a5a5a));
    cr_expect(eq(u64, m.hi, end), "what was probed is known from then on");
    cr_expect(not(sfb_memory_read(&m, end, &word)));
    cr_expect(not(sfb_memory_read(&m, low, &word)));
    cr_expect(not(sfb_memory_read(&m, 0x8000000000000000u, &word)));
}

Test(memory, live_does_not_believe_a_contexts_sp)
{
    struct guarded g = guarded_new(4096);
    struct sfb_memory m;
    uint64_t word;

    sfb_memory_live(&m, (uintptr_t)g.end + 16, false);
    cr_expect(eq(u64, m.lo, m.hi));
    cr_expect(not(sfb_memory_read(&m, (uintptr_t)g.end + 16, &word)));
}

Test(memory, copy_takes_any_alignment_and_stops_at_the_guard_page)
{
    struct guarded g = guarded_new(64);
    uint8_t bytes[64], out[64];
    struct sfb_memory m;

    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    guarded_copy(&g, bytes, sizeof bytes);
    sfb_memory_probed(&m);
    for (uint64_t from = 1; from <= sizeof bytes; from++) {
        for (uint64_t n = 0; n <= from; n++) {
            memset(out, 0xee, sizeof out);
            cr_assert(sfb_memory_copy(&m, (uintptr_t)g.end - from, out, n));
            cr_assert(eq(int, memcmp(out, bytes + sizeof bytes - from, n), 0));
            cr_assert(n == sizeof out || out[n] == 0xee);
        }
        cr_assert(not(sfb_memory_copy(&m, (uintptr_t)g.end - from, out, from + 1)));
    }
}
