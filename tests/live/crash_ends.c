/*
 * The crash handler comes to an end, whatever the size of a signal's frame, the alternate stack, a
 * previous handler that crashes itself, and a filter of system calls.
 *
 * Whether signals that are nested end used to depend on their frames' sizes modulo the stack's: the
 * frames of a previous handler are varied here, so that each processor meets all remainders.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "sframe_backtrace_crash.h"
#include "support/child.h"
#include "support/compiler.h"
#include "support/test.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum { PAGE = 4096, STACK_MAX = 256 << 10, SLACK = 64 << 10, HEADLINES_MAX = 20 };

static int *volatile nowhere = (int *)16; /* NOLINT(performance-no-int-to-ptr) */

/* A previous handler that crashes whenever it is called, with a frame of some size. */
static size_t frame_size;
static bool touches_frame;

static void crashes_again(int number)
{
    volatile char *frame = __builtin_alloca(frame_size + 1);

    frame[0] = (char)number;
    if (touches_frame)
        for (size_t i = 0; i < frame_size; i += 16)
            frame[i] = 1;
    *nowhere = (unsigned char)frame[0];
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

    sigaction(number, &action, NULL);
}

static void install(int fd)
{
    const struct sframe_backtrace_crash_options options = { .size = sizeof options, .fd = fd };

    if (sframe_backtrace_install_crash_handler(&options) != SFB_OK)
        _exit(90);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* --- alternate stacks --------------------------------------------------------------------------
 */

enum kind { OWN, LENT, FOREIGN, GUARDED, LOCAL, THREAD_BARE };

static const struct stack {
    const char *name;
    enum kind kind;
    size_t size; /* 0: the least */
} stacks[] = {
    { "the library's", OWN, 0 },
    { "the caller's, the least", LENT, 0 },
    { "the caller's, 64 KiB", LENT, 64 << 10 },
    { "a foreign one, the least", FOREIGN, 0 },
    { "a foreign one, 16 KiB", FOREIGN, 16 << 10 },
    { "a foreign one, 64 KiB", FOREIGN, 64 << 10 },
    { "a foreign one with a guard page, 16 KiB", GUARDED, 16 << 10 },
    { "a foreign one with a guard page, 32 KiB", GUARDED, 32 << 10 },
    { "a foreign one with a guard page, 256 KiB", GUARDED, 256 << 10 },
    { "one on the thread's own stack, 32 KiB", LOCAL, 32 << 10 },
    { "none, in a thread", THREAD_BARE, 0 },
};

static size_t least_size(void)
{
    size_t least = getauxval(AT_MINSIGSTKSZ);

    return least > 5 << 10 ? least : 5 << 10; /* AArch64 takes 5 KiB */
}

static void use_foreign(char *memory, size_t size)
{
    size_t least = least_size();
    const stack_t on = { .ss_sp = memory, .ss_size = size > least ? size : least };

    if (sigaltstack(&on, NULL) != 0)
        _exit(91);
}

NOINLINE static void crash(void)
{
    *nowhere = 1;
}

NOINLINE static void crash_on_local(size_t size)
{
    volatile char memory[STACK_MAX];

    memory[0] = 0;
    use_foreign((char *)(uintptr_t)memory + sizeof memory - size, size);
    crash();
    memory[0] = 1;
}

static void *crash_bare(void *arg)
{
    crash();
    return arg;
}

static void crash_in_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    if (pthread_create(&thread, &attributes, crash_bare, NULL) != 0)
        _exit(92);
    pthread_join(thread, NULL);
}

static void use(const struct stack *stack)
{
    /* Not all kernels look where such a stack ends: what lies below is not to be this test's. */
    static char all[SLACK + STACK_MAX + 2 * PAGE];
    char *memory = all + SLACK, *map;

    switch (stack->kind) {
    case LENT:
        if (sframe_backtrace_crash_stack(memory, stack->size ? stack->size
                                                             : sframe_backtrace_crash_stack_size()))
            _exit(93);
        break;
    case FOREIGN: use_foreign(memory, stack->size); break;
    case GUARDED:
        map = mmap(NULL, STACK_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED || mprotect(map, PAGE, PROT_NONE) != 0)
            _exit(94);
        use_foreign(map + PAGE, stack->size < STACK_MAX ? stack->size : STACK_MAX - PAGE);
        break;
    case OWN:
    case LOCAL:
    case THREAD_BARE: break;
    }
}

