/* Captures its own stack. `sfb symbolize` names the functions and lines. */
#include <sframe_backtrace.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    uint8_t stack[512];
    ssize_t size = sframe_backtrace_cbf(stack, sizeof stack, NULL, NULL);
    char command[64];

    if (size < 0)
        return 1;
    snprintf(command, sizeof command, "sfb symbolize --pid %d", getpid());
    FILE *sfb = popen(command, "w");
    fwrite(stack, 1, (size_t)size, sfb);
    return pclose(sfb);
}
