#include "symbolize_object.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"
#include "module_names.h"
#include "object/guard.h"
#include "object/hex.h"
#include "object/regular.h"

/* The address being printed. */
struct line {
    uint64_t address;
    enum object_name_style style;
};

static void print_name(void *user, const struct object_name *n)
{
    const struct line *line = user;
    char *name = n->name ? object_demangle(n->name, line->style) : NULL;

    printf("0x%" PRIx64 " ", line->address);
    foreign_print(stdout, name ? name : "?");
    if (n->name && !n->inlined)
        printf("+0x%" PRIx64, line->address - n->start);
    if (n->file) {
        printf(" (");
        foreign_print(stdout, n->file);
        printf(":%d:%d)", n->line, n->column);
    }
    puts(n->inlined ? " inlined in" : "");
    free(name);
}

static bool parse_address(const char *text, uint64_t *out)
{
    size_t digits;

    text += strspn(text, " \t");
    text += strncmp(text, "0x", 2) == 0 ? 2 : 0;
    digits = object_hex_number(text, strlen(text), out);
    return digits > 0 && text[digits + strspn(text + digits, " \t\r\n")] == '\0';
}

static enum tool_exit find_all(struct object_names *names, FILE *input,
                               enum object_name_style style)
{
    struct line line = { .style = style };
    enum tool_exit exit_status = TOOL_DONE;
    char *text = NULL;
    size_t room = 0;

    for (uint64_t number = 1; getline(&text, &room, input) > 0; number++) {
        if (!parse_address(text, &line.address)) {
            exit_status =
                tool_complain(TOOL_BAD_DATA, "stdin:%" PRIu64 ": no address: %s", number, text);
            break;
        }
        if (!object_names_find(names, line.address, print_name, &line)) {
            exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
            break;
        }
    }
    if (ferror(input))
        exit_status = tool_complain(TOOL_USAGE, "stdin: %s", strerror(errno));
    free(text);
    return exit_status;
}

static enum tool_exit find_given(const struct tool_command *command, struct object_names *names,
                                 char **addresses, int count, enum object_name_style style)
{
    struct line line = { .style = style };

    for (int i = 0; i < count; i++) {
        if (!parse_address(addresses[i], &line.address))
            return tool_misused(command, "'%s' is no address", addresses[i]);
        if (!object_names_find(names, line.address, print_name, &line))
            return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    }
    return TOOL_DONE;
}

static void complain_of_file(const char *path, const char *cause)
{
    tool_complain(TOOL_BAD_DATA, "%s: not opened: %s", path, cause);
}

/* @return NULL after a complaint */
static Dwfl_Module *open_file(Dwfl *dwfl, const char *path)
{
    Dwfl_Module *module;
    const char *cause;
    int fd = object_regular_open(path, &cause);

    if (fd < 0) {
        tool_complain(TOOL_USAGE, "%s: %s", path, cause);
        return NULL;
    }
    module = dwfl_report_offline(dwfl, "", path, fd);
    if (!module)
        tool_complain(TOOL_BAD_DATA, "%s: %s", path, dwfl_errmsg(-1));
    dwfl_report_end(dwfl, NULL, NULL);
    return module;
}

enum tool_exit symbolize_object(const struct tool_command *command, const char *path,
                                char **addresses, int count, enum object_name_style style)
{
    static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_build_id_find_elf,
                                              .find_debuginfo = dwfl_standard_find_debuginfo,
                                              .section_address = dwfl_offline_section_address };
    const bool from_stdin = count == 0 || (count == 1 && strcmp(addresses[0], "-") == 0);
    struct module_names all = { NULL };
    const struct module_name_table *table;
    enum tool_exit exit_status = TOOL_BAD_DATA;
    Dwfl_Module *module;
    Dwfl *dwfl;

    object_guard_libraries(complain_of_file);
    /* libdebuginfod reads it with each query; an empty list of servers means none. */
    dwfl = setenv("DEBUGINFOD_URLS", "", 1) == 0 ? dwfl_begin(&callbacks) : NULL;
    if (!dwfl)
        return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    module = open_file(dwfl, path);
    table = module ? module_names_find(&all, module) : NULL;
    if (table)
        exit_status = from_stdin ? find_all(table->names, stdin, style)
                                 : find_given(command, table->names, addresses, count, style);
    else if (module)
        tool_complain(TOOL_BAD_DATA, "%s: %s", path, dwfl_errmsg(-1));
    module_names_free(&all);
    dwfl_end(dwfl);
    return exit_status;
}
