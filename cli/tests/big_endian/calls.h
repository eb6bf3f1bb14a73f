/* What the program knows of its own stack: each function notes where it returns to. */
#ifndef BIG_ENDIAN_CALLS_H
#define BIG_ENDIAN_CALLS_H

#include <stdint.h>

extern uint64_t calls[64];
extern unsigned call_count;

/* gcc says it, from x30 at the function's first instruction, and without authentication bits. */
#define ENTER() (calls[call_count++] = (uintptr_t)__builtin_return_address(0))
#define LEAVE() (call_count--)

/* libc.c: where the stack begins; above are the arguments. */
extern const uint64_t *stack_begin;

typedef uint64_t action_fn(uint64_t);

/* bare.c */
uint64_t bare(action_fn *action, uint64_t n);

/* program.c */
int program(void);

#endif
