/* AMD64: capstone's result -> the effect on the frame. */
#include "toolchain/check/decode.h"

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8 };

/* Scratch registers of calls: rax, rdx, rcx, rsi, rdi, r8 to r11. */
enum { SCRATCH = 0xf37 };

/* The DWARF number of a register or a part of one; INSN_NO_REGISTER if unused here. */
static uint8_t number_of(unsigned reg)
{
    switch (reg) {
    case X86_REG_RAX:
    case X86_REG_EAX:
    case X86_REG_AX:
    case X86_REG_AL:
    case X86_REG_AH: return RAX;
    case X86_REG_RDX:
    case X86_REG_EDX:
    case X86_REG_DX:
    case X86_REG_DL:
    case X86_REG_DH: return RDX;
    case X86_REG_RCX:
    case X86_REG_ECX:
    case X86_REG_CX:
    case X86_REG_CL:
    case X86_REG_CH: return RCX;
    case X86_REG_RBX:
    case X86_REG_EBX:
    case X86_REG_BX:
    case X86_REG_BL:
    case X86_REG_BH: return RBX;
    case X86_REG_RSI:
    case X86_REG_ESI:
    case X86_REG_SI:
    case X86_REG_SIL: return RSI;
    case X86_REG_RDI:
    case X86_REG_EDI:
    case X86_REG_DI:
    case X86_REG_DIL: return RDI;
    case X86_REG_RBP:
    case X86_REG_EBP:
    case X86_REG_BP:
    case X86_REG_BPL: return RBP;
    case X86_REG_RSP:
    case X86_REG_ESP:
    case X86_REG_SP:
    case X86_REG_SPL: return RSP;
    default: break;
    }
    if (reg >= X86_REG_R8 && reg <= X86_REG_R15)
        return (uint8_t)(R8 + (reg - X86_REG_R8));
    if (reg >= X86_REG_R8B && reg <= X86_REG_R15B)
        return (uint8_t)(R8 + (reg - X86_REG_R8B));
    if (reg >= X86_REG_R8D && reg <= X86_REG_R15D)
        return (uint8_t)(R8 + (reg - X86_REG_R8D));
    if (reg >= X86_REG_R8W && reg <= X86_REG_R15W)
        return (uint8_t)(R8 + (reg - X86_REG_R8W));
    return INSN_NO_REGISTER;
}

/* The number of an operand that is a whole register; else INSN_NO_REGISTER. */
static uint8_t whole(const cs_x86_op *op)
{
    return op->type == X86_OP_REG && op->size == 8 ? number_of(op->reg) : INSN_NO_REGISTER;
}

/* Whether an operand is a word at a constant distance from a register. */
static bool is_beside(const cs_x86_op *op)
{
    return op->type == X86_OP_MEM && op->mem.index == X86_REG_INVALID &&
           op->mem.segment == X86_REG_INVALID && op->mem.base != X86_REG_RIP &&
           number_of(op->mem.base) != INSN_NO_REGISTER;
}

static void set(struct insn *out, uint8_t to, uint8_t base, int64_t amount)
{
    out->what = WHAT_SET;
    out->reg[0] = to;
    out->base = base;
    out->amount = amount;
}

static void access_word(struct insn *out, enum insn_what what, uint8_t reg, const cs_x86_op *op)
{
    out->what = (uint8_t)what;
    out->reg[0] = reg;
    out->base = number_of(op->mem.base);
    out->amount = op->mem.disp;
    out->bytes = op->size;
    out->words = 1;
}

/* "lock addl $0, (%rsp)" and "orq $0, (%rsp)", which are barriers and probes: the word stays as it is. */
static bool changes_nothing(const struct decoder *d)
{
    const cs_x86 *x = &d->insn->detail->x86;
    const unsigned id = d->insn->id;

    return (id == X86_INS_ADD || id == X86_INS_OR || id == X86_INS_SUB || id == X86_INS_XOR) &&
           x->op_count == 2 && x->operands[0].type == X86_OP_MEM &&
           x->operands[1].type == X86_OP_IMM && x->operands[1].imm == 0;
}

