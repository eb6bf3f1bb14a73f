#include "symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input.h"

struct symbols {
    Dwfl *dwfl;
};

/* A place in source code. */
struct place {
    const char *file;
    int line;
};

static const Dwfl_Callbacks of_process = { .find_elf = dwfl_linux_proc_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo };

static struct symbols *begin(const Dwfl_Callbacks *callbacks)
{
    struct symbols *s = calloc(1, sizeof *s);

    /* libdebuginfod reads it with each query; an empty list of servers means none. */
    if (s && setenv("DEBUGINFOD_URLS", "", 1) == 0)
        s->dwfl = dwfl_begin(callbacks);
    if (s && s->dwfl)
        return s;
    free(s);
    return NULL;
}

/* libdwfl's reporting functions give 0, an errno, or -1 with a text of their own. */
static const char *report_text(int result)
{
    if (result == ENOENT)
        return strerror(ESRCH); /* /proc/PID does not exist */
    if (result > 0)
        return strerror(result);
    return dwfl_errmsg(-1);
}

struct symbols *symbols_of_process(pid_t pid, enum tool_exit *exit_status)
{
    struct symbols *s = begin(&of_process);
    int result = s ? dwfl_linux_proc_report(s->dwfl, pid) : ENOMEM;

    if (result == 0 && dwfl_report_end(s->dwfl, NULL, NULL) == 0)
        return s;
    *exit_status = tool_complain(TOOL_USAGE, "process %d: %s", (int)pid, report_text(result));
    symbols_free(s);
    return NULL;
}

struct symbols *symbols_of_maps(const char *path, enum tool_exit *exit_status)
{
    struct input input;
    struct symbols *s;
    FILE *maps;
    int result = -1;

    if (!input_read(&input, path)) {
        *exit_status = TOOL_USAGE;
        return NULL;
    }
    s = begin(&of_process);
    maps = input.size > 0 ? fmemopen(input.data, input.size, "r") : NULL;
    if (s && maps)
        result = dwfl_linux_proc_maps_report(s->dwfl, maps);
    if (maps)
        fclose(maps);
    input_free(&input);
    if (result == 0 && dwfl_report_end(s->dwfl, NULL, NULL) == 0)
        return s;
    *exit_status =
        tool_complain(TOOL_BAD_DATA, "%s: not what /proc/PID/maps looks like", input.name);
    symbols_free(s);
    return NULL;
}

void symbols_free(struct symbols *s)
{
    if (s && s->dwfl)
        dwfl_end(s->dwfl);
    free(s);
}

/* --- modules of a list --------------------------------------------------------------------------
 */

/* The build-id of a file, as text. */
static void describe_build_id(char *out, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out += sprintf(out, "%02x", bytes[i]);
    *out = '\0';
}

