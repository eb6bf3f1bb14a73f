#include "findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one code, as long as the number of all is limited. */
enum { OF_ONE_CODE = 8 };

bool findings_init(struct findings *f, size_t limit, findings_taker *take, void *data)
{
    *f = (struct findings){ .limit = limit, .take = take, .take_data = data };
    if (limit > 0)
        f->limit_of_code = limit < OF_ONE_CODE ? limit : OF_ONE_CODE;
    f->of_code = calloc(check_code_count, sizeof *f->of_code);
    f->told_of_code = calloc(check_code_count, sizeof *f->told_of_code);
    return f->of_code && f->told_of_code;
}

void findings_free(struct findings *f)
{
    free(f->of_code);
    free(f->told_of_code);
    *f = (struct findings){ .take = NULL };
}

static bool is_wanted(const struct findings *f, size_t index)
{
    return f->take &&
           (f->limit == 0 || (f->told < f->limit && f->told_of_code[index] < f->limit_of_code));
}

static void add(struct findings *f, enum check_code code, struct finding_place place,
                struct finding_rules rules, const char *format, va_list arguments)
{
    const size_t index = check_code_index(code);
    char *text;

    f->of_code[index]++;
    f->by_severity[check_codes[index].severity]++;
    if (!is_wanted(f, index))
        return;
    if (vasprintf(&text, format, arguments) < 0) {
        f->no_memory = true;
        return;
    }
    f->told++;
    f->told_of_code[index]++;
    f->take(f->take_data, &(struct finding){ .code = code,
                                             .severity = check_codes[index].severity,
                                             .place = place,
                                             .rules = rules,
                                             .text = text });
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

bool findings_bad(const struct findings *f)
{
    return f->by_severity[CHECK_ERROR] > 0 || f->by_severity[CHECK_WARNING] > 0;
}
