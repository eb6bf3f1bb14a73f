/*
 * Level 4: rows against .eh_frame, at every pc where either changes.
 *
 * Functions of .eh_frame and stretches of .sframe are visited together, by address. Code between
 * two functions of .eh_frame has .sframe or nothing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <sfb/abi.h>

#include "toolchain/check/answer.h"
#include "toolchain/check/cfi.h"
#include "toolchain/check/check.h"
#include "toolchain/check/difference.h"
#include "toolchain/check/lost.h"
#include "toolchain/check/missing.h"
#include "toolchain/check/only_sframe.h"
#include "toolchain/check/say.h"
#include "toolchain/check/words.h"
#include "util/counted.h"

/* Functions between two progress reports. */
enum { PROGRESS_STEP = 256 };

/* The result for one function of .eh_frame. */
struct tally {
    uint64_t bytes, covered, equal, beyond;
    uint64_t gap_start, gap_end; /* the first expressible stretch without a row */
    uint64_t beyond_start;
    const char *reason;
    struct sfb_rule beyond_rule;
    bool beyond_has_rule;
};

struct comparer {
    struct check *c;
    struct cfi cfi;
    struct asker asker;
    struct only_sframe only;
    /* The last code reported: a fault that continues is one finding. */
    enum check_code said;
    const struct sframe_entry *said_of;
    uint32_t said_row;
    const struct sframe_entry *key_said_of;
    struct missing missing;
    struct lost lost;
};

static const struct sframe_version *version_of(const struct comparer *m)
{
    return m->c->parts[0].version;
}

/* ---- findings ---- */

static struct finding_place place_of(const struct answer *a)
{
    return place_of_row(a->function.part, a->function.entry, a->row, a->position);
}

static bool is_said(struct comparer *m, enum check_code code, const struct answer *a)
{
    const bool said = m->said == code && m->said_of == a->function.entry && m->said_row == a->row;

    m->said = code;
    m->said_of = a->function.entry;
    m->said_row = a->row;
    return said;
}

static void say_differ(struct comparer *m, enum check_code code, const struct answer *a,
                       const struct cfi_row *row, const char *reason)
{
    char ours[RULE_WORDS_SIZE], theirs[RULE_WORDS_SIZE] = "";

    if (is_said(m, code, a))
        return;
    if (!findings_want_text(m->c->findings, code)) {
        findings_add(m->c->findings, code, of_pc(place_of(a), row->start), "%s", "");
        return;
    }
    rule_words(ours, &a->rule, m->cfi.abi);
    if (row->answer == CFI_RULE)
        rule_words(theirs, &row->rule, m->cfi.abi);
    say_at(m->c, code, place_of(a), row->start,
           (struct finding_rules){ ours, theirs[0] ? theirs : reason },
           ": .sframe: %s; .eh_frame: %s%s%s%s", ours, theirs, reason && theirs[0] ? " (" : "",
           reason ? reason : "", reason && theirs[0] ? ")" : "");
}

static void say_only_sframe(struct comparer *m, const struct answer *a, uint64_t start,
                            uint64_t end)
{
    if (m->said == CODE_NO_CFI_HERE && m->said_of == a->function.entry)
        return;
    m->said = CODE_NO_CFI_HERE;
    m->said_of = a->function.entry;
    say_at(m->c, CODE_NO_CFI_HERE, place_of(a), start, no_rules, ", %s or more",
           counted(end - start, "bytes").text);
}

static void judge_key(struct comparer *m, const struct answer *a, const struct cfi_row *row)
{
    if (!row->signs_known || m->key_said_of == a->function.entry ||
        ((a->rule.flags ^ row->rule.flags) & SFB_RULE_RA_KEY_B) == 0 ||
        (a->rule.flags & SFB_RULE_OUTERMOST) != 0)
        return;
    m->key_said_of = a->function.entry;
    findings_add(m->c->findings, CODE_KEY_DIFFERS,
                 place_of_entry(a->function.part, a->function.entry, FIELD_INFO),
                 ".sframe: key %s; .eh_frame: key %s",
                 (a->rule.flags & SFB_RULE_RA_KEY_B) ? "B" : "A",
                 (row->rule.flags & SFB_RULE_RA_KEY_B) ? "B" : "A");
}