/* @return whether an open file is a module; after a complaint it is not */
static bool is_module(int fd, const struct symbols_module *module)
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
static int find_listed(Dwfl_Module *dwfl_module, void **user, const char *name, Dwarf_Addr base,
                       char **file_name, Elf **elf)
{
    struct symbols_module *module = *user;
    int fd;

    if (!strchr(module->path, '/'))
        return -1;
    if (module->size > 0) {
        fd = dwfl_build_id_find_elf(dwfl_module, user, name, base, file_name, elf);
        if (fd >= 0)
            return fd;
    }
    fd = open(module->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        tool_complain(TOOL_BAD_DATA, "%s: %s", module->path, strerror(errno));
    if (fd >= 0 && is_module(fd, module)) {
        *file_name = strdup(module->path);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    module->refused = true;
    return -1;
}

static const Dwfl_Callbacks of_list = { .find_elf = find_listed,
                                        .find_debuginfo = dwfl_standard_find_debuginfo };

static bool report_module(Dwfl *dwfl, struct symbols_module *module)
{
    Dwfl_Module *reported = dwfl_report_module(dwfl, module->path, module->start, module->end);
    void **user = NULL;

    if (!reported)
        return false;
    dwfl_module_info(reported, &user, NULL, NULL, NULL, NULL, NULL, NULL);
    *user = module;
    return module->size == 0 ||
           dwfl_module_report_build_id(reported, module->build_id, module->size, 0) == 0;
}

struct symbols *symbols_of_modules(struct symbols_module *modules, size_t count,
                                   enum tool_exit *exit_status)
{
    struct symbols *s = begin(&of_list);
    bool good = s != NULL;

    if (good)
        dwfl_report_begin(s->dwfl);
    for (size_t i = 0; i < count && good; i++)
        good = report_module(s->dwfl, &modules[i]);
    if (good && dwfl_report_end(s->dwfl, NULL, NULL) == 0)
        return s;
    *exit_status =
        tool_complain(TOOL_BAD_DATA, "modules: %s", s ? dwfl_errmsg(-1) : strerror(ENOMEM));
    symbols_free(s);
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path;
}

static const char *module_name(Dwfl_Module *module)
{
    const char *name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

    /* libdwfl keeps the process in the name: "[vdso: 1234]". */
    return name && strncmp(name, "[vdso", 5) == 0 ? "[vdso]" : base_name(name);
}

/*
 * Finds the compilation unit of an address.
 *
 * dwfl_module_addrdie() asks .debug_aranges, which clang leaves out; so where it knows nothing, all
 * units are asked for their ranges.
 */
static Dwarf_Die *unit_of_address(Dwfl_Module *module, uint64_t address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);

    if (unit)
        return unit;
    while ((unit = dwfl_module_nextcu(module, unit, bias)) != NULL)
        if (dwarf_haspc(unit, address - *bias) > 0)
            return unit;
    return NULL;
}

static struct place place_of_address(Dwarf_Die *unit, Dwarf_Addr pc)
{
    struct place place = { NULL, 0 };
    Dwarf_Line *line = dwarf_getsrc_die(unit, pc);

    if (line && dwarf_lineno(line, &place.line) == 0)
        place.file = base_name(dwarf_linesrc(line, NULL, NULL));
    return place;
}

/* Where the call was that an inlined function stands for. */
static struct place place_of_call(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    struct place place = { NULL, 0 };
    Dwarf_Attribute attribute;
    Dwarf_Files *files;
    Dwarf_Word file, line;
    size_t count;

    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
        return place;
    place.file = base_name(dwarf_filesrc(files, file, NULL, NULL));
    place.line = line <= INT32_MAX ? (int)line : 0;
    return place;
}

/*
 * Gives the entries around an address, innermost first, up to the compilation unit.
 *
 * dwarf_getscopes() goes on from an inlined function to where that was written, not to where it was
 * inlined, so only its first entry is used; that one's parents are the functions asked for.
 */
static int enclosing_scopes(Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die **out)
{
    Dwarf_Die *scopes = NULL, innermost;
    int count = dwarf_getscopes(unit, pc, &scopes);

    if (count <= 0)
        return 0;
    innermost = scopes[0];
    free(scopes);
    count = dwarf_getscopes_die(&innermost, out);
    return count > 0 ? count : 0;
}

void symbols_find(struct symbols *s, uint64_t address,
                  void (*visit)(void *user, const struct symbols_function *function), void *user)
{
    struct symbols_function function = { NULL, 0, NULL, 0, NULL, false };
    Dwfl_Module *module = dwfl_addrmodule(s->dwfl, address);
    Dwarf_Die *unit, *scopes = NULL;
    struct place place = { NULL, 0 };
    Dwarf_Addr bias = 0;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    int count = 0;

    if (!module) {
        visit(user, &function);
        return;
    }
    function.module = module_name(module);
    unit = unit_of_address(module, address, &bias);
    if (unit) {
        place = place_of_address(unit, address - bias);
        count = enclosing_scopes(unit, address - bias, &scopes);
    }
    for (int i = 0; i < count && dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++) {
        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        function.name = dwarf_diename(&scopes[i]);
        function.file = place.file;
        function.line = place.line;
        function.inlined = true;
        visit(user, &function);
        place = place_of_call(unit, &scopes[i]);
    }
    free(scopes);
    function.inlined = false;
    function.file = place.file;
    function.line = place.line;
    function.name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
    function.start = address - offset;
    visit(user, &function);
}
