#include "cli/symbolize/object_addresses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/symbolize/address_batch.h"
#include "cli/symbolize/named_file.h"
#include "util/counted.h"
#include "util/foreign.h"

/* The address being printed. */
struct line {
    FILE *to;
    uint64_t address;
    enum object_name_style style;
    uint64_t mangled; /* names of C++ so far that libiberty does not know */
};

static void print_name(void *user, const struct object_name *n)
{
    struct line *line = user;
    char *name = n->name ? object_demangle(n->name, line->style) : NULL;

    line->mangled += name && line->style != OBJECT_NAME_RAW && strncmp(name, "_Z", 2) == 0;
    fprintf(line->to, "0x%" PRIx64 " ", line->address);
    foreign_print(line->to, name ? name : "?");
    if (n->name && !n->inlined)
        fprintf(line->to, "+0x%" PRIx64, line->address - n->start);
    if (n->file) {
        fprintf(line->to, " (");
        foreign_print(line->to, n->file);
        fprintf(line->to, ":%d:%d)", n->line, n->column);
    }
    fputs(n->inlined ? " inlined in\n" : "\n", line->to);
    free(name);
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

/* Ascending by address; of one address by line. */
static int by_address(const void *a, const void *b)
{
    const struct address_line *x = *(struct address_line *const *)a;
    const struct address_line *y = *(struct address_line *const *)b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Names the lines, sorted, into line->to, and notes where the text of each is. @return false: no memory */
static bool find_sorted(struct named_file *file, struct address_batch *batch, struct line *line)
{
    struct address_line **sorted = calloc(batch->count, sizeof *sorted);
    size_t count = 0;
    bool good = sorted != NULL;

    for (size_t i = 0; good && i < batch->count; i++)
        if (batch->lines[i].good)
            sorted[count++] = &batch->lines[i];
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, by_address);
    for (size_t i = 0; good && i < count; i++) {
        struct address_line *l = sorted[i];

        l->at = (size_t)ftell(line->to);
        line->address = l->address;
        good = named_file_find(file, l->address, print_name, line);
        l->size = (size_t)ftell(line->to) - l->at;
    }
    free(sorted);
    return good && !ferror(line->to);
}

/* Each line of input has its output, in the same order. @return false: no memory */
static bool find_batch(struct named_file *file, struct address_batch *batch, struct line *line)
{
    char *text = NULL;
    size_t size = 0;
    bool good;

    line->to = open_memstream(&text, &size);
    if (!line->to)
        return false;
    good = find_sorted(file, batch, line);
    good = fclose(line->to) == 0 && good;
    for (size_t i = 0; good && i < batch->count; i++) {
        const struct address_line *l = &batch->lines[i];

        if (l->good)
            fwrite(text + l->at, 1, l->size, stdout);
        else
            puts("?");
    }
    free(text);
    fflush(stdout);
    return good;
}

static enum tool_exit find_all(struct named_file *file, enum object_name_style style)
{
    struct line line = { .style = style };
    struct address_batch batch = { .fd = STDIN_FILENO };
    enum tool_exit exit_status = TOOL_DONE;
    bool good = true;

    while (good && address_batch_read(&batch))
        good = find_batch(file, &batch, &line);
    if (batch.bad > 0)
        exit_status = TOOL_BAD_DATA;
    if (batch.bad > ADDRESS_COMPLAINTS)
        tool_complain(TOOL_BAD_DATA, "stdin: %" PRIu64 " more without an address",
                      batch.bad - ADDRESS_COMPLAINTS);
    say_mangled(&line);
    if (!good || batch.error != 0)
        exit_status = tool_complain(TOOL_USAGE, "stdin: %s", strerror(good ? batch.error : ENOMEM));
    address_batch_free(&batch);
    return exit_status;
}

static enum tool_exit find_given(const struct tool_command *command, struct named_file *file,
                                 char **addresses, int count, enum object_name_style style)
{
    struct line line = { .to = stdout, .style = style };

    for (int i = 0; i < count; i++)
        if (!address_parse(addresses[i], &line.address))
            return tool_misused(command, "'%s' is no address", addresses[i]);
    for (int i = 0; i < count; i++) {
        address_parse(addresses[i], &line.address);
        if (!named_file_find(file, line.address, print_name, &line))
            return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    }
    say_mangled(&line);
    return TOOL_DONE;
}

enum tool_exit symbolize_object(const struct tool_command *command, const char *path,
                                const struct object_places *places, char **addresses, int count,
                                enum object_name_style style)
{
    const bool from_stdin = count == 0 || (count == 1 && strcmp(addresses[0], "-") == 0);
    enum tool_exit exit_status;
    struct named_file file;

    if (!named_file_open(&file, path, places, &exit_status))
        return exit_status;
    exit_status =
        from_stdin ? find_all(&file, style) : find_given(command, &file, addresses, count, style);
    named_file_close(&file);
    return exit_status;
}
