/* Python functions and calls as an agent sends them, or a program that wrote over its rings. */
#include <string.h>

#include "profiler/collector/rings/codes.h"
#include "support/test.h"
#include "unwind/runtime/cpython.h"

static const uint8_t lines[] = { 0x80, 0x00, 0xd9, 0x00, 0x01 }; /* lines 10, 11, 11 */

static size_t made(uint8_t *out, uint64_t key, const char *name)
{
    const struct sfb_shared_code head = { .code = key,
                                          .first_line = 10,
                                          .name_size = (uint16_t)strlen(name),
                                          .file_size = 4,
                                          .lines_size = sizeof lines };

    memcpy(out, &head, sizeof head);
    memcpy(out + sizeof head, name, head.name_size);
    memcpy(out + sizeof head + head.name_size, "a.py", 4);
    memcpy(out + sizeof head + head.name_size + 4, lines, sizeof lines);
    return sizeof head + head.name_size + 4 + sizeof lines;
}

Test(codes, refuses_sizes_that_do_not_fit_the_record)
{
    uint8_t record[256];
    const size_t size = made(record, 7, "Shop.cart");
    struct sfb_recorder_code_text text;
    struct sfb_shared_code code;

    cr_assert_null(sfb_recorder_code_read(&code, &text, record, size));
    cr_expect_str_eq(text.name, "Shop.cart");
    cr_expect_str_eq(text.file, "a.py");
    for (size_t cut = 0; cut < size; cut++)
        cr_expect_not_null(sfb_recorder_code_read(&code, &text, record, cut), "%zu", cut);
    memset(record + offsetof(struct sfb_shared_code, name_size), 0xff, 2);
    cr_expect_not_null(sfb_recorder_code_read(&code, &text, record, sizeof record));
    made(record, 0, "no key");
    cr_expect_not_null(sfb_recorder_code_read(&code, &text, record, sizeof record));
}

Test(codes, give_calls_their_functions_and_lines)
{
    static const struct sfb_shared_call calls[] = {
        { 7, 2, 0 }, { 7, SFB_CPYTHON_BEFORE, 3 }, { 0, 0, 3 }, { 8, 0, 9 }
    };
    struct sfb_recording_code_frame out[4];
    struct sfb_recorder_codes codes = { .count = 0 };
    struct sfb_recorder_codes_kept kept = { 0, 0 };
    struct sfb_recorder_code_text text;
    struct sfb_shared_code code;
    uint8_t record[256];
    bool missing;

    cr_assert_null(sfb_recorder_code_read(&code, &text, record, made(record, 7, "f")));
    cr_assert(sfb_recorder_codes_add(&codes, &kept, &code, &text, 4711));
    cr_expect(sfb_recorder_codes_has(&codes, 7));
    cr_expect_null(sfb_recorder_codes_frames(out, &codes, (const uint8_t *)calls, 3, &missing));
    cr_expect(not(missing));
    cr_expect(all(eq(u32, out[0].code, 4711), eq(u32, out[0].line, 11), eq(u32, out[1].line, 10),
                  eq(u32, out[1].frame, 3), eq(u32, out[2].code, 0)));
    cr_expect_null(sfb_recorder_codes_frames(out, &codes, (const uint8_t *)calls, 4, &missing));
    cr_expect(missing, "8 was not sent");
    sfb_recorder_codes_free(&codes, &kept);
    cr_expect(all(eq(sz, kept.count, 0), eq(sz, kept.bytes, 0)));
}

Test(codes, refuses_calls_that_go_back)
{
    static const struct sfb_shared_call calls[] = { { 0, 0, 3 }, { 0, 0, 2 } };
    const struct sfb_recorder_codes codes = { .count = 0 };
    struct sfb_recording_code_frame out[2];
    bool missing;

    cr_expect_not_null(sfb_recorder_codes_frames(out, &codes, (const uint8_t *)calls, 2, &missing));
}
