#include "cli/check/extract.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/check/disassembly.h"
#include "toolchain/check/cfi.h"
#include "toolchain/check/finding_list.h"
#include "toolchain/check/words.h"
#include "util/counted.h"
#include "util/foreign.h"

/* Of a function that is larger, the beginning is shown. */
enum { CODE_MAX = 1 << 16, ROWS_MAX = 1 << 16 };

struct wanted {
    uint64_t fde;
    bool found;
    struct finding_list findings; /* of it */
};

static void print_bytes(const uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        printf(" %02x", at[i]);
}

/* ---- .sframe ---- */

static void print_row(const struct check *c, const struct sframe_part *p,
                      const struct sframe_entry *e, uint32_t index, const struct sframe_row *r)
{
    const uint64_t at = sframe_fre_at(p, r->at);
    char words[RULE_WORDS_SIZE];
    struct sfb_rule rule;
    const char *cause = sframe_row_rule(&rule, p, e, r);

    if (!cause)
        rule_words(words, &rule, p->abi);
    printf("  FRE %" PRIu32 " .sframe+0x%" PRIx64 ":", index, at);
    print_bytes(c->data + at, r->size);
    printf("\n    0x%" PRIx64 " (+0x%" PRIx32 "): %s\n", e->start + r->start, r->start,
           cause ? cause : words);
}

static void print_rows(const struct check *c, const struct sframe_part *p,
                       const struct sframe_entry *e)
{
    uint64_t position = sframe_first_row(p, e);
    struct sframe_row r;

    for (uint32_t i = 0; i < e->row_count && i < ROWS_MAX; i++) {
        if ((e->info & 3) > ROW_TYPE_MAX || sframe_row_read(&r, p, e, position) != ROW_READ) {
            printf("  FRE %" PRIu32 " .sframe+0x%" PRIx64 ": cannot be read\n", i,
                   sframe_fre_at(p, position));
            return;
        }
        print_row(c, p, e, i, &r);
        position += r.size;
    }
}

static void print_entry(const struct check *c, const struct sframe_part *p,
                        const struct sframe_entry *e)
{
    const uint64_t at = sframe_entry_at(p, e->index);

    printf("FDE %" PRIu32 ": [0x%" PRIx64 ", 0x%" PRIx64
           "), %s, info 0x%02x; SFrame version %u, ABI %u\n  .sframe+0x%" PRIx64 ":",
           p->first + e->index, e->start, e->start + e->size, counted(e->row_count, "rows").text,
           e->info, p->version->number, p->abi, at);
    print_bytes(c->data + at, p->version->entry_size);
    printf("\n");
    if (p->version->has_attribute && sframe_first_row(p, e) <= p->fre_size) {
        printf("  .sframe+0x%" PRIx64 ":", e->attribute);
        print_bytes(c->data + e->attribute, sframe_attribute_size(p->version));
        printf("\n");
    }
    print_rows(c, p, e);
}

/* ---- .eh_frame ---- */

static void print_cfi_rows(struct cfi *cfi, const struct cfi_function *f)
{
    struct cfi_rows rows;
    struct cfi_row row;

    cfi_rows_open(&rows, cfi, f, f->start, f->end);
    for (uint32_t i = 0; i < ROWS_MAX && cfi_rows_next(&rows, &row); i++) {
        char words[RULE_WORDS_SIZE];

        if (row.answer == CFI_RULE)
            rule_words(words, &row.rule, cfi->abi);
        printf("  0x%" PRIx64 " (+0x%" PRIx64 "): %s\n", row.start, row.start - f->start,
               row.answer == CFI_RULE ? words : row.reason);
    }
}

