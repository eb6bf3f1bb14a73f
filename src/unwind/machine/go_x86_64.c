/*
 * A function as Go's compiler writes it, up to Go 1.20:
 *
 *     48 83 ec nn             sub $n, %rsp
 *     48 89 6c 24 mm          mov %rbp, m(%rsp)       m = n - 8: right below the return address
 *     48 8d 6c 24 mm          lea m(%rsp), %rbp
 *     ...
 *     48 8b 6c 24 mm          mov m(%rsp), %rbp
 *     48 83 c4 nn             add $n, %rsp
 *     c3                      ret
 *
 * or with four bytes for n and m: 48 81 ec, 48 89 ac 24, 48 8d ac 24, 48 81 c4. (128 fits a byte, too: as
 * `sub $-128`.) Behind the first and before the last of these instructions rbp is still, or again, the
 * caller's, and n is known. Since Go 1.21 functions begin with `push %rbp`, as other compilers' do.
 */
#include "unwind/machine/go_x86_64.h"

#include "unwind/machine/go.h"
#include "unwind/machine/insn_x86_64.h"

enum { BYTE_FORM, LONG_FORM, FORMS };

/* @return the number that `add` or `sub` adds to sp; 0: another instruction */
static int64_t added_to_sp(uint64_t insn, unsigned form)
{
    const uint64_t add = form == BYTE_FORM ? 0xc48348 : 0xc48148, sub = add + 0x280000;
    int64_t n = form == BYTE_FORM ? (int8_t)(insn >> 24) : (int32_t)(insn >> 24);

    if ((insn & 0xffffff) == add)
        return n;
    return (insn & 0xffffff) == sub ? -n : 0;
}

/* @return the m of `mov %rbp, m(%rsp)` (89), `mov m(%rsp), %rbp` (8b), or `lea` (8d); -1: another instruction */
static int64_t record_offset(uint64_t insn, unsigned opcode)
{
    const uint64_t op = 0x24000048 | (uint64_t)opcode << 8;

    if ((insn & 0xffffffff) == (op | 0x6c0000))
        return (int8_t)(insn >> 32);
    return (insn & 0xffffffff) == (op | 0xac0000) ? (int32_t)(insn >> 32) : -1;
}

static uint64_t insn_at(struct sfb_memory *code, uint64_t address, unsigned size)
{
    uint64_t insn;

    return sfb_insn_peek(code, address, size, &insn) ? insn : 0;
}

/*
 * In front of it, if the stack may have to grow; %r14 is the goroutine:
 *
 *     49 3b 66 10             cmp 16(%r14), %rsp      4d: %r12, which is rsp - a large frame
 *     76 xx, or 0f 86 ...     jbe
 */
static bool is_stack_check(uint64_t insn)
{
    return (insn & 0xfffffffb) == 0x10663b49;
}

static bool is_behind_stack_check(struct sfb_memory *code, uint64_t pc, uint64_t here)
{
    enum { SIZE = 4 };

    return ((here & 0xff) == 0x76 || (here & 0xffff) == 0x860f) &&
           is_stack_check(insn_at(code, pc - SIZE, SIZE));
}

enum { SUB = 4, STORE = 5, MORE = 3, MOV = 0x89, LOAD = 0x8b, LEA = 0x8d, RET = 0xc3 };

int64_t sfb_go_frame_size(struct sfb_memory *code, uint64_t pc)
{
    uint64_t here = insn_at(code, pc, 8);
    int64_t n, m;

    if (is_stack_check(here) || is_behind_stack_check(code, pc, here))
        return 0;
    for (unsigned form = 0; form < FORMS; form++) {
        const unsigned sub = SUB + form * MORE, store = STORE + form * MORE;

        n = added_to_sp(here, form);
        if (n > 0 && insn_at(code, pc + sub, 1) == RET)
            return n;
        if (n < 0 && record_offset(insn_at(code, pc + sub, store), MOV) == -n - 8)
            return 0;
        m = record_offset(here, MOV);
        if (m >= 0 && added_to_sp(insn_at(code, pc - sub, sub), form) == -m - 8)
            return m + 8;
        m = record_offset(here, LEA);
        if (m >= 0 && record_offset(insn_at(code, pc - store, store), MOV) == m)
            return m + 8;
    }
    return -1;
}

