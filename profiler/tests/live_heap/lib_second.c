/* lib_plugin.c by the C library's second names for these functions. */
#include <stddef.h>

void *plugin_make(size_t size);
void plugin_drop(void *block);

/* NOLINTBEGIN(bugprone-reserved-identifier) */
void *__libc_malloc(size_t size);
void __libc_free(void *block);

void *plugin_make(size_t size)
{
    return __libc_malloc(size);
}

void plugin_drop(void *block)
{
    __libc_free(block);
}
/* NOLINTEND(bugprone-reserved-identifier) */
