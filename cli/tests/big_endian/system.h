/* What the program has in the place of a C library, beyond what the library itself imports. */
#ifndef BIG_ENDIAN_SYSTEM_H
#define BIG_ENDIAN_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

/* As few arguments as are needed here; inline, so that a function which makes one stays a leaf. */
static inline long system_call(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    register long x8 __asm__("x8") = number;
    register uint64_t x0 __asm__("x0") = a;
    register uint64_t x1 __asm__("x1") = b;
    register uint64_t x2 __asm__("x2") = c;
    register uint64_t x3 __asm__("x3") = d;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return (long)x0;
}

_Noreturn void system_exit(int status);

/* Lines are collected, and written whole. */
void print_text(const char *text);
void print_number(uint64_t value);                /* " 0x1f" */
void print_bytes(const void *bytes, size_t size); /* "021f" */
void print_line(void);

#endif
