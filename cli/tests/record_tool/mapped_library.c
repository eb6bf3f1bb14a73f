/* A wait in a library that a program opens. */
#include <unistd.h>

int late_wait(void);

/* The call is no tail call: the function stays in the stack. */
int late_wait(void)
{
    char byte;

    return read(0, &byte, 1) == 1 ? 0 : 1;
}
