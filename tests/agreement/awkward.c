/*
 * Everything awkward for whoever walks stacks, to be stepped through:
 *
 *     awkward ROUNDS [THREADS]
 *
 * Linked with lazy binding, so that each first call of a function goes through ld.so's resolver.
 * awkward_cxx.cpp throws.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#define PROBED
#else
#define NOINLINE __attribute__((noinline, noclone))
#define PROBED   __attribute__((optimize("stack-clash-protection")))
#endif

int awkward_cxx(int n); /* NULL where there is no C++ compiler */
#pragma weak awkward_cxx

/* The stepper's; NULL without it. The kernel does not step handlers by itself. */
__attribute__((weak)) void sfb_step_here(void);

static volatile int sink;
static _Thread_local volatile int own_sink;

static void step_here(void)
{
    if (sfb_step_here)
        sfb_step_here();
}

NOINLINE static int leaf(int n)
{
    return n + sink;
}

NOINLINE static int saves_registers(int n)
{
    int a = leaf(n), b = leaf(a), c = leaf(b), d = leaf(c), e = leaf(d);

    return leaf(a + b) + leaf(c + d) + a * b * c * d * e;
}

/* --- Frames ----------------------------------------------------------------------------------- */

NOINLINE static int moves_the_stack(size_t n)
{
    volatile char *space = __builtin_alloca(n);

    space[0] = 1;
    return leaf(space[0]);
}

NOINLINE static void use(volatile char *p, size_t n)
{
    p[0] = p[n - 1] = (char)leaf(1);
}

/* A frame that is realigned: gcc keeps the old stack pointer in r10, then in the frame (DRAP). */
NOINLINE static int realigns(int n, ...)
{
    _Alignas(64) volatile char space[256];
    va_list list;
    int sum = 0;

    va_start(list, n);
    for (int i = 0; i < n; i++)
        sum += va_arg(list, int); // NOLINT: it was started
    va_end(list);
    use(space, sizeof space);
    return sum + saves_registers(space[0]);
}

NOINLINE static int realigns_and_moves(size_t n)
{
    _Alignas(32) volatile char space[64];
    volatile char *more = __builtin_alloca(n);

    use(space, sizeof space);
    use(more, n);
    return leaf(space[0] + more[0]);
}

/* Larger than a page. Debian's gcc moves sp at once, that of others touches page after page. */
NOINLINE static int is_large(void)
{
    volatile char space[100 * 1024];

    use(space, sizeof space);
    return saves_registers(space[0]);
}

PROBED NOINLINE static int is_large_and_probed(void)
{
    volatile char space[100 * 1024];

    use(space, sizeof space);
    return saves_registers(space[0]);
}

NOINLINE static int takes_much(int a, int b, int c, int d, int e, int f, int g, int h, double x)
{
    return leaf(a + b + c + d + e + f + g + h) + (int)x;
}

NOINLINE static int recurses(int n)
{
    return n == 0 ? leaf(n) : recurses(n - 1) + 1;
}

/* --- Ends of functions ------------------------------------------------------------------------ */

static jmp_buf out_of_here;
static _Thread_local sigjmp_buf out_of_thread;

/* Its call is its last instruction: the return address lies in whatever comes next. */
__attribute__((noreturn)) NOINLINE static void never_returns(void)
{
    leaf(3);
    longjmp(out_of_here, 1);
}

NOINLINE static void ends_in_a_call(int n)
{
    if (leaf(n) != -1)
        never_returns();
}

NOINLINE static int jumps(int depth)
{
    if (depth > 0)
        return jumps(depth - 1) + 1;
    never_returns();
}

NOINLINE static int leaves_by_jump(void)
{
    int n = 0;

    if (setjmp(out_of_here) == 0)
        ends_in_a_call(1);
    if (setjmp(out_of_here) == 0)
        n += jumps(4);
    if (sigsetjmp(out_of_thread, 1) == 0)
        siglongjmp(out_of_thread, 1);
    return n;
}

