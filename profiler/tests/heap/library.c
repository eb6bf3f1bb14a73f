/* Loaded by a constructor of another one, or by the program: allocates at its beginning and its end. */
#include <dlfcn.h>
#include <stdlib.h>

#define KEEP(pointer) __asm__ volatile("" : "+r"(pointer)::"memory")

void library_call(void);

static void *kept;

__attribute__((constructor)) static void begin(void)
{
    kept = malloc(50001);
#ifdef SFB_HEAP_INNER
    dlopen(SFB_HEAP_INNER, RTLD_NOW | RTLD_LOCAL);
#endif
}

__attribute__((destructor)) static void end(void)
{
    free(kept);
}

void library_call(void)
{
    char *block = malloc(50002);

    KEEP(block);
    free(block);
}
