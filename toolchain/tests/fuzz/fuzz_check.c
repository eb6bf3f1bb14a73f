/*
 * Any bytes for `sfb check`: it must end, and its result must be consistent.
 *
 * Input: a byte that selects the kind of the rest, modulo 3, and the rest:
 *
 *     0  a bare section
 *     1  a byte that selects a file, and a section for that file, with good code, symbols and
 *        .eh_frame; with bit 7 the rest is the code instead
 *     2  a whole file
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "support/check_file.h"
#include "toolchain/check/finding_list.h"

enum { SECTION_MAX = 0x1000 };

static void judge_share(const struct check_share *s)
{
    FUZZ_CHECK(s->covered <= s->all && s->equal <= s->covered && s->beyond <= s->all);
}

static void check(uint8_t *data, size_t size, bool raw)
{
    struct finding_list found = { .list = NULL };
    const struct check_options options = { .raw = raw,
                                           .code = CHECK_CODE_ALL,
                                           .limit = 50,
                                           .take = finding_list_take,
                                           .take_data = &found };
    struct check_result r;
    uint64_t kept = 0, all = 0;

    check_image(&r, "input", data, size, &options);
    FUZZ_CHECK(found.count <= 50);
    for (size_t i = 0; i < check_code_count; i++) {
        all += r.findings.of_code[i];
        kept += r.findings.of_code[i] - findings_left_out(&r.findings, check_codes[i].code);
    }
    FUZZ_CHECK(kept == found.count);
    FUZZ_CHECK(all ==
               r.findings.by_severity[0] + r.findings.by_severity[1] + r.findings.by_severity[2]);
    for (size_t i = 0; i < found.count; i++) {
        const struct finding_place *p = &found.list[i].place;

        FUZZ_CHECK(found.list[i].text[0] != '\0');
        FUZZ_CHECK(p->fde < (int64_t)r.functions);
        if (raw && p->region == IN_SFRAME)
            FUZZ_CHECK(p->offset <= size);
    }
    judge_share(&r.comparison.functions);
    judge_share(&r.comparison.bytes);
    judge_share(&r.comparison.rows);
    finding_list_free(&found);
    check_result_free(&r);
}

/* Checks the bytes as the section of a good file; or as its code, which rows are compared with. */
static void check_in_file(uint8_t how, const uint8_t *section, size_t size)
{
    const struct file_plan plan = { .version = 1u + how / 8 % 3,
                                    .abi = (enum sfb_abi)(1 + how % 3),
                                    .relocatable = (how & 4) != 0,
                                    .without_symbols = (how & 64) != 0 };
    static struct file f;

    if (size > SECTION_MAX)
        return;
    file_make(&f, &plan);
    if (how & 128) {
        memcpy(f.at + FILE_TEXT_AT, section, size < FILE_TEXT_SIZE ? size : FILE_TEXT_SIZE);
        check(f.at, sizeof f.at, false);
        return;
    }
    memset(f.at + FILE_SFRAME_AT, 0, SECTION_MAX);
    memcpy(f.at + FILE_SFRAME_AT, section, size);
    file_resize(&f, size);
    check(f.at, sizeof f.at, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy;

    if (size < 2)
        return 0;
    if (data[0] % 3 == 1) {
        check_in_file(data[1], data + 2, size - 2);
        return 0;
    }
    /* libelf asks for writable memory; a block of exact size shows reads past its end. */
    copy = malloc(size - 1);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    check(copy, size - 1, data[0] % 3 == 0);
    free(copy);
    return 0;
}
