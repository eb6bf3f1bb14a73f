/*
 * Whether the calling thread has the C library's thread-local storage, where errno lies, and what the agent keeps. One
 * of clone() may have any other, or none: nothing of it may be touched then.
 */
#ifndef SFB_RECORD_LIBC_THREAD_H
#define SFB_RECORD_LIBC_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool sfb_is_libc_thread(void)
{
#if defined(__x86_64__)
    /* By the ABI the first word leads to itself; the C library has the same in the third. */
    uintptr_t first, third;

    __asm__ volatile("movq %%fs:0, %0\n\tmovq %%fs:16, %1" : "=r"(first), "=r"(third));
    return first != 0 && first == third;
#else
    return __builtin_thread_pointer() != NULL;
#endif
}

#endif
