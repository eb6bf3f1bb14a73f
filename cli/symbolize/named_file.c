#include "cli/symbolize/named_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/tool_reporter.h"
#include "util/regular.h"

enum {
    GROWTH_MOST = 96 << 20, /* bytes of memory, beyond what the first address takes */
    LOOK_EVERY = 8          /* addresses */
};

/* libelf takes a file that is cut off for one without symbols. @return NULL, or what is missing */
static const char *missing_of(Elf *elf)
{
    GElf_Ehdr header;
    size_t size = 0;

    if (!elf || !elf_rawfile(elf, &size) || !gelf_getehdr(elf, &header))
        return NULL;
    if (header.e_shoff > size ||
        (uint64_t)header.e_shnum * header.e_shentsize > size - header.e_shoff)
        return "the section headers end past the file";
    if (header.e_phoff > size ||
        (uint64_t)header.e_phnum * header.e_phentsize > size - header.e_phoff)
        return "the program headers end past the file";
    return NULL;
}

/* @return NULL after a complaint */
static struct module_file *find_file(struct module_files *files, const char *path,
                                     enum tool_exit *exit_status)
{
    const struct object_module module = { .path = path, .opens = path };
    struct module_file *file;
    const char *cause;
    int fd = regular_open(path, &cause);

    *exit_status = TOOL_USAGE;
    if (fd < 0) {
        tool_complain(TOOL_USAGE, "%s: %s", path, cause);
        return NULL;
    }
    close(fd);
    file = module_files_find(files, &module, false);
    cause = file ? missing_of(file->files.file.elf) : NULL;
    if (file && file->names && !cause)
        return file;
    if (cause)
        *exit_status = tool_complain(TOOL_BAD_DATA, "%s: %s", path, cause);
    else if (!file)
        tool_complain(TOOL_USAGE, "%s: %s", path, strerror(ENOMEM));
    else
        *exit_status = tool_complain(TOOL_BAD_DATA, "%s: not an ELF file", path);
    return NULL;
}

bool named_file_open(struct named_file *file, const char *path, const struct object_places *places,
                     enum tool_exit *exit_status)
{
    struct module_file *found;

    *file = (struct named_file){ .path = path,
                                 .files = { .places = *places, .reporter = tool_complaints } };
    found = find_file(&file->files, path, exit_status);
    if (!found) {
        module_files_free(&file->files);
        return false;
    }
    file->names = found->names;
    return true;
}

/* Bytes of memory, with mapped files; 0: unknown. */
static size_t resident(void)
{
    FILE *from = fopen("/proc/self/statm", "re");
    char line[128] = "", *at;

    if (from && !fgets(line, sizeof line, from))
        line[0] = '\0';
    if (from)
        fclose(from);
    at = strchr(line, ' '); /* the second figure */
    return at ? strtoul(at, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

/* @return false: it is gone, or there is no memory */
static bool open_again(struct named_file *file)
{
    enum tool_exit exit_status;
    struct module_file *found;

    module_files_free(&file->files);
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    /* It was reported what is wrong with the files. */
    file->files.reporter = (struct reporter){ .take = NULL };
    file->found = 0;
    found = find_file(&file->files, file->path, &exit_status);
    file->names = found ? found->names : NULL;
    return found != NULL;
}

bool named_file_find(struct named_file *file, uint64_t address,
                     void (*visit)(void *user, const struct object_name *name), void *user)
{
    bool good;

    if (file->found > 0 && file->found % LOOK_EVERY == 0 &&
        resident() > file->resident + GROWTH_MOST && !open_again(file))
        return false;
    good = object_names_find(file->names, address, visit, user);
    if (file->found++ == 0)
        file->resident = resident();
    return good;
}

void named_file_close(struct named_file *file)
{
    module_files_free(&file->files);
}
