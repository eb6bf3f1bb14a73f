#include "crash/attempt.h"

#include <string.h>
#include <ucontext.h>

#include "crash/grammar.h"
#include "crash/kernel.h"

struct sfb_attempts sfb_attempts;

/* @return 0; 1 when sfb_crash_mark_go() comes back to it */
__attribute__((returns_twice)) int sfb_crash_mark_set(struct sfb_crash_mark *mark);
void sfb_crash_mark_go(const struct sfb_crash_mark *mark); /* does not return */

void sfb_attempts_begin(void)
{
    sfb_attempts.part = "start";
    sfb_attempts.armed = false;
    sfb_attempts.faults = 0;
    sfb_attempts.unreported = false;
}

bool sfb_attempt(void (*what)(void *), void *with)
{
    /* volatile: in memory, whatever becomes of registers */
    const volatile bool was_armed = sfb_attempts.armed;
    const struct sfb_crash_mark outer = sfb_attempts.mark;
    volatile bool done = false;

    if (sfb_crash_mark_set(&sfb_attempts.mark) == 0) {
        sfb_attempts.armed = true;
        what(with);
        done = true;
    }
    sfb_attempts.armed = false;
    sfb_attempts.mark = outer;
    sfb_attempts.armed = was_armed;
    return done;
}

void sfb_attempt_fail(int number, const siginfo_t *info, const void *ucontext)
{
    const ucontext_t *uc = ucontext;
    uint64_t mask;

    sfb_attempts.number = number;
    sfb_attempts.address = (uintptr_t)info->si_addr;
    sfb_attempts.unreported = true;
    if (!sfb_attempts.armed || sfb_attempts.faults++ >= SFB_ATTEMPT_FAULTS_MAX)
        return;
    sfb_attempts.armed = false;
    /* A handler that was installed later, and called this one, may have blocked more. */
    memcpy(&mask, &uc->uc_sigmask, sizeof mask);
    sfb_kernel_mask(SIG_SETMASK, mask);
    sfb_crash_mark_go(&sfb_attempts.mark);
}

void sfb_attempt_tell(struct sfb_text *text, const char *ending)
{
    if (!sfb_attempts.unreported)
        return;
    sfb_attempts.unreported = false;
    if (text->last != '\n')
        sfb_text_char(text, '\n');
    sfb_text_string(text, SFB_CRASH_PREFIX "signal ");
    sfb_text_decimal(text, sfb_attempts.number);
    sfb_text_string(text, " inside the handler (");
    sfb_text_string(text, sfb_attempts.part);
    sfb_text_string(text, "), address ");
    sfb_text_hex(text, sfb_attempts.address);
    sfb_text_string(text, ": ");
    sfb_text_string(text, ending);
    sfb_text_char(text, '\n');
}
