#include "cli/symbolize/object_addresses.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/tool_reporter.h"
#include "symbols/module_files.h"
#include "util/counted.h"
#include "util/foreign.h"
#include "util/hex.h"
#include "util/regular.h"

/* Lines without an address that are shown. */
enum { COMPLAINTS = 8 };

/* The address being printed. */
struct line {
    uint64_t address;
    enum object_name_style style;
    uint64_t mangled; /* names of C++ so far that libiberty does not know */
};

static void print_name(void *user, const struct object_name *n)
{
    struct line *line = user;
    char *name = n->name ? object_demangle(n->name, line->style) : NULL;

    line->mangled += name && line->style != OBJECT_NAME_RAW && strncmp(name, "_Z", 2) == 0;
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
    digits = hex_number(text, strlen(text), out);
    return digits > 0 && text[digits + strspn(text + digits, " \t\r\n")] == '\0';
}

/* How much of a line that is wrong is shown. */
static int echo_size(const char *line)
{
    const size_t size = strcspn(line, "\r\n");

    return size < 64 ? (int)size : 64;
}

/* libiberty is of the build: names of newer compilers, as with requires clauses, stay as they are. */
static void say_mangled(const struct line *line)
{
    if (line->mangled > 0)
        fprintf(stderr,
                "sfb: %s of C++ left mangled: this build's libiberty does not know them; "
                "llvm-cxxfilt, or a newer c++filt, may\n",
                counted(line->mangled, "names").text);
}

static enum tool_exit find_all(struct object_names *names, FILE *input,
                               enum object_name_style style)
{
    struct line line = { .style = style };
    enum tool_exit exit_status = TOOL_DONE;
    char *text = NULL;
    uint64_t bad = 0;
    size_t room = 0;
    ssize_t size;

    for (uint64_t number = 1; (size = getline(&text, &room, input)) > 0; number++) {
        if (strlen(text) != (size_t)size || !parse_address(text, &line.address)) {
            /* Each line of input has one of output. */
            puts("?");
            exit_status = tool_worse(exit_status, TOOL_BAD_DATA);
            if (bad++ < COMPLAINTS)
                tool_complain(TOOL_BAD_DATA, "stdin:%" PRIu64 ": no address: %.*s", number,
                              echo_size(text), text);
            continue;
        }
        if (!object_names_find(names, line.address, print_name, &line)) {
            exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
            break;
        }
    }
    if (bad > COMPLAINTS)
        tool_complain(TOOL_BAD_DATA, "stdin: %" PRIu64 " more without an address",
                      bad - COMPLAINTS);
    say_mangled(&line);
    if (ferror(input))
        exit_status = tool_complain(TOOL_USAGE, "stdin: %s", strerror(errno));
    free(text);
    return exit_status;
}

static enum tool_exit find_given(const struct tool_command *command, struct object_names *names,
                                 char **addresses, int count, enum object_name_style style)
{
    struct line line = { .style = style };

    for (int i = 0; i < count; i++)
        if (!parse_address(addresses[i], &line.address))
            return tool_misused(command, "'%s' is no address", addresses[i]);
    for (int i = 0; i < count; i++) {
        parse_address(addresses[i], &line.address);
        if (!object_names_find(names, line.address, print_name, &line))
            return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    }
    say_mangled(&line);
    return TOOL_DONE;
}

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

enum tool_exit symbolize_object(const struct tool_command *command, const char *path,
                                const struct object_places *places, char **addresses, int count,
                                enum object_name_style style)
{
    const bool from_stdin = count == 0 || (count == 1 && strcmp(addresses[0], "-") == 0);
    struct module_files files = { .places = *places, .reporter = tool_complaints };
    enum tool_exit exit_status;
    struct module_file *file;

    file = find_file(&files, path, &exit_status);
    if (file)
        exit_status = from_stdin ? find_all(file->names, stdin, style)
                                 : find_given(command, file->names, addresses, count, style);
    module_files_free(&files);
    return exit_status;
}
