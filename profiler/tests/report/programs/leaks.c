/* Leaks a block in each of some functions; built with -fsanitize=leak, which suppresses some. */
#include <stdlib.h>

#define LEAK(name)                                                                                 \
    __attribute__((noinline)) static void name(void)                                               \
    {                                                                                              \
        void *volatile block = malloc(16);                                                         \
                                                                                                   \
        block = NULL;                                                                              \
        (void)block;                                                                               \
    }

LEAK(Zq_Zq)  /* cppcheck-suppress memleak; that is what it is for */
LEAK(XZq)    /* cppcheck-suppress memleak; that is what it is for */
LEAK(ZqX)    /* cppcheck-suppress memleak; that is what it is for */
LEAK(ZaZbZc) /* cppcheck-suppress memleak; that is what it is for */

/* Where the pointers were. */
__attribute__((noinline)) static void overwrite(void)
{
    volatile char bytes[4096];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0;
}

int main(void)
{
    Zq_Zq();
    XZq();
    ZqX();
    ZaZbZc();
    overwrite();
    return 0;
}
