/*
 * Bytes from anywhere, read in every mode: the decoder stays within them, ends, and says where it
 * stopped. What can be read is written again and must read the same.
 */
#include "fuzz.h"

#include "sfb/cbf.h"

#define MODES 16 /* all combinations of enum sfb_cbf_decoder_flags */

/* Enough for long reps, and few enough for many inputs a second. */
#define FRAMES_MAX 20000

static struct sfb_cbf_decoder_options options_of(uint32_t flags)
{
    return (struct sfb_cbf_decoder_options){
        .size = sizeof(struct sfb_cbf_decoder_options),
        .flags = flags,
        .max_frames = FRAMES_MAX,
    };
}

/* Reads to the end; gives the frames read, and checks what every answer promises. */
static uint64_t read_all(const uint8_t *data, size_t size, uint32_t flags, enum sfb_status *status)
{
    struct sfb_cbf_decoder_options options = options_of(flags);
    struct sfb_error error = { SFB_OK, NULL, 0 }, again = { SFB_OK, NULL, 0 };
    struct sfb_cbf_decoder d;
    struct sfb_cbf_item item;
    uint64_t frames = 0;

    *status = sfb_cbf_decoder_init(&d, data, size, &options, &error);
    if (*status == SFB_OK) {
        while ((*status = sfb_cbf_decoder_next(&d, &item, &error)) == SFB_OK) {
            FUZZ_CHECK(item.count > 0 && item.offset + item.size <= size);
            FUZZ_CHECK(item.count == 1 || (item.repeat && (flags & SFB_CBF_EXPAND) == 0));
            frames += item.count;
        }
        FUZZ_CHECK(sfb_cbf_decoder_consumed(&d) <= size);
        FUZZ_CHECK(sfb_cbf_decoder_next(&d, &item, &again) == *status);
        FUZZ_CHECK(again.offset == error.offset && again.field == error.field);
    }
    FUZZ_CHECK(frames <= FRAMES_MAX);
    if (*status != SFB_END)
        FUZZ_CHECK(error.status == *status && error.field != NULL && error.offset <= size);
    return frames;
}

/* Reads both, frame by frame, until they end; whether they are the same. */
static bool equal_frames(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    struct sfb_cbf_decoder_options options = options_of(SFB_CBF_EXPAND);
    struct sfb_cbf_decoder of_a, of_b;
    struct sfb_cbf_item in_a, in_b;
    enum sfb_status status;

    if (sfb_cbf_decoder_init(&of_a, a, a_size, &options, NULL) != SFB_OK ||
        sfb_cbf_decoder_init(&of_b, b, b_size, &options, NULL) != SFB_OK ||
        sfb_cbf_decoder_word_bits(&of_a) != sfb_cbf_decoder_word_bits(&of_b))
        return false;
    while ((status = sfb_cbf_decoder_next(&of_a, &in_a, NULL)) == SFB_OK) {
        if (sfb_cbf_decoder_next(&of_b, &in_b, NULL) != SFB_OK || in_a.kind != in_b.kind ||
            in_a.value != in_b.value)
            return false;
    }
    return sfb_cbf_decoder_next(&of_b, &in_b, NULL) == status &&
           sfb_cbf_decoder_truncated(&of_a) == sfb_cbf_decoder_truncated(&of_b);
}

/* Writes what data, which is good, says; it must not grow, but for what reps of omits save. */
static void write_again(const uint8_t *data, size_t size)
{
    static uint8_t buffer[2 + FRAMES_MAX * SFB_CBF_FRAME_SIZE_MAX];
    struct sfb_cbf_decoder_options options = options_of(0);
    struct sfb_cbf_decoder d;
    struct sfb_cbf_encoder e;
    struct sfb_cbf_item item;
    size_t terminator = 1, written;
    bool repeated_omits = false;

    sfb_cbf_decoder_init(&d, data, size, &options, NULL);
    FUZZ_CHECK(sfb_cbf_encoder_init(&e, buffer, sizeof buffer, sfb_cbf_decoder_word_bits(&d)) ==
               SFB_OK);
    while (sfb_cbf_decoder_next(&d, &item, NULL) == SFB_OK) {
        repeated_omits |= item.repeat && item.kind == SFB_FRAME_OMIT;
        for (uint64_t i = 0; i < item.count; i++)
            FUZZ_CHECK(sfb_cbf_encoder_put(&e, item.kind, item.value) == SFB_OK);
    }
    written = sfb_cbf_encoder_end(&e, sfb_cbf_decoder_truncated(&d));
    FUZZ_CHECK(equal_frames(data, size, buffer, written));
    FUZZ_CHECK(repeated_omits || written <= size + terminator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum sfb_status status[MODES];
    uint64_t frames[MODES];

    for (uint32_t flags = 0; flags < MODES; flags++) {
        frames[flags] = read_all(data, size, flags, &status[flags]);
        if (flags & SFB_CBF_EXPAND) {
            FUZZ_CHECK(status[flags] == status[flags ^ SFB_CBF_EXPAND]);
            FUZZ_CHECK(frames[flags] == frames[flags ^ SFB_CBF_EXPAND]);
        }
    }
    if (status[0] == SFB_END)
        write_again(data, size);
    return 0;
}
