/*
 * Bursts: some hundred instructions in a row, at times that a timer tells, so that all phases of a
 * program are seen and not its start. In each the shadow stack judges every stack. See shadow.h.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "oracles/machine.h"
#include "stepper.h"

uint32_t burst_steps;
uint64_t bursts_most;
static atomic_uint_least64_t bursts_begun;

/* The bytes of /proc/self/maps, one after the other. */
struct maps {
    int fd;
    size_t at, size;
    char bytes[4096];
};

static int next_byte(struct maps *m)
{
    if (m->at == m->size) {
        ssize_t n = read(m->fd, m->bytes, sizeof m->bytes);

        if (n <= 0)
            return -1;
        m->at = 0;
        m->size = (size_t)n;
    }
    return (unsigned char)m->bytes[m->at++];
}

static int read_hex(struct maps *m, uint64_t *out)
{
    int c = next_byte(m);

    for (*out = 0; c >= 0; c = next_byte(m)) {
        if (c >= '0' && c <= '9')
            *out = *out * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *out = *out * 16 + (uint64_t)(c - 'a' + 10);
        else
            break;
    }
    return c;
}

/*
 * The mapping that holds sp. The main thread's may grow downwards, so what lies below it and is
 * free counts, too.
 */
static bool find_stack(struct shadow *sh, uint64_t sp)
{
    struct maps m = { .fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC) };
    uint64_t start, end, before = 0;
    bool found = false;

    if (m.fd < 0)
        return false;
    while (!found && read_hex(&m, &start) == '-' && read_hex(&m, &end) == ' ') {
        bool is_main = false;
        int c;

        while ((c = next_byte(&m)) >= 0 && c != '\n')
            is_main |= c == '[' && next_byte(&m) == 's' && next_byte(&m) == 't';
        found = sp >= start && sp < end;
        if (found) {
            sh->low = is_main ? before : start;
            sh->end = end;
        }
        before = end;
    }
    close(m.fd);
    return found;
}

static void stop(struct stepper *s, ucontext_t *uc)
{
    s->burst = 0;
    shadow_end(&s->shadow);
    machine_step(uc, false);
    arm_timer(s, now_ns());
}

/* On a stack of our own. */
static void start_here(struct stepper *s, ucontext_t *uc)
{
    struct sframe_backtrace_info info;
    struct shadow *sh = &s->shadow;

    shadow_look(sh, uc);
    if (!find_stack(sh, sh->next.sp) || !take_stack(s, uc, &info)) {
        arm_timer(s, now_ns());
        return;
    }
    shadow_add(&sh->samples, 1);
    shadow_add(&sh->sample_end[(unsigned)s->ours.status % SHADOW_END_MAX], 1);
    memset(sh->returned, 0, sizeof sh->returned);
    shadow_seed(s, uc, true);
    s->burst = burst_steps;
    s->countdown = step_every;
    arm_timer(s, now_ns()); /* to see whether the burst has come to its end */
    machine_step(uc, true);
    guard_next_instruction(s, uc);
    shadow_look(sh, uc);
}

void burst_start(struct stepper *s, ucontext_t *uc)
{
    if (s->burst > 0 && machine_is_stepped(uc)) {
        arm_timer(s, now_ns());
        return;
    }
    if (s->burst > 0) { /* a handler of the program did not return to where it was called */
        shadow_add(&s->shadow.lost, 1);
        stop(s, uc);
        return;
    }
    if (atomic_fetch_add(&bursts_begun, 1) >= bursts_most || !more_to_take()) {
        atomic_store(&s->on, false);
        return;
    }
    if (sigismember(&uc->uc_sigmask, SIGTRAP)) {
        atomic_fetch_sub(&bursts_begun, 1);
        arm_timer(s, now_ns());
        return;
    }
    guard_call(start_here, s, uc);
}

static void step_here(struct stepper *s, ucontext_t *uc)
{
    struct shadow *sh = &s->shadow;
    struct sframe_backtrace_info info;
    const stack_t none = { .ss_flags = SS_DISABLE };

    if (!shadow_step(sh, uc)) {
        shadow_add(&sh->switched, 1);
        stop(s, uc);
        return;
    }
    if (!sh->live) { /* the seed is used up, or was wrong */
        if (!take_stack(s, uc, &info)) {
            stop(s, uc);
            return;
        }
        if (sh->contradicted)
            shadow_keep_contradiction(s, uc);
        shadow_seed(s, uc, false);
    } else if (--s->countdown == 0) {
        s->countdown = step_every;
        if (!may_take()) {
            stop(s, uc);
            return;
        }
        /*
         * A fault of an oracle would find the alternate stack free, and start at its top, where the
         * frame of this very signal may be. So there is none, until the return from the handler.
         */
        if (oracles[0])
            sigaltstack(&none, NULL);
        judge(s, uc);
    }
    if (--s->burst == 0) {
        stop(s, uc);
        return;
    }
    guard_next_instruction(s, uc);
    shadow_look(sh, uc);
}

void burst_step(struct stepper *s, ucontext_t *uc)
{
    machine_step(uc, true);
    guard_call(step_here, s, uc);
}

bool bursts_are_over(void)
{
    return atomic_load(&bursts_begun) >= bursts_most || !more_to_take();
}
