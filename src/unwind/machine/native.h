/* Code for the running machine only: thread pointer, system calls, Valgrind's requests. */
#ifndef SFB_UNWIND_MACHINE_NATIVE_H
#define SFB_UNWIND_MACHINE_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

/* @return the thread pointer of the calling thread */
#if defined(__x86_64__)
static inline uint64_t sfb_arch_thread_pointer(void)
{
    uint64_t pointer;

    __asm__("mov %%fs:0, %0" : "=r"(pointer)); /* psABI, "TLS": its first word is its address */
    return pointer;
}
#elif defined(__aarch64__)
static inline uint64_t sfb_arch_thread_pointer(void)
{
    uint64_t pointer;

    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
    return pointer;
}
#endif

/*
 * rt_sigprocmask(), straight into the kernel: the C library's wrapper sets errno and may be
 * interposed.
 *
 * @return the kernel's result; on failure -errno
 */
long sfb_arch_sigprocmask(uint64_t how, uint64_t set);

/*
 * Makes any system call of up to four arguments, by its number, likewise.
 *
 * @return the kernel's result; on failure -errno
 */
long sfb_arch_syscall(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/*
 * @return whether the calling thread has a thread pointer: it lacks one while a static-pie program
 *         relocates itself
 */
bool sfb_arch_has_thread_pointer(void);

/* Makes a client request of Valgrind. @return its result; 0 without Valgrind */
uint64_t sfb_arch_valgrind(const uint64_t request[6]);

#endif