/* @return the m of a prologue that ends with `mov` and the `lea` at this address; -1: no prologue */
static int64_t prologue_at(struct sfb_memory *code, uint64_t lea)
{
    int64_t m = record_offset(insn_at(code, lea, 8), LEA);

    for (unsigned form = 0; m >= 0 && form < FORMS; form++)
        if (record_offset(insn_at(code, lea - STORE - form * MORE, STORE + form * MORE), MOV) == m)
            return m;
    return -1;
}

/* @return the m of an epilogue with its first instruction at this address; -1: no epilogue */
static int64_t epilogue_at(struct sfb_memory *code, uint64_t load)
{
    int64_t m = record_offset(insn_at(code, load, 8), LOAD);

    for (unsigned form = 0; m >= 0 && form < FORMS; form++)
        if (sfb_go_frame_size(code, load + STORE + form * MORE) == m + 8)
            return m;
    return -1;
}

enum { PADDING = 0xcc, REACH = 4096 };

/* A quick test for an instruction by its second byte. Code is read word by word. */
static bool may_be_at(uint64_t word, unsigned byte, unsigned opcode, bool *padding)
{
    unsigned here = word >> 8 * byte & 0xff, pair = word >> 8 * byte & 0xffff;

    *padding = byte < 7 && pair == (PADDING << 8 | PADDING);
    return here == opcode;
}

/* @return the m of the nearest prologue before pc in the same function, up to padding; -1: not found */
static int64_t prologue_before(struct sfb_memory *code, uint64_t pc)
{
    const uint64_t last = pc & ~(uint64_t)7;
    uint64_t word;
    bool padding;

    for (uint64_t at = last; last - at < REACH && sfb_memory_read(code, at, &word); at -= 8)
        for (unsigned i = 8; i-- > 0;) {
            if (at + i >= pc)
                continue;
            if (may_be_at(word, i, LEA, &padding)) {
                int64_t m = prologue_at(code, at + i - 1);

                if (m >= 0)
                    return m;
            }
            if (padding)
                return -1;
        }
    return -1;
}

/* @return the m of the nearest epilogue behind pc in the same function; -1: not found */
static int64_t epilogue_behind(struct sfb_memory *code, uint64_t pc)
{
    const uint64_t first = pc & ~(uint64_t)7;
    uint64_t word;
    bool padding;

    for (uint64_t at = first; at - first < REACH && sfb_memory_read(code, at, &word); at += 8)
        for (unsigned i = 0; i < 8; i++) {
            if (at + i <= pc)
                continue;
            if (may_be_at(word, i, LOAD, &padding)) {
                int64_t m = epilogue_at(code, at + i - 1);

                if (m >= 0)
                    return m;
            }
            if (padding || prologue_at(code, at + i - 1) >= 0)
                return -1;
        }
    return -1;
}

/*
 * The next epilogue is the function's own: behind a function without a frame come padding or another
 * function's prologue. Behind its last `ret` a function may still call. A function that calls has a
 * frame, so the nearest prologue is its own.
 */
bool sfb_arch_stores_record(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                            uint64_t offset)
{
    const int64_t m = (int64_t)offset;

    return offset < INT32_MAX && ((kind == SFB_FRAME_RA && prologue_before(code, pc) == m) ||
                                  epilogue_behind(code, pc) == m);
}

/*
 *     90                      nop                     at the start of a function
 *     e8 xx xx xx xx          call goexit1
 *     90                      nop
 */
bool sfb_arch_is_goroutine_end(struct sfb_memory *code, uint64_t pc)
{
    enum { SIZE = 7, ALIGNMENT = 16 };
    const uint64_t start = pc - 1, mask = 0xff00000000ffff;
    uint64_t bytes;

    return start % ALIGNMENT == 0 && sfb_insn_peek(code, start, SIZE, &bytes) &&
           (bytes & mask) == 0x9000000000e890;
}

/*
 * asyncPreempt, which begins at a multiple of 16:
 *
 *     55 48 89 e5             push %rbp; mov %rsp, %rbp
 *     9c 48 81 ec ...         pushf; sub $n, %rsp
 *     4x 89 xx 24 ...         mov, of 14 registers, m(%rsp)
 *     [44] 0f 11 xx 24 ...    movups, of 16 registers, m(%rsp)
 *     e8 ...                  call asyncPreempt2
 *     [44] 0f 10 xx 24 ...    restores all of it
 *     4x 8b xx 24 ...
 *     48 81 c4 ...            add $n, %rsp
 *     9d 5d c3                popf; pop %rbp; ret
 */
