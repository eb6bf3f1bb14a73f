/* Code of Go on AArch64, by its instructions: no table covers it. */
#include "unwind/machine/go.h"
#include "unwind/machine/insn_aarch64.h"

/* Always false: on AArch64 Go stores records below sp. */
bool sfb_arch_stores_record(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                            uint64_t offset)
{
    (void)code;
    (void)pc;
    (void)kind;
    (void)offset;
    return false;
}

/*
 *     aa0003e0   mov x0, x0      at the start of a function: assemblers write another no-op
 *     94xxxxxx   bl goexit1
 */
bool sfb_arch_is_goroutine_end(struct sfb_memory *code, uint64_t pc)
{
    uint32_t before, here;

    return sfb_insn_read(code, pc - 4, &before) && before == 0xaa0003e0 &&
           sfb_insn_read(code, pc, &here) && sfb_insn_is_bl(here);
}

/*
 * asyncPreempt. The runtime has pushed the interrupted function's link register and a word of padding, and has
 * put the interrupted pc into the link register:
 *
 *     58xxxxxb   ldr x27, -N
 *     f83b6bfe   str x30, [sp, x27]
 *     d1xxxfff   sub sp, sp, #N
 *     f81f83fd   stur x29, [sp, #-8]
 *     d10023fd   sub x29, sp, #8
 *     a9xxxxxx   stp, str       of all registers, [sp, #imm]; mrs of nzcv and fpsr
 *     94xxxxxx   bl asyncPreempt2
 *     a9xxxxxx   ldp, ldr       restore all of it; msr
 *     f9xxxffe   ldr x30, [sp, #N]
 *     f85f83fd   ldur x29, [sp, #-8]
 *     f94003fb   ldr x27, [sp]
 *     91xxxfff   add sp, sp, #N + 16
 *     d61f0360   br x27
 */
enum preempt_part {
    LOAD_OFFSET,
    STORE_LR,
    TAKE_SPACE,
    STORE_FP,
    SET_FP,
    SAVE,
    CALL,
    RESTORE,
    LOAD_LR,
    LOAD_FP,
    LOAD_PC,
    GIVE_SPACE,
    NO_PART
};

enum { PUSHED = 16 };

static enum preempt_part preempt_part(uint32_t insn)
{
    static const struct {
        uint32_t mask, value;
        enum preempt_part part;
    } parts[] = {
        { 0xff00001f, 0x5800001b, LOAD_OFFSET },
        { 0xffffffff, 0xf83b6bfe, STORE_LR },
        { 0xffc003ff, 0xd10003ff, TAKE_SPACE },
        { 0xffffffff, 0xf81f83fd, STORE_FP },
        { 0xffffffff, 0xd10023fd, SET_FP },
        { 0xffc003e0, 0xa90003e0, SAVE }, /* stp of general registers */
        { 0xffc003e0, 0x6d0003e0, SAVE }, /* stp of the low halves of vectors */
        { 0xffc003ff, 0xf90003e0, SAVE }, /* str x0 */
        { 0xffffffff, 0xd53b4200, SAVE }, /* mrs x0, nzcv */
        { 0xffffffff, 0xd53b4420, SAVE }, /* mrs x0, fpsr */
        { 0xfc000000, 0x94000000, CALL },
        { 0xffc003e0, 0xa94003e0, RESTORE },
        { 0xffc003e0, 0x6d4003e0, RESTORE },
        { 0xffc003ff, 0xf94003e0, RESTORE }, /* ldr x0 */
        { 0xffffffff, 0xd51b4200, RESTORE },
        { 0xffffffff, 0xd51b4420, RESTORE },
        { 0xffc003ff, 0xf94003fe, LOAD_LR },
        { 0xffffffff, 0xf85f83fd, LOAD_FP },
        { 0xffffffff, 0xf94003fb, LOAD_PC },
        { 0xffc003ff, 0x910003ff, GIVE_SPACE },
    };

    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if ((insn & parts[i].mask) == parts[i].value)
            return parts[i].part;
    return NO_PART;
}

/*
 * Reads straight on from pc, without branches, to the end of the function, which gives the frame's size.
 *
 * @param part  at pc
 * @return bytes that the end adds to sp; 0: no such end
 */
static int32_t preempt_frame_size(struct sfb_memory *code, uint64_t pc, enum preempt_part part)
{
    enum { INSNS_MAX = 96 };
    const uint32_t br_x27 = 0xd61f0360;
    int32_t lr_at = 0, size;
    uint32_t insn;

    for (unsigned i = 0; i < INSNS_MAX && sfb_insn_read(code, pc, &insn); i++, pc += 4) {
        enum preempt_part here = preempt_part(insn);

        if (here != part && here != part + 1)
            return 0;
        part = here;
        if (here == LOAD_LR)
            lr_at = (int32_t)(insn >> 10 & 0xfff) * 8;
        if (here == GIVE_SPACE) {
            size = (int32_t)(insn >> 10 & 0xfff);
            return size == lr_at + PUSHED && sfb_insn_read(code, pc + 4, &insn) && insn == br_x27
                       ? size
                       : 0;
        }
    }
    return 0;
}

bool sfb_arch_find_preempt(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                           struct sfb_go_preempt *out)
{
    enum preempt_part part;
    struct sfb_rule *rule = &out->rule;
    uint32_t insn;
    int32_t size;

    if (!sfb_insn_read(code, pc, &insn))
        return false;
    part = preempt_part(insn);
    if (part > LOAD_LR || (kind == SFB_FRAME_RA && part != RESTORE))
        return false;
    size = preempt_frame_size(code, pc, part);
    if (size == 0)
        return false;
    *out = (struct sfb_go_preempt){ .lr_offset = -PUSHED };
    rule->cfa_base = SFB_BASE_SP;
    if (part <= TAKE_SPACE) {
        rule->cfa_offset = PUSHED;
        return true;
    }
    rule->cfa_offset = size;
    if (kind == SFB_FRAME_RA) {
        /* In a frame that has called, sp may be unknown: see source_frame_pointer.c. */
        rule->cfa_base = SFB_BASE_FP;
        rule->cfa_offset = size + 8;
    }
    rule->ra.where = SFB_WHERE_CFA;
    rule->ra.offset = -size;
    if (part > STORE_FP) {
        rule->fp.where = SFB_WHERE_CFA;
        rule->fp.offset = -size - 8;
    }
    return true;
}
