/*
 * A program without shared libraries. Linked with -static it has no .eh_frame_hdr, so that its
 * .eh_frame cannot be searched, and .sframe only where it was assembled with --gsframe: who looks
 * for tables is told which of them are missing, and what is guessed is marked. With -static-pie it
 * has .eh_frame_hdr.
 *
 * A plain program, because the test framework is no static library. SFRAME, EH_FRAME: it has them.
 */
#include <stdio.h>

#include <string.h>

#include "sfb/image_map.h"
#include "sfb/walk.h"
#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "unwind/machine/arch.h"

enum { DEPTH = 8 };

static unsigned failures;
static volatile int sink;

static void expect(bool good, const char *what)
{
    if (!good) {
        printf("static_program: %s\n", what);
        failures++;
    }
}

/* Frames of our own: from the table, or by frame pointers and with the reason why not by a table.
 */
static void judge(const struct sfb_frame *frame, bool first)
{
    if (SFRAME) {
        expect(frame->source == SFB_SOURCE_SFRAME, "a frame that is not by .sframe");
        return;
    }
    if (EH_FRAME) {
        expect(frame->source == SFB_SOURCE_EH_FRAME, "a frame that is not by .eh_frame");
        return;
    }
    /* walk() has so many locals that old return addresses are among them; frame records lie below them. */
    expect(frame->source == SFB_SOURCE_FRAME_POINTER ||
               ((first || SFB_ARCH_FRAME_RECORDS) && frame->source == SFB_SOURCE_UNPROVEN),
           "a frame that is not by frame pointers");
    /* Behind a frame record sp is not known, and no row is asked for. */
    expect(frame->missed[SFB_SOURCE_SFRAME] == SFB_NO_SECTION ||
               (SFB_ARCH_FRAME_RECORDS && frame->missed[SFB_SOURCE_SFRAME] == SFB_OK),
           "why not by .sframe");
    expect(frame->missed[SFB_SOURCE_EH_FRAME] == SFB_NO_EH_FRAME, "why not by .eh_frame");
}

NOINLINE static void walk(void)
{
    const struct sfb_walker_options options = { .size = sizeof options,
                                                .flags = SFB_WALKER_NO_LIBUNWIND };
    const enum sfb_status want = SFRAME ? SFB_NO_FDE : SFB_NO_SECTION;
    struct sfb_context start;
    struct sfb_walker w;
    struct sfb_frame frame;
    enum sfb_status status;
    unsigned frames = 0;

    sfb_context_capture(&start);
    expect(sfb_walker_init(&w, &start, SFB_FRAME_RA, &options) == SFB_OK, "a walker");
    status = sfb_walker_next(&w, &frame);
    for (; status == SFB_OK && frames < 100; frames++) {
        status = sfb_walker_next(&w, &frame);
        if (status == SFB_OK && frames < DEPTH)
            judge(&frame, frames == 0);
    }
    expect(frames > DEPTH, "fewer frames than there are calls");
    /* On AArch64 frame records lead through libc, too. */
    expect(status == SFB_END || (!EH_FRAME && (status == want || status == SFB_UNPROVEN_END)),
           sfb_status_str(status));
    if (status == want) {
        expect(sfb_walker_frame(&w)->missed[SFB_SOURCE_SFRAME] == want,
               "at the end: why not by .sframe");
        expect(sfb_walker_frame(&w)->missed[SFB_SOURCE_EH_FRAME] == SFB_NO_EH_FRAME,
               "at the end: why not by .eh_frame");
        expect(sfb_walker_frame(&w)->missed[SFB_SOURCE_FRAME_POINTER] != SFB_OK,
               "at the end: why not by fp");
    }
    printf("static_program: %u frames, then: %s\n", frames, sfb_status_str(status));
}

NOINLINE static void deep(int depth)
{
    if (depth > 0)
        deep(depth - 1);
    else
        walk();
    sink++;
}

/* There is no list of a loader: the program, and the vDSO where the kernel gave one. */
static void look_at_image_map(void)
{
    static char text[1 << 16];
    static struct sfb_image_map_prefix prefixes[1 << 10];
    static uint8_t map[1 << 16];
    const struct sfb_image_map_room room = { text, sizeof text, prefixes, 1 << 10 };
    ssize_t size = sframe_backtrace_image_map(map, sizeof map, NULL);
    struct sfb_image_map_decoder decoder;
    struct sfb_image image;
    bool found = false;
    unsigned images = 0;

    expect(size > 0 &&
               sfb_image_map_decoder_init(&decoder, map, (size_t)size, &room, NULL) == SFB_OK,
           "an image map");
    for (; sfb_image_map_decoder_next(&decoder, &image, NULL) == SFB_OK; images++)
        found = found || ((uintptr_t)deep >= image.base && (uintptr_t)deep < image.end_of_text &&
                          image.path_size > 0 && image.path[0] == '/');
    expect(found, "the program in its image map");
    expect(images == 1 || (images == 2 && memmem(map, (size_t)size, "vdso", 4)),
           "the program and the vDSO in its image map");
}

int main(void)
{
    deep(DEPTH);
    look_at_image_map();
    return failures != 0;
}
