#include "profiler/tests/report/merge_made.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profiler/tests/report/made.h"
#include "sfb/cbf.h"
#include "sfb/image_map.h"
#include "sfb/status.h"
#include "support/test.h"

struct run merge_run(int status, const char *line)
{
    struct run run = run_line("SFB='%s'; %s", SFB_TOOL, line);

    cr_assert(eq(int, run.status, status), "%s: status %d:\n%s%s", line, run.status, run.out,
              run.err);
    return run;
}

void merge_expect(const char *line, const char *want)
{
    struct run run = merge_run(0, line);

    run_expect_text(line, run.out, want);
    run_free(&run);
}

/* --- Inputs ------------------------------------------------------------------------------------ */

static const struct sfb_recording_code codes[CODES] = {
    [MAIN] = { .first_line = 1, .name = "main", .file = "shop.py" },
    [CART] = { .first_line = 2, .name = "Shop.cart", .file = "shop.py" },
    [PRICE] = { .first_line = 5, .name = "price", .file = "shop.py" },
    [PRICE_ELSEWHERE] = { .first_line = 5, .name = "price", .file = "other.py" }
};

uint64_t merge_base;        /* of the module */
static uint32_t first_code; /* the function with id 1 */
static uint32_t id_of[CODES];

static void put_module(void)
{
    static uint8_t map[256];
    struct sfb_image_map_encoder encoder;
    const struct sfb_image image = { .base = merge_base,
                                     .end_of_text = merge_base + 0x3000,
                                     .path = "/not/here.so",
                                     .path_size = 12 };

    cr_assert(eq(int, sfb_image_map_encoder_init(&encoder, map, sizeof map, 64, "Linux", NULL, 0),
                 SFB_OK));
    cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &image), SFB_OK));
    made_modules(made_start.monotonic, map, sfb_image_map_encoder_end(&encoder));
}

/* Ids are in another order in each recording. */
static void put_codes(void)
{
    for (uint32_t i = 0; i < CODES; i++) {
        const uint32_t number = (first_code + i) % CODES;
        struct sfb_recording_code code = codes[number];

        code.id = id_of[number] = i + 1;
        code.process = 1;
        cr_assert(eq(int, sfb_recording_put_code(made_writer, &code), SFB_OK));
    }
}

/* Four frames of C, of which the last two await the others. */
static size_t encode(uint8_t *cbf, size_t room, bool awaited)
{
    const enum sfb_frame_kind outer = awaited ? SFB_FRAME_ASYNC : SFB_FRAME_RA;
    struct sfb_cbf_encoder encoder;

    cr_assert(eq(int, sfb_cbf_encoder_init(&encoder, cbf, room, 64), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, merge_base + 0x100), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, merge_base + 0x200), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, outer, merge_base + 0x200), SFB_OK));
    /* The first byte of the module: what awaits has the address of its code, and no call before it. */
    cr_assert(
        eq(int, sfb_cbf_encoder_put(&encoder, outer, merge_base + (awaited ? 0 : 0x300)), SFB_OK));
    return sfb_cbf_encoder_end(&encoder, false);
}

uint32_t merge_stack(bool awaited, const struct sfb_recording_code_frame *calls, size_t count)
{
    uint8_t cbf[128];
    const size_t size = encode(cbf, sizeof cbf, awaited);
    struct sfb_recording_code_frame own[8];
    uint32_t id;

    for (size_t i = 0; i < count; i++) {
        own[i] = calls[i];
        own[i].code = calls[i].code == CODES ? 0 : id_of[calls[i].code];
    }
    if (count == 0)
        cr_assert(eq(int, sfb_recording_put_stack(made_writer, &id, 1, cbf, size), SFB_OK));
    else
        cr_assert(eq(int,
                     sfb_recording_put_stack_with_code(made_writer, &id, 1, cbf, size, own, count),
                     SFB_OK));
    return id;
}

void merge_begin(uint64_t module, uint32_t code)
{
    merge_base = module;
    first_code = code;
    made_begin();
    made_thread(2, 1, "worker");
    put_module();
    put_codes();
}

void merge_end(const char *name)
{
    made_end("the program ended");
    cr_assert(eq(int, rename(made_path, name), 0));
}

/* Stacks of one CBF with other calls, and without; one that is awaited, with a call behind the mark. */
void merge_put_samples(uint64_t weight)
{
    const uint32_t stacks[] = {
        MERGE_STACK(false, { 1, CART, 3 }, { 1, MAIN, 1 }, { 2, PRICE, 6 }),
        MERGE_STACK(false, { 1, CART, 4 }, { 1, MAIN, 1 }, { 2, PRICE, 6 }),
        MERGE_STACK(false, { 1, CART, 3 }, { 1, MAIN, 1 }, { 2, PRICE_ELSEWHERE, 6 }),
        MERGE_STACK(false, { 0, CODES, 0 }, { 2, PRICE, 6 }),
        merge_stack(false, NULL, 0),
        MERGE_STACK(true, { 1, CART, 3 }, { 2, MAIN, 1 }, { 3, PRICE, 6 }),
    };

    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++)
        made_sample(1 + i % 2, stacks[i], made_start.monotonic + (i + 1) * 10 * MS,
                    weight << (2 * i), SFB_END);
}

void merge_put_wait(uint32_t thread, uint32_t stack, uint64_t at, uint64_t weight, uint32_t state,
                    const char *call)
{
    made_wait((struct sfb_recording_wait){ .thread = thread,
                                           .stack = stack,
                                           .time = at,
                                           .weight = weight,
                                           .state = state,
                                           .call = call });
}

void merge_put_waits(uint64_t weight)
{
    const uint32_t cart = MERGE_STACK(false, { 1, CART, 3 }, { 1, MAIN, 1 });
    const uint32_t price = MERGE_STACK(true, { 1, PRICE, 6 }, { 2, MAIN, 1 });

    merge_put_wait(1, cart, 900 * MS, weight, SFB_STATE_ASLEEP, "futex");
    merge_put_wait(1, price, 910 * MS, 2 * weight, SFB_STATE_ASLEEP, "epoll_wait");
    merge_put_wait(1, price, 920 * MS, 4 * weight, SFB_STATE_DISK, "read");
    merge_put_wait(2, cart, 930 * MS, 8 * weight, SFB_STATE_RUNNABLE, "");
    merge_put_wait(2, cart, 940 * MS, 16 * weight, SFB_STATE_FAULT, "");
    merge_put_wait(2, 0, 950 * MS, 32 * weight, SFB_STATE_UNKNOWN, "");
}

/* Recordings of one program, whose module and functions have other numbers each time. */
void merge_record(bool waits)
{
    static const struct {
        const char *name;
        uint64_t module;
        uint32_t code;
    } all[] = { { "a", 0x10000000, 0 }, { "b", 0x7f0000001000, 2 } };
    FILE *source = fopen("shop.py", "w");

    cr_assert(source != NULL);
    fputs("def main():\n  def cart():\n    return price(\n      1)\ndef price(n):\n  return n\n",
          source);
    fclose(source);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        merge_begin(all[i].module, all[i].code);
        merge_put_samples(1000 + i);
        if (waits)
            merge_put_waits(MS + i);
        merge_end(all[i].name);
    }
}

/* Both views have something, and the same. */
void merge_expect_same(const char *options)
{
    char line[1024];

    snprintf(line, sizeof line,
             "$SFB report --no-pager %s a b >want && test -s want && "
             "$SFB report --no-pager %s m | diff want -",
             options, options);
    merge_expect(line, "");
}

void merge_expect_all_same(const char *const *options)
{
    for (; *options; options++)
        merge_expect_same(*options);
}
