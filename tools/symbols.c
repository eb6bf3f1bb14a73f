#include "symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "object/guard.h"
#include "report_files.h"

struct symbols {
    Dwfl *dwfl; /* of a process; else of reports: */
    struct report_files files;
    struct report_modules map; /* of the current one */
};

/* A place in source code. */
struct place {
    const char *file;
    int line;
};

static const Dwfl_Callbacks of_process = { .find_elf = dwfl_linux_proc_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo };

static void complain_of_file(const char *path, const char *cause)
{
    tool_complain(TOOL_BAD_DATA, "%s: not opened: %s", path, cause);
}

/* What libdwfl opens from here on is here, and is a regular file. */
static bool no_downloads(void)
{
    object_guard_libraries(complain_of_file);
    /* libdebuginfod reads it with each query; an empty list of servers means none. */
    return setenv("DEBUGINFOD_URLS", "", 1) == 0;
}

static struct symbols *begin(const Dwfl_Callbacks *callbacks)
{
    struct symbols *s = calloc(1, sizeof *s);

    if (s && no_downloads())
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
    if (!s)
        return;
    if (s->dwfl)
        dwfl_end(s->dwfl);
    report_files_free(&s->files);
    report_modules_free(&s->map);
    free(s);
}

struct symbols *symbols_of_reports(void)
{
    struct symbols *s = calloc(1, sizeof *s);

    if (s && no_downloads())
        return s;
    free(s);
    return NULL;
}

bool symbols_use_modules(struct symbols *s, struct report_module *modules, size_t count)
{
    report_modules_free(&s->map);
    return report_modules_make(&s->map, modules, count);
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

static void find_in_module(Dwfl_Module *module, uint64_t address,
                           void (*visit)(void *user, const struct symbols_function *function),
                           void *user)
{
    struct symbols_function function = { NULL, 0, NULL, 0, NULL, false };
    Dwarf_Die *unit, *scopes = NULL;
    struct place place = { NULL, 0 };
    Dwarf_Addr bias = 0;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    int count = 0;

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

/* --- addresses of reports -----------------------------------------------------------------------
 *
 * libdw goes through a whole symbol table for each address, and a log has the same ones in each of
 * its reports: what was found is kept. The strings are libdw's, and stay with the file.
 */

enum { INLINED_MAX = 64 }; /* of deeper ones the outermost are not said */

struct answer {
    uint64_t address; /* in the file */
    size_t count;
    struct symbols_function functions[];
};

struct collection {
    size_t count;
    struct symbols_function functions[INLINED_MAX + 1];
};

static void collect(void *user, const struct symbols_function *function)
{
    struct collection *c = user;

    if (c->count == INLINED_MAX + 1)
        c->count--; /* the one that contains them all comes last */
    c->functions[c->count++] = *function;
}

static int by_address(const void *a, const void *b)
{
    const struct answer *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

/* @return NULL: no memory */
static const struct answer *ask_file(struct report_file *file, uint64_t address)
{
    const struct answer wanted = { .address = address };
    struct answer *const *known = tfind(&wanted, &file->answers, by_address);
    struct collection c = { .count = 0 };
    struct answer *answer;

    if (known)
        return *known;
    find_in_module(file->module, address, collect, &c);
    answer = malloc(sizeof *answer + c.count * sizeof *c.functions);
    if (!answer)
        return NULL;
    answer->address = address;
    answer->count = c.count;
    memcpy(answer->functions, c.functions, c.count * sizeof *c.functions);
    if (tsearch(answer, &file->answers, by_address))
        return answer;
    free(answer);
    return NULL;
}

static void find_in_report(struct symbols *s, struct report_module *module, uint64_t address,
                           void (*visit)(void *user, const struct symbols_function *function),
                           void *user)
{
    const struct symbols_function unknown = { .module = base_name(module->path) };
    struct report_file *file = report_files_find(&s->files, module);
    /* How far the module is from where its file was first seen. */
    const uint64_t shift = file ? module->start - file->as.start : 0;
    const struct answer *answer = file ? ask_file(file, address - shift) : NULL;

    if (!answer) {
        tool_complain(TOOL_USAGE, "%s: %s", module->path, strerror(ENOMEM));
        module->refused = true;
        visit(user, &unknown);
        return;
    }
    for (size_t i = 0; i < answer->count; i++) {
        struct symbols_function function = answer->functions[i];

        function.start += shift;
        visit(user, &function);
    }
    module->refused |= file->refused;
}

void symbols_find(struct symbols *s, uint64_t address,
                  void (*visit)(void *user, const struct symbols_function *function), void *user)
{
    const struct symbols_function unknown = { .name = NULL };
    Dwfl_Module *module = s->dwfl ? dwfl_addrmodule(s->dwfl, address) : NULL;
    struct report_module *of_report = report_modules_find(&s->map, address);

    if (module)
        find_in_module(module, address, visit, user);
    else if (of_report)
        find_in_report(s, of_report, address, visit, user);
    else
        visit(user, &unknown);
}
