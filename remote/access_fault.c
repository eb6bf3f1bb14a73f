#include "remote/access_fault.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remote/task_files.h"
#include "symbols/object.h"
#include "unwind/machine/arch.h"
#include "util/proc_stat.h"

/* @return false: errno says why not */
static bool read_path(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return false;
    got = read(fd, text, size - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got >= 0;
}

static bool read_text(pid_t pid, const char *name, char *text, size_t size)
{
    char path[48];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return read_path(path, text, size);
}

/* --- Permission ----------------------------------------------------------------------------------- */

/* The real user's number, of its status; -1: not known. */
static long user_of(pid_t pid)
{
    char text[4096];
    const char *line =
        read_text(pid, "status", text, sizeof text) ? strstr(text, "\nUid:\t") : NULL;

    return line ? strtol(line + 6, NULL, 10) : -1;
}

/* Yama: what ptrace is restricted to; 0: no Yama, or nothing. */
static long yama_scope(void)
{
    char text[16];

    return read_path("/proc/sys/kernel/yama/ptrace_scope", text, sizeof text)
               ? strtol(text, NULL, 10)
               : 0;
}

static bool explain_refusal(struct sfb_remote_fault *fault, pid_t pid)
{
    const long user = user_of(pid), own = (long)geteuid();
    char path[32];
    struct stat owner;

    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    if (own != 0 && user >= 0 && user != own)
        return snprintf(fault->why, sizeof fault->why,
                        "it belongs to user %ld: run as that user, or as root", user) > 0;
    if (own != 0 && stat(path, &owner) == 0 && (long)owner.st_uid != own)
        return snprintf(fault->why, sizeof fault->why,
                        "it refuses to be read (PR_SET_DUMPABLE, or more rights than its user "
                        "has): run as root") > 0;
    switch (yama_scope()) {
    case 0: break;
    case 1:
        return snprintf(fault->why, sizeof fault->why,
                        "this kernel lets users read their children alone "
                        "(kernel.yama.ptrace_scope is 1): run as root, or set it to 0 by sysctl") >
               0;
    case 2:
        return snprintf(fault->why, sizeof fault->why,
                        "this kernel lets only root read other processes "
                        "(kernel.yama.ptrace_scope is 2): run as root") > 0;
    default:
        return snprintf(fault->why, sizeof fault->why,
                        "this kernel lets no process read another until it is booted again "
                        "(kernel.yama.ptrace_scope is 3)") > 0;
    }
    return snprintf(fault->why, sizeof fault->why,
                    "no permission: it is in another user namespace, or this program lacks "
                    "CAP_SYS_PTRACE (in a container: --cap-add SYS_PTRACE)") > 0;
}

/* --- Its kind ------------------------------------------------------------------------------------- */

/* @return false: it is a program of this machine, or unreadable */
static bool is_other_machine(struct sfb_remote_fault *fault, pid_t pid)
{
    struct object_fault ignored;
    uint8_t head[sizeof(Elf64_Ehdr)];
    GElf_Ehdr header;
    char path[32];
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    got = fd >= 0 ? read(fd, head, sizeof head) : -1;
    if (fd >= 0)
        close(fd);
    if (got != sizeof head || !object_header_read(&header, &ignored, head, sizeof head))
        return false;
    if (header.e_ident[EI_CLASS] == ELFCLASS32)
        return snprintf(fault->why, sizeof fault->why,
                        "it is a 32-bit program%s, and only 64-bit ones are walked",
                        header.e_machine == EM_386      ? " (i386)"
                        : header.e_machine == EM_X86_64 ? " (x32)"
                        : header.e_machine == EM_ARM    ? " (ARM)"
                                                        : "") > 0;
    if (object_header_abi(&header) != SFB_ARCH_ABI)
        return snprintf(fault->why, sizeof fault->why,
                        "it is a program of another machine (ELF machine %u)",
                        (unsigned)header.e_machine) > 0;
    return false;
}

/* The state of its first thread; 0: no such process. */
static char state_of(pid_t pid)
{
    char text[1024];
    const char *state =
        read_text(pid, "stat", text, sizeof text) ? sfb_proc_stat_word(text, 3) : NULL;

    return state ? *state : '\0';
}

/* Threads besides the first one may go on behind a zombie. */
static bool has_other_threads(pid_t pid)
{
    char text[1024];
    const char *threads =
        read_text(pid, "stat", text, sizeof text) ? sfb_proc_stat_word(text, 20) : NULL;

    return threads && strtol(threads, NULL, 10) > 1;
}

/* By its flags, which every user may read. */
static bool is_of_kernel(pid_t pid)
{
    enum { KERNEL_THREAD = 0x200000 }; /* PF_KTHREAD of the kernel's <linux/sched.h> */
    char text[1024];
    const char *flags =
        read_text(pid, "stat", text, sizeof text) ? sfb_proc_stat_word(text, 9) : NULL;

    return flags && (strtoul(flags, NULL, 10) & KERNEL_THREAD);
}

bool remote_access_fault(struct sfb_remote_fault *fault, pid_t pid)
{
    char state, text[512];
    bool refused, has_memory;

    errno = ESRCH;
    state = state_of(pid);
    if (state == '\0' && !remote_task_has_ended(errno))
        return snprintf(fault->why, sizeof fault->why, "it cannot be read: %s", strerror(errno)) >
               0;
    if (state == '\0')
        return snprintf(fault->why, sizeof fault->why, "no such process") > 0;
    if ((state == 'Z' || state == 'X') && !has_other_threads(pid))
        return snprintf(fault->why, sizeof fault->why,
                        "it has ended, and its parent has not waited for it yet (a zombie)") > 0;
    if (state == 'Z') /* its first thread has ended, and has no files to ask any more */
        return false;
    if (is_of_kernel(pid))
        return snprintf(fault->why, sizeof fault->why,
                        "it is a thread of the kernel: it has no memory of its own") > 0;
    if (is_other_machine(fault, pid))
        return true;
    /* What needs the right to trace: its memory, and where its threads sleep. */
    refused =
        !read_text(pid, "auxv", text, sizeof text) || !read_text(pid, "syscall", text, sizeof text);
    if (refused && (errno == EACCES || errno == EPERM))
        return explain_refusal(fault, pid);
    if (read_text(pid, "maps", text, sizeof text))
        has_memory = text[0] != '\0';
    else if (errno == ENOENT)
        return snprintf(fault->why, sizeof fault->why, "no such process") > 0;
    else
        has_memory = errno != ESRCH; /* some kernels give no text, others this */
    if (!has_memory && !has_other_threads(pid))
        return snprintf(fault->why, sizeof fault->why,
                        "it ends just now: it has no memory any more") > 0;
    return false;
}
