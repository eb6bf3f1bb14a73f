/*
 * What Go's compiler makes of a function, up to Go 1.20:
 *
 *     48 83 ec nn             sub $n, %rsp
 *     48 89 6c 24 mm          mov %rbp, m(%rsp)       m = n - 8: right below the return address
 *     48 8d 6c 24 mm          lea m(%rsp), %rbp
 *     ...
 *     48 8b 6c 24 mm          mov m(%rsp), %rbp
 *     48 83 c4 nn             add $n, %rsp
 *     c3                      ret
 *
 * or with four bytes for n and m: 48 81 ec, 48 89 ac 24, 48 8d ac 24, 48 81 c4. (128 is a byte, too: it
 * is added by `sub $-128`.) Between the outermost two rbp is the caller's, and n is known. Since Go 1.21
 * functions begin with `push %rbp`, as those of others do.
 */
#include "unwind/machine/go_x86_64.h"

#include "unwind/machine/insn_patterns.h"
#include "unwind/machine/insn_x86_64.h"

enum { BYTE_FORM, LONG_FORM, FORMS };

/* @return what `add`, or `sub`, of a number adds to sp; 0: the instruction is none */
static int64_t added_to_sp(uint64_t insn, unsigned form)
{
    const uint64_t add = form == BYTE_FORM ? 0xc48348 : 0xc48148, sub = add + 0x280000;
    int64_t n = form == BYTE_FORM ? (int8_t)(insn >> 24) : (int32_t)(insn >> 24);

    if ((insn & 0xffffff) == add)
        return n;
    return (insn & 0xffffff) == sub ? -n : 0;
}

/* @return the m of `mov %rbp, m(%rsp)` (89) or `lea m(%rsp), %rbp` (8d); -1: it is not that */
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

int64_t sfb_go_frame_size(struct sfb_memory *code, uint64_t pc)
{
    enum { SUB = 4, STORE = 5, MORE = 3, MOV = 0x89, LEA = 0x8d, RET = 0xc3 };
    uint64_t here = insn_at(code, pc, 8);
    int64_t n, m;

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
