/* What tests have to know of the compiler that builds them. */
#ifndef SUPPORT_COMPILER_H
#define SUPPORT_COMPILER_H

#include <stdbool.h>

/* A function that stays a function, with one address: its frame is what is tested. */
#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

/* All of a local variable is on the stack, though little of it is used. */
#define KEEP_WHOLE(variable) __asm__ volatile("" : : "r"(&(variable)) : "memory")

/* @return whether address or thread sanitizer is in this build */
static inline bool sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
    return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
    return false;
#endif
}

#endif