/* ---- a stretch without a change in either table ---- */

static void tally_gap(struct tally *t, const struct cfi_row *row, const char *reason,
                      uint64_t start, uint64_t end)
{
    if (reason) {
        if (!t->reason) {
            t->reason = reason;
            t->beyond_start = start;
            t->beyond_rule = row->rule;
            t->beyond_has_rule = row->answer == CFI_RULE;
        }
        t->beyond += end - start;
    } else if (t->gap_end == 0) {
        t->gap_start = start;
        t->gap_end = end;
    } else if (t->gap_end == start) {
        t->gap_end = end;
    }
}

static void compare_stretch(struct comparer *m, struct tally *t, const struct cfi_row *row,
                            const struct answer *a, uint64_t start, uint64_t end)
{
    struct check_share *rows = &m->c->result->comparison.rows;
    struct cfi_row at = *row;
    const char *reason;
    unsigned code;

    at.start = start;
    rows->all++;
    t->bytes += end - start;
    if (row->answer == CFI_UNREADABLE) {
        say_at(m->c, CODE_CFI_UNREADABLE, in_eh_frame(0), start, no_rules, ": %s", row->reason);
        return;
    }
    reason = rule_inexpressible(version_of(m), m->cfi.abi, row);
    if (!a->has_row) {
        rows->beyond += reason != NULL;
        tally_gap(t, row, reason, start, end);
        return;
    }
    rows->covered++;
    t->covered += end - start;
    judge_key(m, a, row);
    if (a->repeats && row->start != start)
        say_at(m->c, CODE_ROW_REPEATS, place_of(a), start, no_rules, "%s", "");
    if (fix_is(a->function.part->fix, FIX_OUTERMOST) && (a->rule.flags & SFB_RULE_OUTERMOST) != 0)
        return;
    code = reason ? (unsigned)CODE_ROW_INEXPRESSIBLE : rule_difference(&a->rule, row);
    if (code != 0) {
        say_differ(m, (enum check_code)code, a, &at, reason);
        return;
    }
    rows->equal++;
    t->equal += end - start;
}

/* ---- a function of .eh_frame ---- */

static void say_missing(struct comparer *m, const struct cfi_function *f, const struct tally *t)
{
    const struct sframe_fix *fix = &m->c->reading.fix;

    if (fix_is(fix, FIX_LOST) && f->start >= fix->low && f->start < fix->high)
        return;
    missing_add(&m->missing, &(struct missing_function){ t->gap_start, t->bytes, f->fde.offset });
    lost_add(&m->lost, m->c, f->start, t->bytes);
}

static void say_gaps(struct comparer *m, const struct cfi_function *f, const struct tally *t)
{
    struct finding_place at = in_eh_frame(f->fde.offset);
    char words[RULE_WORDS_SIZE] = "no plain rule";

    if (t->reason) {
        if (t->beyond_has_rule)
            rule_words(words, &t->beyond_rule, m->cfi.abi);
        say_at(m->c, CODE_INEXPRESSIBLE, at, t->beyond_start, (struct finding_rules){ NULL, words },
               ": %s: %s", words, t->reason);
    }
    if (t->gap_end == 0 || (t->reason && t->covered == 0))
        return; /* gas leaves out the whole function for one inexpressible row */
    if (t->covered > 0)
        say_at(m->c, CODE_PARTLY_COVERED, at, t->gap_start, no_rules,
               ": %s from there on, %" PRIu64 " of %" PRIu64 " in all",
               counted(t->gap_end - t->gap_start, "bytes").text, t->bytes - t->covered - t->beyond,
               t->bytes);
    else
        say_missing(m, f, t);
}

static void add_shares(struct check_comparison *to, const struct tally *t)
{
    to->functions.all++;
    to->functions.covered += t->covered == t->bytes;
    to->functions.equal += t->equal == t->bytes;
    to->functions.beyond += t->beyond > 0;
    to->bytes.all += t->bytes;
    to->bytes.covered += t->covered;
    to->bytes.equal += t->equal;
    to->bytes.beyond += t->beyond;
}

