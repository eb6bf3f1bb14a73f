#include "cli/symbolize/why.h"

#include <stdio.h>
#include <string.h>

#include "util/base_name.h"
#include "util/foreign.h"

struct why {
    const char *pattern;
    bool printed, missing;
};

static bool is_wanted(void *user, const struct object_module *module)
{
    const struct why *why = user;
    char id[OBJECT_BUILD_ID_TEXT];

    object_build_id_text(id, &module->id);
    return strcmp(module->path, why->pattern) == 0 ||
           strcmp(sfb_base_name(module->path), why->pattern) == 0 ||
           (module->id.size > 0 && strlen(why->pattern) >= 4 &&
            strncmp(id, why->pattern, strlen(why->pattern)) == 0);
}

static void print_try(const struct object_try *t)
{
    printf("  %-5s  ", object_part_text(t->part));
    foreign_print(stdout, t->place);
    printf(": %s", object_verdict_text(t->verdict));
    if (t->cause) {
        printf(": ");
        foreign_print(stdout, t->cause);
    }
    putchar('\n');
}

static void print_module(void *user, struct module_file *file)
{
    struct why *why = user;
    const struct object_files *f = &file->files;
    char id[OBJECT_BUILD_ID_TEXT];

    if (file->told)
        return;
    file->told = true;
    if (why->printed)
        putchar('\n');
    why->printed = true;
    object_build_id_text(id, &file->id);
    foreign_print(stdout, file->path);
    printf(": build-id %s\n", file->id.size > 0 ? id : "not known");
    for (size_t i = 0; i < f->trail.count; i++)
        print_try(&f->trail.tries[i]);
    if (f->trail.lost > 0)
        printf("  and %zu more\n", f->trail.lost);
    printf("  names from %s\n", f->dwarf       ? "symbols and debug information"
                                : f->file.elf  ? "symbols of the file"
                                : f->debug.elf ? "symbols of the debug file"
                                               : "nowhere");
    why->missing |= file->refused;
}

size_t why_print(struct symbols *symbols, const char *pattern, bool *printed, bool *missing)
{
    struct why why = { pattern, *printed, false };
    const size_t count = symbols_each_module(symbols, is_wanted, print_module, &why);

    *missing |= why.missing;
    *printed = why.printed;
    return count;
}