/* --- Libraries -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    return leaf(*(const int *)a) - leaf(*(const int *)b);
}

NOINLINE static void calls_back(void)
{
    int v[] = { 4, 2, 3, 1, 5 }, key = 3;

    qsort(v, 5, sizeof *v, by_value);
    sink += bsearch(&key, v, 5, sizeof *v, by_value) != NULL;
}

NOINLINE static void calls_libraries(int round)
{
    char text[128], copy[128];
    struct timespec t;
    void *p = malloc((size_t)round * 1000 + 10);

    snprintf(text, sizeof text, "%d %s %5.2f %p", round, "text", 1.5, p);
    memcpy(copy, text, sizeof copy);
    sink += (int)strtol(copy, NULL, 10) + (int)strlen(copy) + (strchr(text, 'e') != NULL);
    free(p);
    clock_gettime(CLOCK_MONOTONIC, &t);
    sink += (int)time(NULL);
    sink += getpid();
}

/* Binds lazily each time. */
NOINLINE static void loads_a_library(void)
{
    void *library = dlopen("libm.so.6", RTLD_LAZY);

    if (library) {
        sink += dlsym(library, "cosl") != NULL;
        dlclose(library);
    }
}

NOINLINE static void makes_a_process(void)
{
    pid_t child = vfork(); // NOLINT: what it does to stacks is the point
    int status;

    if (child == 0)
        _exit(0);
    waitpid(child, &status, 0);
    child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, &status, 0);
}

/* --- Signals ---------------------------------------------------------------------------------- */

static void on_inner(int signo)
{
    step_here();
    sink += saves_registers(signo);
}

static void on_outer(int signo)
{
    step_here();
    sink += leaf(signo);
    raise(SIGUSR2);
    sink += realigns(2, 3, 4);
}

NOINLINE static void install(int signo, void (*handler)(int), int flags)
{
    struct sigaction action = { .sa_flags = flags };

    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(signo, &action, NULL);
}

NOINLINE static void gets_signals(void)
{
    static char space[65536];
    stack_t alternate = { .ss_sp = space, .ss_size = sizeof space }, before;

    sigaltstack(&alternate, &before);
    install(SIGUSR1, on_outer, SA_ONSTACK);
    install(SIGUSR2, on_inner, SA_ONSTACK);
    raise(SIGUSR1);
    install(SIGUSR1, on_outer, 0);
    install(SIGUSR2, on_inner, SA_ONSTACK); /* from the stack proper to the other one */
    raise(SIGUSR1);
    sigaltstack(&before, NULL);
}

/* --- Other stacks ----------------------------------------------------------------------------- */

static ucontext_t main_context, fiber_context;

static void fiber(int a, int b)
{
    sink += leaf(a) + b;
    swapcontext(&fiber_context, &main_context);
    sink += saves_registers(a);
}

NOINLINE static void switches_stacks(void)
{
    static char space[65536];

    getcontext(&fiber_context);
    fiber_context.uc_stack.ss_sp = space;
    fiber_context.uc_stack.ss_size = sizeof space;
    fiber_context.uc_link = &main_context;
    makecontext(&fiber_context, (void (*)(void))fiber, 2, 3, 4);
    swapcontext(&main_context, &fiber_context);
    swapcontext(&main_context, &fiber_context);
}

/* --- All of it -------------------------------------------------------------------------------- */

NOINLINE static void frames_of_all_kinds(void)
{
    sink += saves_registers(3);
    sink += moves_the_stack(100 + (size_t)(sink & 15));
    sink += realigns(3, 1, 2, 3);
    sink += realigns_and_moves(200 + (size_t)(sink & 15));
    sink += is_large();
    sink += is_large_and_probed();
    sink += takes_much(1, 2, 3, 4, 5, 6, 7, 8, 9.0);
    sink += recurses(20);
}

static void *thread(void *argument)
{
    int rounds = *(int *)argument;

    for (int i = 0; i < rounds; i++) {
        own_sink += saves_registers(i);
        own_sink += realigns(3, 1, 2, 3);
        own_sink += is_large();
        if (sigsetjmp(out_of_thread, 1) == 0)
            siglongjmp(out_of_thread, 1);
        calls_back();
        calls_libraries(i);
        own_sink += awkward_cxx ? awkward_cxx(i) : 0;
    }
    if (rounds % 2)
        pthread_exit(NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    enum { THREADS_MAX = 16 };
    int rounds = argc > 1 ? atoi(argv[1]) : 1, threads = argc > 2 ? atoi(argv[2]) : 0;
    pthread_t ids[THREADS_MAX];

    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, thread, &rounds) != 0)
            return 1;
    for (int i = 0; i < rounds; i++) {
        frames_of_all_kinds();
        sink += leaves_by_jump();
        calls_back();
        calls_libraries(i);
        gets_signals();
        switches_stacks();
        sink += awkward_cxx ? awkward_cxx(i) : 0;
        if (i % 8 == 0) {
            loads_a_library();
            makes_a_process();
        }
    }
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
