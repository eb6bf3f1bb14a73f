/*
 * What an instruction does to the stack: see shadow.h. It is decoded before it runs, because code
 * may unmap itself, and only as far as needed: whether it calls, returns, pops, or sets sp. What it
 * did is then read from sp and pc.
 */
#include <string.h>
#include <sys/syscall.h>

#include "shadow.h"

enum { LENGTH_MAX = 15, ALLOCA_MAX = 1 << 20 /* bytes at a time */ };

struct decoder {
    const uint8_t *at;
    uint8_t rex;
    bool address32;
};

static uint64_t word_at(uint64_t address)
{
    uint64_t word;

    memcpy(&word, (const void *)(uintptr_t)address, sizeof word); // NOLINT: an address
    return word;
}

static uint64_t reg(const ucontext_t *uc, unsigned number)
{
    static const uint8_t greg[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                      REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                      REG_R12, REG_R13, REG_R14, REG_R15 };

    return (uint64_t)uc->uc_mcontext.gregs[greg[number]];
}

static void skip_prefixes(struct decoder *d)
{
    for (;; d->at++) {
        switch (*d->at) {
        case 0x67: d->address32 = true; break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0x66:
        case 0xf0:
        case 0xf2:
        case 0xf3: break;
        default:
            if ((*d->at & 0xf0) == 0x40)
                d->rex = *d->at++;
            return;
        }
    }
}

/* Where `pop m` writes to, at bytes that start with its modrm; 0: not known. */
static uint64_t pop_target(const struct decoder *d, const ucontext_t *uc)
{
    const uint8_t *at = d->at;
    unsigned mod = *at >> 6, rm = *at & 7;
    uint64_t address = 0;
    int32_t offset = 0;

    at++;
    if (d->address32 || mod == 3 || (mod == 0 && rm == 5))
        return 0;
    if (rm == 4) {
        unsigned base = *at & 7, index = (*at >> 3 & 7) | (d->rex & 2 ? 8 : 0);

        if (mod == 0 && base == 5)
            return 0;
        base |= d->rex & 1 ? 8 : 0;
        address = reg(uc, base) + (base == 4 ? 8 : 0); /* sp as it is after the pop */
        if (index != 4)
            address += reg(uc, index) << (*at >> 6);
        at++;
    } else {
        address = reg(uc, rm | (d->rex & 1 ? 8 : 0));
    }
    if (mod == 1)
        offset = *at < 0x80 ? *at : *at - 0x100;
    else if (mod == 2)
        memcpy(&offset, at, sizeof offset);
    return address + (uint64_t)(int64_t)offset;
}

static enum shadow_kind group_5(const uint8_t *modrm)
{
    switch (*modrm >> 3 & 7) {
    case 2: return SHADOW_CALL;
    case 4: return SHADOW_JUMP_TO;
    default: return SHADOW_PLAIN;
    }
}

/* mov and xchg with rsp: the register that is written is in one of two places. */
static enum shadow_kind move_to_sp(const struct decoder *d)
{
    uint8_t modrm = d->at[1];
    bool is_register = modrm >> 6 == 3;
    bool by_reg = (modrm >> 3 & 7) == 4 && !(d->rex & 4);
    bool by_rm = is_register && (modrm & 7) == 4 && !(d->rex & 1);

    switch (*d->at) {
    case 0x8b: break;
    case 0x89: by_reg = false; break;
    default: by_reg |= by_rm; break; /* xchg */
    }
    if (*d->at == 0x89 ? by_rm : by_reg)
        return is_register ? SHADOW_SET_SP : SHADOW_LOAD_SP;
    return SHADOW_PLAIN;
}

/* mov %reg, (%rsp) */
static bool is_store_at_sp(uint64_t address)
{
    const uint8_t *at = (const uint8_t *)(uintptr_t)address; // NOLINT: an address

    return (at[0] & 0xfb) == 0x48 && at[1] == 0x89 && (at[2] & 0xc7) == 4 && at[3] == 0x24;
}

