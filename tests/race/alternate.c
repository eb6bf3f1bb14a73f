/*
 * An alternate stack that is not the library's, and memory behind it that another thread maps and unmaps. A look there,
 * even one that asks first whether the page is mapped, ends the program now and then.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "race/check.h"
#include "sframe_backtrace_crash.h"

enum { SIZE = 64 << 10, BEHIND = 64 << 10, TIMES = 200000 };

static atomic_bool stop;

static void *map_and_unmap(void *at)
{
    while (!atomic_load(&stop)) {
        CHECK(mmap(at, BEHIND, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                   0) == at,
              "no memory");
        CHECK(mprotect(at, BEHIND, PROT_NONE) == 0, "it stays");
    }
    return NULL;
}

int main(void)
{
    char *const memory =
        mmap(NULL, SIZE + BEHIND, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const stack_t stack = { .ss_sp = memory, .ss_size = SIZE };
    stack_t now;
    pthread_t thread;

    CHECK(memory != MAP_FAILED && sigaltstack(&stack, NULL) == 0, "no memory");
    begin_thread(&thread, map_and_unmap, memory + SIZE);
    for (int i = 0; i < TIMES; i++)
        sframe_backtrace_release_crash_stack();
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == memory && now.ss_size == SIZE, "it is gone");
    return 0;
}
