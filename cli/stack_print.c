#include "cli/stack_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/frame_print.h"
#include "util/counted.h"

/* One of a few bytes may stand for a million that were left out: they are one line, too. */
static uint64_t print_omitted(const struct sfb_cbf_item *item, uint64_t number)
{
    printf("... %s omitted", counted(item->value, "frames").text);
    if (item->count > 1)
        printf(" (%s)", counted(item->count, "times").text);
    putchar('\n');
    return number + item->count * item->value;
}

/*
 * Prints a frame, and gives the number of the next.
 *
 * @param behind      the frame is a pc, but that behind the instruction it is about
 * @param trampoline  the frame is a return address and a pc follows it: nothing was called there,
 *                    the kernel made the address up to return from a signal handler, so that the
 *                    byte before it belongs to some other function
 * @param awaited     it is asynchronous, and the first of such frames
 */
static uint64_t print_frame(const struct stack_print *print, const struct sfb_cbf_item *item,
                            uint64_t number, bool behind, bool trampoline, bool awaited)
{
    const struct frame_print frame = { number, item->value, print->names };
    bool before = ((item->kind == SFB_FRAME_RA && !trampoline) || behind) && item->value > 0;

    if (item->kind == SFB_FRAME_OMIT)
        return print_omitted(item, number);
    if (awaited)
        puts("... awaited by");
    if (item->repeat)
        printf("#%" PRIu64 " .. (repeated %s more)\n", number, counted(item->count, "times").text);
    else
        frame_print(print->symbols, &frame, before ? item->value - 1 : item->value);
    return number + item->count;
}

enum sfb_status stack_print(const struct stack_print *print, struct backtraces *b, bool behind,
                            const char *why)
{
    struct sfb_cbf_item next, item = { .count = 0 };
    enum sfb_status status;
    uint64_t number = 0;
    bool async = true; /* the item before is such a frame, or this is the first: a suspended task */

    /* One frame is held back: only the next one tells whether it is a trampoline. */
    while ((status = backtraces_frame(b, &next)) == SFB_OK) {
        if (item.count > 0) {
            number = print_frame(print, &item, number, behind && number == 0,
                                 next.kind == SFB_FRAME_PC, item.kind == SFB_FRAME_ASYNC && !async);
            async = item.kind == SFB_FRAME_ASYNC;
        }
        item = next;
    }
    if (item.count > 0)
        print_frame(print, &item, number, behind && number == 0, false,
                    item.kind == SFB_FRAME_ASYNC && !async);
    if (status == SFB_END && sfb_cbf_decoder_truncated(&b->decoder))
        printf("... truncated%s%s\n", why ? ": " : "", why ? why : "");
    return status;
}
