/*
 * A walk over a machine that the input makes up: registers, stack, code, and one or two modules
 * with whatever they have for .sframe and .eh_frame. Every walk ends, reads nothing but that
 * machine, is the same each time, and has frames that can be encoded and decoded.
 *
 * Input, little-endian:
 *
 *     u8 flags: 1 the first pc is a return address, 2 the stack is read with plain loads, 4 two
 * modules, 8 the first module is the program, 16 libunwind may be asked u8 zero u16 bytes of stack,
 * of code, of .sframe, of .eh_frame_hdr and what follows it u64 pc, sp, fp, link register stack,
 * code, .sframe, .eh_frame
 *
 * The module's segment is code, .sframe and .eh_frame in this order, at MODULE. Where there are
 * two, the other one has the same bytes a megabyte further up. The stack is at STACK; sp, fp and
 * stack words whose upper 32 bits are those of STACK or MODULE lead there, which a fuzzer finds
 * easily; where it is read with plain loads they are moved to where it really lies, with a
 * sanitizer around it.
 */
#include <string.h>

#include "fuzz.h"
#include "sfb/cbf.h"
#include "sfb/walk.h"
#include "unwind/machine/arch.h"

enum { PREFIX = 10 + 32, STACK_MAX = 4096, SIGNALS_MAX = 64, TWICE = 1 << 20 };

#define STACK  0x7f0000000000u
#define MODULE 0x550000000000u

enum flags { AT_RA = 1, PLAIN = 2, TWO = 4, PROGRAM = 8, LIBUNWIND = 16 };

struct machine {
    uint8_t flags;
    uint8_t *stack; /* a block of its own */
    uint64_t stack_at;
    size_t stack_size;
    const uint8_t *segment; /* code, .sframe, .eh_frame */
    size_t code_size, segment_size;
    struct sfb_module modules[2];
    struct sfb_context start;
};

static struct machine machine;

static uint64_t number(const uint8_t *at, size_t size)
{
    uint64_t value = 0;

    while (size-- > 0)
        value = value << 8 | at[size];
    return value;
}

static uint64_t segment_byte(uint64_t address, bool *there)
{
    uint64_t offset = address - MODULE;

    if (offset >= TWICE && machine.flags & TWO)
        offset -= TWICE;
    *there = offset < machine.segment_size;
    return *there ? machine.segment[offset] : 0;
}

/* Words of the stack, and of the modules at any address. */
static bool read_word(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    uint64_t offset = address - machine.stack_at;
    bool all = true, there;

    (void)memory;
    if (machine.stack_size >= 8 && offset <= machine.stack_size - 8) {
        memcpy(out, machine.stack + offset, 8);
        return true;
    }
    *out = 0;
    for (unsigned i = 0; i < 8; i++) {
        *out |= segment_byte(address + i, &there) << i * 8;
        all &= there;
    }
    return all;
}

static const struct sfb_module *find(const struct sfb_modules *modules, uint64_t pc,
                                     struct sfb_module *room)
{
    (void)room;
    (void)modules;
    for (unsigned i = 0; i < (machine.flags & TWO ? 2u : 1u); i++)
        if (pc - machine.modules[i].start < machine.segment_size)
            return &machine.modules[i];
    return NULL;
}

/* What leads to STACK leads to where the stack is. */
static uint64_t moved(uint64_t word)
{
    return word >> 32 == STACK >> 32 ? word - STACK + machine.stack_at : word;
}

static void open_modules(size_t sframe_size, size_t eh_size)
{
    const uint8_t *sframe = machine.segment + machine.code_size, *eh = sframe + sframe_size;

    for (unsigned i = 0; i < 2; i++) {
        struct sfb_module *m = &machine.modules[i];
        uint64_t at = MODULE + i * (uint64_t)TWICE;

        *m = (struct sfb_module){ .start = at, .end = at + machine.segment_size };
        m->section_status = SFB_NO_SECTION;
        m->eh_frame_status = SFB_NO_EH_FRAME;
        if (sframe_size > 0)
            m->section_status =
                sfb_section_open(&m->section, sframe, sframe_size, at + machine.code_size, NULL);
        if (eh_size > 0)
            m->eh_frame_status = sfb_eh_frame_open(
                &m->eh_frame, machine.segment, machine.segment_size, at,
                at + (uint64_t)(eh - machine.segment), (enum sfb_abi)SFB_ARCH_ABI, NULL);
    }
}

/* What a walk came to. */
struct walk {
    uint64_t frames, sum;
    enum sfb_status end;
};

static void encode(struct sfb_cbf_encoder *encoder, const struct sfb_frame *frame)
{
    enum sfb_status status = sfb_cbf_encoder_put(encoder, frame->kind, frame->address);

    FUZZ_CHECK(status == SFB_OK || status == SFB_BUFFER_FULL);
}

static struct walk walk(uint8_t *bytes, size_t size, size_t *used)
{
    struct sfb_context start = machine.start; /* it may be written over */
    struct sfb_memory memory = { .read = read_word };
    struct sfb_modules modules = { .find = find, .libunwind = sfb_libunwind_loaded() };
    struct sfb_walker_options options = { .size = sizeof options,
                                          .memory = &memory,
                                          .modules = &modules };
    /* Every frame but those of signals lies further out, and all are on what can be read. */
    const uint64_t most =
        (SIGNALS_MAX + 1) * ((machine.stack_size + 2 * machine.segment_size) / 8 + 4);
    struct walk w = { 0, 0, SFB_OK };
    struct sfb_walker walker;
    struct sfb_frame frame;
    struct sfb_cbf_encoder encoder;

