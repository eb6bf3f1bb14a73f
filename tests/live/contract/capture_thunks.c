/* The front door, the walker under it, and registers. */
#include <string.h>

#include "contract/thunks.h"
#include "support/machine.h"

static void with_context(struct thunk_room *room)
{
    room->options.context = room->ucontext;
}

/* In two parts, and once more behind the end. */
static void run_in_parts(struct thunk_room *room)
{
    room->options.outermost = 0;
    room->options.resume = &room->resume;
    room->options.max_frames = 3;
    sframe_backtrace_addresses(room->addresses, THUNK_ADDRESSES, &room->options, &room->info);
    room->options.max_frames = 0;
    sframe_backtrace_cbf(room->bytes, sizeof room->bytes, &room->options, &room->info);
    sframe_backtrace_cbf(room->bytes, sizeof room->bytes, &room->options, &room->info);
}

/* The innermost words, which are there. */
static bool read_stack(void *user, uint64_t address, uint64_t *word)
{
    enum { BYTES = 512 };
    const struct thunk_room *room = user;
    const uint64_t sp = machine_regs(room->ucontext).sp;

    if (address - sp >= BYTES)
        return false;
    memcpy(word, (const void *)(uintptr_t)address, /* NOLINT(performance-no-int-to-ptr) */
           sizeof *word);
    return true;
}

static void run_by_reader(struct thunk_room *room)
{
    room->options.read = read_stack;
    room->options.read_user = room;
    sframe_backtrace_addresses(room->addresses, THUNK_ADDRESSES, &room->options, &room->info);
    sframe_backtrace_cbf(room->bytes, sizeof room->bytes, &room->options, &room->info);
    room->options.read = NULL;
}

static void run_cbf(struct thunk_room *room)
{
    sframe_backtrace_cbf(room->bytes, sizeof room->bytes, &room->options, &room->info);
    run_by_reader(room);
    room->options.context = NULL;
    room->options.skip = 2;
    room->options.max_frames = 20;
    room->options.outermost = 10;
    sframe_backtrace_cbf(room->bytes, sizeof room->bytes, &room->options, NULL);
    sframe_backtrace_cbf(room->bytes, sizeof room->bytes, NULL, NULL);
    run_in_parts(room);
}

static void run_addresses(struct thunk_room *room)
{
    sframe_backtrace_addresses(room->addresses, THUNK_ADDRESSES, &room->options, &room->info);
    room->options.context = NULL;
    room->options.skip = 2;
    sframe_backtrace_addresses(room->addresses, THUNK_ADDRESSES, &room->options, NULL);
}

static void run_plain(struct thunk_room *room)
{
    sframe_backtrace(room->addresses, THUNK_ADDRESSES);
}

static void run_image_map(struct thunk_room *room)
{
    uint32_t left_out;

    sframe_backtrace_image_map(room->bytes, sizeof room->bytes, &left_out);
}

static void run_refresh(struct thunk_room *room)
{
    (void)room;
    sframe_backtrace_refresh();
}

static void take_context(struct thunk_room *room)
{
    sfb_context_from_ucontext(&room->context, room->ucontext);
}

static void run_capture(struct thunk_room *room)
{
    sfb_context_capture(&room->context);
}

static void run_init(struct thunk_room *room)
{
    static const struct sfb_walker_options options = { .size = sizeof options,
                                                       .flags = SFB_WALKER_NO_CACHE };

    sfb_walker_init(&room->walker, &room->context, SFB_FRAME_PC, NULL);
    sfb_walker_init(&room->walker, &room->context, SFB_FRAME_RA, &options);
}

static void begin_walk(struct thunk_room *room)
{
    take_context(room);
    sfb_walker_init(&room->walker, &room->context, SFB_FRAME_PC, NULL);
}

static void run_next(struct thunk_room *room)
{
    for (unsigned i = 0; i < 1000 && sfb_walker_next(&room->walker, &room->frame) == SFB_OK; i++)
        ;
}

static void run_frame(struct thunk_room *room)
{
    room->frame = *sfb_walker_frame(&room->walker);
}

static void run_is_spurious(struct thunk_room *room)
{
    room->spurious = sfb_walker_is_spurious(&room->walker);
}

static void run_regs(struct thunk_room *room)
{
    room->regs = *sfb_walker_regs(&room->walker);
}

static void run_loaded(struct thunk_room *room)
{
    (void)room;
    sfb_libunwind_loaded();
}

const struct thunk capture_thunks[] = {
    { "sframe_backtrace_cbf", with_context, run_cbf, NULL },
    { "sframe_backtrace_addresses", with_context, run_addresses, NULL },
    { "sframe_backtrace", NULL, run_plain, NULL },
    { "sframe_backtrace_image_map", NULL, run_image_map, NULL },
    { "sframe_backtrace_refresh", NULL, run_refresh, NULL },
    { "sfb_context_from_ucontext", NULL, take_context, NULL },
    { "sfb_context_capture", NULL, run_capture, NULL },
    { "sfb_walker_init", take_context, run_init, NULL },
    { "sfb_walker_next", begin_walk, run_next, NULL },
    { "sfb_walker_frame", begin_walk, run_frame, NULL },
    { "sfb_walker_is_spurious", begin_walk, run_is_spurious, NULL },
    { "sfb_walker_regs", begin_walk, run_regs, NULL },
    { "sfb_libunwind_loaded", NULL, run_loaded, NULL },
    { NULL, NULL, NULL, NULL },
};
