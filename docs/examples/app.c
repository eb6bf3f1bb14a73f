#include <fcntl.h>
#include <sframe_backtrace_crash.h>

int main(void)
{
    int fd = open("app.crash", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    struct sframe_backtrace_crash_options options = { .size = sizeof options, .fd = fd };

    sframe_backtrace_install_crash_handler(&options);
    *(volatile int *)0x10 = 1; /* instead of a bug */
}
