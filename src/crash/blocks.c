#include "crash/blocks.h"

#include "crash/grammar.h"
#include "crash/lines.h"
#include "crash/registers.h"
#include "sframe_backtrace_record.h"

/* Of the heap agent's library, if it is in the process: preloaded, or linked. */
extern __attribute__((weak)) __typeof__(sframe_backtrace_heap_find) sframe_backtrace_heap_find;

struct told {
    uint64_t address;
    uint32_t state;
};

struct blocks {
    struct sfb_text *text;
    const void *ucontext;
    struct told told[2 * SFB_CRASH_REGISTERS_MAX]; /* blocks whose stacks were written */
    unsigned told_count;
};

static const char *const states[] = { [SFRAME_BACKTRACE_HEAP_BLOCK_LIVE] = " a live block of ",
                                      [SFRAME_BACKTRACE_HEAP_BLOCK_OVERRUN] =
                                          " an overrun block of ",
                                      [SFRAME_BACKTRACE_HEAP_BLOCK_FREED] = " a freed block of " };

static void put_bytes(struct sfb_text *text, uint64_t count)
{
    sfb_text_decimal(text, (int64_t)count);
    sfb_text_string(text, count == 1 ? " byte" : " bytes");
}

/* @param stack  the one that allocated it follows */
static void put_block(struct sfb_text *text, struct sfb_crash_register reg,
                      const struct sframe_backtrace_heap_block *block, bool stack)
{
    const uint64_t into = reg.value - block->address;
    const bool inside = into < block->bytes || into == 0,
               known = block->state < sizeof states / sizeof *states && states[block->state];

    sfb_text_string(text, SFB_CRASH_BLOCK);
    sfb_text_string(text, reg.name);
    sfb_crash_put_address(text, " ", reg.value);
    sfb_text_string(text, " is ");
    put_bytes(text, inside ? into : into - block->bytes);
    sfb_text_string(text, inside ? " into" : " past the end of");
    sfb_text_string(text, known ? states[block->state] : " a block of ");
    put_bytes(text, block->bytes);
    sfb_crash_put_address(text, " at ", block->address);
    sfb_text_string(text, stack ? ", allocated at\n" : "\n");
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

/* @return whether its stacks were written already; else they are by now */
static bool is_told(struct blocks *b, const struct sframe_backtrace_heap_block *block)
{
    for (unsigned i = 0; i < b->told_count; i++)
        if (b->told[i].address == block->address && b->told[i].state == block->state)
            return true;
    if (b->told_count < sizeof b->told / sizeof *b->told)
        b->told[b->told_count++] = (struct told){ block->address, block->state };
    return false;
}

static void visit_block(void *with, size_t index, const struct sframe_backtrace_heap_block *block)
{
    struct blocks *b = with;
    struct sfb_text *text = b->text;
    const bool told = is_told(b, block);

    put_block(text, sfb_crash_register(b->ucontext, (unsigned)index), block, block->cbf && !told);
    if (told)
        return;
    if (block->cbf)
        put_stack(text, block->cbf, block->cbf_size);
    if (block->state == SFRAME_BACKTRACE_HEAP_BLOCK_FREED && block->freed_cbf) {
        sfb_text_string(text, SFB_CRASH_BLOCK "which was freed at\n");
        put_stack(text, block->freed_cbf, block->freed_cbf_size);
    }
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
