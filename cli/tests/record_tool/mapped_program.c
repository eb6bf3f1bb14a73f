/* Waits for its input, then works in a library that it opens, and waits there: mapped_program LIBRARY. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static __attribute__((noinline)) int early_wait(void)
{
    char byte;

    return read(0, &byte, 1) == 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
    void *library;
    int (*late_wait)(void);
    void (*late_work)(void);

    if (argc != 2)
        return EXIT_FAILURE;
    puts("before");
    fflush(stdout);
    if (early_wait() != 0)
        return EXIT_FAILURE;
    library = dlopen(argv[1], RTLD_NOW);
    *(void **)&late_wait = library ? dlsym(library, "late_wait") : NULL;
    *(void **)&late_work = library ? dlsym(library, "late_work") : NULL;
    if (!late_wait || !late_work)
        return EXIT_FAILURE;
    late_work();
    puts("mapped");
    fflush(stdout);
    return late_wait() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
