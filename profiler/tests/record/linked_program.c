/* A program that records itself: linked FILE MODE. It ends with status 0 if all was as it had to be. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/tests/record/burn.h"
#include "sframe_backtrace_record.h"

static atomic_bool go, end;

/* There before the recording begins, and then at work. */
static void *early(void *ms)
{
    while (!go)
        sleep_ms(1);
    burn_ms((unsigned)(uintptr_t)ms);
    while (!end)
        sleep_ms(1);
    return NULL;
}

static void *late(void *ms)
{
    burn_ms((unsigned)(uintptr_t)ms);
    return NULL;
}

static enum sfb_status start_at(const char *file, uint32_t rate_hz)
{
    struct sframe_backtrace_record_options options = SFRAME_BACKTRACE_RECORD_OPTIONS_INIT;

    options.fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    options.rate_hz = rate_hz;
    return sframe_backtrace_record_start(&options);
}

static enum sfb_status start(const char *file)
{
    return start_at(file, 0);
}

static int whole(const char *file)
{
    pthread_t thread[2];

    pthread_create(&thread[0], NULL, early, (void *)150);
    if (start(file) != SFB_OK || start("/dev/null") != SFB_BAD_ARGUMENT)
        return 1;
    go = true;
    pthread_create(&thread[1], NULL, late, (void *)150);
    burn_ms(150);
    pthread_join(thread[1], NULL);
    sleep_ms(50);
    if (sframe_backtrace_record_stop() != SFB_OK)
        return 1;
    if (sframe_backtrace_record_stop() != SFB_BAD_ARGUMENT)
        return 2;
    end = true;
    pthread_join(thread[0], NULL);
    return 0;
}

/* Burns CPU time from `go` to `end`. */
static void *busy(void *unused)
{
    while (!go)
        sleep_ms(1);
    while (!end)
        burn_ms(1);
    return unused;
}

/* Returns when a thread has used so much more CPU time, however long a busy machine takes. */
static void wait_for_cpu(pthread_t thread, unsigned ms)
{
    clockid_t clock;
    uint64_t until;

    if (pthread_getcpuclockid(thread, &clock) != 0)
        return;
    until = cpu_of(clock) + (uint64_t)ms * 1000000U;
    while (cpu_of(clock) < until)
        sleep_ms(1);
}

/* The second recording has the threads of the first one. */
static int twice(const char *file)
{
    pthread_t thread;

    pthread_create(&thread, NULL, busy, NULL);
    if (start(file) != SFB_OK)
        return 1;
    go = true;
    burn_ms(50);
    if (sframe_backtrace_record_stop() != SFB_OK || start(file) != SFB_OK)
        return 1;
    burn_ms(50);
    wait_for_cpu(thread, 50);
    end = true;
    pthread_join(thread, NULL);
    return sframe_backtrace_record_stop() != SFB_OK;
}

static volatile sig_atomic_t calls;

static void count(int signo)
{
    calls += signo == SIGPROF;
}

/* The program's handler and its mask are its own, whatever is started how often. */
static int handler(const char *file)
{
    sigset_t prof, now;

    signal(SIGPROF, count);
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    for (int i = 1; i <= 3; i++) {
        if (start(file) != SFB_OK || raise(SIGPROF) != 0 || calls != i)
            return 1;
        pthread_sigmask(SIG_BLOCK, &prof, NULL);
        if (sframe_backtrace_record_stop() != SFB_OK || start(file) != SFB_OK)
            return 2;
        if (pthread_sigmask(SIG_UNBLOCK, &prof, &now) != 0 || sigismember(&now, SIGPROF) != 1)
            return 3;
        if (sframe_backtrace_record_stop() != SFB_OK)
            return 4;
    }
    return signal(SIGPROF, SIG_DFL) != count;
}

static atomic_bool leave;

static void *leaves(void *unused)
{
    while (!leave)
        sleep_ms(1);
    return unused;
}

