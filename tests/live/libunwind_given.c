/* A walk steps with the libunwind that its modules give it, and with no other. */
#include "sfb/walk.h"
#include "support/odd_capture.h"
#include "unwind/process/loader.h"

static struct seen {
    enum sfb_status end;
    unsigned steps; /* by libunwind */
    uint8_t missed; /* why libunwind had no answer for the last frame */
} with, without;

static void walk(const void *ucontext, const struct sfb_libunwind *given, struct seen *out)
{
    struct sfb_modules modules = *sfb_modules_live(false);
    struct sfb_walker_options options = { .size = sizeof options, .modules = &modules };
    struct sfb_context start;
    struct sfb_walker walker;
    struct sfb_frame frame;

    modules.libunwind = given;
    sfb_context_from_ucontext(&start, ucontext);
    out->end = sfb_walker_init(&walker, &start, SFB_FRAME_PC, &options);
    while (out->end == SFB_OK && (out->end = sfb_walker_next(&walker, &frame)) == SFB_OK)
        out->steps += frame.source == SFB_SOURCE_LIBUNWIND;
    out->missed = sfb_walker_frame(&walker)->missed[SFB_SOURCE_LIBUNWIND];
}

static void look(const void *ucontext)
{
    walk(ucontext, sfb_libunwind_loaded(), &with);
    walk(ucontext, NULL, &without);
}

Test(libunwind_given, steps_for_the_modules_that_have_it)
{
    odd_look = look;
    cr_expect(eq(u32, odd_capture()->by_source[SFB_SOURCE_LIBUNWIND], 1));
    cr_expect(eq(u32, with.steps, 1));
    cr_expect(eq(int, with.end, SFB_END), "%s", sfb_status_str(with.end));
    cr_expect(eq(u32, without.steps, 0));
    cr_expect(ne(int, without.end, SFB_END));
    cr_expect(eq(int, without.missed, SFB_NO_LIBUNWIND));
}