static void forget_stack(void)
{
    const stack_t none = { .ss_flags = SS_DISABLE };

    sigaltstack(&none, NULL);
}

static void crash_on(void *with, int fd)
{
    const struct stack *stack = with;

    handle(SIGSEGV, crashes_again, SA_NODEFER);
    install(fd);
    if (stack->kind != OWN)
        forget_stack(); /* the installer's, which is large enough for all */
    use(stack);
    if (stack->kind == LOCAL)
        crash_on_local(stack->size);
    else if (stack->kind == THREAD_BARE)
        crash_in_thread();
    else
        crash();
}

/* (A sanitizer may find a fault of its own first.) */
static void expect_an_end(const struct stack *stack)
{
    struct child c = child_run(crash_on, (void *)(uintptr_t)stack);

    cr_expect(c.timed_out == false, "%s, frames of %zu bytes%s: no end after %.0f ms", stack->name,
              frame_size, touches_frame ? ", used" : "", c.ms);
    cr_expect(c.timed_out || c.signal == SIGSEGV || sanitized(),
              "%s, frames of %zu bytes%s: signal %d, status %d", stack->name, frame_size,
              touches_frame ? ", used" : "", c.signal, c.status);
    cr_expect(count(c.text, "crash: SIGSEGV") <= HEADLINES_MAX, "%s", c.text);
    child_free(&c);
}

/*
 * Of frame sizes. Where the stack says nothing, the library gives up after 65,536 calls, each a signal: few sizes. Built
 * with a lower limit it gives up soon, and meets all sizes.
 */
static size_t step_of(const struct stack *stack)
{
#ifdef SFB_BELOW_STACK_MAX
    return strstr(stack->name, "foreign one, the least") ? 16 : 64;
#else
    return SFB_EMULATED ? 4096 : stack->kind == LOCAL ? 2048 : 1024;
#endif
}

Test(crash_ends, with_a_previous_handler_that_crashes)
{
    static const size_t large[] = { 12 << 10, 40 << 10, 60 << 10, 100 << 10 };

    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        const size_t step = step_of(&stacks[i]);

        if (SFB_EMULATED && stacks[i].kind == THREAD_BARE)
            continue; /* its children of fork() cannot make threads */
        for (int touches = 0; touches < 2; touches++) {
            touches_frame = touches;
            for (frame_size = 0; frame_size <= 8192; frame_size += step)
                expect_an_end(&stacks[i]);
        }
    }
    touches_frame = false;
    for (size_t i = 0; i < sizeof large / sizeof *large && !SFB_EMULATED; i++) {
        frame_size = large[i];
        expect_an_end(&stacks[0]);
    }
}

/* --- previous handlers that jump out ------------------------------------------------------------
 */

enum { JUMPS = SFB_EMULATED ? 200 : 20000 };

static sigjmp_buf back;
static volatile int nested; /* jumps from one handler into another */

