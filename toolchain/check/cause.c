#include "toolchain/check/cause.h"

#include <inttypes.h>
#include <stdlib.h>

#include "toolchain/check/cfi.h"
#include "util/counted.h"

/*
 * A cause must explain 9 of 10 functions, while the section as it stands has less than half of them
 * right. Linkage tables do not count: linkers split them into other functions than .eh_frame does.
 * With fewer functions than these all may be chance.
 */
enum { FUNCTIONS_LEAST = 4, LINKAGE_MOST = 3 };

/* Entries that vote on a shift, and their votes. */
enum { VOTERS = 32, VOTES_MAX = 4096 };

/* Known starts of functions from another source than .sframe; ascending. */
struct truth {
    struct object_range *list;
    size_t count;
    const char *by;
};

/* ---- known starts ---- */

static bool truth_of_symbols(struct truth *out, const struct object *o)
{
    *out = (struct truth){ .by = "symbols" };
    out->list = calloc(o->label_count + 1, sizeof *out->list);
    for (size_t i = 0; out->list && i < o->label_count; i++)
        if (o->labels[i].end > o->labels[i].start)
            out->list[out->count++] = (struct object_range){ o->labels[i].start, o->labels[i].end };
    return out->list != NULL;
}

static bool truth_of_cfi(struct truth *out, const struct object *o)
{
    const struct object_cfi_place place = object_find_cfi(o);
    struct cfi cfi;

    *out = (struct truth){ .by = "those of .eh_frame" };
    if (place.result != OBJECT_CFI_FOUND || !cfi_open(&cfi, o, &place, NULL, NULL))
        return false;
    out->list = calloc(cfi.count + 1, sizeof *out->list);
    for (size_t i = 0; out->list && i < cfi.count; i++)
        out->list[out->count++] =
            (struct object_range){ cfi.functions[i].start, cfi.functions[i].end };
    cfi_close(&cfi);
    return out->list != NULL;
}

