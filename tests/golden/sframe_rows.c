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

#define FIXTURES SFB_SOURCE_DIR "/fixtures/sframe/v1"

enum { MAX_FUNCTIONS = 256, MAX_ROWS = 64, FIXTURE_COUNT = 21 };

/* A register column: "u", "c-16", "c-8[s]"; the CFA column is "sp+16" or "fp+32". */
struct column {
    bool tracked, sign_mark;
    int32_t offset;
};

struct text_row {
    uint64_t start; /* as printed: a pc, or in [m] functions an offset */
    bool cfa_is_sp;
    int32_t cfa;
    struct column fp, ra;
};

struct text_function {
    uint64_t pc;
    uint32_t size;
    bool key_b, mask;
    size_t row_count;
    struct text_row rows[MAX_ROWS];
};

struct text {
    bool sorted, frame_pointer;
    unsigned fdes, fres;
    size_t function_count;
    struct text_function functions[MAX_FUNCTIONS];
};

static struct column column(const char *word)
{
    struct column c = { .sign_mark = strstr(word, "[s]") != NULL };

    c.tracked = sscanf(word, "c%" SCNd32, &c.offset) == 1;
    cr_assert(c.tracked || word[0] == 'u', "%s", word);
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
    t->function_count++;
}

static void parse_row(struct text_function *f, const char *line)
{
    struct text_row *r = &f->rows[f->row_count];
    char base[3], fp[32], ra[32];

    cr_assert(lt(sz, f->row_count, MAX_ROWS));
    cr_assert(eq(int,
                 sscanf(line, "%" SCNx64 " %2[spf]%" SCNd32 " %31s %31s", &r->start, base, &r->cfa,
                        fp, ra),
                 5),
              "%s", line);
    r->cfa_is_sp = strcmp(base, "sp") == 0;
    r->fp = column(fp);
    r->ra = column(ra);
    f->row_count++;
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

        if (strstr(line, "Flags:") != NULL) {
            t->sorted = strstr(line, "FDE_SORTED") != NULL;
            t->frame_pointer = strstr(line, "FRAME_POINTER") != NULL;
        } else if (sscanf(line, " Num FDEs: %u", &t->fdes) == 1 ||
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

/* Whether a rule says what a line says. AMD64 prints "u" for an RA that is fixed at CFA-8. */
static bool rule_is(const struct sfb_rule *rule, const struct text_function *f,
                    const struct text_row *r, const struct sfb_section *s)
{
    const bool amd64 = s->abi == SFB_ABI_AMD64_LE;
    const struct column ra = amd64 ? (struct column){ true, false, -8 } : r->ra;
    const unsigned flags =
        (ra.sign_mark ? SFB_RULE_RA_SIGNED : 0u) | (f->key_b ? SFB_RULE_RA_KEY_B : 0u);

    return rule->cfa_base == (r->cfa_is_sp ? SFB_BASE_SP : SFB_BASE_FP) &&
           rule->cfa_offset == r->cfa &&
           rule->ra_where == (ra.tracked ? SFB_WHERE_CFA : SFB_WHERE_SAME) &&
           rule->ra_offset == ra.offset &&
           rule->fp_where == (r->fp.tracked ? SFB_WHERE_CFA : SFB_WHERE_SAME) &&
           rule->fp_offset == r->fp.offset && rule->flags == flags;
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
    cr_assert(eq(sz, fde.fre_count, text->row_count), "%s %u", name, index);

    position = fde.fre_offset;
    for (size_t k = 0; k < text->row_count; k++) {
        struct sfb_fre fre;
        struct sfb_rule rule;

        cr_assert(eq(int, sfb_fre_read(s, &fde, position, &fre, NULL), SFB_OK), "%s %u", name,
                  index);
        cr_expect(eq(u64, fre.start + (text->mask ? 0 : text->pc), text->rows[k].start), "%s %u",
                  name, index);
        cr_assert(eq(int, sfb_fre_rule(s, &fde, &fre, &rule, NULL), SFB_OK), "%s %u", name, index);
        cr_expect(rule_is(&rule, text, &text->rows[k], s), "%s, function %u, row %zu", name, index,
                  k);
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

static const struct text_row *holding(const struct text_function *f, uint64_t pc)
{
    const uint64_t at = f->mask ? (pc - f->pc) % 16 : pc;
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

static size_t compare_fixture(const char *section_path)
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
    size_t asked = 0;
    glob_t found;

    cr_assert(eq(int, glob(FIXTURES "/*/*.sframe.bin", 0, NULL, &found), 0));
    cr_expect(eq(sz, found.gl_pathc, FIXTURE_COUNT));
    for (size_t i = 0; i < found.gl_pathc; i++)
        asked += compare_fixture(found.gl_pathv[i]);
    cr_log_info("%zu pcs in %zu sections\n", asked, found.gl_pathc);
    globfree(&found);
}