static void compare_function(struct comparer *m, const struct cfi_function *f, uint64_t end)
{
    struct tally t = { .bytes = 0 };
    struct cfi_rows rows;
    struct cfi_row row;

    cfi_rows_open(&rows, &m->cfi, f, f->start, end);
    while (cfi_rows_next(&rows, &row))
        for (uint64_t pc = row.start; pc < row.end && !m->asker.exhausted;) {
            struct answer a;
            uint64_t stop;

            asker_ask(&m->asker, pc, &a);
            stop = a.end < row.end ? a.end : row.end;
            compare_stretch(m, &t, &row, &a, pc, stop);
            pc = stop;
        }
    if (t.covered > 0)
        missing_say(&m->missing, m->c);
    say_gaps(m, f, &t);
    add_shares(&m->c->result->comparison, &t);
}

/* Code between two functions of .eh_frame. */
static void compare_between(struct comparer *m, uint64_t pc, uint64_t end)
{
    while (pc < end && m->asker.next < m->asker.stretches.count && !m->asker.exhausted) {
        struct answer a;
        uint64_t stop;

        asker_ask(&m->asker, pc, &a);
        stop = a.end < end ? a.end : end;
        if (a.has_row && !(m->only.many && only_sframe_at(&m->asker, &m->cfi, pc)))
            say_only_sframe(m, &a, pc, stop);
        pc = stop;
    }
}

static void compare_all(struct comparer *m)
{
    const struct check_options *options = m->c->options;
    uint64_t at = 0;

    for (size_t i = 0;
         i < m->cfi.count && !m->asker.exhausted && !findings_are_enough(m->c->findings); i++) {
        const struct cfi_function *f = &m->cfi.functions[i];
        uint64_t end = f->end;

        if (i + 1 < m->cfi.count && m->cfi.functions[i + 1].start < end)
            end = m->cfi.functions[i + 1].start;
        if (options->progress && i % PROGRESS_STEP == 0)
            options->progress(m->c->name, i, m->cfi.count);
        if (f->start < at || end <= f->start || !object_is_code(m->c->object, f->start, end))
            continue;
        compare_between(m, at, f->start);
        check_note_function(m->c, f->start, end);
        compare_function(m, f, end);
        at = end;
    }
    missing_say(&m->missing, m->c);
    compare_between(m, at, UINT64_MAX);
    lost_say(&m->lost, m->c, m->c->result->comparison.bytes.all);
    if (m->asker.exhausted)
        findings_add(m->c->findings, CODE_TOO_SHARED, in_sframe(0),
                     "so many functions overlap that their rows were not compared");
}

static void say_corrupt(void *data, const struct sfb_error *error)
{
    struct check *c = data;

    findings_add(c->findings, CODE_CFI_UNREADABLE, in_eh_frame(error->offset), "an entry: %s: %s",
                 error->field, sfb_status_str(error->status));
}

void check_against_cfi(struct check *c)
{
    const struct object_cfi_place place = object_find_cfi(c->object);
    struct comparer m = { .c = c };

    if (place.result == OBJECT_CFI_NONE && c->options->kernel)
        return; /* kernels have no .eh_frame */
    if (place.result != OBJECT_CFI_FOUND) {
        findings_add(c->findings,
                     place.result == OBJECT_CFI_MACHINE ? CODE_CFI_MACHINE : CODE_NO_EH_FRAME,
                     in_file(0), "%s: levels 1 to 3 only", place.reason);
        return;
    }
    c->result->eh_frame_at = place.offset;
    if (cfi_open(&m.cfi, c->object, &place, say_corrupt, c) && asker_open(&m.asker, c)) {
        c->result->comparison.done = true;
        c->result->comparison.sframe_size = c->size;
        c->result->comparison.eh_frame_size = m.cfi.size;
        only_sframe_say(&m.only, c, &m.asker, &m.cfi);
        compare_all(&m);
    } else {
        c->no_memory = true;
    }
    asker_close(&m.asker);
    cfi_close(&m.cfi);
}
