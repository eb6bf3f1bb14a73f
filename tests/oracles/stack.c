/* See stack.h. All of it is safe in a handler. */
#include "oracles/stack.h"

#include <dlfcn.h>

#include "sfb/cbf.h"

static enum end own_end(enum sfb_status status)
{
    if (status == SFB_END)
        return END_OUTERMOST;
    return status == SFB_FRAME_LIMIT || status == SFB_BUFFER_FULL ? END_LIMIT : END_STOPPED;
}

bool stack_decode(struct stack *out, const uint8_t *cbf, size_t size, enum sfb_status end)
{
    struct sfb_cbf_decoder_options options = { .size = sizeof options, .flags = SFB_CBF_EXPAND };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status;

    out->count = 0;
    if (sfb_cbf_decoder_init(&decoder, cbf, size, &options, NULL) != SFB_OK)
        return false;
    while ((status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK) {
        if (out->count == FRAMES_MAX)
            return false;
        out->address[out->count] = item.value;
        out->kind[out->count++] = (uint8_t)item.kind;
    }
    out->status = (int)end;
    out->end = own_end(end);
    /* The last byte has to say the same as the info struct. */
    return status == SFB_END && sfb_cbf_decoder_truncated(&decoder) == (end != SFB_END) &&
           sfb_cbf_decoder_consumed(&decoder) == size;
}

size_t stack_encode(uint8_t *buffer, size_t size, const struct stack *stack)
{
    struct sfb_cbf_encoder encoder;

    if (sfb_cbf_encoder_init(&encoder, buffer, size, 64) != SFB_OK)
        return 0;
    for (size_t i = 0; i < stack->count; i++) {
        if (sfb_cbf_encoder_put(&encoder, (enum sfb_frame_kind)stack->kind[i], stack->address[i]) !=
            SFB_OK)
            return sfb_cbf_encoder_end(&encoder, true);
    }
    return sfb_cbf_encoder_end(&encoder, stack->end != END_OUTERMOST);
}

size_t stack_first_difference(const struct stack *a, const struct stack *b)
{
    size_t i = 0;

    while (i < a->count && i < b->count && a->address[i] == b->address[i] &&
           a->kind[i] == b->kind[i])
        i++;
    return i;
}

bool stack_same(const struct stack *a, const struct stack *b)
{
    return a->count == b->count && a->end == b->end && a->status != ORACLE_FAULT &&
           b->status != ORACLE_FAULT && stack_first_difference(a, b) == a->count;
}

uint64_t stack_lookup_address(const struct stack *stack, size_t i)
{
    return stack->address[i] - (stack->kind[i] == SFB_FRAME_RA);
}

void stack_spoil(struct stack *stack, uint64_t turn)
{
    size_t middle = stack->count / 2;

    switch (turn % 4) {
    case 0: stack->address[middle]++; break;
    case 1: stack->kind[middle] ^= SFB_FRAME_RA; break;
    case 2: stack->count--; break;
    default: stack->end = END_STOPPED; break;
    }
}

bool stack_in_module(uint64_t address)
{
    struct dl_find_object found;

    return _dl_find_object((void *)(uintptr_t)address, &found) == 0; // NOLINT: an address
}
