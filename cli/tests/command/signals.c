/*
 * `sfb synth -o OUT` under signals: one comes at each system call from the one that creates the file
 * on, and nothing is left behind but OUT, whole, or what stood there.
 *
 * The same is done where the file system has no files without a name; a filter plays that.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/run.h"
#include "support/test.h"

#define PROGRAM SFB_SOURCE_DIR "/fixtures/elf/v1/amd64/prog_sig"

/* Without O_DIRECTORY, which is in O_TMPFILE, too. */
enum { NAMELESS = O_TMPFILE & ~O_DIRECTORY };

static char folder[128];

static void make_folder(void)
{
    strcpy(folder, SFB_BINARY_DIR "/signals.XXXXXX");
    cr_assert(ne(ptr, mkdtemp(folder), NULL));
    cr_assert(eq(int, chdir(folder), 0));
}

static void remove_folder(void)
{
    struct run run = run_line("rm -rf '%s'", folder);

    run_free(&run);
}

TestSuite(tool_signals, .init = make_folder, .fini = remove_folder);

/* openat() of a file without a name is answered as a file system without them does. */
static void refuse_nameless_files(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMELESS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof code / sizeof *code, code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(99);
}

static pid_t start(bool nameless)
{
    const pid_t child = fork();

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        _exit(99);
    if (!nameless)
        refuse_nameless_files();
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(99);
    execl(SFB_TOOL, "sfb", "synth", "--force", "-o", "out", PROGRAM, (char *)NULL);
    _exit(99);
}

/* @return whether a stop is the system call that creates the output */
static bool creates(pid_t child)
{
    struct __ptrace_syscall_info info;

    return ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof info, &info) > 0 &&
           info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_openat &&
           (info.entry.args[2] & (O_CREAT | NAMELESS)) != 0;
}

/*
 * Sends the signal at the `moment`th stop from there on.
 *
 * @param status  how the command ended
 * @return whether it came to that stop
 */
static bool run_with_signal(bool nameless, int number, unsigned moment, int *status)
{
    const pid_t child = start(nameless);
    bool created = false, sent = false;
    unsigned stops = 0;

    cr_assert(eq(int, waitpid(child, status, 0), child));
    cr_assert(ne(int, WIFSTOPPED(*status), 0), "status 0x%x", (unsigned)*status);
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    while (waitpid(child, status, 0) == child && WIFSTOPPED(*status)) {
        const int stop = WSTOPSIG(*status);

        if (stop != (SIGTRAP | 0x80)) { /* the signal: it is handed on */
            ptrace(PTRACE_SYSCALL, child, NULL, (void *)(uintptr_t)stop);
            continue;
        }
        created |= creates(child);
        if (created && !sent && stops++ == moment) {
            kill(child, number);
            sent = true;
        }
        ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    }
    return sent;
}

/* @return how many files but `out` are here */
static size_t count_others(void)
{
    DIR *here = opendir(".");
    size_t count = 0;

    cr_assert(ne(ptr, here, NULL));
    for (const struct dirent *e; (e = readdir(here)) != NULL;)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
                 strcmp(e->d_name, "out") != 0;
    closedir(here);
    return count;
}

static off_t size_of(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? status.st_size : -1;
}

static bool was_ended_by(int status, int number)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == number;
}

static void expect_clean(bool nameless, bool stands, off_t whole)
{
    static const int signals[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGXCPU,
                                   SIGPIPE, SIGALRM, SIGUSR1, SIGKILL };
    unsigned ended = 0;

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        bool sent = true;

        /* Nothing can be done about SIGKILL where a file has a name. */
        if (signals[i] == SIGKILL && (!nameless || stands))
            continue;
        /* All moments for one signal, and a fifth of them for each other. */
        for (unsigned moment = (unsigned)i % 5; sent; moment += i == 0 ? 1 : 5) {
            int status = 0;
            off_t size;

            unlink("out");
            if (stands) {
                struct run made = run_line("printf old >out");

                run_free(&made);
            }
            sent = run_with_signal(nameless, signals[i], moment, &status);
            size = size_of("out");
            cr_expect(eq(sz, count_others(), 0), "signal %d at %u leaves a file behind", signals[i],
                      moment);
            cr_expect(size == whole || size == (stands ? 3 : -1),
                      "signal %d at %u: out has %ld bytes", signals[i], moment, (long)size);
            /* The last moment is exit() itself. */
            cr_expect(was_ended_by(status, signals[i]) ||
                          (WIFEXITED(status) && WEXITSTATUS(status) == 0 && size == whole),
                      "signal %d at %u: status 0x%x", signals[i], moment, (unsigned)status);
            ended += sent;
            if (count_others() > 0)
                return;
        }
    }
    cr_expect(lt(uint, 40, ended), "%u signals were sent", ended);
}

Test(tool_signals, leave_nothing_behind)
{
    struct run run;
    off_t whole;

    if (SFB_TOOL_PREFIX[0])
        cr_skip_test("an emulator's system calls are not those of the program");
    run = run_line("'%s' synth --force -o out " PROGRAM, SFB_TOOL);
    cr_assert(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
    whole = size_of("out");
    for (int nameless = 0; nameless < 2; nameless++)
        for (int stands = 0; stands < 2; stands++)
            expect_clean(nameless, stands, whole);
}

/* nohup's SIGHUP stays ignored. */
Test(tool_signals, that_are_ignored_stay_so)
{
    struct run run =
        run_line("trap '' HUP; '%s' synth --force -o out " PROGRAM " && test -s out", SFB_TOOL);

    cr_expect(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
}
