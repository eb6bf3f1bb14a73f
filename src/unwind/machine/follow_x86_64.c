/*
 * Follows the code from a pc to the `ret`. The pops on the way give the distance to the return address, whatever called
 * the function.
 *
 *     41 5c                   pop %r12                8
 *     48 83 c4 28             add $40, %rsp           48
 *     5d                      pop %rbp                56, and here is the caller's fp
 *     c3                      ret                     the return address is at sp + 56
 *
 * A conditional jump is first not taken; if that way fails, it is taken. A directly called function is followed, too, because
 * it may not return. A way fails at a call or jump with its target not in the code, and at an instruction that sets sp to an
 * unknown value.
 *
 * Tried and dropped: from the function's start to the pc. Few assembly functions have a symbol in memory. A function called
 * through a pointer leaves no trace of its start on the stack. And more branches lie between start and pc.
 */
#include <string.h>

#include "base/memory.h"
#include "unwind/machine/insn_decode_x86_64.h"
#include "unwind/machine/insn_patterns.h"

enum { SP = 4, BP = 5 };

enum { WAYS_MAX = 4, BACKWARDS_MAX = 8, CALLS_MAX = 2, WINDOW = 32 };

/* State of fp. */
struct fp {
    uint64_t slot;  /* address of the caller's fp; 0: it is in the register */
    uint64_t value; /* of the register, unless it is lost */
    bool lost;
};

/* State of a way. */
struct way {
    uint64_t pc, sp;
    uint64_t stored; /* bit n: the way has written word n above the first sp */
    struct fp fp, pushed;
    uint64_t pushed_at; /* where the last `push %rbp` put it */
    unsigned calls;
    struct {
        uint64_t slot, pc;
    } call[CALLS_MAX]; /* functions that were called on the way */
};

struct follow {
    struct sfb_memory *code, *stack;
    const struct sfb_regs *regs; /* at the first pc */
    bool calls_return;
    struct way way, other[WAYS_MAX];
    unsigned others, backwards;
    uint64_t window_at; /* address of the bytes read last */
    unsigned window_size;
    uint8_t window[WINDOW];
};

/* @return bytes of code at the pc that are in the window, or readable */
static unsigned look_at(struct follow *f, const uint8_t **code)
{
    uint64_t offset = f->way.pc - f->window_at, word;

    if (offset >= f->window_size || f->window_size - offset < SFB_INSN_LENGTH_MAX) {
        f->window_at = f->way.pc & ~(uint64_t)7;
        f->window_size = 0;
        while (f->window_size < WINDOW &&
               sfb_memory_read(f->code, f->window_at + f->window_size, &word)) {
            memcpy(f->window + f->window_size, &word, sizeof word);
            f->window_size += sizeof word;
        }
        offset = f->way.pc - f->window_at;
        if (offset >= f->window_size)
            return 0;
    }
    *code = f->window + offset;
    return f->window_size - (unsigned)offset;
}

static bool is_tracked(const struct follow *f, uint64_t slot, uint64_t *bit)
{
    uint64_t n = (slot - f->regs->sp) / 8;

    *bit = (uint64_t)1 << (n & 63);
    return n < 64;
}

/* Records a write. Words below the first sp are popped before the `ret`. Words beyond 64 are not recorded. */
static bool store(struct follow *f, uint64_t address)
{
    uint64_t bit;

    if (address >= f->regs->sp && is_tracked(f, address, &bit))
        f->way.stored |= bit;
    return true;
}

static bool is_stored(const struct follow *f, uint64_t slot)
{
    uint64_t bit;

    return slot < f->regs->sp || (is_tracked(f, slot, &bit) && (f->way.stored & bit));
}

static bool pop(struct follow *f, unsigned reg)
{
    if (reg == SP)
        return false;
    if (reg == BP && f->way.sp == f->way.pushed_at)
        f->way.fp = f->way.pushed;
    else if (reg == BP)
        f->way.fp = (struct fp){ .slot = f->way.sp, .lost = true };
    f->way.sp += 8;
    return true;
}

static bool push(struct follow *f, bool fp)
{
    f->way.sp -= 8;
    if (fp)
        f->way.pushed = f->way.fp;
    if (fp || f->way.pushed_at == f->way.sp)
        f->way.pushed_at = fp ? f->way.sp : 0;
    return store(f, f->way.sp);
}

static bool call(struct follow *f, uint64_t next, int32_t distance)
{
    if (f->calls_return) {
        f->way.pc = next;
        return true;
    }
    if (f->way.calls == CALLS_MAX)
        return false;
    push(f, false);
    f->way.call[f->way.calls].slot = f->way.sp;
    f->way.call[f->way.calls++].pc = next;
    f->way.pc = next + (uint64_t)(int64_t)distance;
    return true;
}

