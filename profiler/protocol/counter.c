#include "profiler/protocol/counter.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Only if the kernel's clock source is the counter: a hypervisor's clock source means that the counter may jump. */
bool sfb_counter_may_be_used(void)
{
    static const char *const sources[] = { "tsc\n", "arch_sys_counter\n" };
    char text[64] = "";
    ssize_t size;
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (strcmp(text, sources[i]) == 0)
            return true;
    return false;
}