    if (!(machine.flags & LIBUNWIND))
        options.flags = SFB_WALKER_NO_LIBUNWIND;
    if (machine.flags & PROGRAM)
        modules.entries.program = MODULE;
    if (machine.flags & PLAIN) {
        memory.lo = (machine.stack_at + 7) & ~(uint64_t)7;
        memory.hi = (machine.stack_at + machine.stack_size) & ~(uint64_t)7;
        if (memory.hi < memory.lo)
            memory.lo = memory.hi = 0;
    }
    FUZZ_CHECK(sfb_cbf_encoder_init(&encoder, bytes, size, 64) == SFB_OK);
    FUZZ_CHECK(sfb_walker_init(&walker, &start, machine.flags & AT_RA ? SFB_FRAME_RA : SFB_FRAME_PC,
                               &options) == SFB_OK);
    while ((w.end = sfb_walker_next(&walker, &frame)) == SFB_OK) {
        FUZZ_CHECK(frame.kind == SFB_FRAME_PC || frame.kind == SFB_FRAME_RA);
        FUZZ_CHECK(frame.source < SFB_SOURCE_COUNT);
        FUZZ_CHECK(w.frames == 0 || frame.kind == SFB_FRAME_PC || frame.address != 0);
        encode(&encoder, &frame);
        w.sum = w.sum * 31 + frame.address + frame.sp;
        FUZZ_CHECK(++w.frames <= most);
    }
    FUZZ_CHECK(w.frames > 0);
    FUZZ_CHECK(sfb_walker_next(&walker, &frame) == w.end);
    FUZZ_CHECK(strcmp(sfb_status_str(w.end), "unknown status") != 0);
    *used = sfb_cbf_encoder_end(&encoder, w.end != SFB_END);
    return w;
}

static void check_bytes(const uint8_t *bytes, size_t size, const struct walk *w)
{
    const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                     .flags = SFB_CBF_REQUIRE_END };
    struct sfb_cbf_decoder d;
    struct sfb_cbf_item item;
    uint64_t frames = 0;
    enum sfb_status status;

    FUZZ_CHECK(sfb_cbf_decoder_init(&d, bytes, size, &options, NULL) == SFB_OK);
    while ((status = sfb_cbf_decoder_next(&d, &item, NULL)) == SFB_OK)
        frames += item.count;
    FUZZ_CHECK(status == SFB_END && frames <= w->frames);
    FUZZ_CHECK(sfb_cbf_decoder_truncated(&d) == (w->end != SFB_END));
}

/* Gives the stack, in a block of its own size. */
static void make_stack(const uint8_t *words, size_t size)
{
    machine.stack = malloc(size > 0 ? size : 1);
    FUZZ_CHECK(machine.stack != NULL);
    memcpy(machine.stack, words, size);
    machine.stack_size = size;
    machine.stack_at = STACK;
    if (!(machine.flags & PLAIN))
        return;
    machine.stack_at = (uintptr_t)machine.stack;
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;

        memcpy(&word, machine.stack + at, 8);
        word = moved(word);
        memcpy(machine.stack + at, &word, 8);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[2][512];
    size_t stack_size, sframe_size, eh_size, used[2];
    struct walk first, again;
    uint8_t *segment;

    if (size < PREFIX)
        return 0;
    machine.flags = data[0];
    stack_size = number(data + 2, 2);
    machine.code_size = number(data + 4, 2);
    sframe_size = number(data + 6, 2);
    eh_size = number(data + 8, 2);
    if (stack_size > STACK_MAX || machine.code_size == 0 ||
        size - PREFIX != stack_size + machine.code_size + sframe_size + eh_size)
        return 0;
    make_stack(data + PREFIX, stack_size);
    machine.segment_size = size - PREFIX - stack_size;
    segment = malloc(machine.segment_size);
    FUZZ_CHECK(segment != NULL);
    memcpy(segment, data + PREFIX + stack_size, machine.segment_size);
    machine.segment = segment;
    open_modules(sframe_size, eh_size);

    machine.start = (struct sfb_context){ .valid = 0 };
    machine.start.reg[SFB_ARCH_PC] = number(data + 10, 8);
    machine.start.reg[SFB_ARCH_SP] = moved(number(data + 18, 8));
    machine.start.reg[SFB_ARCH_FP] = moved(number(data + 26, 8));
    machine.start.valid = 1ull << SFB_ARCH_PC | 1ull << SFB_ARCH_SP | 1ull << SFB_ARCH_FP;
    if (SFB_ARCH_LR) {
        machine.start.reg[SFB_ARCH_RA] = number(data + 34, 8);
        machine.start.valid |= 1ull << SFB_ARCH_RA;
    }

    first = walk(bytes[0], sizeof bytes[0], &used[0]);
    again = walk(bytes[1], sizeof bytes[1], &used[1]);
    FUZZ_CHECK(first.frames == again.frames && first.sum == again.sum && first.end == again.end);
    FUZZ_CHECK(used[0] == used[1] && memcmp(bytes[0], bytes[1], used[0]) == 0);
    check_bytes(bytes[0], used[0], &first);
    free(segment);
    free(machine.stack);
    return 0;
}