/* @return whether a function that was called on the way returns */
static bool return_from_call(struct follow *f)
{
    if (f->way.calls == 0 || f->way.sp != f->way.call[f->way.calls - 1].slot)
        return false;
    f->way.pc = f->way.call[--f->way.calls].pc;
    f->way.sp += 8;
    return true;
}

static bool set_from_fp(struct follow *f, int32_t displacement)
{
    f->way.sp = f->way.fp.value + (uint64_t)(int64_t)displacement;
    return !f->way.fp.lost;
}

static bool set_fp(struct follow *f, uint64_t value)
{
    f->way.fp.value = value;
    f->way.fp.lost = false;
    return true;
}

static bool leave(struct follow *f)
{
    return set_from_fp(f, 0) && pop(f, BP);
}

static bool is_at_sp(const struct sfb_insn *i)
{
    return i->mode != 3 && i->rm == SP && !i->has_index;
}

/* mov, of or to sp and fp */
static bool move(struct follow *f, const struct sfb_insn *i)
{
    const bool load = i->opcode == 0x8b;
    const unsigned to = load ? i->reg : i->rm;
    uint64_t from = f->way.sp + (uint64_t)(int64_t)i->displacement;

    if (i->mode == 3) {
        const unsigned source = load ? i->rm : i->reg;

        if (to == SP)
            return source == BP && set_from_fp(f, 0);
        if (to == BP && source == SP)
            return set_fp(f, f->way.sp);
        f->way.fp.lost |= to == BP;
        return true;
    }
    if (!load)
        return !is_at_sp(i) || store(f, from);
    if (to == BP && is_at_sp(i))
        f->way.fp.slot = from;
    f->way.fp.lost |= to == BP;
    if (to != SP)
        return true;
    /* sp was saved on the stack when it was aligned. */
    return is_at_sp(i) && (from & 7) == 0 && !is_stored(f, from) &&
           sfb_memory_read(f->stack, from, &f->way.sp);
}

static bool load_address(struct follow *f, const struct sfb_insn *i)
{
    if (i->reg == BP && is_at_sp(i))
        return set_fp(f, f->way.sp + (uint64_t)(int64_t)i->displacement);
    f->way.fp.lost |= i->reg == BP;
    if (i->reg != SP)
        return true;
    if (i->has_index || (i->rm != SP && i->rm != BP))
        return false;
    if (i->rm == BP)
        return set_from_fp(f, i->displacement);
    f->way.sp += (uint64_t)(int64_t)i->displacement;
    return true;
}

/* add, or, adc, sbb, and, sub, xor, cmp with an immediate */
static bool calculate(struct follow *f, const struct sfb_insn *i)
{
    enum { ADD = 0, AND = 4, SUB = 5, CMP = 7 };
    const uint64_t n = (uint64_t)(int64_t)i->immediate;

    if (i->mode != 3 || (i->reg & 7) == CMP)
        return true;
    f->way.fp.lost |= i->rm == BP;
    if (i->rm != SP)
        return true;
    switch (i->reg & 7) {
    case ADD: f->way.sp += n; return true;
    case SUB: f->way.sp -= n; return true;
    case AND: f->way.sp &= n; return true;
    default: return false;
    }
}

static bool other(struct follow *f, const struct sfb_insn *i)
{
    const bool reg = sfb_insn_writes_reg(i), rm = sfb_insn_writes_rm(i);
    /* bswap, xchg with rax, mov of an immediate: the register is in the opcode. */
    const bool by_opcode =
        !i->has_modrm && ((i->map == SFB_INSN_0F && (i->opcode & 0xf8) == 0xc8) ||
                          (i->map == SFB_INSN_ONE_BYTE &&
                           ((i->opcode & 0xf8) == 0x90 || (i->opcode & 0xf8) == 0xb8)));

    if ((reg && i->reg == SP) || ((by_opcode || (rm && i->mode == 3)) && i->rm == SP))
        return false;
    if (i->by_vector && (i->map != SFB_INSN_0F) && i->opcode >= 0xf0) {
        if (i->also == SP)
            return false;
        f->way.fp.lost |= i->also == BP;
    }
    f->way.fp.lost |= (reg && i->reg == BP) || ((by_opcode || (rm && i->mode == 3)) && i->rm == BP);
    return !rm || !is_at_sp(i) || store(f, f->way.sp + (uint64_t)(int64_t)i->displacement);
}

/* Goes on with a deferred way. */
static bool take_other(struct follow *f)
{
    if (f->others == 0)
        return false;
    f->way = f->other[--f->others];
    return true;
}

static bool go_to(struct follow *f, uint64_t next, int32_t distance)
{
    f->way.pc = next + (uint64_t)(int64_t)distance;
    return distance >= 0 || f->backwards++ < BACKWARDS_MAX;
}

static bool go_past(struct follow *f, uint64_t next, int32_t distance)
{
    if (distance >= 0 && f->others < WAYS_MAX) {
        f->other[f->others] = f->way;
        f->other[f->others++].pc = next + (uint64_t)(int64_t)distance;
    }
    f->way.pc = next;
    return true;
}

