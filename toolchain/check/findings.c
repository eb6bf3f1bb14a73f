#include "toolchain/check/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/check/policy.h"
#include "util/grow.h"

/* Of one code, unless the number of all is unlimited. */
enum { OF_ONE_CODE = 8 };

bool findings_init(struct findings *f, size_t limit, const struct findings_ears *ears)
{
    *f = (struct findings){ .limit = limit, .ears = *ears };
    if (limit > 0)
        f->limit_of_code = limit < OF_ONE_CODE ? limit : OF_ONE_CODE;
    f->of_code = calloc(check_code_count, sizeof *f->of_code);
    f->told_of_code = calloc(check_code_count, sizeof *f->told_of_code);
    f->explained = calloc(check_code_count, sizeof *f->explained);
    return f->of_code && f->told_of_code && f->explained;
}

static void drop_held(struct findings *f)
{
    for (size_t i = 0; i < f->held_count; i++)
        free(f->held[i].texts);
    f->held_count = 0;
    f->overflow = false;
}

void findings_free(struct findings *f)
{
    drop_held(f);
    free(f->held);
    free(f->of_code);
    free(f->told_of_code);
    free(f->explained);
    *f = (struct findings){ .limit = 0 };
}

/* Notes stand behind all errors, and the limit of all counts for them when they are passed on. */
static bool is_wanted(const struct findings *f, size_t index, bool is_note)
{
    return f->ears.take && (f->limit == 0 || ((is_note || f->told < f->limit) &&
                                              f->told_of_code[index] < f->limit_of_code));
}

bool findings_want_text(const struct findings *f, enum check_code code)
{
    const struct check_policy *policy = f->ears.policy;

    return is_wanted(f, check_code_index(code), true) || f->ears.judge_wants_text ||
           (f->ears.judge && policy && policy->baseline.count > 0);
}

static char *put(char **at, const char *text)
{
    char *copy = *at;

    if (!text)
        return NULL;
    *at = stpcpy(*at, text) + 1;
    return copy;
}

static size_t room_of(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static void hold(struct findings *f, const struct finding *g)
{
    char *texts =
        malloc(room_of(g->text) + room_of(g->rules.sframe) + room_of(g->rules.eh_frame) + 1);
    struct held_finding *h;
    char *at = texts;

    if (!texts || !array_make_room(&f->held, f->held_count, &f->held_capacity, sizeof *f->held)) {
        free(texts);
        f->no_memory = true;
        return;
    }
    h = &f->held[f->held_count++];
    *h = (struct held_finding){ .finding = *g, .texts = texts };
    h->finding.text = put(&at, g->text);
    h->finding.rules.sframe = put(&at, g->rules.sframe);
    h->finding.rules.eh_frame = put(&at, g->rules.eh_frame);
}

/* Passes it on, or keeps it. */
static void tell(struct findings *f, const struct finding *g, size_t index)
{
    const bool is_note = g->severity == CHECK_NOTE;

    f->told_of_code[index]++;
    f->told += !is_note;
    if (f->holds && !is_note && f->held_count >= HELD_MAX)
        f->overflow = true;
    else if (f->holds || is_note)
        hold(f, g);
    else
        f->ears.take(f->ears.data, g);
}

/* What explains others stands in front of them: SF07xx and a second table, then lost functions. */
static int rank_of(const struct finding *f)
{
    if (f->code / 100 == CODE_CAUSE_STARTS / 100 || f->code == CODE_CONCATENATED)
        return 0;
    return f->code == CODE_LOST ? 1 : 2;
}

void findings_release(struct findings *f)
{
    f->holds = false;
    for (int rank = 0; rank <= 2; rank++)
        for (size_t i = 0; i < f->held_count; i++)
            if (f->held[i].finding.severity != CHECK_NOTE && rank_of(&f->held[i].finding) == rank)
                f->ears.take(f->ears.data, &f->held[i].finding);
    for (size_t i = 0; i < f->held_count; i++) {
        const struct finding *g = &f->held[i].finding;

        if (g->severity != CHECK_NOTE)
            continue;
        if (f->limit == 0 || f->told++ < f->limit)
            f->ears.take(f->ears.data, g);
        else
            f->told_of_code[check_code_index(g->code)]--;
    }
    drop_held(f);
}

void findings_restart(struct findings *f)
{
    drop_held(f);
    f->told = f->ignored = f->passed = f->known = 0;
    memset(f->of_code, 0, check_code_count * sizeof *f->of_code);
    memset(f->told_of_code, 0, check_code_count * sizeof *f->told_of_code);
    memset(f->explained, 0, check_code_count * sizeof *f->explained);
    memset(f->by_severity, 0, sizeof f->by_severity);
    memset(f->known_for, 0, sizeof f->known_for);
}

static void note_known(struct findings *f, const char *release)
{
    f->known++;
    for (size_t i = 0; i < KNOWN_MAX; i++) {
        if (!f->known_for[i])
            f->known_for[i] = release;
        if (strcmp(f->known_for[i], release) == 0)
            return;
    }
}

static void count(struct findings *f, const struct finding *g, size_t index)
{
    f->of_code[index]++;
    f->by_severity[g->severity]++;
    if (g->known)
        note_known(f, g->known);
}

__attribute__((format(printf, 5, 0))) static void add(struct findings *f, enum check_code code,
                                                      struct finding_place place,
                                                      struct finding_rules rules,
                                                      const char *format, va_list arguments)
{
    const size_t index = check_code_index(code);
    bool wanted;
    struct finding g = { .code = code, .place = place, .rules = rules };
    char *text = NULL;

    if (!policy_severity(&g.severity, f->ears.policy, index)) {
        f->ignored++;
        return;
    }
    if (f->folded && place.fde >= 0 && g.severity != CHECK_NOTE &&
        (f->folded[place.fde / 8] >> place.fde % 8 & 1) != 0)
        return;
    wanted = is_wanted(f, index, g.severity == CHECK_NOTE);
    if ((wanted || f->ears.judge_wants_text) && vasprintf(&text, format, arguments) < 0) {
        f->no_memory = true;
        return;
    }
    g.text = text;
    if (f->ears.judge && !f->ears.judge(f->ears.data, &g)) {
        f->passed++;
        free(text);
        return;
    }
    count(f, &g, index);
    if (wanted)
        tell(f, &g, index);
    free(text);
}

void findings_add(struct findings *f, enum check_code code, struct finding_place place,
                  const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add(f, code, place, (struct finding_rules){ NULL, NULL }, format, arguments);
    va_end(arguments);
}

void findings_add_rules(struct findings *f, enum check_code code, struct finding_place place,
                        struct finding_rules rules, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add(f, code, place, rules, format, arguments);
    va_end(arguments);
}

uint64_t findings_left_out(const struct findings *f, enum check_code code)
{
    const size_t index = check_code_index(code);

    return f->of_code[index] - f->told_of_code[index];
}

enum findings_verdict findings_verdict(const struct findings *f)
{
    const uint64_t bad = f->by_severity[CHECK_ERROR] + f->by_severity[CHECK_WARNING];

    if (bad == 0)
        return VERDICT_GOOD;
    return bad == f->known ? VERDICT_KNOWN : VERDICT_BAD;
}

bool findings_bad(const struct findings *f)
{
    const bool allow = f->ears.policy && f->ears.policy->allow_known;
    const enum findings_verdict verdict = findings_verdict(f);

    return verdict == VERDICT_BAD || (verdict == VERDICT_KNOWN && !allow);
}