/* Between two recordings a thread ends: in the second one others have its place. */
static int fewer(const char *file)
{
    pthread_t first, others[3];

    pthread_create(&first, NULL, leaves, NULL);
    for (int i = 0; i < 3; i++)
        pthread_create(&others[i], NULL, busy, NULL);
    if (start(file) != SFB_OK)
        return 1;
    go = true;
    burn_ms(50);
    if (sframe_backtrace_record_stop() != SFB_OK)
        return 1;
    leave = true;
    pthread_join(first, NULL);
    if (start(file) != SFB_OK)
        return 1;
    burn_ms(50);
    for (int i = 0; i < 3; i++)
        wait_for_cpu(others[i], 50);
    end = true;
    for (int i = 0; i < 3; i++)
        pthread_join(others[i], NULL);
    return sframe_backtrace_record_stop() != SFB_OK;
}

static long address_space_kib(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    char line[128];
    long kib = 0;

    while (status && fgets(line, sizeof line, status) && sscanf(line, "VmSize: %ld", &kib) != 1)
        ;
    if (status)
        fclose(status);
    return kib;
}

/* Recordings come and go while threads are at work: the memory of one is that of the next. */
static int often(const char *file)
{
    pthread_t thread[3];
    long first = 0;

    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, early, (void *)300);
    go = true;
    for (int i = 0; i < 50; i++) {
        if (start_at(file, 20000) != SFB_OK)
            return 1;
        sleep_ms(3);
        if (sframe_backtrace_record_stop() != SFB_OK)
            return 1;
        if (i == 0)
            first = address_space_kib();
    }
    end = true;
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    return first == 0 || address_space_kib() > first + 131072 ? 3 : 0;
}

static int no_stop(const char *file)
{
    if (start(file) != SFB_OK)
        return 1;
    burn_ms(150);
    return 0; /* exit() stops it */
}

/* The last thread is that of the library, and the first one a zombie. */
static int first_ends(const char *file)
{
    if (start(file) != SFB_OK)
        return 1;
    burn_ms(100);
    pthread_exit(NULL);
}

static int with_child(const char *file)
{
    int status;

    if (start(file) != SFB_OK)
        return 1;
    if (fork() == 0) {
        burn_ms(100);
        exit(9);
    }
    wait(&status);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 9)
        return 1;
    return sframe_backtrace_record_stop() != SFB_OK;
}

#define KILLED_AT(number)                                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* Under a filter that ends it at calls that the recording can do without. */
static int filtered(const char *file)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        KILLED_AT(SYS_close_range),
        KILLED_AT(SYS_socket),
        KILLED_AT(SYS_bind),
        KILLED_AT(SYS_recvmsg),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof code / sizeof *code, code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 1;
    if (start(file) != SFB_OK)
        return 2;
    burn_ms(100);
    return sframe_backtrace_record_stop() != SFB_OK;
}

static int refuses(const char *file)
{
    /* What is behind the struct is not read for these. */
    static const size_t never_set[] = { 0, 12, sizeof(struct sframe_backtrace_record_options) + 1,
                                        1 << 20, SIZE_MAX & ~(size_t)7 };
    struct sframe_backtrace_record_options options = SFRAME_BACKTRACE_RECORD_OPTIONS_INIT;

    (void)file;
    if (sframe_backtrace_record_start(NULL) != SFB_BAD_ARGUMENT ||
        sframe_backtrace_record_stop() != SFB_BAD_ARGUMENT)
        return 1;
    if (sframe_backtrace_record_start(&options) != SFB_BAD_ARGUMENT) /* no descriptor */
        return 2;
    options.fd = 1;
    options.rate_hz = 20001;
    if (sframe_backtrace_record_start(&options) != SFB_BAD_ARGUMENT)
        return 3;
    options.rate_hz = 0;
    for (size_t i = 0; i < sizeof never_set / sizeof *never_set; i++) {
        options.size = never_set[i];
        if (sframe_backtrace_record_start(&options) != SFB_NO_SIZE)
            return 4;
    }
    return 0;
}

int main(int count, char *words[])
{
    static const struct {
        const char *name;
        int (*run)(const char *file);
    } modes[] = { { "whole", whole },      { "twice", twice },      { "handler", handler },
                  { "fewer", fewer },      { "no_stop", no_stop },  { "first_ends", first_ends },
                  { "often", often },      { "child", with_child }, { "refuses", refuses },
                  { "filtered", filtered } };

    for (size_t i = 0; count == 3 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, words[2]) == 0)
            return modes[i].run(words[1]);
    return 2;
}
