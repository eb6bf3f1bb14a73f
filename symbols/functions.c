#include "symbols/functions.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/minidebug.h"
#include "util/grow.h"

/* The rank of a symbol's name; the higher one is better. */
enum {
    RANK_LOCAL = 0,
    RANK_WEAK = 1,
    RANK_GLOBAL = 2,
    RANK_FUNCTION = 4,
    RANK_SIZED = 8,
};

struct object_symbol {
    uint64_t start, end; /* end: 0 without a size, until settle() */
    uint32_t name;
    uint8_t table, rank;
};

struct symbols {
    struct object_symbol *at;
    size_t count, room;
};

/* --- reading ----------------------------------------------------------------------------------- */

/* Assemblers' own symbols: numbered labels, and AArch64's marks of code and data. */
static bool is_mark(const char *name)
{
    return name[0] == '$' || strncmp(name, ".L", 2) == 0;
}

static const char *name_of(const struct object_functions *f, const struct object_symbol *symbol)
{
    const struct object_strings *strings = &f->strings[symbol->table];
    const char *name = elf_strptr(strings->elf, strings->section, symbol->name);

    return name ? name : "";
}

static bool add(struct symbols *symbols, const struct object_symbol *symbol)
{
    struct object_symbol *at =
        array_grow(symbols->at, symbols->count, &symbols->room, sizeof *at, OBJECT_NO_SPAN);

    if (!at)
        return false;
    symbols->at = at;
    symbols->at[symbols->count++] = *symbol;
    return true;
}

static bool in_code(Elf *elf, size_t index)
{
    GElf_Shdr header;

    return gelf_getshdr(elf_getscn(elf, index), &header) && (header.sh_flags & SHF_EXECINSTR);
}

/* @return its rank, or -1: no function */
static int rank_of(Elf *elf, const GElf_Sym *symbol, size_t section)
{
    const unsigned type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);
    int rank = binding == STB_LOCAL ? RANK_LOCAL : binding == STB_WEAK ? RANK_WEAK : RANK_GLOBAL;

    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
        symbol->st_shndx == SHN_COMMON)
        return -1;
    if (type == STT_FUNC || type == STT_GNU_IFUNC)
        rank |= RANK_FUNCTION;
    else if (type != STT_NOTYPE || !in_code(elf, section))
        return -1;
    return symbol->st_size > 0 ? rank | RANK_SIZED : rank;
}

/* Section numbers beyond 16 bits stand in a table beside the symbols. */
static Elf_Data *wide_sections(Elf *elf, size_t table)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB_SHNDX &&
            header.sh_link == table)
            return elf_getdata(section, NULL);
    return NULL;
}

static bool read_table(struct object_functions *f, struct symbols *symbols, Elf *elf,
                       Elf_Scn *section, const GElf_Shdr *header, uint64_t shift)
{
    Elf_Data *data = elf_getdata(section, NULL), *wide = wide_sections(elf, elf_ndxscn(section));
    const size_t each = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    const size_t count = data && each > 0 ? data->d_size / each : 0;

    if (f->table_count == OBJECT_SYMBOL_TABLES)
        return true;
    f->strings[f->table_count] = (struct object_strings){ elf, header->sh_link };
    for (size_t i = 1; i < count && i <= INT32_MAX; i++) {
        struct object_symbol symbol;
        Elf32_Word index = 0;
        GElf_Sym s;
        int rank;

        if (!gelf_getsymshndx(data, wide, (int)i, &s, &index))
            continue;
        rank = rank_of(elf, &s, s.st_shndx == SHN_XINDEX ? index : s.st_shndx);
        if (rank < 0 || s.st_name == 0)
            continue;
        symbol = (struct object_symbol){ .start = s.st_value - shift,
                                         .name = s.st_name,
                                         .table = (uint8_t)f->table_count,
                                         .rank = (uint8_t)rank };
        if (s.st_size > 0)
            symbol.end =
                s.st_size < UINT64_MAX - symbol.start ? symbol.start + s.st_size : UINT64_MAX;
        if (!(rank & RANK_FUNCTION) && is_mark(name_of(f, &symbol)))
            continue;
        if (!add(symbols, &symbol))
            return false;
    }
    f->table_count++;
    return true;
}

static bool read_tables(struct object_functions *f, struct symbols *symbols, Elf *elf,
                        uint64_t type, uint64_t shift)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while (elf && (section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) && header.sh_type == type)
            return read_table(f, symbols, elf, section, &header, shift);
    return true;
}

/* --- sorting ----------------------------------------------------------------------------------- */

/* Whether x names their start better than y, which precedes it in the tables. */
static bool is_better(const struct object_functions *f, const struct object_symbol *x,
                      const struct object_symbol *y)
{
    size_t underscores_x, underscores_y;

    if (x->rank != y->rank)
        return x->rank > y->rank;
    if (x->end != y->end)
        return x->end > y->end;
    underscores_x = strspn(name_of(f, x), "_");
    underscores_y = strspn(name_of(f, y), "_");
    if (underscores_x != underscores_y)
        return underscores_x < underscores_y;
    return x->table == y->table;
}

/*
 * Sorts by start, stable, a byte of the start at a time. qsort() took a third of the cost of one
 * address.
 *
 * @return false: no memory
 */
