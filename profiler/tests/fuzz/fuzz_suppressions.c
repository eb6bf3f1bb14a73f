/*
 * Bytes from anywhere as a file of suppressions and as a list of folded functions, and each pattern of it asked of names: those that a reader of the
 * pattern expects, and the input itself.
 */
#include "fuzz/fuzz.h"

#include <string.h>

#include "profiler/report/model/fold.h"
#include "profiler/report/model/pattern.h"
#include "profiler/report/model/suppressions.h"

/* A pattern without signs of its own is found in itself, and behind other text. */
static void check_plain(const char *pattern)
{
    const size_t size = strlen(pattern);
    char *longer;

    if (size == 0 || strpbrk(pattern, "*$^"))
        return;
    longer = malloc(size + 2);
    FUZZ_CHECK(longer);
    longer[0] = 'x';
    memcpy(longer + 1, pattern, size + 1);
    FUZZ_CHECK(report_pattern_is_in(pattern, pattern));
    FUZZ_CHECK(report_pattern_is_in(pattern, longer));
    free(longer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct report_suppressions all;
    struct report_fold fold;
    size_t line, lines = 1;
    bool good;

    FUZZ_CHECK(text);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    good = report_suppressions_read(&all, text, &line);
    FUZZ_CHECK(good || (line > 0 && line <= lines));
    FUZZ_CHECK(all.all.count <= lines);
    for (size_t i = 0; i < all.all.count; i++) {
        const char *pattern = all.all.at[i].pattern;

        FUZZ_CHECK(all.all.at[i].line <= lines && !strchr(pattern, '\n'));
        check_plain(pattern);
        report_pattern_is_in(pattern, text);
        FUZZ_CHECK(!report_pattern_is_in(pattern, ""));
    }
    report_suppressions_free(&all);
    good = report_fold_read(&fold, text, &line);
    FUZZ_CHECK(good || (line > 0 && line <= lines));
    FUZZ_CHECK(fold.all.count <= lines);
    report_fold_free(&fold);
    free(text);
    return 0;
}