enum preempt_part {
    PUSH_FP,
    SET_FP,
    PUSH_FLAGS,
    TAKE_SPACE,
    SAVE,
    CALL,
    RESTORE,
    GIVE_SPACE,
    POP_FLAGS,
    POP_FP,
    RETURN,
    NO_PART
};

/* @param size  written: of the instruction */
static enum preempt_part preempt_part(uint64_t insn, unsigned *size)
{
    static const unsigned char mod_size[] = { 0, 1, 4 };
    const unsigned b = insn & 0xff;
    unsigned mod;
    bool load;

    *size = 1;
    switch (b) {
    case 0x55: return PUSH_FP;
    case 0x9c: return PUSH_FLAGS;
    case 0x9d: return POP_FLAGS;
    case 0x5d: return POP_FP;
    case 0xc3: return RETURN;
    case 0xe8: *size = 5; return CALL;
    default: break;
    }
    *size = 3;
    if ((insn & 0xffffff) == 0xe58948)
        return SET_FP;
    *size = 7;
    if ((insn & 0xffffff) == 0xec8148)
        return TAKE_SPACE;
    if ((insn & 0xffffff) == 0xc48148)
        return GIVE_SPACE;
    *size = b == 0x44 ? 5 : 4;
    if (b == 0x44)
        insn >>= 8;
    if ((insn & 0xfeff) == 0x100f)
        load = !(insn & 0x100);
    else if (b != 0x44 && (insn & 0xfdfb) == 0x8948)
        load = insn & 0x200;
    else
        return NO_PART;
    /* Only memory at sp. */
    mod = insn >> 22 & 3;
    if ((insn >> 16 & 7) != 4 || (insn >> 24 & 0xff) != 0x24 || mod == 3)
        return NO_PART;
    *size += mod_size[mod];
    return load ? RESTORE : SAVE;
}

/* @return the start of asyncPreempt if pc may be in it; else 0 */
static uint64_t preempt_start(struct sfb_memory *code, uint64_t pc)
{
    enum { ALIGNMENT = 16, SIZE_MOST = 512 };
    const uint64_t last = pc & ~(uint64_t)(ALIGNMENT - 1);

    for (uint64_t at = last; last - at < SIZE_MOST; at -= ALIGNMENT)
        if (insn_at(code, at, 8) == 0xec81489ce5894855)
            return at;
    return 0;
}

/* @return the part at pc, if all code from start to `ret` is as above */
static enum preempt_part preempt_part_at(struct sfb_memory *code, uint64_t start, uint64_t pc)
{
    enum { REGISTERS = 14 + 16 };
    enum preempt_part part = NO_PART, last = PUSH_FP, found = NO_PART;
    unsigned saved = 0, restored = 0, size;

    for (uint64_t at = start; part != RETURN; at += size) {
        part = preempt_part(insn_at(code, at, 8), &size);
        saved += part == SAVE;
        restored += part == RESTORE;
        if (part == NO_PART || saved > REGISTERS || restored > REGISTERS ||
            (at > start && part != last + 1 &&
             !(part == last && (part == SAVE || part == RESTORE))))
            return NO_PART;
        if (at == pc)
            found = part;
        last = part;
    }
    return saved == REGISTERS && restored == REGISTERS ? found : NO_PART;
}

bool sfb_arch_find_preempt(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                           struct sfb_go_preempt *out)
{
    enum preempt_part part;
    unsigned size;
    uint64_t start;

    /* In all but a few parts, the instruction at pc identifies the part. */
    part = preempt_part(insn_at(code, pc, 8), &size);
    if (part == NO_PART || (kind == SFB_FRAME_RA && part != RESTORE))
        return false;
    start = preempt_start(code, pc);
    part = start ? preempt_part_at(code, start, pc) : NO_PART;
    if (part == NO_PART)
        return false;
    *out = (struct sfb_go_preempt){ .rule = { .cfa_base = SFB_BASE_FP,
                                              .cfa_offset = 16,
                                              .ra.where = SFB_WHERE_CFA,
                                              .ra.offset = -8,
                                              .fp.where = SFB_WHERE_CFA,
                                              .fp.offset = -16 } };
    if (part == PUSH_FP || part == RETURN) {
        out->rule.cfa_base = SFB_BASE_SP;
        out->rule.cfa_offset = 8;
        out->rule.fp.where = SFB_WHERE_UNSAVED;
        out->rule.fp.offset = 0;
    } else if (part == SET_FP) {
        out->rule.cfa_base = SFB_BASE_SP;
    }
    return true;
}
