/*
 * AArch64: capstone's result -> the effect on the frame. decode_aarch64_word.c handles loads,
 * stores and pointer authentication.
 */
#include "toolchain/check/decode.h"

enum { X0 = 0, LR = 30, SP = 31 };

/* Scratch registers of calls: x0 to x18, and the link register. */
#define SCRATCH (0x7ffffu | UINT32_C(1) << LR)

static uint8_t number_of(unsigned reg)
{
    switch (reg) {
    case ARM64_REG_SP:
    case ARM64_REG_WSP: return SP;
    case ARM64_REG_X29: return 29;
    case ARM64_REG_X30: return LR;
    default: break;
    }
    if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
        return (uint8_t)(reg - ARM64_REG_X0);
    if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
        return (uint8_t)(reg - ARM64_REG_W0);
    return INSN_NO_REGISTER;
}

static uint8_t whole(const cs_arm64_op *op)
{
    if (op->type != ARM64_OP_REG || (op->reg >= ARM64_REG_W0 && op->reg <= ARM64_REG_W30))
        return INSN_NO_REGISTER;
    return number_of(op->reg);
}

static void kill_written(const struct decoder *d, struct insn *out)
{
    uint8_t reads = 0, writes = 0;
    cs_regs read, written;

    if (cs_regs_access(d->handle, d->insn, read, &reads, written, &writes) != CS_ERR_OK)
        writes = 0;
    for (unsigned i = 0; i < writes; i++) {
        const uint8_t reg = number_of(written[i]);

        if (reg != INSN_NO_REGISTER)
            out->kills |= UINT32_C(1) << reg;
    }
}

static int64_t immediate(const cs_arm64_op *op)
{
    if (op->shift.type != ARM64_SFT_LSL || op->shift.value > 63)
        return op->imm;
    return (int64_t)((uint64_t)op->imm << op->shift.value);
}

static void decode_sum(const struct decoder *d, struct insn *out, int sign)
{
    const cs_arm64 *a = &d->insn->detail->arm64;
    const uint8_t to = a->op_count == 3 ? whole(&a->operands[0]) : INSN_NO_REGISTER;
    const uint8_t from = a->op_count == 3 ? whole(&a->operands[1]) : INSN_NO_REGISTER;

    if (to != INSN_NO_REGISTER && from != INSN_NO_REGISTER && a->operands[2].type == ARM64_OP_IMM) {
        out->what = WHAT_SET;
        out->amount = sign * immediate(&a->operands[2]);
    } else if (to != INSN_NO_REGISTER && from == SP && whole(&a->operands[2]) != INSN_NO_REGISTER &&
               a->operands[2].shift.value == 0) {
        out->what = WHAT_ADD;
        out->reg[1] = whole(&a->operands[2]);
        out->amount = sign;
    } else {
        kill_written(d, out);
        return;
    }
    out->reg[0] = to;
    out->base = from;
}

static void decode_mov(const struct decoder *d, struct insn *out)
{
    const cs_arm64_op *to = &d->insn->detail->arm64.operands[0];
    const cs_arm64_op *from = &d->insn->detail->arm64.operands[1];

    if (whole(to) == INSN_NO_REGISTER && from->type != ARM64_OP_IMM) {
        kill_written(d, out);
    } else if (from->type == ARM64_OP_IMM) {
        out->what = WHAT_CONSTANT;
        out->reg[0] = number_of(to->reg);
        out->amount = immediate(from);
    } else if (whole(from) != INSN_NO_REGISTER) {
        out->what = WHAT_SET;
        out->reg[0] = whole(to);
        out->base = whole(from);
    } else {
        kill_written(d, out);
    }
}

/* sp is compared as an extended register, "cmp sp, x12". */
static void decode_compare(const struct decoder *d, struct insn *out)
{
    const cs_arm64 *a = &d->insn->detail->arm64;

    if (a->op_count != 2 || whole(&a->operands[0]) == INSN_NO_REGISTER ||
        whole(&a->operands[1]) == INSN_NO_REGISTER || a->operands[1].shift.value != 0)
        return;
    out->what = WHAT_COMPARE;
    out->reg[0] = whole(&a->operands[0]);
    out->reg[1] = whole(&a->operands[1]);
}

static void decode_flow(const struct decoder *d, struct insn *out)
{
    const cs_arm64 *a = &d->insn->detail->arm64;
    const cs_arm64_op *last = a->op_count > 0 ? &a->operands[a->op_count - 1] : NULL;

    switch (d->insn->id) {
    case ARM64_INS_BL:
    case ARM64_INS_B:
    case ARM64_INS_CBZ:
    case ARM64_INS_CBNZ:
    case ARM64_INS_TBZ:
    case ARM64_INS_TBNZ:
        out->has_target = last && last->type == ARM64_OP_IMM;
        out->target = out->has_target ? (uint64_t)last->imm : 0;
        if (d->insn->id == ARM64_INS_BL) {
            out->flow = FLOW_CALL;
            out->kills = SCRATCH;
        } else if (d->insn->id == ARM64_INS_B &&
                   (a->cc == ARM64_CC_INVALID || a->cc == ARM64_CC_AL)) {
            out->flow = FLOW_JUMP;
        } else {
            out->flow = FLOW_BRANCH;
            if (a->cc == ARM64_CC_NE || a->cc == ARM64_CC_EQ)
                out->equal = a->cc == ARM64_CC_NE ? EQUAL_ON : EQUAL_TARGET;
        }
        return;
    case ARM64_INS_BLR:
        out->flow = FLOW_CALL;
        out->kills = SCRATCH;
        return;
    case ARM64_INS_BR:
    case ARM64_INS_ERET: out->flow = FLOW_AWAY; return;
    case ARM64_INS_RET: out->flow = FLOW_RETURN; return;
    case ARM64_INS_BRK:
    case ARM64_INS_HLT:
        out->flow = FLOW_MAYBE;
        out->padding = true;
        return;
    case ARM64_INS_SVC:
        out->flow = FLOW_MAYBE;
        out->enters = true;
        out->kills = 1u << X0;
        return;
    default: kill_written(d, out);
    }
}

void decode_aarch64(const struct decoder *d, struct insn *out)
{
    const cs_arm64 *a = &d->insn->detail->arm64;

    switch (d->insn->id) {
    case ARM64_INS_ADD: decode_sum(d, out, 1); return;
    case ARM64_INS_SUB: decode_sum(d, out, -1); return;
    case ARM64_INS_MOV:
    case ARM64_INS_MOVZ: decode_mov(d, out); return;
    case ARM64_INS_MOVK:
        out->what = WHAT_INSERT;
        out->reg[0] = number_of(a->operands[0].reg);
        out->amount = a->operands[1].imm;
        out->before =
            a->operands[1].shift.type == ARM64_SFT_LSL ? (int32_t)a->operands[1].shift.value : 0;
        return;
    case ARM64_INS_CMP: decode_compare(d, out); return;
    case ARM64_INS_HINT:
    /* Some releases of capstone claim that these write their first operand. */
    case ARM64_INS_CMN:
    case ARM64_INS_TST:
    case ARM64_INS_CCMP:
    case ARM64_INS_CCMN: return;
    default: decode_flow(d, out);
    }
}