static void jumps_out(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

/* Crashes itself, recovers from that, and only then jumps out. */
static void jumps_in_and_out(int number)
{
    static sigjmp_buf inner;
    static volatile bool is_inner;

    (void)number;
    if (is_inner)
        siglongjmp(inner, 1);
    is_inner = true;
    if (sigsetjmp(inner, 1) == 0)
        *nowhere = 1;
    is_inner = false;
    nested++;
    siglongjmp(back, 1);
}

static void jump_forever(void *with, int fd)
{
    void (*handler)(int) = *(void (**)(int))with;
    volatile int done = 0;

    handle(SIGSEGV, handler, SA_NODEFER);
    install(fd);
    while (done < (sanitized() ? 200 : JUMPS)) {
        if (sigsetjmp(back, 1) == 0)
            crash();
        done++;
    }
    _exit(42);
}

Test(crash_ends, not_where_a_previous_handler_recovers)
{
    static void (*handlers[])(int) = { jumps_out, jumps_in_and_out };

    for (size_t i = 0; i < 2; i++) {
        struct child c = child_run(jump_forever, &handlers[i]);

        cr_expect(c.signal == 0 && c.status == 42, "%zu: signal %d, status %d after %.0f ms\n%s", i,
                  c.signal, c.status, c.ms, c.text);
        child_free(&c);
    }
}

/* --- filters of system calls --------------------------------------------------------------------
 */

/* All that the handler makes, and what its return is. */
static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    { "gettid", SYS_gettid },
    { "getpid", SYS_getpid },
    { "write", SYS_write },
    { "rt_sigaction", SYS_rt_sigaction },
    { "rt_sigprocmask", SYS_rt_sigprocmask },
    { "tgkill", SYS_tgkill },
    { "rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo },
    { "prctl", SYS_prctl },
    { "nanosleep", SYS_nanosleep },
    { "ppoll", SYS_ppoll },
    { "rt_sigtimedwait", SYS_rt_sigtimedwait },
    { "fstat", SYS_fstat },
    { "exit_group", SYS_exit_group },
    { "rt_sigreturn", SYS_rt_sigreturn },
};

enum { CALLS = sizeof calls / sizeof *calls };

static void crash_abort(void)
{
    abort();
}

static pid_t self; /* getpid() may be refused */

static void crash_kill(void)
{
    kill(self, SIGABRT);
}

static void crash_trap(void)
{
    __builtin_trap();
}

static const struct way {
    const char *name;
    void (*crash)(void);
    bool previous_crashes;
} ways[] = {
    { "a fault", crash, false },
    { "abort()", crash_abort, false },
    { "SIGABRT that kill() sends", crash_kill, false },
    { "a trap", crash_trap, false },
    { "a previous handler that crashes", crash, true },
};

struct filtered {
    const struct way *way;
    uint32_t refused; /* 1 << place in calls */
    uint32_t answer;
};

enum { ALL = (1 << CALLS) - 1 };

static void filter(uint32_t refused, uint32_t answer)
{
    struct sock_filter code[2 * CALLS + 2];
    struct sock_fprog program = { .filter = code };
    unsigned short n = 0;

    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < CALLS; i++) {
        if (!(refused >> i & 1))
            continue;
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = n;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
        _exit(95);
}

static void crash_filtered(void *with, int fd)
{
    const struct filtered *f = with;

    if (f->way->previous_crashes)
        handle(SIGSEGV, crashes_again, SA_NODEFER);
    install(fd);
    self = getpid();
    filter(f->refused, f->answer);
    f->way->crash();
}

/* --- what no handler sees */

static int noted_in;

static void notes(int number)
{
    (void)number;
    if (write(noted_in, "called", 6) != 6)
        _exit(96);
}

static void crash_noted(void *with, int fd)
{
    static const int numbers[] = { SIGABRT, SIGSEGV, SIGILL, SIGTRAP, SIGSYS };
    const struct filtered *f = with;

    noted_in = fd;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        handle(numbers[i], notes, (int)SA_RESETHAND);
    filter(f->refused, f->answer);
    f->way->crash();
}

/*
 * abort() that is refused what it raises SIGABRT with ends in a trap. From glibc 2.41 on it has blocked all
 * signals by then, and the kernel ends the process. Then a handler that does nothing but write is not
 * called, either.
 */
static bool no_handler_is_called(const struct filtered *f)
{
    struct child c;
    bool none;

    if (f->way->crash != crash_abort || f->answer == SECCOMP_RET_TRAP)
        return false;
    c = child_run(crash_noted, (void *)(uintptr_t)f);
    none = !c.timed_out && c.signal != 0 && count(c.text, "called") == 0;
    child_free(&c);
    return none;
}

static bool is_refused(const struct filtered *f, unsigned number)
{
    for (unsigned i = 0; i < CALLS; i++)
        if (calls[i].number == number)
            return f->refused >> i & 1;
    return false;
}

/* The handler raises again what kill() sent. Who says that it is done, and does not do it, is believed. */
static bool may_go_on(const struct filtered *f)
{
    return f->way->crash == crash_kill && f->answer == SECCOMP_RET_ERRNO &&
           is_refused(f, SYS_rt_tgsigqueueinfo);
}

static void judge_filtered(const struct filtered *f, struct child c)
{
    char answer[32] = "SIGSYS", a[16] = "all", b[16] = "";

    if (f->answer != SECCOMP_RET_TRAP)
        snprintf(answer, sizeof answer, "-%u", f->answer & SECCOMP_RET_DATA);
    if (f->refused != ALL) {
        snprintf(a, sizeof a, "%s", calls[__builtin_ctz(f->refused)].name);
        snprintf(b, sizeof b, "%s", calls[31 - __builtin_clz(f->refused)].name);
    }
    cr_expect(c.timed_out == false, "%s, %s for %s and %s: no end after %.0f ms\n%s", f->way->name,
              answer, a, b, c.ms, c.text);
    cr_expect(c.signal != 0 || c.status >= 128 || may_go_on(f),
              "%s, %s for %s and %s: status %d\n%s", f->way->name, answer, a, b, c.status, c.text);
    /* A return that cannot be is a crash of its own, and may be met anywhere. */
    if (!is_refused(f, SYS_write) && !is_refused(f, SYS_rt_sigreturn)) {
        cr_expect(count(c.text, "\nend\n") >= 1 || no_handler_is_called(f),
                  "%s, %s for %s and %s: no report\n%s", f->way->name, answer, a, b, c.text);
        cr_expect(count(c.text, "inside the handler") == 0, "%s, %s for %s and %s\n%s",
                  f->way->name, answer, a, b, c.text);
    }
    child_free(&c);
}

/* Most of them end at once. Where write() says EAGAIN they wait for five seconds, all at the same time. */
enum { AT_ONCE = 6 * CALLS };

struct window {
    struct filtered cases[AT_ONCE];
    struct child_started children[AT_ONCE];
    size_t first, end; /* of those that run, modulo AT_ONCE */
};

static void judge_first(struct window *w)
{
    size_t i = w->first++ % AT_ONCE;

    judge_filtered(&w->cases[i], child_finish(&w->children[i]));
}

static void add_filtered(struct window *w, const struct filtered *f)
{
    size_t i = w->end % AT_ONCE;

    if (w->end - w->first == AT_ONCE)
        judge_first(w);
    w->cases[i] = *f;
    w->children[i] = child_start(crash_filtered, &w->cases[i]);
    w->end++;
}

static void finish(struct window *w)
{
    while (w->first < w->end)
        judge_first(w);
}

Test(crash_ends, whatever_system_call_is_refused)
{
    static const uint32_t answers[] = { SECCOMP_RET_TRAP, SECCOMP_RET_ERRNO | EPERM };
    struct window window = { .end = 0 };

    if (SFB_EMULATED)
        cr_skip("the emulator has no filters of system calls");
    if (sanitized())
        cr_skip("sanitizers make system calls of their own");
    frame_size = 0;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        for (size_t answer = 0; answer < 2; answer++) {
            struct filtered f = { .way = &ways[w], .answer = answers[answer] };

            for (unsigned i = 0; i < CALLS; i++) {
                for (unsigned j = i; j < CALLS; j++) {
                    f.refused = 1u << i | 1u << j;
                    add_filtered(&window, &f);
                }
            }
            f.refused = ALL;
            add_filtered(&window, &f);
        }
    }
    finish(&window);
}

/* Each call does nothing, and says that it has been interrupted, or has to be made again, or is done. */
Test(crash_ends, whatever_the_answer_is)
{
    static const uint32_t answers[] = { 0, EINTR, EAGAIN, ENOSYS, EINVAL, ESRCH, 4095 };
    struct window window = { .end = 0 };

    if (SFB_EMULATED)
        cr_skip("the emulator has no filters of system calls");
    if (sanitized())
        cr_skip("sanitizers make system calls of their own");
    for (size_t answer = 0; answer < sizeof answers / sizeof *answers; answer++) {
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            struct filtered f = { .way = &ways[w], .answer = SECCOMP_RET_ERRNO | answers[answer] };

            for (unsigned i = 0; i < CALLS; i++) {
                f.refused = 1u << i;
                add_filtered(&window, &f);
            }
            f.refused = ALL;
            add_filtered(&window, &f);
        }
    }
    finish(&window);
}