/* The default: written registers, and memory relative to a register. */
static void decode_others(const struct decoder *d, struct insn *out)
{
    const cs_x86 *x = &d->insn->detail->x86;
    uint8_t reads = 0, writes = 0;
    cs_regs read, written;

    if (cs_regs_access(d->handle, d->insn, read, &reads, written, &writes) != CS_ERR_OK)
        writes = 0;
    for (unsigned i = 0; i < writes; i++) {
        const uint8_t reg = number_of(written[i]);

        if (reg != INSN_NO_REGISTER)
            out->kills |= UINT32_C(1) << reg;
    }
    for (unsigned i = 0; i < x->op_count && !changes_nothing(d); i++)
        if ((x->operands[i].access & CS_AC_WRITE) != 0 && is_beside(&x->operands[i]))
            access_word(out, WHAT_STORE, INSN_NO_REGISTER, &x->operands[i]);
}

static void decode_push(const cs_x86 *x, struct insn *out)
{
    const bool is_short = x->prefix[2] == X86_PREFIX_OPSIZE;

    out->what = WHAT_STORE;
    out->base = RSP;
    out->before = is_short ? -2 : -8;
    out->bytes = is_short ? 2 : 8;
    out->words = 1;
    if (x->op_count == 1)
        out->reg[0] = whole(&x->operands[0]);
}

static void decode_pop(const cs_x86 *x, struct insn *out)
{
    const bool is_short = x->prefix[2] == X86_PREFIX_OPSIZE;

    out->what = WHAT_LOAD;
    out->base = RSP;
    out->after = is_short ? 2 : 8;
    out->bytes = is_short ? 2 : 8;
    out->words = 1;
    if (x->op_count == 1)
        out->reg[0] = whole(&x->operands[0]);
    if (out->reg[0] == RSP)
        out->after = 0;
}

static void decode_mov(const struct decoder *d, struct insn *out)
{
    const cs_x86_op *to = &d->insn->detail->x86.operands[0];
    const cs_x86_op *from = &d->insn->detail->x86.operands[1];

    if (whole(to) != INSN_NO_REGISTER && whole(from) != INSN_NO_REGISTER) {
        set(out, whole(to), whole(from), 0);
    } else if (is_beside(to) && to->size == 8) {
        access_word(out, WHAT_STORE, whole(from), to);
    } else if (whole(to) != INSN_NO_REGISTER && is_beside(from)) {
        access_word(out, WHAT_LOAD, whole(to), from);
    } else if (to->type == X86_OP_REG && from->type == X86_OP_IMM && to->size >= 4 &&
               number_of(to->reg) != INSN_NO_REGISTER) {
        out->what = WHAT_CONSTANT;
        out->reg[0] = number_of(to->reg);
        out->amount = to->size == 4 ? (int64_t)(uint32_t)from->imm : from->imm;
    } else {
        decode_others(d, out);
    }
}

static void decode_sum(const struct decoder *d, struct insn *out, int sign)
{
    const cs_x86_op *to = &d->insn->detail->x86.operands[0];
    const cs_x86_op *by = &d->insn->detail->x86.operands[1];

    if (whole(to) != INSN_NO_REGISTER && by->type == X86_OP_IMM) {
        set(out, whole(to), whole(to), sign * by->imm);
    } else if (whole(to) == RSP && whole(by) != INSN_NO_REGISTER) {
        out->what = WHAT_ADD;
        out->reg[0] = out->base = RSP;
        out->reg[1] = whole(by);
        out->amount = sign;
    } else {
        decode_others(d, out);
    }
}

static void decode_lea(const struct decoder *d, struct insn *out)
{
    const cs_x86_op *to = &d->insn->detail->x86.operands[0];
    const cs_x86_op *from = &d->insn->detail->x86.operands[1];

    if (whole(to) != INSN_NO_REGISTER && is_beside(from) && d->insn->detail->x86.addr_size == 8)
        set(out, whole(to), number_of(from->mem.base), from->mem.disp);
    else
        decode_others(d, out);
}

