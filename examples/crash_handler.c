/* Writes a report of its own crash: what happened, where, and in which modules. */
#include <fcntl.h>
#include <sframe_backtrace_crash.h>

int main(void)
{
    struct sframe_backtrace_crash_options options = SFRAME_BACKTRACE_CRASH_OPTIONS_INIT;

    options.fd = open("app.crash", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (sframe_backtrace_install_crash_handler(&options) != SFB_OK)
        return 1;
    *(volatile int *)0x10 = 1; /* the bug */
}
