#include "profiler/protocol/control_address.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "profiler/protocol/control.h"

uint64_t sfb_control_namespace(void)
{
    struct stat namespace;

    return stat("/proc/self/ns/pid", &namespace) == 0 ? namespace.st_ino : 0;
}

socklen_t sfb_control_address(struct sockaddr_un *out, pid_t recorder)
{
    int size;

    *out = (struct sockaddr_un){ .sun_family = AF_UNIX };
    size = snprintf(out->sun_path + 1, sizeof out->sun_path - 1,
                    SFB_CONTROL_SOCKET "%" PRIu64 "-%d", sfb_control_namespace(), (int)recorder);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size);
}
