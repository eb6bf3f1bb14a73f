#include "report_files.h"

#include <elfutils/libdwelf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "object/regular.h"
#include "tool.h"

/* The build-id of a file, as text. */
static void describe_build_id(char *out, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out += sprintf(out, "%02x", bytes[i]);
    *out = '\0';
}

/* @return whether an open file is a module; after a complaint it is not */
static bool is_module(int fd, const struct report_module *module)
{
    char want[2 * sizeof module->build_id + 1] = "", got[2 * sizeof module->build_id + 1] = "none";
    const void *bits = NULL;
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, &bits) : -1;
    bool same = module->size == 0 || (bits && size == (ssize_t)module->size &&
                                      memcmp(bits, module->build_id, module->size) == 0);

    if (!same) {
        describe_build_id(want, module->build_id, module->size);
        if (bits && size > 0 && (size_t)size <= sizeof module->build_id)
            describe_build_id(got, bits, (size_t)size);
        tool_complain(TOOL_BAD_DATA, "%s: not the file that was loaded: its build-id is %s, not %s",
                      module->path, got, want);
    }
    elf_end(elf);
    return same;
}

/*
 * What libdwfl calls to open a module. That of the kernel (linux-vdso.so.1) is no file.
 *
 * @return a descriptor, -1: none
 */
static int find_file(Dwfl_Module *dwfl_module, void **user, const char *name, Dwarf_Addr base,
                     char **file_name, Elf **elf)
{
    struct report_file *file = *user;
    const char *path = file->as.path, *cause;
    int fd;

    if (!strchr(path, '/'))
        return -1;
    if (file->as.size > 0) {
        fd = dwfl_build_id_find_elf(dwfl_module, user, name, base, file_name, elf);
        if (fd >= 0)
            return fd;
    }
    fd = object_regular_open(path, &cause);
    if (fd < 0)
        tool_complain(TOOL_BAD_DATA, "%s: %s", path, cause);
    if (fd >= 0 && is_module(fd, &file->as)) {
        *file_name = strdup(path);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    file->refused = true;
    return -1;
}

static const Dwfl_Callbacks callbacks = { .find_elf = find_file,
                                          .find_debuginfo = dwfl_standard_find_debuginfo };

static bool report(struct report_file *f)
{
    void **user = NULL;

    f->dwfl = dwfl_begin(&callbacks);
    if (!f->dwfl)
        return false;
    dwfl_report_begin(f->dwfl);
    f->module = dwfl_report_module(f->dwfl, f->as.path, f->as.start, f->as.end);
    if (!f->module)
        return false;
    dwfl_module_info(f->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
    *user = f;
    if (f->as.size > 0 &&
        dwfl_module_report_build_id(f->module, f->as.build_id, f->as.size, 0) != 0)
        return false;
    return dwfl_report_end(f->dwfl, NULL, NULL) == 0;
}

static void free_file(void *data)
{
    struct report_file *f = data;

    if (f->dwfl)
        dwfl_end(f->dwfl);
    tdestroy(f->answers, free);
    free(f->as.path);
    free(f);
}

/* The same file: its address does not count, but how much of it was loaded does. */
static int compare(const void *a, const void *b)
{
    const struct report_module *x = &((const struct report_file *)a)->as;
    const struct report_module *y = &((const struct report_file *)b)->as;
    const uint64_t x_span = x->end - x->start, y_span = y->end - y->start;
    int order;

    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x_span != y_span)
        return x_span < y_span ? -1 : 1;
    order = memcmp(x->build_id, y->build_id, x->size);
    return order ? order : strcmp(x->path, y->path);
}

struct report_file *report_files_find(struct report_files *files,
                                      const struct report_module *module)
{
    const struct report_file wanted = { .as = *module };
    struct report_file *const *found = tfind(&wanted, &files->tree, compare);
    struct report_file *file;

    if (found)
        return *found;
    file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->as = *module;
    file->as.path = strdup(module->path);
    if (!file->as.path || !report(file) || !tsearch(file, &files->tree, compare)) {
        free_file(file);
        return NULL;
    }
    return file;
}

void report_files_free(struct report_files *files)
{
    tdestroy(files->tree, free_file);
    files->tree = NULL;
}
