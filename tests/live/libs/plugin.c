/* A library that programs load later, for crash_parts.c. */
#include <stddef.h>

__attribute__((visibility("default"))) int plugin_crash(int *at);
__attribute__((visibility("default"))) int plugin_call(int (*callback)(void *), void *with);

int plugin_crash(int *at)
{
    *at = 1;
    return 0;
}

int plugin_call(int (*callback)(void *), void *with)
{
    volatile char frame[100];

    frame[0] = 1;
    return callback(with) + frame[0];
}
