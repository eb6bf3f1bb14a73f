/* A plug-in that allocates and frees: with RTLD_DEEPBIND, by the C library's functions and not by the agent's. */
#include <stdlib.h>

void *plugin_make(size_t size);
void plugin_drop(void *block);

void *plugin_make(size_t size)
{
    return malloc(size);
}

void plugin_drop(void *block)
{
    free(block);
}
