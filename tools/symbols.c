#include "symbols.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "module_names.h"
#include "object/guard.h"
#include "report_files.h"

struct symbols {
    Dwfl *dwfl; /* of a process; else of reports: */
    struct report_files files;
    struct report_modules map; /* of the current one */
    struct module_names names;
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
    module_names_free(&s->names);
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

/* Somebody who asks for the functions at an address of a module. */
struct question {
    void (*visit)(void *user, const struct symbols_function *function);
    void *user;
    const char *module;
    uint64_t bias; /* what to add to an address as linked */
};

static void answer(void *user, const struct object_name *name)
{
    const struct question *question = user;
    const struct symbols_function function = { .name = name->name,
                                               .start = name->start + question->bias,
                                               .file = base_name(name->file),
                                               .line = name->line,
                                               .module = question->module,
                                               .inlined = name->inlined };

    question->visit(question->user, &function);
}

/*
 * @param shift  how far the module is from where libdwfl has it
 *
 * @return false: no memory
 */
static bool find_in_module(struct symbols *s, Dwfl_Module *module, uint64_t shift, uint64_t address,
                           void (*visit)(void *user, const struct symbols_function *function),
                           void *user)
{
    const struct module_name_table *table = module_names_find(&s->names, module);
    struct question question = { visit, user, module_name(module), shift };
    const struct symbols_function unknown = { .module = question.module };

    if (!table) {
        visit(user, &unknown);
        return true;
    }
    question.bias += table->bias;
    return object_names_find(table->names, address - question.bias, answer, &question);
}

static void find_in_report(struct symbols *s, struct report_module *module, uint64_t address,
                           void (*visit)(void *user, const struct symbols_function *function),
                           void *user)
{
    const struct symbols_function unknown = { .module = base_name(module->path) };
    struct report_file *file = report_files_find(&s->files, module);

    if (!file)
        visit(user, &unknown);
    if (!file ||
        !find_in_module(s, file->module, module->start - file->as.start, address, visit, user)) {
        tool_complain(TOOL_USAGE, "%s: %s", module->path, strerror(ENOMEM));
        module->refused = true;
    }
    if (file)
        module->refused |= file->refused;
}

void symbols_find(struct symbols *s, uint64_t address,
                  void (*visit)(void *user, const struct symbols_function *function), void *user)
{
    const struct symbols_function unknown = { .name = NULL };
    Dwfl_Module *module = s->dwfl ? dwfl_addrmodule(s->dwfl, address) : NULL;
    struct report_module *of_report = report_modules_find(&s->map, address);

    if (module)
        find_in_module(s, module, 0, address, visit, user);
    else if (of_report)
        find_in_report(s, of_report, address, visit, user);
    else
        visit(user, &unknown);
}
