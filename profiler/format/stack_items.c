#include "profiler/format/stack_items.h"

#include "cbf/put.h"

static bool is_omit_or_address(uint32_t kind)
{
    return kind <= SYMBOL_OMIT;
}

enum sfb_status sfb_stack_items_read(struct sfb_stack_items *out, const void *cbf, size_t size)
{
    static const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                            .flags = SFB_CBF_REQUIRE_END };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    bool fits = true;
    enum sfb_status status = sfb_cbf_decoder_init(&decoder, cbf, size, &options, NULL);

    out->count = 0;
    out->frames = 0;
    if (status != SFB_OK)
        return status;
    while ((status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK) {
        if (out->count == RECORDING_ITEMS_MAX || out->frames > RECORDING_FRAMES_MAX) {
            fits = false; /* the rest is still checked */
            continue;
        }
        out->frames += item.count;
        out->at[out->count++] = item.repeat
                                    ? (struct sfb_stack_item){ item.count, SYMBOL_REP }
                                    : (struct sfb_stack_item){ item.value, (uint32_t)item.kind };
    }
    if (status != SFB_END)
        return status;
    out->at[out->count++] = (struct sfb_stack_item){
        *(const uint8_t *)cbf | (sfb_cbf_decoder_truncated(&decoder) ? 0x100u : 0), SYMBOL_ROOT
    };
    return fits && out->frames <= RECORDING_FRAMES_MAX ? SFB_OK : SFB_BUFFER_FULL;
}

static bool put(struct sfb_cbf_encoder *encoder, const struct sfb_stack_item *item, uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        if (sfb_cbf_encoder_put(encoder, (enum sfb_frame_kind)item->kind, item->value) != SFB_OK)
            return false;
    return true;
}

size_t sfb_stack_items_write(struct sfb_stack_items *items)
{
    const struct sfb_stack_item *root = &items->at[items->count - 1], *last = NULL;
    struct sfb_cbf_encoder encoder;

    items->frames = 0;
    if (items->count == 0 || root->kind != SYMBOL_ROOT || (root->value & ~(uint64_t)0x103) != 0 ||
        sfb_cbf_encoder_init(&encoder, items->bytes, sizeof items->bytes,
                             16u << (root->value & 3)) != SFB_OK)
        return 0;
    for (const struct sfb_stack_item *item = items->at; item < root; item++) {
        uint64_t times = 1;

        if (item->kind < SYMBOL_OMIT && items->frames < RECORDING_FRAMES_MAX &&
            cbf_encoder_put_common(&encoder, (enum sfb_frame_kind)item->kind, item->value)) {
            last = item;
            items->frames++;
            continue;
        }
        if (item->kind == SYMBOL_REP) {
            if (last == NULL || last->kind == SYMBOL_OMIT || item->value > RECORDING_FRAMES_MAX)
                return 0;
            times = item->value;
        } else if (is_omit_or_address(item->kind)) {
            last = item;
        } else {
            return 0;
        }
        items->frames += times;
        if (items->frames > RECORDING_FRAMES_MAX || !put(&encoder, last, times))
            return 0;
    }
    return sfb_cbf_encoder_end(&encoder, root->value & 0x100);
}
