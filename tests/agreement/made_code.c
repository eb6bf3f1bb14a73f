/*
 * A program that makes code at run time, as compilers in runtimes do: with a frame pointer, in both
 * encodings; with rbp left alone, so that it leads past the caller; with rbp as any other register;
 * without a frame. Made code and C call each other, to some depth.
 *
 *     made_code SECONDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef long made(long (*callback)(long), long n);

/* All get a function and its argument, and all but the last call it: rdi and rsi are as C passes them. */
/* rbp stays that of the caller's caller. */
static const uint8_t leaves_rbp_alone[] = {
    0x48, 0x83, 0xec, 0x28, /* sub  $40, %rsp */
    0x48, 0x87, 0xfe,       /* xchg %rdi, %rsi */
    0xff, 0xd6,             /* call *%rsi */
    0x48, 0x83, 0xc4, 0x28, /* add  $40, %rsp */
    0xc3,                   /* ret */
};

/* A frame pointer, as gcc sets it. */
static const uint8_t as_gcc[] = {
    0x55,                   /* push %rbp */
    0x48, 0x89, 0xe5,       /* mov  %rsp, %rbp */
    0x48, 0x87, 0xfe,       /* xchg %rdi, %rsi */
    0xff, 0xd6,             /* call *%rsi */
    0x48, 0x83, 0xc0, 0x01, /* add  $1, %rax */
    0x5d,                   /* pop  %rbp */
    0xc3,                   /* ret */
};

/* The same, in HotSpot's encoding. */
static const uint8_t as_hotspot[] = {
    0x55,                   /* push %rbp */
    0x48, 0x8b, 0xec,       /* mov  %rsp, %rbp */
    0x48, 0x83, 0xec, 0x20, /* sub  $32, %rsp */
    0x48, 0x87, 0xfe,       /* xchg %rdi, %rsi */
    0xff, 0xd6,             /* call *%rsi */
    0x48, 0x83, 0xc0, 0x01, /* add  $1, %rax */
    0x48, 0x8b, 0xe5,       /* mov  %rbp, %rsp */
    0x5d,                   /* pop  %rbp */
    0xc3,                   /* ret */
};

/* The same, as Go sets it. */
static const uint8_t as_go[] = {
    0x48, 0x83, 0xec, 0x18,       /* sub  $24, %rsp */
    0x48, 0x89, 0x6c, 0x24, 0x10, /* mov  %rbp, 16(%rsp) */
    0x48, 0x8d, 0x6c, 0x24, 0x10, /* lea  16(%rsp), %rbp */
    0x48, 0x87, 0xfe,             /* xchg %rdi, %rsi */
    0xff, 0xd6,                   /* call *%rsi */
    0x48, 0x8b, 0x6c, 0x24, 0x10, /* mov  16(%rsp), %rbp */
    0x48, 0x83, 0xc4, 0x18,       /* add  $24, %rsp */
    0xc3,                         /* ret */
};

/* rbp is a register like any other. */
static const uint8_t uses_rbp[] = {
    0x55,                   /* push %rbp */
    0x48, 0x8d, 0x6e, 0x07, /* lea  7(%rsi), %rbp */
    0x48, 0x87, 0xfe,       /* xchg %rdi, %rsi */
    0xff, 0xd6,             /* call *%rsi */
    0x48, 0x01, 0xe8,       /* add  %rbp, %rax */
    0x5d,                   /* pop  %rbp */
    0xc3,                   /* ret */
};

/* No frame. */
static const uint8_t calls_nobody[] = {
    0x48, 0x89, 0xf0,       /* mov  %rsi, %rax */
    0x48, 0x01, 0xf8,       /* add  %rdi, %rax */
    0x48, 0xd1, 0xe8,       /* shr  %rax */
    0x48, 0x83, 0xf0, 0x55, /* xor  $0x55, %rax */
    0xc3,                   /* ret */
};

static const struct {
    const uint8_t *code;
    size_t size;
} shapes[] = {
    { leaves_rbp_alone, sizeof leaves_rbp_alone },
    { as_gcc, sizeof as_gcc },
    { as_hotspot, sizeof as_hotspot },
    { as_go, sizeof as_go },
    { uses_rbp, sizeof uses_rbp },
    { calls_nobody, sizeof calls_nobody },
};

enum { SHAPES = sizeof shapes / sizeof *shapes, NO_FRAME = SHAPES - 1, ROOM = 64 };

static made *functions[SHAPES];
static uint32_t state = 4711;

static unsigned pick(unsigned count)
{
    state = state * 1664525U + 1013904223U;
    return (state >> 16) % count;
}

static long work(long n);

static __attribute__((noinline)) long back(long n)
{
    long result = n > 0 ? work(n - 1) : 1;

    return result + (long)pick(3);
}

static __attribute__((noinline)) long work(long n)
{
    long result = functions[pick(NO_FRAME)](back, n);

    return result + functions[NO_FRAME](back, n);
}

int main(int argc, char **argv)
{
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
    uint8_t *at = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long sum = 0;

    if (at == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    for (size_t i = 0; i < SHAPES; i++) {
        void *function = at + i * ROOM;

        memcpy(function, shapes[i].code, shapes[i].size);
        memcpy(&functions[i], &function, sizeof functions[i]);
    }
    if (mprotect(at, 65536, PROT_READ | PROT_EXEC) != 0) {
        perror("mprotect");
        return 1;
    }
    while (time(NULL) < end)
        for (int i = 0; i < 1000; i++)
            sum += work(8);
    printf("%d\n", sum != 0);
    return 0;
}
