/*
 * Real sections against what objdump --sframe says about them.
 *
 * Every function and every row is compared, then every pc of every function is looked up and its
 * rule compared with the line of objdump's text that holds there. The text is parsed, never
 * generated: it is the word of another reader.
 */
#include "sfb/section.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define FIXTURES SFB_SOURCE_DIR "/fixtures/sframe"

enum { MAX_FUNCTIONS = 256, MAX_ROWS = 64 };

static const struct {
    const char *folder;
    unsigned version;
    size_t count;
} versions[] = { { "v1", 1, 21 }, { "v2", 2, 14 }, { "v3", 3, 12 } };

/* DWARF numbers of registers that objdump prints by name; others are "r10". */
enum { TEXT_SP = 1000, TEXT_FP };

/*
 * A column: "u", "f", "U" say nothing; "c-16" is the word at CFA - 16; "sp+16", "r10+0" are a
 * register's value and "(fp-8)" is the word there. "[s]" stands behind a signed RA.
 */
struct column {
    bool said, reg_based, deref, sign_mark;
    char letter; /* where nothing is said */
    unsigned reg;
    int32_t offset;
};

struct text_row {
    uint64_t start; /* as printed: a pc, or in [m] functions an offset */
    bool undefined; /* RA is, and there are no columns */
    struct column cfa, fp, ra;
};

struct text_function {
    uint64_t pc;
    uint32_t size;
    bool key_b, mask, signal, flexible;
    size_t row_count;
    struct text_row rows[MAX_ROWS];
};

struct text {
    bool sorted, frame_pointer, field_relative;
    unsigned version, fdes, fres;
    size_t function_count;
    struct text_function functions[MAX_FUNCTIONS];
};

static unsigned register_name(const char **at)
{
    const char *name = *at;
    char *end;

    if (strncmp(name, "sp", 2) == 0 || strncmp(name, "fp", 2) == 0) {
        *at += 2;
        return name[0] == 's' ? TEXT_SP : TEXT_FP;
    }
    cr_assert(name[0] == 'r', "%s", name);
    *at += 1;
    unsigned long number = strtoul(*at, &end, 10);
    cr_assert(ne(ptr, end, (char *)(uintptr_t)*at), "%s", name);
    *at = end;
    return (unsigned)number;
}

/* One column, behind blanks. A long CFA leaves no blank before the next. */
static struct column column(const char **at)
{
    struct column c = { .said = true };
    char *end;

    *at += strspn(*at, " ");
    if (**at == 'u' || **at == 'U' || (**at == 'f' && (*at)[1] != 'p')) {
        c.said = false;
        c.letter = *(*at)++;
    } else {
        c.deref = **at == '(' || **at == 'c';
        c.reg_based = **at != 'c';
        *at += **at == '(' || **at == 'c';
        if (c.reg_based)
            c.reg = register_name(at);
        *at += strncmp(*at, "+-", 2) == 0; /* the sign of CFA columns is fixed */
        c.offset = (int32_t)strtol(*at, &end, 10);
        cr_assert(ne(ptr, end, (char *)(uintptr_t)*at), "%s", *at);
        *at = end + (*end == ')');
    }
    if (strncmp(*at, "[s]", 3) == 0) {
        c.sign_mark = true;
        *at += 3;
    }
    return c;
}

static void parse_function(struct text *t, const char *line)
{
    struct text_function *f = &t->functions[t->function_count];
    unsigned index;

    cr_assert(lt(sz, t->function_count, MAX_FUNCTIONS));
    cr_assert(eq(int,
                 sscanf(line, " func idx [%u]: pc = 0x%" SCNx64 ", size = %" SCNu32, &index, &f->pc,
                        &f->size),
                 3),
              "%s", line);
    cr_assert(eq(sz, index, t->function_count));
    f->key_b = strstr(line, "pauth = B key") != NULL;
    f->signal = strstr(line, "attr = \"S") != NULL;
    f->flexible = strstr(line, "attr = \"F") != NULL || strstr(line, "attr = \"SF") != NULL;
    t->function_count++;
}

static void parse_row(struct text_function *f, const char *line)
{
    struct text_row *r = &f->rows[f->row_count++];
    const char *at = line;
    char *end;

    cr_assert(le(sz, f->row_count, MAX_ROWS));
    memset(r, 0, sizeof *r);
    r->start = strtoull(at, &end, 16);
    cr_assert(end[0] == ' ', "%s", line);
    at = end;
    if (strstr(at, "RA undefined") != NULL) {
        r->undefined = true;
        return;
    }
    r->cfa = column(&at);
    r->fp = column(&at);
    r->ra = column(&at);
    cr_assert(eq(sz, strspn(at, " \n"), strlen(at)), "%s", line);
}

