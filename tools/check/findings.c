#include "findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one code, as long as the number of all is limited. */
enum { OF_ONE_CODE = 8 };

bool findings_init(struct findings *f, size_t limit)
{
    *f = (struct findings){ .limit = limit };
    if (limit > 0)
        f->limit_of_code = limit < OF_ONE_CODE ? limit : OF_ONE_CODE;
    f->of_code = calloc(check_code_count, sizeof *f->of_code);
    return f->of_code != NULL;
}

void findings_free(struct findings *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->list[i].text);
    free(f->list);
    free(f->of_code);
    *f = (struct findings){ .list = NULL };
}

static bool has_room(struct findings *f, uint64_t of_this_code)
{
    size_t capacity = f->capacity ? f->capacity * 2 : 16;
    struct finding *list;

    if (f->limit > 0 && (f->count >= f->limit || of_this_code > f->limit_of_code))
        return false;
    if (f->count < f->capacity)
        return true;
    list = reallocarray(f->list, capacity, sizeof *list);
    if (!list) {
        f->no_memory = true;
        return false;
    }
    f->list = list;
    f->capacity = capacity;
    return true;
}

void findings_add(struct findings *f, enum check_code code, struct finding_place place,
                  const char *format, ...)
{
    const size_t index = check_code_index(code);
    va_list arguments;
    char *text = NULL;
    int length;

    f->of_code[index]++;
    f->by_severity[check_codes[index].severity]++;
    if (!has_room(f, f->of_code[index]))
        return;
    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        f->no_memory = true;
        return;
    }
    f->list[f->count++] = (struct finding){ code, place, text };
}

uint64_t findings_left_out(const struct findings *f, enum check_code code)
{
    uint64_t kept = 0;

    for (size_t i = 0; i < f->count; i++)
        kept += f->list[i].code == code;
    return f->of_code[check_code_index(code)] - kept;
}

bool findings_bad(const struct findings *f)
{
    return f->by_severity[CHECK_ERROR] > 0 || f->by_severity[CHECK_WARNING] > 0;
}
