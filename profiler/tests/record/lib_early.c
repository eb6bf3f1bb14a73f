/* Preloaded behind the agent, and so begun before it: the constructor starts a thread, as OpenBLAS's does. */
#include <pthread.h>
#include <stddef.h>

#include "profiler/tests/record/burn.h"

static pthread_t thread;

static void *work(void *unused)
{
    burn_ms(200);
    return unused;
}

__attribute__((constructor)) static void begin(void)
{
    pthread_create(&thread, NULL, work, NULL);
}

__attribute__((destructor)) static void end(void)
{
    pthread_join(thread, NULL);
}
