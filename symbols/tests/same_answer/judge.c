/*
 * Compares what two programs say of the same addresses:
 *
 *     symbols-judge FILE OURS THEIRS
 *
 * FILE is the ELF file that was asked about, OURS what `sfb symbolize --object FILE --names=raw` printed,
 * THEIRS what llvm-symbolizer printed in the style LLVM, without demangling. Prints a line with how many
 * addresses have the same functions, files, lines, columns and inlined functions, and how many differ in
 * which way, then examples of unexplained ones. symbols/docs/SYMBOLS.md explains the others:
 *
 *     version    their name has the version of the symbol
 *     alias      both names are symbols at one address
 *     label      theirs is no function: a label, or a symbol of data or of debug information
 *     file       ours has no place, theirs has the source file that the symbol table names
 *     unread     theirs has no name: it does not read what dwz shared
 *     path       the same path, written in another way
 *
 * Exit status: 0 no other difference; 1 some, or the two have not as many addresses; 2 usage.
 */
#include <fcntl.h>
#include <gelf.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHAIN_MAX = 1000, EXAMPLES_MAX = 10 };

struct frame {
    char *name, *file;
    unsigned line, column;
};

struct chain {
    struct frame frames[CHAIN_MAX];
    size_t count;
    char address[32]; /* of ours */
};

enum kind { VERSION, ALIAS, LABEL, FILE_SYMBOL, UNREAD, PATH, DEPTH, NAME, PLACE, KINDS };

static const char *const kind_names[KINDS] = { "version", "alias", "label", "file", "unread",
                                               "path",    "depth", "name",  "place" };

/* --- symbols ----------------------------------------------------------------------------------- */

struct symbol {
    const char *name;
    uint64_t value;
    bool is_function;
};

static struct symbol *symbols;
static size_t symbol_count;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

static void read_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t count = data && header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;

    symbols = reallocarray(symbols, symbol_count + count + 1, sizeof *symbols);
    if (!symbols)
        abort();
    for (size_t i = 0; i < count; i++) {
        GElf_Sym s;
        const char *name =
            gelf_getsym(data, (int)i, &s) ? elf_strptr(elf, header->sh_link, s.st_name) : NULL;
        const unsigned type = name ? GELF_ST_TYPE(s.st_info) : STT_NOTYPE;

        if (name && s.st_shndx != SHN_UNDEF)
            symbols[symbol_count++] =
                (struct symbol){ strndup(name, strcspn(name, "@")), s.st_value,
                                 type == STT_FUNC || type == STT_GNU_IFUNC };
    }
}

static bool read_symbols(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf =
        elf_version(EV_CURRENT) != EV_NONE && fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    if (!elf)
        return false;
    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            read_table(elf, section, &header);
    qsort(symbols, symbol_count, sizeof *symbols, by_name);
    elf_end(elf);
    close(fd);
    return true;
}

/* @return the first symbol of a name, NULL: none; others may follow */
static const struct symbol *find_symbol(const char *name)
{
    const struct symbol wanted = { .name = name };
    const struct symbol *found =
        symbol_count > 0 ? bsearch(&wanted, symbols, symbol_count, sizeof *symbols, by_name) : NULL;

    while (found && found > symbols && strcmp(found[-1].name, name) == 0)
        found--;
    return found;
}

static bool is_named(const struct symbol *s, const char *name)
{
    return s && s < symbols + symbol_count && strcmp(s->name, name) == 0;
}

static bool are_aliases(const char *ours, const char *theirs)
{
    for (const struct symbol *x = find_symbol(ours); is_named(x, ours); x++)
        for (const struct symbol *y = find_symbol(theirs); is_named(y, theirs); y++)
            if (x->value == y->value)
                return true;
    return false;
}

static bool is_label(const char *name)
{
    const struct symbol *s = find_symbol(name);

    return is_named(s, name) && !s->is_function;
}

/* --- reading ----------------------------------------------------------------------------------- */

static struct frame *add(struct chain *chain)
{
    if (chain->count == CHAIN_MAX)
        abort();
    return &chain->frames[chain->count++];
}

static void clear(struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        free(chain->frames[i].name);
        free(chain->frames[i].file);
    }
    chain->count = 0;
}

