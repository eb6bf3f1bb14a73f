/* The choice of oracle, and what does not depend on it: its faults, and where handlers return to.
 */
#include "oracles/loaded.h"

#include <dlfcn.h>
#include <string.h>

#include "oracles/machine.h"
#include "oracles/stubs.h"

static uint64_t trampoline;

bool oracle_at_trampoline(uint64_t address)
{
    return address == trampoline || address == trampoline + machine_trampoline_syscall;
}

const struct oracle *oracle_load(const char *name)
{
    static const struct oracle *const oracles[] = { &oracle_libunwind, &oracle_libgcc };

    if (trampoline == 0) {
        trampoline = machine_find_trampoline();
        stubs_find();
    }
    /* libunwind in any case: it has the names of functions. */
    if (trampoline == 0 || !oracle_libunwind.load())
        return NULL;
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++)
        if (strcmp(name, oracles[i]->name) == 0)
            return oracles[i] == &oracle_libunwind || oracles[i]->load() ? oracles[i] : NULL;
    return NULL;
}

/*
 * Oracles know the kernel's trampoline on AArch64 by both its instructions, so for one that is
 * interrupted between them they are shown its start.
 *
 * Where tables are wrong, as glibc's are inside of longjmp(), an oracle takes whatever it finds for
 * an address and reads there.
 */
void oracle_walk(const struct oracle *oracle, struct oracle_state *s, struct stack *out,
                 ucontext_t *uc)
{
    uint64_t pc = machine_pc(uc);

    out->count = 0;
    out->sp_rule = false;
    s->stub_count = 0;
    /* Without the mask: the fault's handler changes nothing of it. */
    if (sigsetjmp(s->before_oracle, 0) == 0) {
        s->in_oracle = 1;
        if (oracle_at_trampoline(pc))
            machine_set_pc(uc, trampoline);
        oracle->walk(s, out, uc);
    } else {
        out->end = END_STOPPED;
        out->status = ORACLE_FAULT;
    }
    s->in_oracle = 0;
    if (oracle_at_trampoline(pc) && out->count > 0)
        out->address[0] = pc;
    while (s->stub_count > 0) {
        s->stub_count--;
        machine_set_pc(s->stubs[s->stub_count].uc, s->stubs[s->stub_count].pc);
    }
    machine_set_pc(uc, pc); /* as it was, wherever the oracle was shown it */
}

void oracle_fault(struct oracle_state *s)
{
    if (s && s->in_oracle)
        siglongjmp(s->before_oracle, 1);
}

bool oracle_bind(void *library, void *function, const char *name)
{
    void *address = dlsym(library, name);

    /* Copied as bytes: ISO C has no conversion between pointers to objects and to functions. */
    memcpy(function, &address, sizeof address);
    return address != NULL;
}
