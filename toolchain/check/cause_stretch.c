/*
 * Faults of a stretch of functions: a rule that makes the rows of .sframe, of each of them alike, of those
 * of .eh_frame.
 *
 * No trial is needed: the rule says each row of a function, so that few functions are enough, and each
 * function is read once.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "toolchain/check/cause_code.h"
#include "toolchain/check/cause_pairs.h"

/* With fewer votes none of them is by chance. */
enum { VOTES_FOR_OUTLIER = 4 };

enum { RIGHT = 62, UNKNOWN = 63 }; /* behind the bits of the rules */

/* Of one function. */
struct verdict {
    uint64_t rules; /* a bit for each rule that makes its rows, or its entry */
    uint64_t key;   /* of its rows, and of the rows that it should have */
    uint32_t wrong; /* rows */
};

static bool is_right_or_unknown(const struct verdict *v)
{
    return (v->rules & (UINT64_C(1) << RIGHT | UINT64_C(1) << UNKNOWN)) != 0;
}

/* What is read once, and judged twice. */
struct stretch_rules {
    struct cfi cfi;
    struct pair_index index;
    struct code_rows *code; /* NULL: .eh_frame is right */
    struct row_pair *p;
    struct verdict *all;
};

/* own: functions with rows of their own; rows: that are wrong in these; wrong: functions in between. */
struct stretch {
    uint32_t first, last, votes, own, rows, wrong;
};