/* Reads "FILE:LINE:COLUMN". */
static void read_place(struct frame *frame, char *text)
{
    char *column = strrchr(text, ':'), *line;

    *column = '\0';
    line = strrchr(text, ':');
    *line = '\0';
    frame->column = (unsigned)strtoul(column + 1, NULL, 10);
    frame->line = (unsigned)strtoul(line + 1, NULL, 10);
    frame->file = strdup(text);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t size = strlen(text), end_size = strlen(end);

    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* Reads "ADDRESS NAME[+OFFSET] [(FILE:LINE:COLUMN)][ inlined in]" lines. @return false: the end */
static bool read_ours(FILE *from, struct chain *chain)
{
    static char *text;
    static size_t room;
    ssize_t size;

    clear(chain);
    while ((size = getline(&text, &room, from)) > 0) {
        const char *const inlined_in = " inlined in";
        char *name = strchr(text, ' '), *place;
        struct frame *frame = add(chain);
        bool inlined;

        text[size - 1] = '\0';
        if (!name)
            abort();
        *name++ = '\0';
        snprintf(chain->address, sizeof chain->address, "%s", text);
        inlined = ends_with(name, inlined_in);
        if (inlined)
            name[strlen(name) - strlen(inlined_in)] = '\0';
        *frame = (struct frame){ .file = NULL };
        for (place = name; ends_with(name, ")") && strstr(place, " (");)
            place = strstr(place, " (") + 2;
        if (place > name) {
            name[strlen(name) - 1] = '\0';
            place[-2] = '\0';
            read_place(frame, place);
        } else {
            frame->file = strdup("??");
        }
        if (!inlined && strrchr(name, '+'))
            *strrchr(name, '+') = '\0';
        frame->name = strdup(name);
        if (!inlined)
            return true;
    }
    return false;
}

/* Reads pairs of lines, and an empty one behind each address. @return false: the end */
static bool read_theirs(FILE *from, struct chain *chain)
{
    static char *text;
    static size_t room;
    struct frame *frame = NULL;
    ssize_t size;

    clear(chain);
    while ((size = getline(&text, &room, from)) > 0) {
        text[size - 1] = '\0';
        if (frame) {
            read_place(frame, text);
            frame = NULL;
        } else if (size > 1) {
            frame = add(chain);
            *frame = (struct frame){ .name = strdup(strcmp(text, "??") == 0 ? "?" : text) };
        } else if (chain->count > 0) {
            return true;
        }
    }
    return chain->count > 0;
}

/* --- judging ----------------------------------------------------------------------------------- */

/* Takes "/." and "/DIRECTORY/.." out of a path, in place. */
static void plain_path(char *path)
{
    char *dot;

    while ((dot = strstr(path, "/./")) != NULL)
        memmove(dot, dot + 2, strlen(dot + 2) + 1);
    for (char *from = path; (dot = strstr(from, "/../")) != NULL;) {
        char *before = dot;

        while (before > path && before[-1] != '/')
            before--;
        if (before == path || dot - before == 0 || strncmp(before, "../", 3) == 0) {
            from = dot + 3;
            continue;
        }
        memmove(before, dot + 4, strlen(dot + 4) + 1);
        from = path;
    }
}

static enum kind kind_of_name(const char *ours, const char *theirs, bool last)
{
    const char *version = strchr(theirs, '@');

    if (last && version && strncmp(ours, theirs, (size_t)(version - theirs)) == 0 &&
        ours[version - theirs] == '\0')
        return VERSION;
    if (last && are_aliases(ours, theirs))
        return ALIAS;
    if (last && is_label(theirs))
        return LABEL;
    return strcmp(theirs, "?") == 0 && strcmp(ours, "?") != 0 ? UNREAD : NAME;
}

static enum kind kind_of_file(const struct frame *ours, const struct frame *theirs)
{
    char *x, *y;
    bool same;

    if (strcmp(ours->file, "??") == 0 && theirs->line == 0)
        return FILE_SYMBOL;
    x = strdup(ours->file);
    y = strdup(theirs->file);
    plain_path(x);
    plain_path(y);
    same = strcmp(x, y) == 0;
    free(x);
    free(y);
    return same ? PATH : PLACE;
}

/* @return a set of kinds */
static unsigned compare(const struct chain *ours, const struct chain *theirs)
{
    unsigned kinds = 0;

    if (ours->count != theirs->count)
        return 1u << DEPTH;
    for (size_t i = 0; i < ours->count; i++) {
        const struct frame *x = &ours->frames[i], *y = &theirs->frames[i];

        if (strcmp(x->name, y->name) != 0)
            kinds |= 1u << kind_of_name(x->name, y->name, i + 1 == ours->count);
        if (strcmp(x->file, y->file) != 0)
            kinds |= 1u << kind_of_file(x, y);
        if (x->line != y->line || x->column != y->column)
            kinds |= 1u << PLACE;
    }
    return kinds;
}

static void print_chain(const char *name, const struct chain *chain)
{
    printf("  %s\n", name);
    for (size_t i = 0; i < chain->count; i++)
        printf("    %s %s:%u:%u\n", chain->frames[i].name, chain->frames[i].file,
               chain->frames[i].line, chain->frames[i].column);
}

int main(int argc, char **argv)
{
    static struct chain ours, theirs;
    size_t counts[KINDS] = { 0 }, same = 0, all = 0, frames = 0, examples[KINDS] = { 0 };
    FILE *x = argc == 4 ? fopen(argv[2], "re") : NULL, *y = argc == 4 ? fopen(argv[3], "re") : NULL;
    bool more, unexplained = false;

    if (!x || !y || !read_symbols(argv[1])) {
        fprintf(stderr, "usage: symbols-judge FILE OURS THEIRS\n");
        return 2;
    }
    while ((more = read_ours(x, &ours)) == read_theirs(y, &theirs) && more) {
        const unsigned kinds = compare(&ours, &theirs);

        all++;
        frames += ours.count;
        same += kinds == 0;
        for (unsigned k = 0; k < KINDS; k++) {
            counts[k] += kinds >> k & 1;
            if (!(kinds >> k & 1) || k < DEPTH || examples[k]++ >= EXAMPLES_MAX)
                continue;
            printf("%s: %s\n", ours.address, kind_names[k]);
            print_chain("ours", &ours);
            print_chain("theirs", &theirs);
        }
    }
    if (more || !feof(y))
        printf("not as many addresses\n");
    printf("%zu addresses, %zu frames, %zu the same", all, frames, same);
    for (unsigned k = 0; k < KINDS; k++) {
        if (counts[k] > 0)
            printf(", %zu %s", counts[k], kind_names[k]);
        unexplained |= counts[k] > 0 && k >= DEPTH;
    }
    putchar('\n');
    return unexplained || more || all == 0;
}