static void parse(const char *path, struct text *t)
{
    FILE *file = fopen(path, "r");
    char line[256];

    cr_assert(ne(ptr, file, NULL), "%s", path);
    memset(t, 0, sizeof *t);
    while (fgets(line, sizeof line, file) != NULL) {
        struct text_function *last =
            t->function_count > 0 ? &t->functions[t->function_count - 1] : NULL;

        if (strstr(line, " SFRAME_F_") != NULL) { /* one a line, or the last of them */
            t->sorted |= strstr(line, "FDE_SORTED") != NULL;
            t->frame_pointer |= strstr(line, "FRAME_POINTER") != NULL;
            t->field_relative |= strstr(line, "FUNC_START_PCREL") != NULL;
        } else if (sscanf(line, " Version: SFRAME_VERSION_%u", &t->version) == 1 ||
                   sscanf(line, " Num FDEs: %u", &t->fdes) == 1 ||
                   sscanf(line, " Num FREs: %u", &t->fres) == 1) {
            continue;
        } else if (strstr(line, "func idx") != NULL) {
            parse_function(t, line);
        } else if (last != NULL && strstr(line, "STARTPC") != NULL) {
            last->mask = strstr(line, "[m]") != NULL;
        } else if (last != NULL && strspn(line, " ") == 4) {
            parse_row(last, line);
        }
    }
    fclose(file);
}

/* The third column of the line of readelf -SW. */
static uint64_t section_address(const char *path)
{
    FILE *file = fopen(path, "r");
    uint64_t address;

    cr_assert(ne(ptr, file, NULL), "%s", path);
    cr_assert(eq(int, fscanf(file, ".sframe %*s %" SCNx64, &address), 1), "%s", path);
    fclose(file);
    return address;
}

static unsigned number_of(const struct sfb_section *s, unsigned reg)
{
    const bool amd64 = s->abi == SFB_ABI_AMD64_LE;

    return reg == TEXT_SP ? (amd64 ? 7 : 31) : reg == TEXT_FP ? (amd64 ? 6 : 29) : reg;
}

static bool cfa_is(const struct sfb_rule *rule, const struct column *c, const struct sfb_section *s)
{
    const enum sfb_base base = c->reg == TEXT_SP   ? SFB_BASE_SP
                               : c->reg == TEXT_FP ? SFB_BASE_FP
                                                   : SFB_BASE_REG;

    return rule->cfa_base == base && rule->cfa_offset == c->offset &&
           rule->cfa_reg == (base == SFB_BASE_REG ? number_of(s, c->reg) : 0) &&
           ((rule->flags & SFB_RULE_CFA_DEREF) != 0) == c->deref && rule->cfa_add == 0;
}

static bool saved_is(enum sfb_where where, uint8_t reg, int32_t offset, const struct column *c,
                     const struct sfb_section *s)
{
    if (!c->said)
        return where == SFB_WHERE_UNSAVED && reg == 0 && offset == 0;
    if (!c->reg_based)
        return where == SFB_WHERE_CFA && reg == 0 && offset == c->offset;
    return where == (c->deref ? SFB_WHERE_AT_REG : SFB_WHERE_IS_REG) &&
           reg == number_of(s, c->reg) && offset == c->offset;
}

/* Whether a rule says what a line says. Of an RA that is fixed at CFA-8 no line says so. */
static bool rule_is(const struct sfb_rule *rule, const struct text_function *f,
                    const struct text_row *r, const struct sfb_section *s)
{
    const bool amd64 = s->abi == SFB_ABI_AMD64_LE;
    const struct column fixed = { .said = true, .deref = true, .offset = -8 };
    const struct column *ra = amd64 && !r->ra.said ? &fixed : &r->ra;
    const unsigned flags = (r->ra.sign_mark ? SFB_RULE_RA_SIGNED : 0u) |
                           (f->key_b ? SFB_RULE_RA_KEY_B : 0u) | (f->signal ? SFB_RULE_SIGNAL : 0u);
    const unsigned general = SFB_RULE_ANY_REGISTER | SFB_RULE_CFA_DEREF;
    const bool is_general = r->cfa.deref || (r->cfa.reg != TEXT_SP && r->cfa.reg != TEXT_FP) ||
                            ra->reg_based || r->fp.reg_based;

    if (r->undefined)
        return rule->flags == SFB_RULE_OUTERMOST;
    return cfa_is(rule, &r->cfa, s) &&
           saved_is(rule->ra.where, rule->ra.reg, rule->ra.offset, ra, s) &&
           saved_is(rule->fp.where, rule->fp.reg, rule->fp.offset, &r->fp, s) &&
           (rule->flags & ~general) == flags &&
           ((rule->flags & SFB_RULE_ANY_REGISTER) != 0) == is_general;
}

