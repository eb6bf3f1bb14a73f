/* Names of this machine's system calls, as far as the kernel's headers of the build know them. */
#include <asm/unistd.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "sfb/remote.h"

static const char *const names[] = {
/* [__NR_read] = "read", and so on: CMakeLists.txt makes it of <asm/unistd.h>. */
#include "remote/call_names.inc"
};

const char *sfb_remote_call_name(int64_t number)
{
    return number >= 0 && (size_t)number < sizeof names / sizeof *names ? names[number] : NULL;
}

bool sfb_remote_call_takes_descriptor(int64_t number)
{
    static const long calls[] = {
        SYS_read,         SYS_write,    SYS_readv,   SYS_writev,     SYS_pread64,
        SYS_pwrite64,     SYS_recvfrom, SYS_recvmsg, SYS_sendto,     SYS_sendmsg,
        SYS_recvmmsg,     SYS_sendmmsg, SYS_accept,  SYS_accept4,    SYS_connect,
        SYS_ioctl,        SYS_fcntl,    SYS_flock,   SYS_fsync,      SYS_fdatasync,
        SYS_lseek,        SYS_sendfile, SYS_fstat,   SYS_getdents64, SYS_epoll_pwait,
#ifdef SYS_epoll_wait
        SYS_epoll_wait,
#endif
#ifdef SYS_epoll_pwait2
        SYS_epoll_pwait2,
#endif
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i] == number)
            return true;
    return false;
}