/* A `ret` that goes to what was written for it. */
static bool is_jump_by_return(uint64_t pc)
{
    enum { STORE = 4 };

    return pc % 4096 >= STORE && is_store_at_sp(pc - STORE);
}

static void look_at(struct shadow_next *next, const ucontext_t *uc, uint64_t pc, uint64_t sp)
{
    struct decoder d = { .at = (const uint8_t *)(uintptr_t)pc }; // NOLINT: an address

    *next = (struct shadow_next){ .kind = SHADOW_PLAIN, .pc = pc, .sp = sp };
    skip_prefixes(&d);
    switch (*d.at) {
    case 0xe8: next->kind = SHADOW_CALL; break;
    case 0xc2:
    case 0xc3: next->kind = is_jump_by_return(pc) ? SHADOW_JUMP : SHADOW_RETURN; break;
    case 0xe9:
    case 0xeb:
    case 0xe0:
    case 0xe1:
    case 0xe2:
    case 0xe3: next->kind = SHADOW_JUMP; break;
    case 0xff: next->kind = group_5(d.at + 1); break;
    case 0x0f:
        if (d.at[1] == 0x05)
            next->kind = SHADOW_SYSCALL;
        else if ((d.at[1] & 0xf0) == 0x80)
            next->kind = SHADOW_JUMP;
        break;
    case 0x5c: next->kind = d.rex & 1 ? SHADOW_POP : SHADOW_SET_SP; break;
    case 0x8f:
        if ((d.at[1] >> 3 & 7) == 0) {
            d.at++;
            next->kind = SHADOW_POP_TO;
            next->target = pop_target(&d, uc);
        }
        break;
    case 0x87:
    case 0x89:
    case 0x8b: next->kind = move_to_sp(&d); break;
    default:
        if ((*d.at & 0xf0) == 0x70)
            next->kind = SHADOW_JUMP;
        else if ((*d.at & 0xf8) == 0x58)
            next->kind = SHADOW_POP;
        break;
    }
    if (next->kind == SHADOW_RETURN)
        next->top_word = word_at(sp);
}

void shadow_look(struct shadow *sh, const ucontext_t *uc)
{
    look_at(&sh->next, uc, (uint64_t)uc->uc_mcontext.gregs[REG_RIP],
            (uint64_t)uc->uc_mcontext.gregs[REG_RSP]);
}

/*
 * A handler came before the instruction, and changed the context: Go's runtime makes calls in this way, for panics and to
 * take a goroutine off its thread. The first instruction of what was called has run, too, and may have moved sp.
 */
static bool was_called_by_handler(struct shadow *sh, uint64_t pc, uint64_t sp)
{
    const struct shadow_next *n = &sh->next;

    if (pc - n->pc <= LENGTH_MAX || sp >= n->sp || word_at(n->sp - 8) != n->pc)
        return false;
    shadow_push(sh, n->pc, n->sp - 8, true);
    return true;
}

/*
 * A call that nothing returns from: the first instruction there drops the return address, or writes another over it.
 * Thunks for returns (-mfunction-return=thunk) and for calls (-mindirect-branch=thunk) make it for the processor's sake.
 *
 *     48 8d 64 24 08          lea 8(%rsp), %rsp
 *     48 89 04 24             mov %rax, (%rsp)
 */
static bool drops_return_address(uint64_t pc)
{
    static const uint8_t lea[] = { 0x48, 0x8d, 0x64, 0x24, 8 };

    /* Not beyond the page: the next one need not be there. */
    return pc % 4096 <= 4096 - sizeof lea &&
           (memcmp((const void *)(uintptr_t)pc, lea, sizeof lea) == 0 || // NOLINT: an address
            is_store_at_sp(pc));
}