static void decode_swap(const struct decoder *d, struct insn *out)
{
    const cs_x86 *x = &d->insn->detail->x86;

    if (whole(&x->operands[0]) == INSN_NO_REGISTER || whole(&x->operands[1]) == INSN_NO_REGISTER) {
        decode_others(d, out);
        return;
    }
    out->what = WHAT_SWAP;
    out->reg[0] = whole(&x->operands[0]);
    out->reg[1] = whole(&x->operands[1]);
}

static void decode_compare(const struct decoder *d, struct insn *out)
{
    const cs_x86 *x = &d->insn->detail->x86;

    if (whole(&x->operands[0]) == INSN_NO_REGISTER || whole(&x->operands[1]) == INSN_NO_REGISTER)
        return;
    out->what = WHAT_COMPARE;
    out->reg[0] = whole(&x->operands[0]);
    out->reg[1] = whole(&x->operands[1]);
}

static bool has_group(const cs_insn *i, unsigned group)
{
    for (unsigned k = 0; k < i->detail->groups_count; k++)
        if (i->detail->groups[k] == group)
            return true;
    return false;
}

static void decode_flow(const struct decoder *d, struct insn *out)
{
    const cs_x86 *x = &d->insn->detail->x86;

    if (x->op_count == 1 && x->operands[0].type == X86_OP_IMM &&
        has_group(d->insn, X86_GRP_BRANCH_RELATIVE)) {
        out->has_target = true;
        out->target = (uint64_t)x->operands[0].imm;
    }
    switch (d->insn->id) {
    case X86_INS_CALL:
        out->flow = FLOW_CALL;
        out->kills = SCRATCH;
        return;
    case X86_INS_JMP: out->flow = out->has_target ? FLOW_JUMP : FLOW_AWAY; return;
    case X86_INS_LJMP:
    case X86_INS_IRET:
    case X86_INS_IRETD:
    case X86_INS_IRETQ:
    case X86_INS_SYSRET:
    case X86_INS_SYSEXIT: out->flow = FLOW_AWAY; return;
    case X86_INS_RET: out->flow = FLOW_RETURN; return;
    case X86_INS_RETF:
    case X86_INS_RETFQ: out->flow = FLOW_AWAY; return;
    case X86_INS_INT3: out->padding = true; /* fall through */
    case X86_INS_UD0:
    case X86_INS_UD2:
    case X86_INS_INT:
    case X86_INS_HLT: out->flow = FLOW_MAYBE; return;
    case X86_INS_SYSCALL:
    case X86_INS_SYSENTER:
        out->flow = FLOW_MAYBE;
        out->enters = true;
        out->kills = 1u << RAX | 1u << RCX | 1u << (R8 + 3);
        return;
    case X86_INS_NOP: out->padding = true; return;
    default: break;
    }
    if (out->has_target)
        out->flow = FLOW_BRANCH;
    if (d->insn->id == X86_INS_JNE || d->insn->id == X86_INS_JE)
        out->equal = d->insn->id == X86_INS_JNE ? EQUAL_ON : EQUAL_TARGET;
    decode_others(d, out);
}

void decode_amd64(const struct decoder *d, struct insn *out)
{
    const cs_x86 *x = &d->insn->detail->x86;

    switch (d->insn->id) {
    case X86_INS_PUSH:
    case X86_INS_PUSHF:
    case X86_INS_PUSHFQ: decode_push(x, out); return;
    case X86_INS_POP:
    case X86_INS_POPF:
    case X86_INS_POPFQ: decode_pop(x, out); return;
    case X86_INS_MOV:
    case X86_INS_MOVABS: decode_mov(d, out); return;
    case X86_INS_ADD: decode_sum(d, out, 1); return;
    case X86_INS_SUB: decode_sum(d, out, -1); return;
    case X86_INS_LEA: decode_lea(d, out); return;
    case X86_INS_XCHG: decode_swap(d, out); return;
    case X86_INS_CMP: decode_compare(d, out); return;
    case X86_INS_LEAVE: out->what = WHAT_LEAVE; return;
    case X86_INS_ENTER:
        out->what = WHAT_ENTER;
        out->amount = (uint16_t)x->operands[0].imm;
        if ((x->operands[1].imm & 31) != 0)
            out->kills = 1u << RSP | 1u << RBP; /* nested frames: no compiler uses them */
        return;
    default: decode_flow(d, out);
    }
}
