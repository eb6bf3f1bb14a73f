#include "profiler/collector/processes/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { START_SIZE = 256, HEADERS_MAX = 256 };

/* Compares with our own ELF header. @return false: the agent cannot be loaded into it */
static bool is_like_us(const Elf64_Ehdr *header)
{
    static Elf64_Ehdr own;
    int fd;

    if (own.e_machine == 0) {
        fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && read(fd, &own, sizeof own) != (ssize_t)sizeof own)
            own.e_machine = 0;
        if (fd >= 0)
            close(fd);
    }
    return own.e_machine == 0 || (own.e_machine == header->e_machine &&
                                  own.e_ident[EI_CLASS] == header->e_ident[EI_CLASS] &&
                                  own.e_ident[EI_DATA] == header->e_ident[EI_DATA]);
}

static enum sfb_recorder_program_kind look_at_elf(struct sfb_recorder_program *out, int fd,
                                                  const Elf64_Ehdr *header)
{
    if (!is_like_us(header))
        return SFB_PROGRAM_OTHER_MACHINE;
    for (unsigned i = 0; i < header->e_phnum && i < HEADERS_MAX; i++) {
        Elf64_Phdr phdr;
        const off_t at = (off_t)(header->e_phoff + i * sizeof phdr);
        size_t size = sizeof out->interpreter - 1;

        if (at < 0 || pread(fd, &phdr, sizeof phdr, at) != (ssize_t)sizeof phdr)
            break;
        if (phdr.p_type != PT_INTERP)
            continue;
        if (phdr.p_filesz < size)
            size = (size_t)phdr.p_filesz;
        if ((off_t)phdr.p_offset < 0 ||
            pread(fd, out->interpreter, size, (off_t)phdr.p_offset) != (ssize_t)size)
            break;
        out->interpreter[size] = '\0';
        return access(out->interpreter, F_OK) == 0 ? SFB_PROGRAM_DYNAMIC : SFB_PROGRAM_NO_LOADER;
    }
    return SFB_PROGRAM_STATIC;
}

static void look_at_script(struct sfb_recorder_program *out, const char *line)
{
    line += 2;
    line += strspn(line, " \t");
    snprintf(out->interpreter, sizeof out->interpreter, "%.*s", (int)strcspn(line, " \t\r\n"),
             line);
}

/* Not raised: root stays root; a file system may be mounted nosuid. Neither is checked. */
static bool is_raised(const char *path, const struct stat *file)
{
    return ((file->st_mode & S_ISUID) && file->st_uid != geteuid()) ||
           ((file->st_mode & S_ISGID) && file->st_gid != getegid()) ||
           (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

void sfb_recorder_program_look(struct sfb_recorder_program *out, const char *path)
{
    char start[START_SIZE + 1] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    Elf64_Ehdr header;
    struct stat file;
    ssize_t size;

    *out = (struct sfb_recorder_program){ .kind = SFB_PROGRAM_UNREADABLE };
    if (fd < 0)
        return;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) {
        close(fd);
        errno = EACCES;
        return;
    }
    out->raised = is_raised(path, &file);
    out->kind = SFB_PROGRAM_OTHER;
    size = read(fd, start, START_SIZE);
    if (size >= (ssize_t)sizeof header && memcmp(start, ELFMAG, SELFMAG) == 0) {
        memcpy(&header, start, sizeof header);
        out->kind = look_at_elf(out, fd, &header);
    } else if (size > 2 && memcmp(start, "#!", 2) == 0) {
        look_at_script(out, start);
        out->kind = SFB_PROGRAM_SCRIPT;
    }
    close(fd);
}
