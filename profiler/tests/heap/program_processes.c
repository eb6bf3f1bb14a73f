/* Children of all kinds, and libraries that are loaded. */
#include <dlfcn.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/tests/heap/program.h"

/* NOLINTBEGIN(clang-analyzer-unix.Malloc,bugprone-signal-handler,cert-sig30-c,clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork): what programs do all the same */

#define KEEP(pointer) __asm__ volatile("" : "+r"(pointer)::"memory")

__attribute__((noinline)) static void pair(size_t size)
{
    char *block = malloc(size);

    KEEP(block);
    free(block);
}

static void wait_for(pid_t pid)
{
    int status = -1;

    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        printf("a child: %d\n", status);
        exit(3);
    }
}

/* In its handler the child goes on in the middle of whatever its parent was doing. */
static void fork_in_handler(int number)
{
    pid_t pid = fork();

    (void)number;
    if (pid == 0)
        _exit(0);
    wait_for(pid);
}

void program_fork(void)
{
    char *before = malloc(40000);
    pid_t pid;

    pair(40001);
    pid = fork();
    if (pid == 0) {
        free(before); /* the parent's, here a copy */
        pair(40001);
        pair(40002);
        pid = fork();
        if (pid == 0) {
            pair(40003);
            _exit(0);
        }
        wait_for(pid);
        exit(0);
    }
    wait_for(pid);
    /* No handler of fork() runs. */
    pid = _Fork();
    if (pid == 0) {
        for (int i = 0; i < 10000; i++)
            pair(40004);
        _exit(0);
    }
    for (int i = 0; i < 10000; i++)
        pair(40005);
    wait_for(pid);
    signal(SIGALRM, fork_in_handler);
    for (int i = 0; i < 20; i++) {
        ualarm(100, 0);
        for (int k = 0; k < 20000; k++)
            pair(40006);
    }
    pair(40007);
    free(before);
}

void program_vfork(const char *self)
{
    char *const list[] = { (char *)(uintptr_t)self, (char *)(uintptr_t) "loop",
                           (char *)(uintptr_t) "3", NULL };
    pid_t pid;

    pair(41001);
    pid = vfork();
    if (pid == 0) {
        char *block = malloc(41002); /* the heap is the parent's */

        KEEP(block);
        execve(self, list, environ);
        _exit(1);
    }
    wait_for(pid);
    if (posix_spawn(&pid, self, NULL, NULL, list, environ) != 0)
        exit(3);
    wait_for(pid);
    pair(41003);
    execve(self, list, environ);
    exit(3);
}

void program_libraries(void)
{
    void *library;
    void (*call)(void);

    for (int i = 0; i < 3; i++) {
        library = dlopen(SFB_HEAP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            printf("%s\n", dlerror());
            exit(3);
        }
        *(void **)&call = dlsym(library, "library_call");
        call();
        dlclose(library);
    }
}

/* NOLINTEND(clang-analyzer-unix.Malloc,bugprone-signal-handler,cert-sig30-c,clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