bool shadow_step(struct shadow *sh, const ucontext_t *uc)
{
    uint64_t pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
    uint64_t sp = (uint64_t)uc->uc_mcontext.gregs[REG_RSP];
    struct shadow_next *n = &sh->next;

    if (sp < sh->low || sp >= sh->end) {
        if (n->kind == SHADOW_LOAD_SP || n->kind == SHADOW_SET_SP)
            shadow_settle(sh, TRUTH_LEAVING);
        return false;
    }
    /* The kernel returns to the instruction behind a system call, and that one has run, too. */
    if (n->kind == SHADOW_SYSCALL && pc != n->pc + 2 && pc != n->pc)
        look_at(n, uc, n->pc + 2, n->sp);
    if (!sh->live)
        return true;
    if (was_called_by_handler(sh, pc, sp))
        return true;
    sh->lowered &= n->kind != SHADOW_CALL && n->kind != SHADOW_RETURN;
    switch (n->kind) {
    case SHADOW_CALL:
        if (sp == n->sp - 8 && word_at(sp) - n->pc - 1 < LENGTH_MAX && drops_return_address(pc))
            return true;
        if (sp != n->sp - 8 || word_at(sp) - n->pc - 1 >= LENGTH_MAX)
            return false;
        shadow_push(sh, word_at(sp), sp, false);
        return true;
    case SHADOW_RETURN:
        if (pc != n->top_word || sp <= n->sp)
            return false;
        if (n->sp == sh->sp_set)
            shadow_settle(sh, TRUTHS);
        else
            shadow_return(sh, n->sp, n->top_word);
        break;
    case SHADOW_JUMP: break;
    case SHADOW_JUMP_TO:
        /* longjmp() into a coroutine that lies further down: its frames are not known. */
        if (sh->lowered && shadow_behind_call(pc)) {
            shadow_settle(sh, TRUTH_LEAVING);
            return false;
        }
        shadow_jump(sh, pc);
        break;
    case SHADOW_POP:
    case SHADOW_POP_TO:
        /* libgcc's exceptions: `mov %rcx, %rsp; pop %rcx; jmp *%rcx` is a return, no longjmp(). */
        if (sh->has_left)
            shadow_settle(sh, TRUTHS);
        if (sp == n->sp + 8)
            shadow_hold(sh, n->sp, n->kind == SHADOW_POP_TO ? n->target : 0);
        break;
    case SHADOW_PLAIN:
    case SHADOW_SYSCALL:
        if (pc - n->pc > LENGTH_MAX)
            return false;
        break;
    case SHADOW_SET_SP:
        if (sp < n->sp && n->sp - sp > ALLOCA_MAX)
            return false;
        sh->lowered |= sp < n->sp;
        sh->has_left |= sp > n->sp && shadow_would_prune(sh, sp);
        break;
    case SHADOW_LOAD_SP:
        /* Down: to another stack. Up: perhaps, unless no frame goes by it. */
        if (sp < n->sp) {
            shadow_settle(sh, TRUTH_LEAVING);
            return false;
        }
        if (shadow_would_prune(sh, sp)) {
            shadow_settle(sh, TRUTH_LEAVING);
            shadow_end(sh);
            return true;
        }
        break;
    }
    /* libgcc's exceptions elsewhere: `ret`, by an address that was just written there. */
    sh->sp_set = n->kind == SHADOW_SET_SP ? sp : 0;
    shadow_prune(sh, sp);
    return true;
}

bool shadow_behind_call(uint64_t address)
{
    const uint8_t *end = (const uint8_t *)(uintptr_t)address; // NOLINT: an address

    /* Not beyond the page: the one before need not be there. */
    for (unsigned length = 2; length <= 9 && address % 4096 >= length; length++) {
        const uint8_t *at = end - length;

        if (length == 5 && *at == 0xe8)
            return true;
        if (*at == 0xff && (at[1] >> 3 & 7) == 2 && length <= 7)
            return true;
    }
    return false;
}
