/* Names of this machine's system calls, as far as the kernel's headers of the build know them. */
#include <asm/unistd.h>
#include <stddef.h>

#include "sfb/remote.h"

static const char *const names[] = {
/* [__NR_read] = "read", and so on: CMakeLists.txt makes it of <asm/unistd.h>. */
#include "remote/call_names.inc"
};

const char *sfb_remote_call_name(int64_t number)
{
    return number >= 0 && (size_t)number < sizeof names / sizeof *names ? names[number] : NULL;
}
