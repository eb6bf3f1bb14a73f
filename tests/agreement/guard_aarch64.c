/* See stepper.h: nothing steps itself on this machine. */
#include "stepper.h"

void guard_next_instruction(struct stepper *s, ucontext_t *uc)
{
    (void)s;
    (void)uc;
}

bool guard_is_child(struct stepper *s, const ucontext_t *uc)
{
    (void)s;
    (void)uc;
    return false;
}

void guard_call(void (*function)(struct stepper *, ucontext_t *), struct stepper *s, ucontext_t *uc)
{
    function(s, uc);
}
