/* Names of a model: of functions without one, of many that share one, and of texts. */
#include "profiler/report/model/locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/model/unpack.h"
#include "sfb/cbf.h"
#include "support/test.h"

enum { PROCESSES = 3, NAMESAKES = 300 };

static const uint64_t base[PROCESSES] = { 0x10000, 0x7f5000000000, 0x3000 };
static uint32_t process_used;
static bool named, identified;

static bool use(void *user, const struct report_data *data, uint32_t process, uint32_t list)
{
    (void)user, (void)data, (void)list;
    process_used = process;
    return true;
}

/* A library that each process has elsewhere. */
static void place(void *user, uint64_t lookup, struct report_place *out)
{
    static const char *const paths[PROCESSES] = { "/lib/it.so", "/usr/lib/it.so", "/lib/it.so" };
    static const uint8_t id[2] = { 1, 2 };

    (void)user, (void)lookup;
    *out = (struct report_place){ .kind = REPORT_NATIVE,
                                  .path = identified ? paths[process_used] : "/lib/it.so",
                                  .build_id = id,
                                  .build_id_size = identified ? sizeof id : 0,
                                  .start = base[process_used],
                                  .end = base[process_used] + 0x100000 };
}

/* A function each 16 bytes: without a name, or all of one name and each of a file of its own. */
static void find(void *user, uint64_t lookup, void (*visit)(void *, const struct report_named *),
                 void *visit_user)
{
    char file[32];
    const uint64_t start = lookup & ~UINT64_C(15);
    const struct report_named one = { .name = named ? "same" : NULL,
                                      .system_name = named ? "same" : NULL,
                                      .file = named ? file : NULL,
                                      .start = start };

    (void)user;
    snprintf(file, sizeof file, "%u.c", (unsigned)((start - base[process_used]) / 16));
    visit(visit_user, &one);
}

static const struct report_source source = { .namer = {
                                                 .use = use, .place = place, .find = find } };
static struct report_model model;
static struct report_locator locator;

static void begin(bool with_names)
{
    model = (struct report_model){ .sources = &source, .source_count = 1 };
    named = with_names;
    report_locator_begin(&locator, &model, false);
}

static void end(void)
{
    report_locator_end(&locator);
    report_model_free(&model);
}

/* @return the function at an offset of the library in a process */
static uint32_t function_at(uint32_t process, uint64_t offset)
{
    uint32_t location;

    cr_assert(report_locate(&locator, 0, process, 0, base[process] + offset, &location));
    return model.lines.at[model.locations.at[location].at].function;
}

Test(report_locate, counts_offsets_from_each_process_own_base)
{
    begin(false);
    for (uint32_t process = 0; process < PROCESSES; process++) {
        char want[32];

        snprintf(want, sizeof want, "[0x%x]", 0x120 + 0x100 * process);
        cr_expect_str_eq(report_name(&model, function_at(process, 0x128 + 0x100 * process)), want);
        cr_expect_str_eq(report_name(&model, function_at(process, 0x48)), "[0x40]");
    }
    cr_expect_eq(model.functions.count, PROCESSES + 1);
    end();
}

/* The kernel and the loader have two paths of a library where /lib is a link. */
Test(report_locate, knows_a_module_by_its_build_id)
{
    identified = true;
    begin(true);
    for (uint32_t process = 0; process < PROCESSES; process++)
        cr_expect_eq(function_at(process, 0x120), 0);
    cr_expect_eq(model.functions.count, 1);
    cr_expect_eq(model.modules.count, 1);
    end();
}

Test(report_locate, tells_many_functions_of_one_name_apart)
{
    begin(true);
    for (uint32_t process = 0; process < PROCESSES; process++)
        for (uint32_t i = 0; i < NAMESAKES; i++)
            cr_expect_eq(function_at(process, 16 * i + process), i);
    cr_expect_eq(model.functions.count, NAMESAKES);
    end();
}

/* Only the text decides, whatever a hash says. */
Test(report_strings, are_one_only_if_their_text_is)
{
    enum { COUNT = 40000 };
    struct report_strings strings = { .all = { .count = 0 } };
    char text[32];
    uint32_t number;

    for (unsigned turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < COUNT; i++) {
            snprintf(text, sizeof text, "%x", i * 2654435761u);
            cr_assert(report_strings_add(&strings, text, &number));
            cr_expect_eq(number, i);
            cr_expect_str_eq(strings.all.at[number], text);
        }
    cr_assert(report_strings_add(&strings, NULL, &number));
    cr_expect_eq(number, COUNT);
    cr_assert(report_strings_add(&strings, "", &number));
    cr_expect_eq(number, COUNT);
    report_strings_free(&strings);
}

/* --- Stacks --------------------------------------------------------------------------------------- */

/* A stack of few functions, so that many share outer frames. @return its size */
static size_t random_cbf(unsigned *seed, uint8_t *out, size_t room)
{
    static const enum sfb_frame_kind kinds[] = { SFB_FRAME_RA, SFB_FRAME_RA,    SFB_FRAME_RA,
                                                 SFB_FRAME_PC, SFB_FRAME_ASYNC, SFB_FRAME_OMIT };
    const unsigned count = (unsigned)rand_r(seed) % 12;
    struct sfb_cbf_encoder encoder;

    cr_assert(eq(int, sfb_cbf_encoder_init(&encoder, out, room, 64), SFB_OK));
    for (unsigned i = 0; i < count; i++) {
        const enum sfb_frame_kind kind = kinds[(unsigned)rand_r(seed) % 6];
        const uint64_t where = (unsigned)rand_r(seed) % 3;

        sfb_cbf_encoder_put(&encoder, kind,
                            kind == SFB_FRAME_OMIT ? where + 1
                            : where == 2           ? 0
                                                   : base[0] + 0x101 * where);
    }
    return sfb_cbf_encoder_end(&encoder, (unsigned)rand_r(seed) % 4 == 0);
}

/* What a stack takes from the one before it is what it would have found itself. */
Test(report_locate, takes_outer_frames_from_the_stack_before)
{
    struct report_unpacker series = { .now = { .count = 0 } };
    unsigned seed = 1;
    size_t shared = 0;

    begin(false);
    for (unsigned round = 0; round < 20000; round++) {
        struct report_unpacker alone = { .now = { .count = 0 } };
        uint8_t bytes[256];
        const struct report_cbf cbf = { .process = (unsigned)rand_r(&seed) % 8 == 0,
                                        .bytes = bytes,
                                        .size = random_cbf(&seed, bytes, sizeof bytes) };
        const struct report_unpacked *got, *want;
        bool truncated, want_truncated;

        cr_assert(report_unpack(&series, &locator, 0, &cbf, 0, &got, &truncated));
        cr_assert(report_unpack(&alone, &locator, 0, &cbf, 0, &want, &want_truncated));
        cr_assert(eq(sz, got->frame_count, want->frame_count), "round %u", round);
        cr_assert(eq(int, truncated, want_truncated));
        for (size_t i = 0; i < want->frame_count; i++)
            cr_assert(eq(u32, got->locations[i], want->locations[i]), "round %u, %zu", round, i);
        shared += got->count > 0 && series.before.count > 0;
        report_unpacker_free(&alone);
    }
    cr_expect(lt(sz, 1000, shared));
    report_unpacker_free(&series);
    end();
}