static bool sort(struct symbols *symbols)
{
    struct object_symbol *from = symbols->at, *to = reallocarray(NULL, symbols->count, sizeof *to);

    if (!to)
        return false;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t places[256] = { 0 }, place = 0;
        struct object_symbol *swap = from;

        for (size_t i = 0; i < symbols->count; i++)
            places[from[i].start >> shift & 0xff]++;
        if (places[from[0].start >> shift & 0xff] == symbols->count)
            continue; /* equal in all of them */
        for (size_t i = 0; i < 256; i++) {
            const size_t count = places[i];

            places[i] = place;
            place += count;
        }
        for (size_t i = 0; i < symbols->count; i++)
            to[places[from[i].start >> shift & 0xff]++] = from[i];
        from = to;
        to = swap;
    }
    free(to);
    symbols->at = from;
    return true;
}

/* Keeps the best name of each start. */
static void keep_best(const struct object_functions *f, struct symbols *symbols)
{
    size_t kept = 0;

    for (size_t i = 0; i < symbols->count; i++) {
        const struct object_symbol *symbol = &symbols->at[i];

        if (kept == 0 || symbols->at[kept - 1].start != symbol->start)
            symbols->at[kept++] = *symbol;
        else if (is_better(f, symbol, &symbols->at[kept - 1]))
            symbols->at[kept - 1] = *symbol;
    }
    symbols->count = kept;
}

/* The executable sections, by their indices. */
static bool find_code(struct object_spans *out, Elf *elf)
{
    struct object_ranges ranges = { NULL, 0, 0 };
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR) &&
            !object_ranges_add(&ranges, header.sh_addr, header.sh_addr + header.sh_size,
                               (uint32_t)elf_ndxscn(section))) {
            object_ranges_free(&ranges);
            return false;
        }
    return object_spans_make(out, &ranges, OBJECT_LAST_START);
}

/* The end of a symbol without a size: the next one, or its section's end. */
static uint64_t end_of_label(const struct symbols *symbols, size_t i, Elf *elf,
                             const struct object_spans *code)
{
    const uint64_t start = symbols->at[i].start;
    const uint32_t section = object_spans_find(code, start);
    uint64_t end = start + 1;
    GElf_Shdr header;

    if (section != OBJECT_NO_SPAN && gelf_getshdr(elf_getscn(elf, section), &header))
        end = header.sh_addr + header.sh_size;
    if (i + 1 < symbols->count && symbols->at[i + 1].start < end)
        end = symbols->at[i + 1].start;
    return end;
}

static bool add_ranges(struct object_ranges *ranges, const struct symbols *symbols, Elf *elf,
                       const struct object_spans *code)
{
    uint64_t sized_end = 0;

    for (size_t i = 0; i < symbols->count; i++) {
        const struct object_symbol *symbol = &symbols->at[i];
        uint64_t end = symbol->end;

        if (symbol->rank & RANK_SIZED) {
            if (end > sized_end)
                sized_end = end;
        } else {
            if (symbol->start < sized_end)
                continue;
            end = end_of_label(symbols, i, elf, code);
        }
        if (!object_ranges_add(ranges, symbol->start, end, (uint32_t)i))
            return false;
    }
    return true;
}

static bool make_spans(struct object_spans *out, const struct symbols *symbols, Elf *elf)
{
    struct object_ranges ranges = { NULL, 0, 0 };
    struct object_spans code;
    bool done = find_code(&code, elf);

    done = done && add_ranges(&ranges, symbols, elf, &code) &&
           object_spans_make(out, &ranges, OBJECT_LAST_START);
    object_ranges_free(&ranges);
    object_spans_free(&code);
    return done;
}

bool object_functions_make(struct object_functions *out, Elf *main, Elf *debug, uint64_t shift)
{
    struct object_functions f = { .symbols = NULL };
    struct symbols symbols = { NULL, 0, 0 };
    bool done;

    *out = f;
    done = (!debug || debug == main || read_tables(&f, &symbols, debug, SHT_SYMTAB, shift)) &&
           read_tables(&f, &symbols, main, SHT_SYMTAB, 0) &&
           read_tables(&f, &symbols, main, SHT_DYNSYM, 0);
    if (done && object_minidebug_open(main, &f.minidebug, &f.minidebug_bytes))
        done = read_tables(&f, &symbols, f.minidebug, SHT_SYMTAB, 0);
    if (done && symbols.count > 0) {
        done = sort(&symbols);
        if (done)
            keep_best(&f, &symbols);
        done = done && make_spans(&f.spans, &symbols, main);
    }
    f.symbols = symbols.at;
    if (done) {
        *out = f;
        return true;
    }
    object_functions_free(&f);
    return false;
}

/*
 * --- lookup ------------------------------------------------------------------------------------
 */

bool object_functions_find(struct object_functions *functions, uint64_t address,
                           struct object_function *out)
{
    const uint32_t id = object_spans_find(&functions->spans, address);
    const struct object_symbol *symbol;
    size_t length;

    if (id == OBJECT_NO_SPAN)
        return false;
    symbol = &functions->symbols[id];
    out->name = name_of(functions, symbol);
    out->start = symbol->start;
    out->label = !(symbol->rank & RANK_FUNCTION);
    /* Symbol tables may add a version to a name: "pow@@GLIBC_2.29". */
    length = strcspn(out->name, "@");
    if (out->name[length] != '\0') {
        free(functions->unversioned);
        functions->unversioned = strndup(out->name, length);
        if (functions->unversioned)
            out->name = functions->unversioned;
    }
    return true;
}

void object_functions_free(struct object_functions *functions)
{
    free(functions->symbols);
    object_spans_free(&functions->spans);
    if (functions->minidebug)
        elf_end(functions->minidebug);
    free(functions->minidebug_bytes);
    free(functions->unversioned);
    *functions = (struct object_functions){ .symbols = NULL };
}
