/* Compact Backtrace Format, texts, and what installs the crash handler. */
#include <signal.h>

#include "contract/thunks.h"

/* --- CBF -------------------------------------------------------------------------------------- */

static void init_encoder(struct thunk_room *room)
{
    sfb_cbf_encoder_init(&room->encoder, room->bytes, sizeof room->bytes, 64);
}

/* Far and near addresses, repeats, omits, what is refused, and until the buffer is full. */
static void put_frames(struct thunk_room *room)
{
    struct sfb_cbf_encoder *e = &room->encoder;

    for (uint64_t i = 0; i < THUNK_BYTES; i++) {
        sfb_cbf_encoder_put(e, SFB_FRAME_RA, 0x7f0000000000 + i * 0x1234567);
        sfb_cbf_encoder_put(e, SFB_FRAME_RA, 0x7f0000000000 + i * 0x1234567);
        sfb_cbf_encoder_put(e, SFB_FRAME_PC, i);
        if (i % 4 == 0) {
            sfb_cbf_encoder_put(e, SFB_FRAME_OMIT, i);
            sfb_cbf_encoder_put(e, SFB_FRAME_ASYNC, ~i);
        }
    }
}

static void run_extend(struct thunk_room *room)
{
    sfb_cbf_encoder_extend(&room->encoder, sizeof room->bytes);
}

static void run_end(struct thunk_room *room)
{
    room->size = sfb_cbf_encoder_end(&room->encoder, false);
}

static void make_cbf(struct thunk_room *room)
{
    init_encoder(room);
    put_frames(room);
    run_end(room);
}

static void init_decoder(struct thunk_room *room)
{
    static const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                            .flags = SFB_CBF_EXPAND };

    sfb_cbf_decoder_init(&room->decoder, room->bytes, room->size, &options, &room->error);
}

static void make_decoder(struct thunk_room *room)
{
    make_cbf(room);
    init_decoder(room);
}

static void decode(struct thunk_room *room)
{
    while (sfb_cbf_decoder_next(&room->decoder, &room->item, &room->error) == SFB_OK)
        ;
}

static void run_decoder_next(struct thunk_room *room)
{
    decode(room);
    room->bytes[room->size / 2] ^= 0xff;
    init_decoder(room);
    decode(room);
}

static void run_decoder_truncated(struct thunk_room *room)
{
    room->size += sfb_cbf_decoder_truncated(&room->decoder);
}

static void run_decoder_consumed(struct thunk_room *room)
{
    room->size += sfb_cbf_decoder_consumed(&room->decoder);
}

static void run_decoder_word_bits(struct thunk_room *room)
{
    room->size += sfb_cbf_decoder_word_bits(&room->decoder);
}

/* --- Texts ------------------------------------------------------------------------------------ */

static void run_status_str(struct thunk_room *room)
{
    for (int i = -1; i < 100; i++)
        room->error.field = sfb_status_str((enum sfb_status)i);
}

static void run_source_str(struct thunk_room *room)
{
    for (int i = -1; i <= SFB_SOURCE_COUNT; i++)
        room->error.field = sfb_source_str((enum sfb_source)i);
}

static void run_version(struct thunk_room *room)
{
    room->size = sframe_backtrace_version();
}

/* --- The crash handler ------------------------------------------------------------------------ */

static void install(struct thunk_room *room)
{
    /* Not those with which the situation was made, or a test that went wrong would end. */
    static const struct sframe_backtrace_crash_options options = {
        .size = sizeof options,
        .fd = 2,
        .signals = 1u << SIGBUS | 1u << SIGFPE | 1u << SIGSYS,
    };

    room->end = sframe_backtrace_install_crash_handler(&options);
}

static void uninstall(struct thunk_room *room)
{
    room->end = sframe_backtrace_uninstall_crash_handler();
}

static void give_stack(struct thunk_room *room)
{
    room->end = sframe_backtrace_crash_stack(NULL, 0);
}

static void release_stack(struct thunk_room *room)
{
    (void)room;
    sframe_backtrace_release_crash_stack();
}

static void run_stack_size(struct thunk_room *room)
{
    room->size = sframe_backtrace_crash_stack_size();
}

const struct thunk other_thunks[] = {
    { "sfb_cbf_encoder_init", NULL, init_encoder, NULL },
    { "sfb_cbf_encoder_put", init_encoder, put_frames, NULL },
    { "sfb_cbf_encoder_extend", init_encoder, run_extend, NULL },
    { "sfb_cbf_encoder_end", init_encoder, run_end, NULL },
    { "sfb_cbf_decoder_init", make_cbf, init_decoder, NULL },
    { "sfb_cbf_decoder_next", make_decoder, run_decoder_next, NULL },
    { "sfb_cbf_decoder_truncated", make_decoder, run_decoder_truncated, NULL },
    { "sfb_cbf_decoder_consumed", make_decoder, run_decoder_consumed, NULL },
    { "sfb_cbf_decoder_word_bits", make_decoder, run_decoder_word_bits, NULL },
    { "sfb_status_str", NULL, run_status_str, NULL },
    { "sfb_source_str", NULL, run_source_str, NULL },
    { "sframe_backtrace_version", NULL, run_version, NULL },
    { "sframe_backtrace_install_crash_handler", NULL, install, uninstall },
    { "sframe_backtrace_uninstall_crash_handler", install, uninstall, NULL },
    { "sframe_backtrace_crash_stack", NULL, give_stack, release_stack },
    { "sframe_backtrace_release_crash_stack", give_stack, release_stack, NULL },
    { "sframe_backtrace_crash_stack_size", NULL, run_stack_size, NULL },
    { NULL, NULL, NULL, NULL },
};
