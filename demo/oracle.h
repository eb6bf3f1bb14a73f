/* The oracle: somebody else's walk of the same stack. */
#ifndef SFB_DEMO_ORACLE_H
#define SFB_DEMO_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct sampler;
struct stack;

struct oracle {
    const char *name;

    /* @return whether it is there; not in a handler */
    bool (*load)(void);

    /* Walks from uc and leaves the stack in s->theirs. Called in the handler that uc was given to.
     */
    void (*walk)(struct sampler *s, ucontext_t *uc);
};

extern const struct oracle oracle_libunwind, oracle_libgcc;

/* The one that SFB_AGENT_ORACLE names. */
extern const struct oracle *agent_oracle;

/*
 * Chooses the oracle and gets all that it needs.
 *
 * @return false: no such oracle, or it is not there; not in a handler, and before there is one
 */
bool oracle_load(void);

/*
 * Has the oracle walk, and survives what it reads on its way, which no oracle asks about: the stack
 * then ends there. In the handler that uc was given to.
 */
void oracle_walk(struct sampler *s, ucontext_t *uc);

/*
 * To be called when the thread of s (NULL: a thread that is not sampled) has met with a fault. Does
 * not return if it was the oracle's.
 */
void oracle_fault(struct sampler *s);

/* @return whether this is an address of the trampoline that handlers return to */
bool oracle_at_trampoline(uint64_t address);

/* "module:function" of an address; not in a handler */
void oracle_name(char *out, size_t size, uint64_t address);

/* Looks a function up in what dlopen() gave; function points to a pointer to it. */
bool oracle_bind(void *library, void *function, const char *name);

#endif
