/* Functions of libc that the stepper has in the program's way. See stepper.h. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "stepper.h"

/* --- Threads ---------------------------------------------------------------------------------- */

struct start {
    void *(*function)(void *);
    void *argument;
};

static void *run_thread(void *argument)
{
    struct start start = *(struct start *)argument;
    void *result;

    free(argument);
    start_thread();
    pthread_cleanup_push(stop_thread, NULL);
    result = start.function(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

int real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                        void *(*function)(void *), void *argument)
{
    static __typeof__(pthread_create) *real;

    if (!real && !oracle_bind(RTLD_NEXT, &real, "pthread_create"))
        abort();
    return real(thread, attributes, function, argument);
}

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attributes,
                                                          void *(*function)(void *), void *argument)
{
    struct start *start = malloc(sizeof *start);
    int error;

    if (!start)
        return EAGAIN;
    *start = (struct start){ .function = function, .argument = argument };
    error = real_pthread_create(thread, attributes, run_thread, start);
    if (error != 0)
        free(start);
    return error;
}

/* --- Modules ---------------------------------------------------------------------------------- */

/* The program headers of a module, without any lock. */
static struct dl_phdr_info describe_module(const struct link_map *map)
{
    struct dl_phdr_info info = { .dlpi_addr = map->l_addr, .dlpi_name = map->l_name };
    /* Where libraries are linked to 0, as all are, this is their first byte. */
    const ElfW(Ehdr) *header = (const void *)map->l_addr; // NOLINT: an address

    if (map == _r_debug.r_map) {                           /* the program */
        info.dlpi_phdr = (const void *)getauxval(AT_PHDR); // NOLINT: an address
        info.dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM);
    } else {
        info.dlpi_phdr = (const void *)(map->l_addr + header->e_phoff); // NOLINT: an address
        info.dlpi_phnum = header->e_phnum;
    }
    return info;
}

/*
 * libunwind asks here for modules, and the real function takes the loader's lock: for ever, if a
 * step ends within the loader's own taking of it. So an oracle is shown the list as it is.
 */
__attribute__((visibility("default"))) int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *,
                                                                           size_t, void *),
                                                           void *data)
{
    static __typeof__(dl_iterate_phdr) *real;
    struct dl_phdr_info info;
    int result = 0;

    if (!is_in_oracle()) {
        if (!real && !oracle_bind(RTLD_NEXT, &real, "dl_iterate_phdr"))
            abort();
        return real(callback, data);
    }
    for (const struct link_map *map = _r_debug.r_map; map && result == 0; map = map->l_next) {
        info = describe_module(map);
        result = callback(&info, offsetof(struct dl_phdr_info, dlpi_adds), data);
    }
    return result;
}
