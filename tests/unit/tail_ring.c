/* The ring of outermost frames at the end of a buffer. */
#include "unwind/capture/tail_ring.h"
#include "sfb/cbf.h"
#include "support/test.h"

Test(tail_ring, keeps_the_last_frames_in_order)
{
    uint8_t buffer[400];

    for (unsigned wanted = 1; wanted <= 12; wanted++) {
        for (unsigned pushed = 0; pushed <= 40; pushed++) {
            struct sfb_tail_ring o;
            unsigned kept = pushed < wanted ? pushed : wanted;

            sfb_tail_ring_init(&o, buffer, sizeof buffer, wanted);
            cr_assert(eq(sz, o.capacity, wanted));
            for (unsigned i = 0; i < pushed; i++) {
                sfb_tail_ring_push(&o, i % 2 ? SFB_FRAME_RA : SFB_FRAME_PC,
                                   (enum sfb_source)(i % SFB_SOURCE_COUNT),
                                   0xffff000000000000u + i);
            }
            sfb_tail_ring_linearise(&o);
            cr_assert(eq(sz, sfb_tail_ring_kept(&o), kept));
            for (unsigned i = 0; i < kept; i++) {
                struct sfb_tail_frame f = sfb_tail_ring_get(&o, i);
                unsigned n = pushed - kept + i;

                cr_assert(eq(u64, f.address, 0xffff000000000000u + n));
                cr_assert(eq(int, f.kind, n % 2 ? SFB_FRAME_RA : SFB_FRAME_PC));
                cr_assert(eq(int, f.source, (int)(n % SFB_SOURCE_COUNT)));
            }
        }
    }
}

Test(tail_ring, takes_at_most_half_of_any_buffer_and_leaves_room_for_the_omit)
{
    uint8_t buffer[300];

    for (size_t size = SFB_CBF_SIZE_MIN; size <= sizeof buffer; size++) {
        struct sfb_tail_ring o;
        size_t inner = sfb_tail_ring_init(&o, buffer, size, 1000);

        cr_expect(le(sz, o.capacity * SFB_CBF_FRAME_SIZE_MAX, size / 2), "%zu", size);
        cr_expect(ge(sz, inner, SFB_CBF_SIZE_MIN), "%zu", size);
        if (o.capacity == 0)
            cr_expect(eq(sz, inner, size));
        else
            cr_expect(
                eq(sz, inner + SFB_CBF_FRAME_SIZE_MAX + o.capacity * SFB_CBF_FRAME_SIZE_MAX, size));
        cr_expect(eq(ptr, o.ring + o.capacity * SFB_CBF_FRAME_SIZE_MAX, buffer + size));
    }
}
