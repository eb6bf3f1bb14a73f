/*
 * docs/SIGNALS.md says which system calls each public function makes, and which of the functions may be
 * called in a signal handler. The calls are watched by a tracer. The functions for handlers are
 * then called in one, as the first thing that a process does with the library, while another thread
 * has the loader's lock, under a filter that ends the process at any other call; and errno stays as
 * it is. No function changes the heap's books.
 */
#include <errno.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract/situation.h"
#include "contract/thunks.h"
#include "support/compiler.h"
#include "support/contract_table.h"
#include "support/test.h"

/* No calls of any kernel: they stand before and behind what is looked at. */
enum { BEGINS = 100001, ENDS = 100002 };

static struct contract_table table;
static struct thunk_room room;
static const struct thunk *thunk;      /* that is run now */
static const struct contract_row *row; /* of it */

static const struct contract_row *choose(const struct thunk *t)
{
    thunk = t;
    row = contract_row_of(&table, t->function);
    cr_assert(row != NULL, "%s", t->function);
    return row;
}

static void prepare(ucontext_t *ucontext)
{
    clear_room(&room, ucontext, 16);
    if (thunk->prepare)
        thunk->prepare(&room);
}

/* --- What is called --------------------------------------------------------------------------- */

static bool seen[CONTRACT_ROWS][CONTRACT_CALLS];

static void run_between_marks(ucontext_t *ucontext)
{
    size_t before = mallinfo2().uordblks;

    prepare(ucontext);
    syscall(BEGINS);
    thunk->run(&room);
    syscall(ENDS);
    _exit(mallinfo2().uordblks != before ? 93 : 0);
}

static void note(long number)
{
    const char *name = contract_call_name(number);
    bool named = false;

    for (size_t i = 0; i < row->call_count; i++)
        if (strcmp(row->call[i], name) == 0)
            named = seen[row - table.row][i] = true;
    cr_expect(named, "%s() calls %s", thunk->function, name);
}

/* @return 0: all was seen */
static int watch(pid_t child)
{
    struct __ptrace_syscall_info info;
    bool between = false, ended = false;
    int status = 0, number = 0;

    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return 1;
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    for (;;) {
        ptrace(PTRACE_SYSCALL, child, NULL, (void *)(uintptr_t)number);
        if (waitpid(child, &status, 0) != child)
            return 2;
        if (!WIFSTOPPED(status))
            return ended && WIFEXITED(status) ? WEXITSTATUS(status) : 3;
        number = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
        if (number != 0 ||
            ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof info, &info) <= 0 ||
            info.op != PTRACE_SYSCALL_INFO_ENTRY)
            continue;
        if (info.entry.nr == BEGINS)
            between = true;
        else if (info.entry.nr == ENDS)
            ended = true, between = false;
        else if (between)
            note((long)info.entry.nr);
    }
}

static void watch_one(const struct thunk *t, enum situation situation)
{
    pid_t child;

    choose(t);
    fflush(NULL);
    child = fork();
    cr_assert(ge(int, child, 0));
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(90);
        raise(SIGSTOP);
        prepare_situation(situation);
        in_handler(situation, false, run_between_marks);
        _exit(91);
    }
    cr_expect(eq(int, watch(child), 0), "%s, situation %d", t->function, (int)situation);
}

static void watch_all(const struct thunk *t, void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < SITUATIONS; i++)
        watch_one(t, (enum situation)i);
}

static void read_table(void)
{
    const char *wrong = contract_table_read(&table, SFB_SOURCE_DIR "/docs/SIGNALS.md");

    cr_assert(wrong == NULL, "%s", wrong);
    cr_assert(find_tables());
}

TestSuite(contract_calls, .init = read_table);

Test(contract_calls, are_those_that_the_table_names)
{
    if (sanitized() || SFB_EMULATED)
        cr_skip("sanitizers make system calls of their own, and an emulator traces no program");
    for_each_thunk(watch_all, NULL);
    for (size_t r = 0; r < table.row_count; r++)
        for (size_t i = 0; table.row[r].function_count > 0 && i < table.row[r].call_count; i++)
            cr_expect(seen[r][i], "the row of %s names %s, which none of them calls",
                      table.row[r].function[0], table.row[r].call[i]);
}

/* --- In handlers ------------------------------------------------------------------------------ */

/* The row's calls, and what the test itself needs. */
static void allow_only_the_row(void)
{
    struct sock_filter code[2 * (CONTRACT_CALLS + 2) + 2];
    struct sock_fprog program = { 0, code };
    unsigned n = 0;

    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < row->call_count + 2; i++) {
        long number = i == 0   ? SYS_rt_sigreturn
                      : i == 1 ? SYS_exit_group
                               : contract_call_number(row->call[i - 2]);

        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    program.len = (unsigned short)n;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(90);
}

static void run_under_a_filter(ucontext_t *ucontext)
{
    size_t before = mallinfo2().uordblks;

    if (!SFB_EMULATED)
        allow_only_the_row();
    prepare(ucontext); /* of functions in handlers: by such alone, and those that call no more */
    errno = 4711;
    thunk->run(&room);
    _exit(errno != 4711 ? 92 : mallinfo2().uordblks != before ? 93 : 0);
}

static atomic_bool held;

static int hold(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)info, (void)size, (void)arg;
    atomic_store(&held, true);
    while (atomic_load(&held))
        pause();
    return 0;
}

static void *holds(void *arg)
{
    dl_iterate_phdr(hold, arg);
    return NULL;
}

/* Has another thread take the loader's lock and keep it: whoever waits for it calls futex. */
static void hold_the_loaders_lock(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, holds, NULL) != 0)
        _exit(94);
    while (!atomic_load(&held))
        sched_yield();
}

static void run_in_handler(const struct thunk *t, enum situation situation)
{
    int status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    cr_assert(ge(int, child, 0));
    if (child == 0) {
        prepare_situation(situation);
        if (!SFB_EMULATED) /* which makes no threads in a child */
            hold_the_loaders_lock();
        in_handler(situation, true, run_under_a_filter);
        _exit(91);
    }
    waitpid(child, &status, 0);
    cr_expect(eq(int, status, 0), "%s, situation %d: signal %d, exit status %d", t->function,
              (int)situation, WTERMSIG(status), WEXITSTATUS(status));
}

static void run_in_handlers(const struct thunk *t, void *arg)
{
    (void)arg;
    for (unsigned i = 0; choose(t)->in_handlers && i < SITUATIONS; i++)
        run_in_handler(t, (enum situation)i);
}

Test(contract_calls, in_a_handler_are_no_others_and_errno_and_the_heap_stay)
{
    if (sanitized())
        cr_skip("sanitizers make system calls of their own");
    if (SFB_EMULATED)
        fprintf(stderr, "skipped: live.contract_calls: the emulator has no system call filters: "
                        "errno and the heap are looked at, what is called is not\n");
    for_each_thunk(run_in_handlers, NULL);
}