/* Group 5 of the one-byte map: indirect calls and jumps, and push. */
static bool group_5(struct follow *f, const struct sfb_insn *i)
{
    enum { CALL = 2, PUSH = 6 };
    const unsigned group = i->reg & 7;

    if (group == CALL)
        return f->calls_return;
    return group == PUSH ? push(f, false) : group < 2 && other(f, i);
}

/* @return false: the way ends here */
static bool pass_one_byte(struct follow *f, const struct sfb_insn *i)
{
    const unsigned op = i->opcode;

    if ((op & 0xf8) == 0x50)
        return !i->small && push(f, i->rm == BP);
    if ((op & 0xf8) == 0x58)
        return !i->small && pop(f, i->rm);
    switch (op) {
    case 0x68:
    case 0x6a:
    case 0x9c: return !i->small && push(f, false);
    case 0x9d: return !i->small && pop(f, 0);
    case 0x8f: return (i->reg & 7) == 0 && !i->small && pop(f, i->mode == 3 ? i->rm : 0);
    case 0x81:
    case 0x83: return calculate(f, i);
    case 0x80: return true;
    case 0x89:
    case 0x8b: return move(f, i);
    case 0x8d: return load_address(f, i);
    case 0xc9: return leave(f);
    case 0xff: return group_5(f, i);
    case 0xc2: /* ret that drops arguments, enter, far returns, traps, hlt */
    case 0xc8:
    case 0xca:
    case 0xcb:
    case 0xcc:
    case 0xcd:
    case 0xcf:
    case 0xf1:
    case 0xf4: return false;
    default: return other(f, i);
    }
}

static bool pass(struct follow *f, const struct sfb_insn *i)
{
    const uint64_t next = f->way.pc + i->length;
    const bool one_byte = i->map == SFB_INSN_ONE_BYTE && !i->by_vector;

    if (one_byte && (i->opcode == 0xe9 || i->opcode == 0xeb))
        return go_to(f, next, i->immediate);
    if (one_byte && i->opcode == 0xe8)
        return call(f, next, i->immediate);
    if ((one_byte && ((i->opcode & 0xf0) == 0x70 || (i->opcode & 0xfc) == 0xe0)) ||
        (i->map == SFB_INSN_0F && !i->by_vector && (i->opcode & 0xf0) == 0x80))
        return go_past(f, next, i->immediate);
    f->way.pc = next;
    if (one_byte)
        return pass_one_byte(f, i);
    /* ud1, ud2, sysret */
    if (i->map == SFB_INSN_0F && (i->opcode == 0x0b || i->opcode == 0xb9 || i->opcode == 0x07))
        return false;
    return other(f, i);
}

static bool is_return(const struct sfb_insn *i)
{
    return i->map == SFB_INSN_ONE_BYTE && i->opcode == 0xc3;
}

/* @return whether the word at sp is a return address, unchanged since the first pc */
static bool make_rule(const struct follow *f, struct sfb_rule *out)
{
    const uint64_t offset = f->way.sp - f->regs->sp, fp = f->way.fp.slot - f->way.sp - 8;

    if (offset > INT32_MAX - 8 || (offset & 7) != 0 || is_stored(f, f->way.sp) ||
        (f->way.fp.slot != 0 && is_stored(f, f->way.fp.slot)))
        return false;
    *out = (struct sfb_rule){ .cfa_base = SFB_BASE_SP,
                              .cfa_offset = (int32_t)offset + 8,
                              .ra.where = SFB_WHERE_CFA,
                              .ra.offset = -8 };
    if (f->way.fp.slot != 0) {
        out->fp.where = SFB_WHERE_CFA;
        out->fp.offset = (int32_t)(int64_t)fp;
    }
    return true;
}

bool sfb_arch_follow_to_return(struct sfb_memory *code, struct sfb_memory *stack,
                               const struct sfb_regs *regs, bool calls_return, uint32_t work,
                               struct sfb_rule *out)
{
    struct follow f;
    struct sfb_insn insn;
    const uint8_t *bytes;
    unsigned size;

    f.code = code;
    f.stack = stack;
    f.regs = regs;
    f.calls_return = calls_return;
    f.way = (struct way){ .pc = regs->pc, .sp = regs->sp, .fp.value = regs->fp };
    f.others = f.backwards = f.window_size = 0;
    f.window_at = 0;
    for (; work > 0; work--) {
        size = look_at(&f, &bytes);
        if (size > 0 && sfb_insn_decode(&insn, bytes, size)) {
            if (is_return(&insn)) {
                if (return_from_call(&f))
                    continue;
                if (f.way.calls == 0 && make_rule(&f, out))
                    return true;
            } else if (pass(&f, &insn)) {
                continue;
            }
        }
        if (!take_other(&f))
            return false;
    }
    return false;
}
