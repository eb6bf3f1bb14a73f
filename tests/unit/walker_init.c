/* What the walker's front door takes. */
#include "sfb/walk.h"
#include "support/test.h"

Test(walker_init, judges_its_arguments)
{
    struct sfb_context start = { .valid = 0 };
    const struct sfb_walker_options options = { .size = sizeof options };
    struct sfb_walker_options bad = options;
    struct sfb_walker w;

    cr_expect(eq(int, sfb_walker_init(NULL, &start, SFB_FRAME_PC, &options), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_walker_init(&w, NULL, SFB_FRAME_PC, &options), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_OMIT, &options), SFB_BAD_ARGUMENT));
    bad.size = 3;
    cr_expect(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &bad), SFB_NO_SIZE));
    bad = options;
    bad.flags = 0x80;
    cr_expect(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &bad), SFB_BAD_ARGUMENT));
}
