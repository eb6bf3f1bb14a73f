#include "toolchain/check/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/check/policy.h"

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

void findings_free(struct findings *f)
{
    free(f->of_code);
    free(f->told_of_code);
    free(f->explained);
    *f = (struct findings){ .limit = 0 };
}

static bool is_wanted(const struct findings *f, size_t index)
{
    return f->ears.take &&
           (f->limit == 0 || (f->told < f->limit && f->told_of_code[index] < f->limit_of_code));
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
    const bool wanted = is_wanted(f, index);
    struct finding g = { .code = code, .place = place, .rules = rules };
    char *text = NULL;

    if (!policy_severity(&g.severity, f->ears.policy, index)) {
        f->ignored++;
        return;
    }
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
    if (wanted) {
        f->told++;
        f->told_of_code[index]++;
        f->ears.take(f->ears.data, &g);
    }
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
