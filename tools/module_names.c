#include "module_names.h"

#include <search.h>
#include <stdlib.h>

static int by_module(const void *a, const void *b)
{
    const struct module_name_table *x = a, *y = b;

    return (uintptr_t)x->module < (uintptr_t)y->module
               ? -1
               : (uintptr_t)x->module > (uintptr_t)y->module;
}

/* The file with the symbol table, as libdwfl found it. */
static Elf *find_symbols(Dwfl_Module *module, GElf_Addr *bias)
{
    GElf_Addr value;
    GElf_Sym symbol;
    GElf_Word section;
    Elf *elf = NULL;

    if (dwfl_module_getsymtab(module) <= 1 ||
        !dwfl_module_getsym_info(module, 1, &symbol, &value, &section, &elf, bias))
        return NULL;
    return elf;
}

static void free_table(void *data)
{
    struct module_name_table *table = data;

    object_names_close(table->names);
    free(table);
}

static struct module_name_table *make_table(Dwfl_Module *module)
{
    struct module_name_table *table = calloc(1, sizeof *table);
    GElf_Addr main_bias = 0, dwarf_bias = 0, debug_bias = 0;
    struct object_names_source source = { .main = dwfl_module_getelf(module, &main_bias) };

    if (!table)
        return NULL;
    *table = (struct module_name_table){ .module = module, .bias = main_bias };
    if (!source.main)
        return table;
    source.dwarf = dwfl_module_getdwarf(module, &dwarf_bias);
    source.dwarf_shift = (int64_t)(main_bias - dwarf_bias);
    source.debug = find_symbols(module, &debug_bias);
    source.debug_shift = (int64_t)(main_bias - debug_bias);
    table->names = object_names_open(&source);
    if (table->names)
        return table;
    free(table);
    return NULL;
}

const struct module_name_table *module_names_find(struct module_names *all, Dwfl_Module *module)
{
    const struct module_name_table wanted = { .module = module };
    struct module_name_table *const *found = tfind(&wanted, &all->tree, by_module);
    struct module_name_table *table = found ? *found : make_table(module);

    if (table && !found && !tsearch(table, &all->tree, by_module)) {
        free_table(table);
        return NULL;
    }
    return table && table->names ? table : NULL;
}

void module_names_free(struct module_names *all)
{
    tdestroy(all->tree, free_table);
    all->tree = NULL;
}
