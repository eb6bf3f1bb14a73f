/*
 * supervise <seconds> <name> <program> [argument...]
 *
 * Runs a test, or a whole ctest, and leaves no process of it behind. ctest itself kills only the
 * process that it started: what that one started would run on, and hold the processor.
 *
 * It is the subreaper of all that it starts: a process that outlives its parent becomes its child,
 * whatever session or process group it went to and whatever it did to its environment. So the
 * children of this process, and theirs, are all that is left, and ECHILD says that nothing is.
 *
 * At the end it says how much CPU time all of that took: the cost of a test, on any machine at any hour.
 *
 * Exit status: the program's; 128 + n if signal n ended it, or this process; 124 if the seconds
 * were over; 125 if it ended well and left a process, which is named with its test and killed.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    USAGE = 2,
    LIMIT_OVER = 124,
    LEFT_SOMETHING = 125,
    CANNOT_RUN = 127,
    SIGNALLED = 128,
    /* A process may be about to end when its parent does. */
    GRACE_MS = 1000,
    KILL_MS = 10000,
    POLL_MS = 10,
    PROCESSES_MAX = 32768
};

static const char mark[] = "SFB_TEST"; /* in the environment of a test: its name */

struct process {
    pid_t pid, parent;
    bool ours;
};

static struct process processes[PROCESSES_MAX];

static long long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads the start of a file of /proc/<pid>; what follows it is zero. */
static size_t read_proc(pid_t pid, const char *file, char *out, size_t size)
{
    char path[64];
    size_t used = 0;
    ssize_t n = 0;
    int fd;

    memset(out, 0, size);
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while (used < size - 1 && (n = read(fd, out + used, size - 1 - used)) > 0)
        used += (size_t)n;
    close(fd);
    return used;
}

/* 0 for a process that is gone, or only waited for. */
static pid_t parent_of(pid_t pid)
{
    char text[512], state;
    const char *end;
    int parent;

    /* pid (name) state parent ...; the name may hold anything, a parenthesis, too. */
    if (read_proc(pid, "stat", text, sizeof text) == 0 || !(end = strrchr(text, ')')) ||
        sscanf(end + 1, " %c %d", &state, &parent) != 2 || state == 'Z')
        return 0;
    return parent;
}

/* Lists all processes that descend from this one; returns how many are in the table. */
static size_t find_ours(void)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    size_t count = 0;
    bool more = true;

    if (!proc)
        return 0;
    while (count < PROCESSES_MAX && (entry = readdir(proc)) != NULL) {
        pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
        pid_t parent = pid ? parent_of(pid) : 0;

        if (parent)
            processes[count++] = (struct process){ pid, parent, parent == getpid() };
    }
    closedir(proc);
    while (more) {
        more = false;
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; !processes[i].ours && k < count; k++)
                if (processes[k].ours && processes[k].pid == processes[i].parent)
                    more = processes[i].ours = true;
    }
    return count;
}

/* Prints a process: the test that it is of, which its first environment names, and its command. */
static void print_process(pid_t pid)
{
    static char text[16384];
    const char *test = "?", *end = text + read_proc(pid, "environ", text, sizeof text);
    char command[256];
    size_t size;

    for (const char *at = text; at < end; at += strlen(at) + 1)
        if (strncmp(at, mark, sizeof mark - 1) == 0 && at[sizeof mark - 1] == '=')
            test = at + sizeof mark;
    size = read_proc(pid, "cmdline", command, sizeof command);
    for (size_t i = 0; i + 1 < size; i++)
        if (!isprint((unsigned char)command[i]))
            command[i] = ' ';
    fprintf(stderr, "  left by %s: process %d: %s\n", test, (int)pid,
            size ? command : "(no command line)");
}

/* Collects every child that has ended. Returns false if no child is left. */
static bool reap(pid_t main_child, int *status)
{
    pid_t pid;
    int how;

    while ((pid = waitpid(-1, &how, WNOHANG)) > 0)
        if (pid == main_child)
            *status = WIFEXITED(how) ? WEXITSTATUS(how) : SIGNALLED + WTERMSIG(how);
    return pid == 0;
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
}

/* Kills what is left, and what that starts meanwhile. */
static void kill_all(bool print)
{
    long long end = now_ms() + KILL_MS;
    int ignored = 0;

    for (; reap(0, &ignored) && now_ms() < end; pause_shortly()) {
        size_t count = find_ours();

        for (size_t i = 0; i < count; i++) {
            if (processes[i].ours && print)
                print_process(processes[i].pid);
            if (processes[i].ours)
                kill(processes[i].pid, SIGKILL);
        }
        print = false;
    }
}

/* Waits for the program to end. Returns its status, or why it had to be ended. */
static int watch(pid_t child, const sigset_t *signals, long seconds, const char *name)
{
    long long end = now_ms() + seconds * 1000LL;
    int status = -1;

    while (reap(child, &status), status < 0) {
        long long left = end - now_ms();
        struct timespec wait = { .tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000 };
        int signal = left > 0 ? sigtimedwait(signals, NULL, &wait) : -1;

        if (signal > 0 && signal != SIGCHLD) {
            kill_all(false);
            return SIGNALLED + signal;
        }
        if (left <= 0) {
            fprintf(stderr, "supervise: %s: its limit of %ld s is over; killed:\n", name, seconds);
            kill_all(true);
            return LIMIT_OVER;
        }
    }
    return status;
}

static void run(char *argv[], const char *test, const sigset_t *mask)
{
    setenv(mark, test, 1);
    /* Of its own: what a terminal sends comes to this process, which ends all of them. */
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(argv[0], argv);
    fprintf(stderr, "supervise: %s: cannot run %s: %s\n", test, argv[0], strerror(errno));
    _exit(CANNOT_RUN);
}

static void print_cost(const char *test)
{
    struct rusage used;

    if (getrusage(RUSAGE_CHILDREN, &used) == 0)
        fprintf(stderr, "supervise: %s: %.2f s of CPU time\n", test,
                (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
}

int main(int argc, char *argv[])
{
    static const int watched[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT };
    long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    sigset_t signals, before;
    bool left = true;
    pid_t child;
    int status;

    if (argc < 4 || seconds <= 0) {
        fputs("usage: supervise <seconds> <name> <program> [argument...]\n", stderr);
        return USAGE;
    }
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(&signals, watched[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 || (child = fork()) < 0) {
        fprintf(stderr, "supervise: %s: %s\n", argv[2], strerror(errno));
        return CANNOT_RUN;
    }
    if (child == 0)
        run(argv + 3, argv[2], &before);

    status = watch(child, &signals, seconds, argv[2]);
    for (long long end = now_ms() + GRACE_MS; (left = reap(0, &(int){ 0 })) && now_ms() < end;)
        pause_shortly();
    if (left) {
        fprintf(stderr, "supervise: %s: has ended and left processes; killed:\n", argv[2]);
        kill_all(true);
    }
    if (status > SIGNALLED)
        fprintf(stderr, "supervise: %s: ended by signal %d (%s)\n", argv[2], status - SIGNALLED,
                strsignal(status - SIGNALLED));
    print_cost(argv[2]);
    return left && status == 0 ? LEFT_SOMETHING : status;
}
