/*
 * Lets a program that runs in an emulator's user mode start programs of its own kind: Criterion
 * starts each test as a process of the test's own program.
 *
 * The emulator hands execve() on to this machine's kernel, which knows the program's machine only
 * if somebody registered the emulator with it (binfmt_misc); a container has no say in that. This
 * library is preloaded into the emulated program and gives such a call the emulator to start.
 * Programs of any other kind, a shell for one, are started as they are. glibc's own callers of
 * execve() (system(), execl(), posix_spawn()) do not pass here: they are for those others.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 256 };

/* The linker's name for the start of this library, which says what machine it is for. */
extern const ElfW(Ehdr) own_header __asm__("__ehdr_start") __attribute__((visibility("hidden")));

/*
 * The loader has done what it says, and host programs shall not see it: their loader would
 * complain. Emulated ones get it anew from QEMU_SET_ENV.
 */
__attribute__((constructor)) static void forget_preload(void)
{
    unsetenv("LD_PRELOAD");
}

static bool is_of_our_kind(const char *path)
{
    ElfW(Ehdr) header;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size;

    if (fd < 0)
        return false;
    size = read(fd, &header, sizeof header);
    close(fd);
    return size == sizeof header && memcmp(header.e_ident, own_header.e_ident, EI_VERSION) == 0 &&
           header.e_machine == own_header.e_machine;
}

/* Like the one that it stands for, it is called between fork() and exec: no heap here. */
int execve(const char *path, char *const argv[], char *const envp[])
{
    static const char emulate[] = SFB_EMULATE, name_option[] = "-0";
    const char *emulated[ARGUMENTS_MAX + 5] = { emulate, name_option, argv[0], path };
    size_t count = 1;

    if (!is_of_our_kind(path))
        return (int)syscall(SYS_execve, path, argv, envp);
    for (; argv[count]; count++) {
        if (count > ARGUMENTS_MAX) {
            errno = E2BIG;
            return -1;
        }
        emulated[3 + count] = argv[count];
    }
    return (int)syscall(SYS_execve, emulate, emulated, envp);
}
