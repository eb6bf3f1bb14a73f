#include "crash/blocks.h"

#include "crash/grammar.h"
#include "crash/lines.h"
#include "crash/registers.h"
#include "sframe_backtrace_record.h"

/* Of the heap agent's library, if it is in the process: preloaded, or linked. */
extern __attribute__((weak)) __typeof__(sframe_backtrace_heap_find) sframe_backtrace_heap_find;

struct blocks {
    struct sfb_text *text;
    const void *ucontext;
    uint64_t told[SFB_CRASH_REGISTERS_MAX]; /* blocks whose stack was written */
    unsigned told_count;
};

static void put_bytes(struct sfb_text *text, uint64_t count)
{
    sfb_text_decimal(text, (int64_t)count);
    sfb_text_string(text, count == 1 ? " byte" : " bytes");
}

static void put_block(struct sfb_text *text, struct sfb_crash_register reg,
                      const struct sframe_backtrace_heap_block *block)
{
    const uint64_t into = reg.value - block->address;

    sfb_text_string(text, SFB_CRASH_BLOCK);
    sfb_text_string(text, reg.name);
    sfb_crash_put_address(text, " ", reg.value);
    sfb_text_string(text, " is ");
    put_bytes(text, into < block->bytes || into == 0 ? into : into - block->bytes);
    sfb_text_string(text, into < block->bytes || into == 0 ? " into" : " past the end of");
    sfb_text_string(text, block->state == SFRAME_BACKTRACE_HEAP_BLOCK_OVERRUN
                              ? " an overrun block of "
                              : " a live block of ");
    put_bytes(text, block->bytes);
    sfb_crash_put_address(text, " at ", block->address);
    sfb_text_char(text, '\n');
}

/* The stack of an allocation, in lines behind "block ". */
static void put_stack(struct sfb_text *text, const uint8_t *bytes, size_t size)
{
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    uint64_t number = 0;

    sfb_crash_put_cbf(text, SFB_CRASH_BLOCK, bytes, size);
    if (sfb_cbf_decoder_init(&decoder, bytes, size, NULL, NULL) != SFB_OK)
        return;
    while (sfb_cbf_decoder_next(&decoder, &item, NULL) == SFB_OK) {
        sfb_text_string(text, SFB_CRASH_BLOCK);
        number = sfb_crash_put_frame(text, &item, number);
    }
}

static void visit_block(void *with, size_t index, const struct sframe_backtrace_heap_block *block)
{
    struct blocks *b = with;
    struct sfb_text *text = b->text;

    put_block(text, sfb_crash_register(b->ucontext, (unsigned)index), block);
    for (unsigned i = 0; i < b->told_count; i++)
        if (b->told[i] == block->address)
            return;
    b->told[b->told_count++] = block->address;
    if (block->cbf)
        put_stack(text, block->cbf, block->cbf_size);
}

void sfb_crash_put_blocks(struct sfb_text *text, const void *ucontext)
{
    uint64_t values[SFB_CRASH_REGISTERS_MAX];
    struct blocks b = { .text = text, .ucontext = ucontext };
    struct sfb_crash_register reg;
    unsigned count = 0;

    if (!sframe_backtrace_heap_find)
        return;
    while (count < SFB_CRASH_REGISTERS_MAX && (reg = sfb_crash_register(ucontext, count)).name)
        values[count++] = reg.value;
    sframe_backtrace_heap_find(values, count, visit_block, &b);
}
