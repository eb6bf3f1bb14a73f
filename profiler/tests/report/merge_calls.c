/*
 * sfb merge: what stacks have beside frames of C. Calls of an interpreter's functions and what awaits stand in the merged
 * recording as in its inputs, and records of later versions are counted.
 */
#include <stdio.h>
#include <string.h>

#include "profiler/format/block.h"
#include "profiler/format/crc32c.h"
#include "profiler/tests/report/made.h"
#include "profiler/tests/report/merge_made.h"
#include "sfb/cbf.h"
#include "sfb/status.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(report_merge_calls, .init = folder_enter, .fini = folder_remove);

Test(report_merge_calls, functions_of_python_stay)
{
    static const char *const views[] = { "--top=0",
                                         "--unit ns --tree",
                                         "--unit ns --by line",
                                         "--unit ns --callers=price",
                                         "--unit ns --list=Shop.cart",
                                         "--unit ns --list=main",
                                         "--unit ns --top=0 --native",
                                         "--unit ns --top=0 --python",
                                         "--folded-ns=-",
                                         NULL };
    struct run run;

    merge_record(false);
    run = merge_run(0, "$SFB merge -o m a b");
    run_expect_text("complaints", run.err, "");
    run_free(&run);
    merge_expect_all_same(views);
    /* Each stack once; with other calls it is another. */
    merge_expect("$SFB report --check m | grep -oE '[0-9]+ samples, [0-9]+ stacks'",
                 "12 samples, 6 stacks\n");
    merge_expect("$SFB report --folded-ns=- m",
                 "main;[0x2ff];[0x1ff];[0x1ff];[0x100] 512256\n"
                 "main;[0x2ff];price;main;Shop.cart;[0x100] 34017\n"
                 "worker;[0x2ff];price;[0x1ff];[omitted] 128064\n"
                 "worker;[0x2ff];price;main;Shop.cart;[0x100] 8004\n"
                 "worker;price;main;[await];Shop.cart;[0x100] 2049024\n");
    /* A recording that was merged can be merged again. */
    merge_expect("$SFB merge -o n m && mv n m", "");
    merge_expect_all_same(views);
}

/* A signal's trampoline at the first byte of a module: it was not called. */
static void record_trampoline(const char *name, uint64_t module)
{
    uint8_t cbf[64];
    struct sfb_cbf_encoder encoder;
    uint32_t id;

    merge_begin(module, 0);
    cr_assert(eq(int, sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 64), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, merge_base + 0x100), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, merge_base), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, merge_base + 0x200), SFB_OK));
    cr_assert(
        eq(int,
           sfb_recording_put_stack(made_writer, &id, 1, cbf, sfb_cbf_encoder_end(&encoder, false)),
           SFB_OK));
    made_sample(1, id, made_start.monotonic + 10 * MS, MS, SFB_END);
    merge_end(name);
}

Test(report_merge_calls, signals_trampolines_stay)
{
    record_trampoline("a", 0x10000000);
    record_trampoline("b", 0x7f0000001000);
    merge_expect("$SFB merge -o m a b && $SFB report --folded-ns=- m",
                 "main;[0x200];[0x0];[0x100] 2000000\n");
    merge_expect_same("--unit ns --top=0");
}

/* --- A later version ----------------------------------------------------------------------------- */

static void seal(uint8_t *block, const struct sfb_block *header)
{
    struct sfb_block sealed = *header;

    sealed.crc = sfb_crc32c(0, block + RECORDING_BLOCK_HEADER_SIZE, header->stored);
    sfb_block_write(block, &sealed);
}

/* The first record of the block of events becomes one that is not known; or the block itself. */
static void make_later(const char *from, const char *to, bool whole)
{
    FILE *file = fopen(from, "rb");
    static uint8_t bytes[1 << 16];
    struct sfb_block block;
    size_t size, at = RECORDING_HEADER_SIZE;

    cr_assert(file != NULL);
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (;; at += RECORDING_BLOCK_HEADER_SIZE + block.stored) {
        cr_assert(at + RECORDING_BLOCK_HEADER_SIZE < size && sfb_block_read(&block, bytes + at));
        if (block.type == RECORDING_EVENTS)
            break;
    }
    if (whole)
        block.type = 21;
    else
        bytes[at + RECORDING_BLOCK_HEADER_SIZE + 1] = 60;
    seal(bytes + at, &block);
    file = fopen(to, "wb");
    cr_assert(file != NULL);
    cr_assert(eq(sz, fwrite(bytes, 1, size, file), size));
    fclose(file);
}

/* A process of its own stands first: nothing else names it. */
static void record_later(void)
{
    made_begin_as(&made_start);
    made_process(1);
    made_process(2);
    made_thread(2, 2, "main");
    made_sample(2, 0, made_start.monotonic + 10 * MS, MS, SFB_END);
    merge_end("c");
    make_later("c", "later", false);
    make_later("c", "type", true);
}

Test(report_merge_calls, what_a_later_version_wrote_is_counted)
{
    struct run run;

    merge_record(false);
    record_later();
    run = merge_run(1, "$SFB merge -o m a later type");
    cr_expect(strstr(run.err, "later: of a later version of sfb, left out: 1 record\n") != NULL,
              "%s", run.err);
    cr_expect(strstr(run.err, "type: of a later version of sfb, left out: 1 block\n") != NULL, "%s",
              run.err);
    run_free(&run);
    merge_expect("$SFB report --check m | grep -oE '[0-9]+ samples|lost: .*'",
                 "7 samples\n"
                 "lost: 1 record of a later version, left out by sfb merge\n"
                 "lost: 1 record of a later version, left out by sfb merge: at least, in whole "
                 "blocks\n");
}
