/*
 * Loaded oracles: libunwind's or libgcc's walk of the stack of a thread that was interrupted.
 *
 * For a library that is preloaded into a program that knows nothing of it (the
 * sampler and the stepper of tests/agreement). The oracle is loaded beside the program, walks in a handler, in any
 * thread, and is survived where it reads what cannot be read. Its stacks tell a pc from a return
 * address, so that they can be compared with ours as a whole.
 */
#ifndef SFB_ORACLES_LOADED_H
#define SFB_ORACLES_LOADED_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "oracles/stack.h"

enum { STUBS_MAX = 4 /* interrupted ones on one stack */ };

/* A linkage stub that was interrupted, while the oracle is shown the call that led there. */
struct stub {
    ucontext_t *uc;
    uint64_t pc;       /* as it was, and has to be again */
    uint64_t call, ra; /* what is shown, and the return address of that call */
};

/* What an oracle needs besides the stack: one for each thread, and large. */
struct oracle_state {
    unw_cursor_t cursor;
    sigjmp_buf before_oracle;
    volatile sig_atomic_t in_oracle;
    struct stub stubs[STUBS_MAX];
    size_t stub_count;
};

struct oracle {
    const char *name;

    /* @return whether it is there; not in a handler */
    bool (*load)(void);

    /* Walks from uc. Called in the handler that uc was given to. */
    void (*walk)(struct oracle_state *s, struct stack *out, ucontext_t *uc);
};

extern const struct oracle oracle_libunwind, oracle_libgcc;

/*
 * Gets all that an oracle of this name needs.
 *
 * @return NULL: no such oracle, or it is not there; not in a handler, and before there is one
 */
const struct oracle *oracle_load(const char *name);

/*
 * Has the oracle walk, and survives what it reads on its way, which no oracle asks about: the stack
 * then ends there. In the handler that uc was given to.
 */
void oracle_walk(const struct oracle *oracle, struct oracle_state *s, struct stack *out,
                 ucontext_t *uc);

/*
 * To be called when the thread of s (NULL: a thread that is not sampled) has met with a fault. Does
 * not return if it was the oracle's.
 */
void oracle_fault(struct oracle_state *s);

/* @return whether this is an address of the trampoline that handlers return to */
bool oracle_at_trampoline(uint64_t address);

/* "module:function" of an address; not in a handler */
void oracle_name(char *out, size_t size, uint64_t address);

/* Looks a function up in what dlopen() gave; function points to a pointer to it. */
bool oracle_bind(void *library, void *function, const char *name);

#endif