const struct cfi_function *pair_function_from(const struct cfi *cfi, uint64_t start)
{
    size_t low = 0, high = cfi->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (cfi->functions[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < cfi->count ? &cfi->functions[low] : NULL;
}

const struct cfi_function *pair_function(const struct cfi *cfi, uint64_t start)
{
    const struct cfi_function *f = pair_function_from(cfi, start);

    return f && f->start == start ? f : NULL;
}

/* A bit for each rule that makes the entry. */
static uint64_t entry_rules_of(struct row_pair *p, struct cfi *cfi)
{
    uint64_t rules = 0;

    for (size_t i = 0; i < entry_rule_count; i++)
        if (!p->want_by || entry_rules[i].by_code)
            rules |= (uint64_t)entry_rules[i].makes(p, cfi) << (pair_rule_count + i);
    return rules;
}

/* Reads the rows again, and what should be there beside them. @return false: none */
static bool read_again(struct row_pair *p)
{
    if (p->as_it_is)
        return true;
    if (!pair_read(p, p->function.part, p->function.entry)) {
        p->count = 0;
        return false;
    }
    return !p->adapt || p->adapt(p);
}

/* Whether the rows are right as far as the entry goes: code that SFrame cannot describe is left out. */
static bool agrees_so_far(struct row_pair *p, struct cfi *cfi, const struct cfi_function *f)
{
    const struct sframe_entry *e = p->function.entry;

    return e->size > 0 && e->size < f->end - f->start &&
           pair_want_range(p, cfi, f, e->start, e->start + e->size) && pair_agrees(p) &&
           !pair_repeats(p);
}

/* For one function: a bit for each rule that makes its rows, or its entry. */
static uint64_t rules_of(struct row_pair *p, struct cfi *cfi)
{
    const struct sframe_entry *e = p->function.entry;
    const struct cfi_function *f = pair_function(cfi, e->start);
    const bool readable = pair_read(p, p->function.part, e);
    uint64_t rules = 0;
    bool agrees;

    if (!readable)
        p->count = 0;
    if (!f)
        return readable ? entry_rules_of(p, cfi) : 0;
    if (readable && !p->want_by && agrees_so_far(p, cfi, f))
        return UINT64_C(1) << RIGHT;
    if (!pair_want(p, cfi, f)) {
        rules = p->want_by && readable ? entry_rules_of(p, cfi) : 0;
        return rules != 0 ? rules : UINT64_C(1) << UNKNOWN;
    }
    if (readable && pair_agrees(p) && !pair_repeats(p) && e->size <= f->end - f->start)
        return UINT64_C(1) << RIGHT;
    agrees = readable && pair_agrees(p) && !pair_repeats(p);
    for (size_t i = 0; i < pair_rule_count && !agrees; i++) {
        read_again(p);
        rules |= (uint64_t)pair_rules[i].makes(p) << i;
    }
    if (readable && read_again(p))
        rules |= entry_rules_of(p, cfi);
    return rules != 0 || !agrees ? rules : UINT64_C(1) << RIGHT;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static int by_key(const void *a, const void *b)
{
    const struct verdict *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->wrong < y->wrong ? -1 : x->wrong > y->wrong;
}

/* The rows, and the ones that should be there. */
static uint64_t key_of(struct row_pair *p, struct cfi *cfi)
{
    const struct cfi_function *f = pair_function(cfi, p->function.entry->start);
    uint64_t key = p->function.entry->row_at;

    if (!f || !pair_want(p, cfi, f))
        p->wanted = 0;
    for (uint32_t i = 0; i < p->wanted; i++)
        key = key * 1000003 + p->want[i].start * 31 + (uint32_t)p->want[i].rule.cfa_offset;
    return key;
}

/* The rows of .eh_frame are read by now. */
static uint32_t wrong_of(struct row_pair *p)
{
    if (!pair_read(p, p->function.part, p->function.entry))
        p->count = 0;
    return pair_wrong(p);
}

/* Functions that share their rows, and should, are wrong together: they have one vote. */
static void count_own(struct stretch *s, const struct hunt *h, const struct verdict *all,
                      size_t rule)
{
    struct verdict *voters = calloc(s->votes + 1, sizeof *voters);
    uint32_t n = 0;

    for (uint32_t i = s->first; voters && i < hunt_functions(h) && n < s->votes; i++)
        if (all[i].rules >> rule & 1)
            voters[n++] = all[i];
    if (voters)
        qsort(voters, n, sizeof *voters, by_key);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || voters[i].key != voters[i - 1].key) {
            s->own++;
            s->rows += voters[i].wrong;
        }
    free(voters);
}

/* A function far in front of all others is wrong by chance. */
static void without_outlier(struct stretch *s, const struct hunt *h, const struct verdict *all,
                            size_t rule)
{
    uint32_t second = s->first + 1;

    while (second < hunt_functions(h) && (all[second].rules >> rule & 1) == 0)
        second++;
    if (s->votes < VOTES_FOR_OUTLIER || second - s->first <= s->last - second)
        return;
    s->first = second;
    s->votes--;
}

static struct stretch stretch_of(const struct hunt *h, const struct verdict *all, size_t rule)
{
    struct stretch s = { .first = 0 };

    for (uint32_t i = 0; i < hunt_functions(h); i++)
        if (all[i].rules >> rule & 1) {
            s.first = s.votes++ == 0 ? i : s.first;
            s.last = i;
        }
    without_outlier(&s, h, all, rule);
    for (uint32_t i = s.first; s.votes > 0 && i <= s.last; i++)
        s.wrong += !is_right_or_unknown(&all[i]);
    count_own(&s, h, all, rule);
    return s;
}

/* Folds the functions with that rule. */
static void take(struct hunt *h, const struct verdict *all, size_t rule, const struct stretch *s)
{
    const bool of_rows = rule < pair_rule_count;
    const char *what = of_rows ? pair_rules[rule].what : entry_rules[rule - pair_rule_count].what;
    const uint32_t count = hunt_functions(h);
    struct sframe_fix fix = { .kind = FIX_FUNCTIONS, .from = s->first, .to = s->last + 1 };

    fix.set = calloc(count / 8 + 1, 1);
    if (!fix.set)
        return;
    for (uint32_t i = s->first; i <= s->last; i++)
        if (all[i].rules >> rule & 1)
            fix.set[i / 8] |= (uint8_t)(1 << i % 8);
    hunt_try_functions(
        h, of_rows ? pair_rules[rule].name : entry_rules[rule - pair_rule_count].name, fix,
        s->own < PAIR_FUNCTIONS, "functions %" PRIu32 " to %" PRIu32 " %s: without these %" PRIu32,
        s->first, s->last, what, s->votes);
    if (h->out->code == 0)
        free(fix.set);
}

static struct pair_demand demand_of(size_t rule)
{
    return rule < pair_rule_count ? pair_rules[rule].least
                                  : entry_rules[rule - pair_rule_count].least;
}

static bool is_enough(const struct hunt *h, const struct stretch *s, struct pair_demand least)
{
    const bool rows_count = !least.whole || hunt_count(h, CODE_UNOWNED) == 0;
    const uint32_t functions = least.functions != 0 ? least.functions : (uint32_t)PAIR_FUNCTIONS;
    /* By the code there are several rows that fit: what few of them have may be chance. */
    const uint32_t rows = least.rows * (h->by_code ? 4U : 1U);

    return s->votes > 0 && s->votes * 4 >= s->wrong * 3 &&
           (s->own >= functions || (rows != 0 && rows_count && s->rows >= rows));
}

/* Whether the functions of a rule agree on what only all of them can show. */
static bool agree(const struct hunt *h, const struct verdict *all, size_t rule,
                  const struct stretch *s, struct row_pair *p, struct cfi *cfi)
{
    const struct entry_rule *r = &entry_rules[rule - pair_rule_count];
    const uint32_t count = hunt_functions(h);
    uint32_t *members = calloc((size_t)count + 1, sizeof *members);
    uint64_t *right = calloc((size_t)count + 1, sizeof *right);
    struct pair_group g = { .p = p, .cfi = cfi, .members = members, .right = right };
    bool good = false;

    for (uint32_t i = 0; members && right && i < count; i++) {
        if (is_right_or_unknown(&all[i]))
            right[g.right_count++] = hunt_function(h, i).entry->start;
        else if (i >= s->first && i <= s->last && (all[i].rules >> rule & 1) != 0)
            members[g.count++] = i;
        else
            g.wrong++;
    }
    if (members && right) {
        qsort(right, g.right_count, sizeof *right, ascending);
        good = r->agree(&g);
    }
    free(members);
    free(right);
    return good;
}

/*
 * The rules say less and less: the first one with almost as many functions as any. A rule that explains no
 * finding is passed over: some functions differ where no level finds a fault.
 */
static void judge(struct hunt *h, const struct verdict *verdicts, bool last, struct row_pair *p,
                  struct cfi *cfi)
{
    const size_t all = pair_rule_count + entry_rule_count - (last ? 0 : ENTRY_RULES_LAST);
    struct stretch found[UNKNOWN];

    for (size_t i = 0; i < all; i++) {
        found[i] = stretch_of(h, verdicts, i);
        if (!is_enough(h, &found[i], demand_of(i)) ||
            (i >= pair_rule_count && entry_rules[i - pair_rule_count].agree &&
             !agree(h, verdicts, i, &found[i], p, cfi)))
            found[i].votes = 0;
    }
    for (size_t turn = 0; turn < all && h->out->code == 0; turn++) {
        uint32_t most = 0;
        size_t i = 0;

        for (size_t k = 0; k < all; k++)
            most = found[k].votes > most ? found[k].votes : most;
        if (most == 0)
            return;
        while (found[i].votes * 10 < most * 7)
            i++;
        take(h, verdicts, i, &found[i]);
        found[i].votes = 0;
    }
}

/* Rows that are shared and not equal are right for one of the functions. */
static void keep_shared(const struct hunt *h, struct verdict *all)
{
    const uint32_t count = hunt_functions(h);
    uint64_t *right = calloc((size_t)count + 1, sizeof *right);
    uint32_t n = 0;
    size_t rule = 0;

    while (rule < pair_rule_count && pair_rules[rule].makes != pair_shared)
        rule++;
    for (uint32_t i = 0; right && i < count; i++)
        if (all[i].rules >> RIGHT & 1)
            right[n++] = hunt_function(h, i).entry->row_at;
    if (right)
        qsort(right, n, sizeof *right, ascending);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t at = hunt_function(h, i).entry->row_at;

        if (!right || !bsearch(&at, right, n, sizeof *right, ascending))
            all[i].rules &= ~(UINT64_C(1) << rule);
    }
    free(right);
}

static void find_rules(const struct hunt *h, struct verdict *all, struct row_pair *p,
                       struct cfi *cfi)
{
    const bool unowned = hunt_count(h, CODE_UNOWNED) > 0;

    for (uint32_t i = 0; i < hunt_functions(h); i++) {
        p->function = hunt_function(h, i);
        p->unowned = unowned;
        p->hunt = h;
        p->wanted = 0;
        all[i].rules = rules_of(p, cfi);
        if (!is_right_or_unknown(&all[i])) {
            all[i].key = key_of(p, cfi);
            all[i].wrong = wrong_of(p);
        }
    }
}

/* What is right: .eh_frame, or the code. @return false: neither, or no memory */
static bool open_right(struct stretch_rules *r, const struct hunt *h)
{
    const struct object_cfi_place place = object_find_cfi(h->c->object);

    r->p = calloc(1, sizeof *r->p);
    if (!r->p)
        return false;
    if (!h->c->options->no_cfi && place.result == OBJECT_CFI_FOUND)
        return cfi_open(&r->cfi, h->c->object, &place, NULL, NULL);
    r->code = code_rows_open(h->as_it_stands);
    if (!r->code)
        return false;
    code_rows_attach(r->code, r->p);
    return code_rows_functions(&r->cfi, h);
}

/* Reads all functions. @return false: no memory, or nothing to compare with */
static bool open_rules(struct stretch_rules *r, const struct hunt *h)
{
    if (!open_right(r, h))
        return false;
    r->all = calloc((size_t)hunt_functions(h) + 1, sizeof *r->all);
    if (!r->all || !pair_index_make(&r->index, h, &r->cfi, r->p))
        return false;
    r->p->index = &r->index;
    find_rules(h, r->all, r->p, &r->cfi);
    if (r->code)
        keep_shared(h, r->all);
    return true;
}

void hunt_stretch(struct hunt *h, bool last)
{
    if (!h->rules) {
        h->rules = calloc(1, sizeof *h->rules);
        h->has_rules = h->rules && open_rules(h->rules, h);
    }
    h->by_code = h->has_rules && h->rules->code;
    if (h->has_rules)
        judge(h, h->rules->all, last, h->rules->p, &h->rules->cfi);
}

void hunt_stretch_close(struct hunt *h)
{
    struct stretch_rules *r = h->rules;

    if (!r)
        return;
    h->out->looks += r->index.looks;
    pair_index_free(&r->index);
    cfi_close(&r->cfi);
    code_rows_close(r->code);
    free(r->all);
    free(r->p);
    free(r);
}
