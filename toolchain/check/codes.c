#include "toolchain/check/codes.h"

#include <assert.h>
#include <strings.h>

size_t check_code_index(enum check_code code)
{
    size_t low = 0, high = check_code_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (check_codes[middle].code <= code)
            low = middle;
        else
            high = middle;
    }
    assert(check_codes[low].code == code);
    return low;
}

const struct check_code_text *check_code_text(enum check_code code)
{
    return &check_codes[check_code_index(code)];
}

void check_code_name(char *out, enum check_code code)
{
    snprintf(out, CHECK_CODE_SIZE, "SF%04u", (unsigned)code % 10000u);
}

const char *check_severity_name(enum check_severity severity)
{
    switch (severity) {
    case CHECK_NOTE: return "note";
    case CHECK_WARNING: return "warning";
    case CHECK_ERROR: return "error";
    }
    return "error";
}

const struct check_code_text *check_code_find(const char *name)
{
    for (size_t i = 0; i < check_code_count; i++) {
        char own[CHECK_CODE_SIZE];

        check_code_name(own, check_codes[i].code);
        if (strcasecmp(own, name) == 0)
            return &check_codes[i];
    }
    return NULL;
}

const char *check_code_seen(enum check_code code)
{
    static const struct {
        unsigned code;
        const char *text;
    } seen[] = {
#include "toolchain/check/codes_seen.inc"
    };

    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        if (seen[i].code == (unsigned)code)
            return seen[i].text;
    return NULL;
}

void check_code_explain(FILE *to, const struct check_code_text *text)
{
    char name[CHECK_CODE_SIZE];

    check_code_name(name, text->code);
    fprintf(to, "### %s %s: %s\n\n%s\n\n- Why it matters: %s\n- Written by: %s\n- Reproducer: %s\n",
            name, check_severity_name(text->severity), text->title, text->what, text->why,
            text->writers, text->repeat);
    if (check_code_seen(text->code))
        fprintf(to, "- Seen in, by release of binutils: %s\n", check_code_seen(text->code));
}

void check_code_table(FILE *to)
{
    fputs("| code | severity | finding |\n|---|---|---|\n", to);
    for (size_t i = 0; i < check_code_count; i++) {
        const struct check_code_text *text = &check_codes[i];
        char name[CHECK_CODE_SIZE];

        check_code_name(name, text->code);
        fprintf(to, "| %s | %s | %s |\n", name, check_severity_name(text->severity), text->title);
    }
}
