/*
 * The share of code with a row: by symbols, elsewhere by the functions of .eh_frame. So functions
 * that a linker dropped are visible in files without .eh_frame, too.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "toolchain/check/check.h"
#include "toolchain/check/lost.h"
#include "toolchain/check/stats_collect.h"
#include "toolchain/check/stretches.h"
#include "toolchain/check/where.h"
#include "util/counted.h"
#include "util/grow.h"

static int by_start(const void *a, const void *b)
{
    const struct object_range *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end; /* the longer one first */
}

void check_note_function(struct check *c, uint64_t start, uint64_t end)
{
    if (!array_make_room(&c->functions, c->function_count, &c->function_capacity,
                         sizeof *c->functions)) {
        c->no_memory = true;
        return;
    }
    c->functions[c->function_count++] = (struct object_range){ start, end };
}

static void note_symbols(struct check *c)
{
    const struct object *o = c->object;

    for (size_t i = 0; i < o->label_count; i++) {
        const struct object_label *s = &o->labels[i];

        if (s->end > s->start && object_is_code(o, s->start, s->end))
            check_note_function(c, s->start, s->end);
    }
}

/* The file offset of a byte of code; 0: not in the file. */
static uint64_t file_offset(const struct object *o, uint64_t pc)
{
    uint64_t at = 0;

    for (size_t i = 1; o->relocatable && i < o->section_count; i++) {
        const struct object_section *s = &o->sections[i];

        if (pc >= s->address && pc - s->address < s->header.sh_size &&
            (s->header.sh_flags & SHF_EXECINSTR) != 0)
            return s->header.sh_offset + (pc - s->address);
    }
    return !o->relocatable && object_offset_of(o, pc, &at) ? at : 0;
}

static void say_uncovered(struct check *c, uint64_t start, uint64_t bytes, uint64_t covered)
{
    char *name = where_pc(c->object, start);

    if (name)
        findings_add(c->findings, CODE_UNCOVERED,
                     of_pc(in_file(file_offset(c->object, start)), start), "at %s: %s of %" PRIu64,
                     name, counted(bytes - covered, "bytes").text, bytes);
    else
        c->no_memory = true;
    free(name);
}

static bool has_rows(const struct check_function *f)
{
    return f->entry->row_count > 0 && !f->entry->rows_lost;
}

/* Functions and stretches ascend; `next` is the first stretch that may overlap the function. */
static uint64_t bytes_covered(const struct stretches *s, size_t *next, uint64_t start, uint64_t end)
{
    uint64_t sum = 0;

    while (*next < s->count && s->list[*next].end <= start)
        ++*next;
    for (size_t i = *next; i < s->count && s->list[i].start < end; i++) {
        const uint64_t low = s->list[i].start > start ? s->list[i].start : start;
        const uint64_t high = s->list[i].end < end ? s->list[i].end : end;

        if (low < high && has_rows(&s->list[i].function))
            sum += high - low;
    }
    return sum;
}

static void measure(struct check *c, const struct stretches *s)
{
    struct check_coverage *n = &c->result->coverage;
    const bool tell = !c->result->comparison.done && c->part_count > 0;
    struct lost lost = { .functions = 0 };
    uint64_t at = 0;
    size_t next = 0;

    for (size_t i = 0; i < c->function_count; i++) {
        const uint64_t start = c->functions[i].start > at ? c->functions[i].start : at;
        const uint64_t end = c->functions[i].end;
        uint64_t covered;

        if (start >= end)
            continue; /* an alias or a part of the symbol before */
        covered = bytes_covered(s, &next, start, end);
        n->functions++;
        n->functions_covered += covered == end - start;
        n->bytes += end - start;
        n->bytes_covered += covered;
        if (c->options->stats)
            stats_note(c, start, end, covered);
        if (tell && covered == 0)
            lost_add(&lost, c, start, end - start);
        if (tell && covered < end - start)
            say_uncovered(c, start, end - start, covered);
        at = end;
    }
    if (tell)
        lost_say(&lost, c, n->bytes);
}

/* @return whether part / all is below a limit in hundredths of a percent */
static bool is_less(uint64_t part, uint64_t all, uint32_t least)
{
    return (double)part * 10000 < (double)all * least;
}

static void demand(struct check *c, const char *what, uint64_t part, uint64_t all, uint32_t least)
{
    if (all == 0)
        findings_add(c->findings, CODE_COVERAGE, in_file(0),
                     "nothing says what functions there are: no symbols, and no .eh_frame that was "
                     "read");
    else if (is_less(part, all, least))
        findings_add(c->findings, CODE_COVERAGE, in_file(0),
                     "%s: %" PRIu64 " of %" PRIu64 ", and %" PRIu32 ".%02" PRIu32 " %% are asked "
                     "for",
                     what, part, all, least / 100, least % 100);
}

void check_coverage(struct check *c)
{
    const struct check_policy *policy = c->options->policy;
    const struct check_coverage *n = &c->result->coverage;
    struct stretches s = { .list = NULL };

    if (!c->object || c->object->code_count == 0)
        return;
    if (policy && policy->require && !c->result->has_section)
        findings_add(c->findings, CODE_REQUIRED, in_file(0), "the file has code");
    note_symbols(c);
    if (c->function_count > 0)
        qsort(c->functions, c->function_count, sizeof *c->functions, by_start);
    if (stretches_make(&s, c))
        measure(c, &s);
    else
        c->no_memory = true;
    stretches_free(&s);
    c->result->coverage.done = true;
    if (c->options->stats)
        stats_finish(c);
    if (policy && policy->min_functions_set)
        demand(c, "functions", n->functions_covered, n->functions, policy->min_functions);
    if (policy && policy->min_bytes_set)
        demand(c, "bytes", n->bytes_covered, n->bytes, policy->min_bytes);
}
