/*
 * Work of known CPU time: alongside_program FILE MODE MS. Adds a line for each of its functions to FILE: its name, and its
 * CPU time in ns. Modes: plain, musl, cleared, early (before constructors), filter (before and behind a seccomp filter, and in a
 * child behind it), raised (in a file that is mapped while it runs, and in what it executes then).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__ /* musl's compiler has no headers of the kernel */
#include <linux/filter.h>
#include <linux/seccomp.h>
#endif

static volatile unsigned spun;
static uint64_t early_ns;

static uint64_t used(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A number of its own keeps the compiler from making one function of all. */
#define WORK(name)                                                                                 \
    static __attribute__((noinline)) uint64_t name(uint64_t ns)                                    \
    {                                                                                              \
        const uint64_t begun = used();                                                             \
        while (used() - begun < ns)                                                                \
            for (unsigned i = 0; i < 100000; i++)                                                  \
                spun += i ^ __COUNTER__;                                                           \
        return used() - begun;                                                                     \
    }

WORK(plain_work)
WORK(static_work)
#ifndef __GLIBC__
WORK(musl_work)
#endif
WORK(cleared_work)
WORK(early_work)
WORK(late_work)
#ifdef __GLIBC__
WORK(before_filter)
WORK(behind_filter)
WORK(child_behind_filter)
WORK(below_work)

/* Runs wherever its code is. */
static __attribute__((noinline, noclone)) uint64_t mapped_work(uint64_t seed)
{
    for (unsigned i = 0; i < 1000000; i++)
        seed = seed * 6364136223846793005 + 1442695040888963407;
    return seed;
}
#endif

static uint64_t ns_of(const char *ms)
{
    return (uint64_t)atoi(ms) * 1000000;
}

/* Before all constructors: an agent's, too. A static program has none. */
static __attribute__((used)) void begin_early(int count, char **words, char **environment)
{
    (void)environment;
    if (count == 4 && strcmp(words[2], "early") == 0)
        early_ns = early_work(ns_of(words[3]));
}

static __attribute__((section(".preinit_array"), used)) void (*const first)(int, char **,
                                                                            char **) = begin_early;

static void tell(int to, const char *name, uint64_t ns)
{
    char line[96];
    const int size = snprintf(line, sizeof line, "%s %" PRIu64 "\n", name, ns);

    if (write(to, line, (size_t)size) != size)
        _exit(3);
}

#ifdef __GLIBC__
/* All calls stay allowed. */
static void set_filter(void)
{
    struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    const struct sock_fprog program = { 1, code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(4);
}

static void work_with_filter(int to, uint64_t ns)
{
    int status = 0;
    pid_t child;

    tell(to, "before_filter", before_filter(ns));
    set_filter();
    tell(to, "behind_filter", behind_filter(ns));
    child = fork();
    if (child == 0) {
        tell(to, "child_behind_filter", child_behind_filter(ns));
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(5);
}

/* Finds in the program, which comes first, where mapped_work() is in the file. */
static int find_code(struct dl_phdr_info *info, size_t size, void *offset)
{
    const uintptr_t address = (uintptr_t)mapped_work - info->dlpi_addr;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && address - p->p_vaddr < p->p_filesz)
            *(uint64_t *)offset = address - p->p_vaddr + p->p_offset;
    }
    return 1;
}

/* As a library that is opened later: nothing but the new mapping says what this code is. */
static uint64_t work_in_mapping(uint64_t ns)
{
    const uint64_t begun = used(), page = (uint64_t)sysconf(_SC_PAGESIZE);
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    uint64_t (*work)(uint64_t), offset = 0;
    char *at;

    dl_iterate_phdr(find_code, &offset);
    at = mmap(NULL, 2 * page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file,
              (off_t)(offset - offset % page));
    if (at == MAP_FAILED)
        _exit(6);
    *(void **)&work = at + offset % page;
    while (used() - begun < ns)
        spun += (unsigned)work(spun);
    return used() - begun;
}

static void work_raised(int to, char **argv, uint64_t ns)
{
    int status = 0;
    pid_t child;

    late_work(ns); /* until it is recorded */
    tell(to, "mapped_work", work_in_mapping(ns));
    child = fork();
    if (child == 0) {
        execl("/proc/self/exe", argv[0], argv[1], "below", argv[3], (char *)NULL);
        _exit(7);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(5);
}
#endif

int main(int argc, char **argv)
{
    const int to = argc == 4 ? open(argv[1], O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    const uint64_t ns = argc == 4 ? ns_of(argv[3]) : 0;

    if (to < 0)
        return 2;
    if (strcmp(argv[2], "plain") == 0)
        tell(to, "plain_work", plain_work(ns));
    else if (strcmp(argv[2], "static") == 0)
        tell(to, "static_work", static_work(ns));
    else if (strcmp(argv[2], "cleared") == 0)
        tell(to, "cleared_work", cleared_work(ns));
#ifdef __GLIBC__
    else if (strcmp(argv[2], "filter") == 0)
        work_with_filter(to, ns);
    else if (strcmp(argv[2], "raised") == 0)
        work_raised(to, argv, ns);
    else if (strcmp(argv[2], "below") == 0)
        tell(to, "below_work", below_work(ns));
#else
    else if (strcmp(argv[2], "musl") == 0)
        tell(to, "musl_work", musl_work(ns));
#endif
    else if (strcmp(argv[2], "early") == 0) {
        tell(to, "early_work", early_ns);
        tell(to, "late_work", late_work(ns));
    } else
        return 2;
    return 0;
}