/*
 * Rows that are no rules, and are left to the next source: a CFA below the word that a call pushed,
 * which only a hand-written directive says, and what ld writes for .plt.got.
 */
static enum sfb_status worth(const struct text_function *f, const struct text_row *r,
                             const struct sfb_section *s)
{
    if (s->abi != SFB_ABI_AMD64_LE || r->undefined || f->flexible || r->cfa.reg != TEXT_SP)
        return SFB_OK;
    if (r->cfa.offset < 8 || (s->version > 1 && f->mask && r->start == 0 && r->cfa.offset != 8))
        return SFB_BAD_FRE;
    return SFB_OK;
}

/* The letters of a register that is not said: what stands there depends on the release. */
static void check_letters(const struct text_function *f, const struct text_row *r,
                          const struct sfb_section *s)
{
    const bool amd64 = s->abi == SFB_ABI_AMD64_LE;

    if (r->undefined)
        return;
    cr_expect(r->fp.said || r->fp.letter == 'u');
    if (!r->ra.said && f->flexible)
        cr_expect(r->ra.letter == (r->fp.said ? 'U' : 'f'));
    else if (!r->ra.said)
        cr_expect(r->ra.letter == (amd64 && s->version > 1 ? 'f' : 'u'));
}

static void compare_function(const char *name, const struct sfb_section *s, uint32_t index,
                             const struct text_function *text)
{
    struct sfb_fde fde;
    uint32_t position;

    cr_assert(eq(int, sfb_fde_read(s, index, &fde, NULL), SFB_OK), "%s %u", name, index);
    cr_expect(eq(u64, fde.start, text->pc), "%s %u", name, index);
    cr_expect(eq(u32, fde.size, text->size), "%s %u", name, index);
    cr_expect(eq(int, fde.type == SFB_FDE_PCMASK, text->mask), "%s %u", name, index);
    cr_expect(eq(int, fde.key_b, text->key_b), "%s %u", name, index);
    cr_expect(eq(int, fde.signal, text->signal), "%s %u", name, index);
    cr_expect(eq(int, fde.flexible, text->flexible), "%s %u", name, index);
    cr_assert(eq(sz, fde.fre_count, text->row_count), "%s %u", name, index);

    position = fde.fre_offset;
    for (size_t k = 0; k < text->row_count; k++) {
        struct sfb_fre fre;
        struct sfb_rule rule;

        cr_assert(eq(int, sfb_fre_read(s, &fde, position, &fre, NULL), SFB_OK), "%s %u", name,
                  index);
        cr_expect(eq(u64, fre.start + (text->mask ? 0 : text->pc), text->rows[k].start), "%s %u",
                  name, index);
        cr_assert(eq(int, sfb_fre_rule(s, &fde, &fre, &rule, NULL), worth(text, &text->rows[k], s)),
                  "%s %u", name, index);
        if (worth(text, &text->rows[k], s) == SFB_OK)
            cr_expect(rule_is(&rule, text, &text->rows[k], s), "%s, function %u, row %zu", name,
                      index, k);
        check_letters(text, &text->rows[k], s);
        position += fre.size;
    }
}

/* The function that answers for a pc: the last that covers it, the first where they are unsorted.
 */
static const struct text_function *covering(const struct text *t, uint64_t pc)
{
    const struct text_function *found = NULL;

    for (size_t i = 0; i < t->function_count; i++)
        if (pc - t->functions[i].pc < t->functions[i].size && (found == NULL || t->sorted))
            found = &t->functions[i];
    return found;
}

/*
 * The text does not say how large the blocks of an [m] function are. Those here are entries of .plt
 * and .plt.sec, 16 bytes each, and the one of .plt.got, which has 8 without IBT.
 */