static void print_cfi(const struct check *c, const struct sframe_entry *e)
{
    const struct object_cfi_place place = object_find_cfi(c->object);
    struct cfi cfi;
    bool any = false;

    if (place.result != OBJECT_CFI_FOUND || !cfi_open(&cfi, c->object, &place, NULL, NULL)) {
        printf(".eh_frame is not shown: %s\n", place.reason ? place.reason : "out of memory");
        return;
    }
    for (size_t i = 0; i < cfi.count; i++) {
        const struct cfi_function *f = &cfi.functions[i];

        if (f->start >= e->start + e->size || f->end <= e->start)
            continue;
        any = true;
        printf(".eh_frame+0x%" PRIx32 ": [0x%" PRIx64 ", 0x%" PRIx64 ")\n", f->fde.offset, f->start,
               f->end);
        print_cfi_rows(&cfi, f);
    }
    if (!any)
        printf("no entry of .eh_frame for this code\n");
    cfi_close(&cfi);
}

/* ---- code ---- */

static void print_code(const struct check *c, const struct sframe_part *p,
                       const struct sframe_entry *e)
{
    const uint64_t size = e->size < CODE_MAX ? e->size : CODE_MAX;
    const uint8_t *code = object_code_at(c->object, e->start, size);

    if (!code) {
        printf("no code there\n");
        return;
    }
    printf("code, %s%s:\n", counted(e->size, "bytes").text,
           size < e->size ? ", of which the first" : "");
    if (disassembly_print(code, (size_t)size, e->start, p->abi))
        return;
    for (uint64_t i = 0; i < size; i += 16) {
        printf("  0x%" PRIx64 ":", e->start + i);
        print_bytes(code + i, (size_t)(size - i < 16 ? size - i : 16));
        printf("\n");
    }
}

/* ---- all of it ---- */

static void take_finding(void *data, const struct check *c, const struct finding *f)
{
    struct wanted *w = data;

    if (f->place.fde >= 0 && (uint64_t)f->place.fde == w->fde)
        finding_list_take(&w->findings, c, f);
}

static void print_findings(const struct finding_list *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct kept_finding *f = &findings->list[i];
        char code[CHECK_CODE_SIZE];

        check_code_name(code, f->code);
        printf("  %s %s: .sframe+0x%" PRIx64 ": %s: ", code,
               check_severity_name(check_code_text(f->code)->severity), f->place.offset,
               check_code_text(f->code)->title);
        foreign_print(stdout, f->text);
        printf("\n");
    }
}

static void print_symbol(const char *name)
{
    printf("symbol ");
    foreign_print(stdout, name);
    printf("\n");
}

static void print_function(const struct check *c, void *data)
{
    struct wanted *w = data;

    for (size_t i = 0; i < c->part_count; i++) {
        const struct sframe_part *p = &c->parts[i];
        const struct sframe_entry *e;

        if (w->fde < p->first || w->fde - p->first >= p->fde_count)
            continue;
        e = &p->entries[w->fde - p->first];
        w->found = true;
        print_entry(c, p, e);
        print_findings(&w->findings);
        if (c->object) {
            const struct object_label *s = object_label_before(c->object, e->start);

            if (s && s->start == e->start)
                print_symbol(s->name);
            print_cfi(c, e);
            print_code(c, p, e);
        }
        return;
    }
}

enum tool_exit extract_function(const struct input *input, uint64_t fde,
                                const struct check_options *options)
{
    struct wanted wanted = { .fde = fde };
    struct check_options own = *options;
    struct check_result result;
    enum tool_exit exit_status = TOOL_DONE;

    own.limit = 0;
    own.take = take_finding;
    own.take_data = &wanted;
    own.inspect = print_function;
    own.inspect_data = &wanted;
    check_image(&result, input->name, input->data, input->size, &own);
    if (result.fault.cause)
        exit_status =
            tool_complain(TOOL_USAGE, "%s: +0x%" PRIx64 ": %s%s%s", input->name,
                          result.fault.offset, result.fault.field ? result.fault.field : "",
                          result.fault.field ? ": " : "", result.fault.cause);
    else if (!wanted.found)
        exit_status = tool_complain(TOOL_BAD_DATA, "%s: no FDE %" PRIu64 ": there are %" PRIu64,
                                    input->name, fde, result.functions);
    finding_list_free(&wanted.findings);
    check_result_free(&result);
    return exit_status;
}
