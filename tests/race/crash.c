/*
 * The crash handler: threads crash at once, again and again, and a previous handler takes them out of it. Each report is
 * written by one thread, in one piece; beyond 16 there is a line that says so. Then it is installed by several at once.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash/grammar.h"
#include "race/check.h"
#include "sframe_backtrace_crash.h"

enum { THREADS = 4, CRASHES = 6, REPORTS = 16, INSTALLS = 50, TEXT = 1 << 22 };

#define BEGINS SFB_CRASH_PREFIX "SIGSEGV"
#define ENDS   "\n" SFB_CRASH_END "\n"

static _Thread_local sigjmp_buf out;
static atomic_uint recovered, installed;
static char *nowhere; /* pages without access, one a crash */

static void on_fault(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

static void *crash(void *with)
{
    const size_t first = (size_t)(uintptr_t)with * CRASHES;
    volatile size_t i = 0;

    CHECK(sframe_backtrace_crash_stack(NULL, 0) == SFB_OK, "no alternate stack");
    if (sigsetjmp(out, 1) != 0) {
        atomic_fetch_add(&recovered, 1);
        i++;
    }
    if (i < CRASHES)
        *(volatile char *)(nowhere + (first + i) * 4096) = 1;
    sframe_backtrace_release_crash_stack();
    return NULL;
}

static void *install(void *with)
{
    struct sframe_backtrace_crash_options options = SFRAME_BACKTRACE_CRASH_OPTIONS_INIT;

    options.fd = *(const int *)with;
    if (sframe_backtrace_install_crash_handler(&options) == SFB_OK)
        atomic_fetch_add(&installed, 1);
    return NULL;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        n++;
    return n;
}

static void look_at_reports(int fd)
{
    char *const text = calloc(1, TEXT);
    const char *begin, *end, *at;

    CHECK(text && pread(fd, text, TEXT - 1, 0) > 0, "no report");
    CHECK(count(text, BEGINS) == REPORTS, "%u begin", count(text, BEGINS));
    CHECK(count(text, ENDS) == REPORTS, "%u end", count(text, ENDS));
    CHECK(count(text, "without a report") == 1, "%u limits", count(text, "without a report"));
    for (at = text; (begin = strstr(at, BEGINS)) != NULL; at = end + 1) {
        const char *next = strstr(begin + 1, BEGINS);

        end = strstr(begin, ENDS);
        CHECK(end && (!next || end < next), "two reports in one");
    }
    free(text);
}

/* --- a previous handler that is for one signal --------------------------------------------------- */

static atomic_uint *taken; /* shared with the parent */

static void on_one_fault(int number)
{
    (void)number;
    atomic_fetch_add(taken, 1);
    siglongjmp(out, 1);
}

static void *crash_together(void *with)
{
    if (sigsetjmp(out, 1) == 0)
        *(volatile char *)with = 1;
    while (atomic_load(taken) == 1)
        pause(); /* another one ends the process */
    _exit(1);
    return NULL;
}

static void crash_once(const int *fd)
{
    struct sigaction action = { .sa_handler = on_one_fault };
    const struct rlimit no_core = { 0, 0 };
    pthread_t threads[THREADS];

    setrlimit(RLIMIT_CORE, &no_core);
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGSEGV, &action, NULL);
    install((void *)(uintptr_t)fd);
    for (size_t i = 0; i < THREADS; i++)
        begin_thread(&threads[i], crash_together, nowhere + i * 4096);
    pthread_join(threads[0], NULL);
}

/* How many threads of a process sleep: all that have crashed wait for the one that reports, and that for the pipe. */
static unsigned sleeping(pid_t process)
{
    char path[64], line[512], *state;
    struct dirent *entry;
    unsigned count = 0;
    DIR *tasks;

    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks)) != NULL) {
        FILE *file;

        snprintf(path, sizeof path, "/proc/%d/task/%.16s/stat", (int)process, entry->d_name);
        file = fopen(path, "r");
        if (file && fgets(line, sizeof line, file) && (state = strrchr(line, ')')) != NULL)
            count += strncmp(state, ") S", 3) == 0;
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return count;
}

/* As the kernel has it: one thread has the handler, the next one ends the process. */
static void one_thread_has_it(void)
{
    char bytes[4096] = "";
    int status, pipe_of[2];
    pid_t child;

    taken = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(taken != MAP_FAILED && pipe(pipe_of) == 0, "no memory");
    CHECK(fcntl(pipe_of[1], F_SETPIPE_SZ, sizeof bytes) >= 0, "no pipe");
    CHECK(write(pipe_of[1], bytes, sizeof bytes) == sizeof bytes, "it is not full");
    child = fork();
    if (child == 0)
        crash_once(&pipe_of[1]);
    close(pipe_of[1]);
    while (sleeping(child) < THREADS + 1)
        sched_yield();
    while (read(pipe_of[0], bytes, sizeof bytes) > 0)
        continue;
    CHECK(waitpid(child, &status, 0) == child, "no child");
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "status %#x", (unsigned)status);
    CHECK(atomic_load(taken) == 1, "%u threads had the handler", atomic_load(taken));
    close(pipe_of[0]);
}

int main(void)
{
    const int fd = memfd_create("report", MFD_CLOEXEC);
    const struct sigaction action = { .sa_handler = on_fault };
    pthread_t threads[THREADS];

    nowhere =
        mmap(NULL, (size_t)THREADS * CRASHES * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(fd >= 0 && nowhere != MAP_FAILED, "no memory");
    one_thread_has_it();
    sigaction(SIGSEGV, &action, NULL);
    install((void *)(uintptr_t)&fd);
    CHECK(atomic_load(&installed) == 1, "it is not installed");
    for (uintptr_t i = 0; i < THREADS; i++)
        begin_thread(&threads[i], crash, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&recovered) == THREADS * CRASHES, "%u", atomic_load(&recovered));
    look_at_reports(fd);
    for (int i = 0; i < INSTALLS; i++) {
        CHECK(sframe_backtrace_uninstall_crash_handler() == SFB_OK, "it stays");
        atomic_store(&installed, 0);
        for (int k = 0; k < THREADS; k++)
            begin_thread(&threads[k], install, (void *)(uintptr_t)&fd);
        for (int k = 0; k < THREADS; k++)
            pthread_join(threads[k], NULL);
        CHECK(atomic_load(&installed) == 1, "%u have installed it", atomic_load(&installed));
    }
    return 0;
}