static const struct text_row *holding(const struct text_function *f, uint64_t pc)
{
    const uint64_t at = f->mask ? (pc - f->pc) % (f->size < 16 ? f->size : 16) : pc;
    const struct text_row *found = NULL;

    for (size_t k = 0; k < f->row_count && f->rows[k].start <= at; k++)
        found = &f->rows[k];
    return found;
}

static bool answer_is_right(const struct sfb_section *s, const struct text *t, uint64_t pc)
{
    const struct text_function *f = covering(t, pc);
    const struct text_row *r = f != NULL ? holding(f, pc) : NULL;
    struct sfb_rule rule;
    const enum sfb_status status = sfb_section_find(s, pc, &rule, NULL);

    if (f == NULL)
        return status == SFB_NO_FDE;
    if (r == NULL)
        return status == SFB_NO_FRE;
    if (worth(f, r, s) != SFB_OK)
        return status == worth(f, r, s);
    return status == SFB_OK && rule_is(&rule, f, r, s);
}

/* Every pc of every function, and the byte on either side of it. Gives how many were asked. */
static size_t compare_pcs(const char *name, const struct sfb_section *s, const struct text *t)
{
    size_t asked = 0, wrong = 0;
    uint64_t first_wrong = 0;

    for (size_t i = 0; i < t->function_count; i++) {
        const uint64_t start = t->functions[i].pc;

        for (uint64_t k = 0; k <= (uint64_t)t->functions[i].size + 1; k++, asked++)
            if (!answer_is_right(s, t, start + k - 1) && wrong++ == 0)
                first_wrong = start + k - 1;
    }
    cr_expect(eq(sz, wrong, 0), "%s: first at %" PRIx64, name, first_wrong);
    return asked;
}

static size_t compare_fixture(const char *section_path, unsigned version)
{
    static const char suffix[] = ".sframe.bin";
    const int stem = (int)(strlen(section_path) - (sizeof suffix - 1));
    static struct text text;
    static uint8_t data[8192];
    struct sfb_section s;
    char path[4096];
    FILE *file = fopen(section_path, "rb");
    size_t size;

    cr_assert(ne(ptr, file, NULL), "%s", section_path);
    size = fread(data, 1, sizeof data, file);
    fclose(file);
    cr_assert(lt(sz, size, sizeof data));
    snprintf(path, sizeof path, "%.*s.objdump.txt", stem, section_path);
    parse(path, &text);
    snprintf(path, sizeof path, "%.*s.sections.txt", stem, section_path);

    cr_assert(eq(int, sfb_section_open(&s, data, size, section_address(path), NULL), SFB_OK), "%s",
              section_path);
    cr_expect(eq(sz, s.size, size), "%s", section_path);
    cr_expect(eq(u32, text.version, version));
    cr_expect(eq(u32, s.version, version));
    cr_expect(eq(int, (s.flags & SFB_SECTION_FIELD_RELATIVE) != 0, text.field_relative));
    /* Object files of versions 1 and 2, which objdump does not relocate and counts from the
     * section. */
    s.field_relative = text.field_relative;
    cr_expect(eq(int, (s.flags & SFB_SECTION_FDE_SORTED) != 0, text.sorted));
    cr_expect(eq(int, (s.flags & SFB_SECTION_FRAME_POINTER) != 0, text.frame_pointer));
    cr_expect(eq(u32, s.fre_count, text.fres));
    cr_assert(eq(u32, s.fde_count, text.fdes));
    cr_assert(eq(sz, text.function_count, text.fdes));
    for (uint32_t i = 0; i < s.fde_count; i++)
        compare_function(section_path, &s, i, &text.functions[i]);
    return compare_pcs(section_path, &s, &text);
}

Test(sframe_rows, are_what_objdump_says)
{
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
        size_t asked = 0;
        char pattern[4096];
        glob_t found;

        snprintf(pattern, sizeof pattern, "%s/%s/*/*.sframe.bin", FIXTURES, versions[v].folder);
        cr_assert(eq(int, glob(pattern, 0, NULL, &found), 0));
        cr_expect(eq(sz, found.gl_pathc, versions[v].count));
        for (size_t i = 0; i < found.gl_pathc; i++)
            asked += compare_fixture(found.gl_pathv[i], versions[v].version);
        cr_log_info("%s: %zu pcs in %zu sections\n", versions[v].folder, asked, found.gl_pathc);
        globfree(&found);
    }
}
