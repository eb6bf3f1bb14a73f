/*
 * What a recording from outside must keep apart: outside_program CASE FOLDER. It works until FOLDER has a file `stop`. A file
 * `ready` says that it runs.
 *
 *   exec     works as before_exec() until there is a file `go`; then executes `after`
 *   after    works as after_exec()
 *   leader   its first thread ends, and another one works
 *   threads  a thousand threads sleep, and one works
 *   crowd    300 children sleep; it is ready when all of them are there
 *   few      the same with 5
 *   later    when there is a file `go` it makes a child, which works; FOLDER/cpu gets its CPU time, in ns
 *   forged   writes another build-id into its memory, and runs `after`; that alone says that it is ready
 *   tools    runs FOLDER/tool until the file `stop`, and when there is a file `again`, once more
 */
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef AFTER
#define AFTER after_exec
#endif

static volatile uint64_t sink;
static const char *folder;

static int is_there(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void make(const char *name)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    if (file)
        fclose(file);
}

static void take_away(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static inline __attribute__((always_inline)) void work_until(const char *name)
{
    while (!is_there(name))
        for (unsigned i = 0; i < 1000000; i++)
            sink = sink * 25214903917 + 11;
}

__attribute__((noinline)) static void before_exec(void)
{
    work_until("go");
    sink++;
}

__attribute__((noinline)) static void AFTER(void)
{
    work_until("stop");
    sink++;
}

static void wait_for(const char *name)
{
    while (!is_there(name))
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

static void *without_first(void *none)
{
    AFTER();
    exit(0);
    return none;
}

static void *sleep_on(void *none)
{
    pause();
    return none;
}

static void threads(void)
{
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (unsigned i = 0; i < 1000; i++)
        pthread_create(&thread, &small, sleep_on, NULL);
    pthread_create(&thread, &small, without_first, NULL);
    pthread_join(thread, NULL);
}

static void crowd(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pause();
            _exit(0);
        }
    make("ready");
    wait_for("stop");
}

static void later(void)
{
    char path[512];
    struct timespec t;
    FILE *out;

    wait_for("go");
    if (fork() != 0) {
        wait(NULL);
        return;
    }
    AFTER();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    snprintf(path, sizeof path, "%s/cpu", folder);
    out = fopen(path, "w");
    if (!out)
        _exit(1);
    fprintf(out, "%llu\n",
            (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec);
    fclose(out);
    _exit(0);
}

/* Of the program, which comes first. */
static int forge_build_id(struct dl_phdr_info *info, size_t size, void *none)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    (void)size;
    (void)none;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        char *at = (char *)(info->dlpi_addr + p->p_vaddr), *const end = at + p->p_memsz;

        while (p->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) < end) {
            const ElfW(Nhdr) note = *(const ElfW(Nhdr) *)(const void *)at;
            char *const bytes = at + sizeof note + ((note.n_namesz + 3) & ~3U);
            char *const first = bytes - (uintptr_t)bytes % page;

            at = bytes + ((note.n_descsz + 3) & ~3U);
            if (note.n_type != NT_GNU_BUILD_ID)
                continue;
            if (mprotect(first, (size_t)(at - first), PROT_READ | PROT_WRITE) != 0)
                exit(1);
            memset(bytes, 0xee, note.n_descsz);
            return 1;
        }
    }
    exit(1);
}

static void forged(void)
{
    dl_iterate_phdr(forge_build_id, NULL);
    if (fork() == 0) {
        execl("/proc/self/exe", "after", "after", folder, (char *)NULL);
        _exit(1);
    }
    wait(NULL);
}

static void run(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (fork() == 0) {
        execl(path, name, "after", folder, (char *)NULL);
        _exit(1);
    }
    wait(NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc == 3 ? argv[1] : "";
    pthread_t thread;

    folder = argc == 3 ? argv[2] : ".";
    if (strcmp(what, "forged") == 0) {
        forged();
        return 0;
    }
    if (strcmp(what, "crowd") == 0 || strcmp(what, "few") == 0) {
        crowd(what[0] == 'f' ? 5 : 300);
        return 0;
    }
    make("ready");
    if (strcmp(what, "exec") == 0) {
        before_exec();
        execl("/proc/self/exe", "after", "after", folder, (char *)NULL);
        return 1;
    }
    if (strcmp(what, "after") == 0)
        AFTER();
    else if (strcmp(what, "leader") == 0 && pthread_create(&thread, NULL, without_first, NULL) == 0)
        syscall(SYS_exit, 0);
    else if (strcmp(what, "threads") == 0)
        threads();
    else if (strcmp(what, "later") == 0)
        later();
    else if (strcmp(what, "tools") == 0) {
        run("tool");
        wait_for("again");
        take_away("stop");
        run("tool");
    } else
        return 2;
    return 0;
}
