/*
 * Alternate stacks for signal handlers.
 *
 *     [guard page |] struct given | stack ...       ]
 *                    ^ ss_sp                        ^ ss_sp + ss_size
 *
 * The thread's alternate stack before this one is recorded in the struct at the far end. So nothing is
 * allocated for it, and thread-local storage is not used. The mark in the struct shows that a stack is
 * ours. It lies inside the stack: memory around another stack may belong to another thread, which may
 * unmap it between the probe and the read. A handler that uses up its stack overwrites the mark first,
 * and then the stack is not given back.
 */
#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "sframe_backtrace_crash.h"
#include "unwind/process/live_memory.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51 /* glibc 2.35 does not name it everywhere */
#endif

/*
 * OWN: eight times a report and its kernel frame. Previous handlers that print their own backtraces need
 * the most. LEAST: two times, for a report and a crash inside of it.
 */
enum { OWN = 64 << 10, LEAST = 16 << 10, ALIGNMENT = 16 };

#define MARK 0x736672616d652d73u

struct given {
    stack_t before;
    void *map; /* NULL: the caller's memory */
    size_t map_size;
    uint64_t mark; /* MARK, changed by the address of the struct */
};

static size_t kernel_frame_size(void)
{
    int before = errno; /* getauxval() changes it if the kernel gives no value */
    size_t size = getauxval(AT_MINSIGSTKSZ);

    errno = before;
    /* Kernels before 5.14 give no value: AVX-512 takes 3 KiB, SVE up to 9. */
    return size > 0 ? size : 12 << 10;
}

size_t sframe_backtrace_crash_stack_size(void)
{
    return LEAST + 2 * kernel_frame_size() + sizeof(struct given) + ALIGNMENT;
}

static bool is_off(const stack_t *stack)
{
    return (stack->ss_flags & SS_DISABLE) != 0;
}

static bool is_large_enough(const stack_t *stack)
{
    return !is_off(stack) && stack->ss_size >= LEAST + 2 * kernel_frame_size();
}

/* @param memory  start of the stack; map: memory to unmap later, NULL: the caller's */
static bool give(void *memory, size_t size, void *map, size_t map_size, const stack_t *before)
{
    const size_t over = -(uintptr_t)memory % ALIGNMENT;
    struct given *given = (void *)((char *)memory + over);
    const stack_t stack = { .ss_sp = given, .ss_size = size - over };

    *given = (struct given){
        .before = *before, .map = map, .map_size = map_size, .mark = MARK ^ (uintptr_t)given
    };
    return sigaltstack(&stack, NULL) == 0;
}

static bool map_and_give(const stack_t *before)
{
    const size_t page = getauxval(AT_PAGESZ);
    const size_t least = OWN + 2 * kernel_frame_size() + sizeof(struct given) + ALIGNMENT;
    const size_t size = (least + page - 1) / page * page;
    char *map = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        return false;
    if (mprotect(map, page, PROT_NONE) == 0 && give(map + page, size, map, size + page, before))
        return true;
    munmap(map, size + page);
    return false;
}

enum sfb_status sframe_backtrace_crash_stack(void *memory, size_t size)
{
    stack_t now;

    if (memory && size < sframe_backtrace_crash_stack_size())
        return SFB_BAD_ARGUMENT;
    if (sigaltstack(NULL, &now) != 0)
        return SFB_NO_RESOURCE;
    if (is_large_enough(&now))
        return SFB_OK;
    return (memory ? give(memory, size, NULL, 0, &now) : map_and_give(&now)) ? SFB_OK
                                                                             : SFB_NO_RESOURCE;
}

void sframe_backtrace_release_crash_stack(void)
{
    struct sfb_memory memory;
    struct given given;
    stack_t now;
    uint64_t at;

    if (sigaltstack(NULL, &now) != 0 || is_off(&now) || (now.ss_flags & SS_ONSTACK))
        return;
    at = (uintptr_t)now.ss_sp;
    sfb_memory_probed(&memory);
    if (now.ss_size < sizeof given || !sfb_memory_copy(&memory, at, &given, sizeof given) ||
        given.mark != (MARK ^ at))
        return;
    if (sigaltstack(&given.before, NULL) == 0 && given.map)
        munmap(given.map, given.map_size);
}
