/* See shadow.h: nothing steps itself on this machine. */
#include "shadow.h"

void shadow_look(struct shadow *sh, const ucontext_t *uc)
{
    (void)sh;
    (void)uc;
}

bool shadow_step(struct shadow *sh, const ucontext_t *uc)
{
    (void)sh;
    (void)uc;
    return false;
}

bool shadow_behind_call(uint64_t address)
{
    (void)address;
    return false;
}
