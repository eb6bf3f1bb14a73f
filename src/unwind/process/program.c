/* Asked for at load: later there may be no /proc, behind chroot() for one. */
#include "unwind/process/program.h"

#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/early.h"

static char path[PATH_MAX];

const char *sfb_program_path(void)
{
    return path;
}

void sfb_program_begin(void)
{
    const char *name = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);

    if (size > 0)
        path[size] = '\0';
    else if (name)
        memcpy(path, name, strnlen(name, sizeof path - 1));
}

SFB_EARLY static void begin_program(void)
{
    sfb_program_begin();
}