static const struct object_range *at_start(const struct truth *t, uint64_t start)
{
    size_t low = 0, high = t->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (t->list[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->count && t->list[low].start == start ? &t->list[low] : NULL;
}

/* ---- readings ---- */

/* Reads the section in that way, without findings. Needs closing. */
static bool attempt(struct check *out, struct findings *silent, const struct check *c,
                    const struct check_reading *reading)
{
    *out = *c;
    out->findings = silent;
    out->reading = *reading;
    return check_read(out);
}

/* How many functions have a known start and size. */
static struct check_share fit(const struct check *c, const struct truth *t)
{
    struct check_share n = { .all = 0 };

    for (size_t i = 0; i < c->part_count; i++)
        for (uint32_t k = 0; k < c->parts[i].fde_count; k++) {
            const struct sframe_entry *e = &c->parts[i].entries[k];
            const struct object_range *r = at_start(t, e->start);

            n.all++;
            n.equal += r && r->end - r->start == e->size;
        }
    return n;
}

static bool fits(const struct check_share *n)
{
    const uint64_t others = n->all / 10 > LINKAGE_MOST ? n->all / 10 : LINKAGE_MOST;

    return n->equal >= FUNCTIONS_LEAST && n->equal + others >= n->all;
}

static int ascending(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/*
 * Votes for the shifts at which an entry and the next one have the sizes and the distance of two
 * known functions.
 */
static size_t vote(int64_t *votes, size_t count, const struct truth *t,
                   const struct sframe_entry *e, const struct sframe_entry *behind)
{
    for (size_t i = 0; i + 1 < t->count && count < VOTES_MAX; i++) {
        const struct object_range *r = &t->list[i];

        if (r->end - r->start == e->size && r[1].start - r->start == behind->start - e->start &&
            r[1].end - r[1].start == behind->size)
            votes[count++] = (int64_t)(r->start - e->start);
    }
    return count;
}

/* The majority's shift. @return false: no majority, or a shift of 0 */
static bool find_shift(int64_t *out, const struct check *c, const struct truth *t)
{
    static int64_t votes[VOTES_MAX];
    size_t count, n = 0, most = 0;
    struct check_function *all = check_functions_sorted(c, &count);

    for (size_t i = 0; all && count > 1 && i < VOTERS; i++) {
        const size_t k = i * (count - 1) / VOTERS;

        n = vote(votes, n, t, all[k].entry, all[k + 1].entry);
    }
    free(all);
    qsort(votes, n, sizeof *votes, ascending);
    for (size_t i = 0, run = 0; i < n; i++) {
        run = i > 0 && votes[i] == votes[i - 1] ? run + 1 : 1;
        if (run > most) {
            most = run;
            *out = votes[i];
        }
    }
    return most > 1 && *out != 0;
}

/* ---- the search ---- */

struct search {
    const struct check *c;
    struct truth truth;
    struct findings silent;
    struct cause *out;
};

/* @return whether the section is sound in that reading: then it is the cause */
static bool try_reading(struct search *s, enum check_code code, struct check_reading reading)
{
    struct check sub;
    bool good = attempt(&sub, &s->silent, s->c, &reading);

    if (good) {
        s->out->now = fit(&sub, &s->truth);
        good = fits(&s->out->now);
    }
    check_unread(&sub);
    s->out->code = code;
    s->out->reading = reading;
    return good;
}

static bool try_all(struct search *s, const struct check *as_it_stands)
{
    int64_t shift = 0;

    if (as_it_stands->part_count > 0) {
        if (try_reading(s, CODE_CAUSE_STARTS, (struct check_reading){ .other_starts = true }))
            return true;
        if (find_shift(&shift, as_it_stands, &s->truth) &&
            try_reading(s, CODE_CAUSE_SHIFT, (struct check_reading){ .shift = shift }))
            return true;
    }
    for (uint8_t version = 1; version <= 3; version++)
        if (s->c->size > AT_HEADER_VERSION && version != s->c->data[AT_HEADER_VERSION] &&
            (try_reading(s, CODE_CAUSE_VERSION, (struct check_reading){ .version = version }) ||
             try_reading(s, CODE_CAUSE_VERSION,
                         (struct check_reading){ .version = version, .other_starts = true })))
            return true;
    return false;
}

/*
 * Tries the readings against one source of starts. @return whether it decides: out->code is the
 * cause, or 0
 */
static bool judge(struct search *s, const struct check *as_it_stands)
{
    s->out->before = fit(as_it_stands, &s->truth);
    s->out->by = s->truth.by;
    s->out->code = 0;
    if (s->out->before.equal * 2 >= s->out->before.all && s->out->before.all > 0)
        return true;
    if (s->truth.count >= FUNCTIONS_LEAST && try_all(s, as_it_stands))
        return true;
    s->out->code = 0;
    return false;
}

bool cause_find(struct cause *out, const struct check *c)
{
    struct search s = { .c = c, .out = out };
    struct check as_it_stands;
    bool settled = false;

    if (!c->object || c->object->code_count == 0 ||
        !findings_init(&s.silent, 0, &(struct findings_ears){ .take = NULL }))
        return false;
    if (attempt(&as_it_stands, &s.silent, c, &(struct check_reading){ .version = 0 })) {
        if (truth_of_symbols(&s.truth, c->object))
            settled = judge(&s, &as_it_stands);
        if (!settled && !c->options->no_cfi) {
            free(s.truth.list);
            if (truth_of_cfi(&s.truth, c->object))
                settled = judge(&s, &as_it_stands);
        }
        free(s.truth.list);
    }
    check_unread(&as_it_stands);
    findings_free(&s.silent);
    return settled && out->code != 0;
}

void cause_say(struct check *c, const struct cause *cause, uint64_t explained)
{
    const struct check_reading *r = &cause->reading;
    struct finding_place at = in_sframe(AT_HEADER_FLAGS);
    char how[64] = "counted the other way";

    if (cause->code == CODE_CAUSE_SHIFT) {
        snprintf(how, sizeof how, "with %+" PRId64 " bytes on each start", r->shift);
        at = in_sframe(SFRAME_HEADER_SIZE);
    } else if (cause->code == CODE_CAUSE_VERSION) {
        snprintf(how, sizeof how, "read as version %u%s", r->version,
                 r->other_starts ? ", its starts counted the other way" : "");
        at = in_sframe(AT_HEADER_VERSION);
    }
    findings_add(c->findings, cause->code, at,
                 "%s, %" PRIu64 " of %s are where %s are; as it stands, %" PRIu64 " of %" PRIu64
                 "; findings that follow from it: %" PRIu64,
                 how, cause->now.equal, counted(cause->now.all, "functions").text, cause->by,
                 cause->before.equal, cause->before.all, explained);
}
