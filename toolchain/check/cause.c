#include "toolchain/check/cause.h"

#include <inttypes.h>
#include <stdlib.h>

#include "symbols/eh_frame.h"
#include "toolchain/check/cause_hunt.h"
#include "util/counted.h"

/* Entries that vote on a shift, and their votes. */
enum { VOTERS = 32, VOTES_MAX = 4096 };

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
        s->out->now = truth_fit(&sub, &s->truth);
        good = truth_fits(&s->out->now);
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
    s->out->before = truth_fit(as_it_stands, &s->truth);
    s->out->by = s->truth.by;
    s->out->code = 0;
    if (s->out->before.equal * 2 >= s->out->before.all && s->out->before.all > 0)
        return true;
    if (s->truth.count >= TRUTH_LEAST && try_all(s, as_it_stands))
        return true;
    s->out->code = 0;
    return false;
}

/* Where the segment that has the section in the file puts it, less where the section header does. */
static int64_t moved(const struct check *c)
{
    uint64_t at;

    if (c->object->relocatable || !object_address_of(c->object, c->result->section_at, &at))
        return 0;
    return (int64_t)(at - c->address);
}

/* The words and the tool of the readings above. */
static void describe(struct cause *out, const struct check *c)
{
    const struct check_reading *r = &out->reading;

    if (out->code == CODE_CAUSE_SHIFT && r->shift != 0 && r->shift == moved(c)) {
        out->code = CODE_CAUSE_ADDRESS;
        out->tool = "objcopy --change-section-address, or a tool that moves sections, makes this";
        snprintf(out->how, sizeof out->how,
                 "its segment puts the section at 0x%" PRIx64 ", its header at 0x%" PRIx64
                 ": with the segment's address",
                 c->address + (uint64_t)r->shift, c->address);
    } else if (out->code == CODE_CAUSE_SHIFT) {
        out->tool = "a tool moves code or the section after the link, or counts from another place";
        snprintf(out->how, sizeof out->how, "with %+" PRId64 " bytes on each start", r->shift);
    } else if (out->code == CODE_CAUSE_VERSION) {
        out->tool = "a tool rewrites the header and not the tables";
        snprintf(out->how, sizeof out->how, "read as version %u%s", r->version,
                 r->other_starts ? ", its starts counted the other way" : "");
    } else {
        out->tool = "an assembler or linker of another release than the header is from";
        snprintf(out->how, sizeof out->how, "counted the other way");
    }
}

/* Whether the code must be asked, and may be: .eh_frame is not there, and few symbols are. */
static bool asks_code(const struct check *c, const struct check *as_it_stands, size_t symbols)
{
    const bool may = c->options->code == CHECK_CODE_ALL ||
                     (c->options->code == CHECK_CODE_WHERE_NEEDED && !c->options->no_cfi);
    uint64_t functions = 0;

    for (size_t i = 0; i < as_it_stands->part_count; i++)
        functions += as_it_stands->parts[i].fde_count;
    return may && !c->object->relocatable &&
           (c->options->no_cfi || object_find_cfi(c->object).result != OBJECT_CFI_FOUND) &&
           (functions == 0 || symbols * 10 < functions * 9);
}

static void keep_better(struct truth *out, struct truth *other, bool better)
{
    if (better) {
        free(out->list);
        *out = *other;
    } else {
        free(other->list);
    }
}

/* The source that knows more functions. @return false: no memory */
static bool open_truth(struct truth *out, const struct check *c, const struct check *as_it_stands)
{
    struct truth other = { .list = NULL };

    if (!truth_of_symbols(out, c->object))
        return false;
    if (!c->options->no_cfi)
        keep_better(out, &other, truth_of_cfi(&other, c->object) && other.count > out->count);
    other = (struct truth){ .list = NULL };
    if (asks_code(c, as_it_stands, out->count))
        keep_better(out, &other, truth_of_code(&other, c->object));
    return true;
}

static void hunt_or_describe(struct search *s, const struct check *as_it_stands)
{
    if (s->out->code != 0) {
        describe(s->out, s->c);
        return;
    }
    free(s->truth.list);
    s->truth.list = NULL;
    s->out->code = 0;
    if (open_truth(&s->truth, s->c, as_it_stands))
        cause_hunt(s->out, s->c, as_it_stands, &s->truth);
}

bool cause_find(struct cause *out, const struct check *c)
{
    struct search s = { .c = c, .out = out };
    struct check as_it_stands;
    bool settled = false;
    size_t symbols = 0;

    out->code = 0;
    if (!c->object || c->object->code_count == 0 ||
        !findings_init(&s.silent, 0, &(struct findings_ears){ .take = NULL }))
        return false;
    if (attempt(&as_it_stands, &s.silent, c, &(struct check_reading){ .version = 0 })) {
        if (truth_of_symbols(&s.truth, c->object)) {
            symbols = s.truth.count;
            settled = judge(&s, &as_it_stands);
        }
        if (!settled && !c->options->no_cfi) {
            free(s.truth.list);
            s.truth.list = NULL;
            settled = truth_of_cfi(&s.truth, c->object) && judge(&s, &as_it_stands);
        }
        if (!settled && asks_code(c, &as_it_stands, symbols)) {
            free(s.truth.list);
            s.truth.list = NULL;
            if (truth_of_code(&s.truth, c->object))
                judge(&s, &as_it_stands);
        }
        hunt_or_describe(&s, &as_it_stands);
        free(s.truth.list);
    }
    check_unread(&as_it_stands);
    findings_free(&s.silent);
    return out->code != 0;
}

void cause_say(struct check *c, const struct cause *cause, uint64_t explained)
{
    struct finding_place at = in_sframe(SFRAME_HEADER_SIZE);

    if (cause->code == CODE_CAUSE_STARTS)
        at = in_sframe(AT_HEADER_FLAGS);
    else if (cause->code == CODE_CAUSE_VERSION)
        at = in_sframe(AT_HEADER_VERSION);
    else if (cause->code == CODE_CAUSE_HEADER)
        at = in_sframe(cause->reading.fix.at);
    if (cause->reading.fix.kind == FIX_NONE)
        findings_add(c->findings, cause->code, at,
                     "%s, %" PRIu64 " of %s are where %s are; as it stands, %" PRIu64 " of %" PRIu64
                     "; findings that follow from it: %" PRIu64 " (%s)",
                     cause->how, cause->now.equal, counted(cause->now.all, "functions").text,
                     cause->by, cause->before.equal, cause->before.all, explained, cause->tool);
    else
        findings_add(c->findings, cause->code, at, "%s, %s fewer (%s)", cause->how,
                     counted(explained, "findings are").text, cause->tool);
}
