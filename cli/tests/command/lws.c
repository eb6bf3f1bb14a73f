/*
 * Notes of allocations in logs: `sfb decode --lws`, `sfb report --lws`. Strings of libwebsockets' documentation, of its
 * library, and of a pool that uses <sframe_backtrace_alloc.h>.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/lws/lws_note.h"
#include "sframe_backtrace_alloc.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(tool_lws, .init = folder_enter, .fini = folder_remove);

/* What a shell made of it. */
static void expect_output(int status, const char *line, const char *out, const char *err)
{
    struct run run = run_line("SFB='%s'; %s", SFB_TOOL, line);

    cr_expect(eq(int, run.status, status), "%s: status %d: %s", line, run.status, run.err);
    run_expect_text(line, run.out, out);
    run_expect_text(line, run.err, err);
    run_free(&run);
}

#define FOUR       "0x406651 0x406852 0x406c1b 0x406294\n"
#define DOCUMENTED "~m#IF0BmagugNDWgCnkhdAYpQa6wAAV" /* its documentation prints FOUR beside it */
#define USED       "IF0BmUQugNCkgCnkhdAYpQa6wAAV"
#define TODAY      "~m#IF0BmUUAUgFAFPJSRTvRrrAAABQ="
#define README     "~m#IXgMyjAqAYFeTUrvTesAABE="
#define WIDE       "~m#IL1XQwKgSNEAK4L39M+S1iSkkaiaB2QAABo="
#define OLD        /* from a decoder test of the library, in a layout that it has no more */       \
    "~m#ghawu9ICDldHWP9xuFCTFrDOOUzlHOLYIbqO1C3eYbrpcC3NoQo41CtHWBxkZcnU4BA1VCoANw=="

Test(tool_lws, decodes_both_dialects)
{
    static const struct {
        const char *log, *option, *out;
    } cases[] = {
        { DOCUMENTED, "", "~b#size: 7520, 0x40666a 0x40686b 0x406c34 0x406294\n" },
        { USED, "", "~b#size: 7520, " FOUR },
        { "~m#" USED, "=library", "~b#size: 7520, " FOUR },
        { TODAY, "", "~b#size: 7520, " FOUR },
        { README, "", "~b#size: 7520, " FOUR },
        { README, "=readme", "~b#size: 7520, " FOUR },
        { WIDE, "", "~b#size: 100, 0x55d0c0a81234 0x55d0c0a81250 0x7f4cf92d624a 0x55d0c0a80100\n" },
        { "~m#ABAABA==", "", "~b#size: 0,\n" },
        { "12:00 <6> a ~m#" USED " b " README " c", "",
          "~b#size: 7520, " FOUR "~b#size: 7520, " FOUR },
        { "some words\n\n  and~m more\nword\nAAAA\n" USED " \r\n", "", "~b#size: 7520, " FOUR },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[100];

        folder_write("log", cases[i].log);
        snprintf(line, sizeof line, "$SFB decode --lws%s log", cases[i].option);
        expect_output(0, line, cases[i].out, "");
    }
}

/* Each with its line; the others go on. */
Test(tool_lws, says_which_lines_are_wrong)
{
    folder_write("log", DOCUMENTED "\n"
                                   "~m#\n"
                                   "~m#IF0B\n" TODAY "\n"
                                   "a " OLD "\n"
                                   "~m#IF0BmUUAUgFAFPJSRTvRrrAAABU=\n"
                                   "~m#IF0BmUUAUgFAFPJSRTvRrrA\n" README "\n");
    expect_output(1, "$SFB decode --lws log",
                  "~b#size: 7520, 0x40666a 0x40686b 0x406c34 0x406294\n"
                  "~b#size: 7520, " FOUR "~b#size: 7520, " FOUR,
                  "sfb: log: line 2: nothing behind ~m#\n"
                  "sfb: log: line 3: the length at its end is not that of its bytes\n"
                  "sfb: log: line 5: a bit behind a field is not 0\n"
                  "sfb: log: line 6: the length at its end is not that of its bytes\n"
                  "sfb: log: line 7: base64 that is cut off\n");
    folder_write("log", README "\n" TODAY "\n");
    expect_output(1, "$SFB decode --lws=library log", "~b#size: 7520, " FOUR,
                  "sfb: log: line 1: a bit behind a field is not 0\n");
    expect_output(1, "$SFB decode --lws=readme log", "~b#size: 7520, " FOUR,
                  "sfb: log: line 2: bytes behind the size\n");
    expect_output(1, "echo a log | $SFB decode --lws", "",
                  "sfb: standard input: no line has a note: ~m# and base64\n");
    expect_output(
        2, "$SFB decode --lws=swift log", "",
        "sfb: decode: 'swift' is no dialect: library or readme; see 'sfb decode --help'\n");
    expect_output(2, "$SFB decode --lws --raw log", "",
                  "sfb: decode: --lws reads a log, not CBF; see 'sfb decode --help'\n");
}

/* Libwebsockets of 2022 to 2025 shifted an int: 0x55d0c0a81234 is not in what it wrote. */
Test(tool_lws, says_that_an_address_was_lost)
{
    folder_write("log", "~m#CLxI0wKgSNI7IAAM");
    expect_output(1, "$SFB decode --lws log", "",
                  "sfb: log: line 1: an address above 31 bits, which this libwebsockets could not "
                  "write\n");
}

/* No byte is trusted: notes with changed bits, and bytes that are none. */
Test(tool_lws, believes_no_bit_of_a_note)
{
    static const uint8_t good[] = { 0x20, 0x5d, 0x01, 0x99, 0xa8, 0x2e, 0x80,
                                    0xd0, 0xd6, 0x80, 0x29, 0xe4, 0x85, 0xd0,
                                    0x18, 0xa5, 0x06, 0xba, 0xc0, 0x00, 0x15 };
    size_t refused = 0;

    srandom(3);
    for (unsigned k = 0; k < 300000; k++) {
        const size_t size = k % 2 ? sizeof good : 3 + (size_t)random() % 40;
        uint8_t *bytes = malloc(size); /* a sanitizer guards it */
        struct lws_note note;

        if (k % 2)
            memcpy(bytes, good, size);
        for (size_t i = 0; i < (k % 2 ? 3 : size); i++)
            bytes[k % 2 ? (size_t)random() % size : i] = (uint8_t)random();
        bytes[size - 2] = 0;
        bytes[size - 1] = (uint8_t)size;
        if (lws_note_read(&note, bytes, size, (enum lws_dialect)(k % 3)))
            refused++;
        else
            cr_assert(le(u32, note.depth, LWS_DEPTH_MAX));
        free(bytes);
    }
    cr_expect(lt(sz, 1000, refused));
    cr_expect(lt(sz, refused, 299000), "%zu were refused", refused);
}

/* --- sfb report --lws --------------------------------------------------------------------------- */

#define PROGRAM SFB_SOURCE_DIR "/fixtures/elf/v1/amd64/prog_sig"

/* A program that was loaded at 0x400000: main is at 0x401070. Two notes of one stack, of 100 and 28 bytes, and one of
 * another, whose first address is nowhere. */
#define LOG "a ~m#CF0AQcQ7IAAJ\nb ~m#EG0AP//C6AIOIdAAAA4=\nc ~m#CF0AQcQrgAAJ\nd ~m#ABAABA==\n"

Test(tool_lws, sums_by_stack_with_the_names_of_a_program)
{
    folder_write("log", LOG);
    expect_output(0, "$SFB report --lws " PROGRAM " --base 0x400000 log",
                  "BYTES  BLOCKS  STACK\n"
                  "  128       2  main\n"
                  "   64       1  0x400ffff\n"
                  "               main\n"
                  "    0       1  no stack\n"
                  "  192       4  in all\n",
                  "");
    expect_output(1, "$SFB report --lws=" PROGRAM " <log",
                  "BYTES  BLOCKS  STACK\n"
                  "  128       2  0x401071\n"
                  "   64       1  0x400ffff\n"
                  "               0x401071\n"
                  "    0       1  no stack\n"
                  "  192       4  in all\n",
                  "sfb: " PROGRAM
                  ": none of the addresses is in it: was it loaded elsewhere? --base "
                  "ADDRESS\n");
    folder_write("maps", "400000-401000 r--p 00000000 08:01 1 " PROGRAM "\n"
                         "401000-402000 r-xp 00001000 08:01 1 " PROGRAM "\n");
    expect_output(0, "$SFB report --lws maps log | sed -n 2p", "  128       2  main\n", "");
}

/* Sums do not start again from 0, and a line that is wrong takes none of the others along. */
Test(tool_lws, reports_what_it_can_read)
{
    folder_write("log", "~m#\n~m#CF0AQcQ7IAAJ\n");
    expect_output(1, "$SFB report --lws " PROGRAM " --base 0x400000 log",
                  "BYTES  BLOCKS  STACK\n"
                  "  100       1  main\n"
                  "  100       1  in all\n",
                  "sfb: log: line 1: nothing behind ~m#\n");
    expect_output(1, "$SFB report --lws " PROGRAM " </dev/null", "",
                  "sfb: standard input: no line has a note: ~m# and base64\n");
    expect_output(2, "$SFB report --lws /dev/null log", "",
                  "sfb: /dev/null: a device, not a regular file\n");
    expect_output(2, "$SFB report --lws nothere log", "",
                  "sfb: nothere: No such file or directory\n");
    expect_output(2, "$SFB report --lws " PROGRAM " --base 3x log", "",
                  "sfb: report: '3x' is no address; see 'sfb report --help'\n");
    expect_output(2, "$SFB report --lws " PROGRAM " --base 0xffffffffffffff00 log", "",
                  "sfb: " PROGRAM ": no program fits there: --base\n");
    expect_output(2, "$SFB report --lws " PROGRAM " log log", "",
                  "sfb: report: more than one log given; see 'sfb report --help'\n");
}

/* What libwebsockets was made for: a program of 32 bits, which is linked where it runs. */
#define SMALL                                                                                      \
    "__attribute__((noinline)) int take(int x) { return 3 * x; }\n"                                \
    "void _start(void) { for (;;) take(2); }\n"

static uint64_t address_of(const char *symbol)
{
    struct run run = run_line("nm small | sed -n 's/^\\([0-9a-f]*\\) T %s$/0x\\1/p'", symbol);
    const uint64_t address = strtoull(run.out, NULL, 16);

    run_free(&run);
    return address;
}

Test(tool_lws, names_the_functions_of_a_small_system)
{
    uint8_t cbf[100];
    char line[SFRAME_BACKTRACE_ALLOC_LINE_SIZE];
    struct sfb_cbf_encoder encoder;
    struct sframe_backtrace_alloc_note note = { .cbf = cbf, .requested = 24 };
    struct run run;
    bool built;

    folder_write("small.c", SMALL);
    run = run_line(
        "%sgcc -m32 -g -O1 -ffreestanding -nostdlib -static -fno-pie -no-pie -o small small.c",
        SFB_TOOL_PREFIX);
    built = run.status == 0;
    run_free(&run);
    if (!built)
        cr_skip_test("the compiler makes no programs of 32 bits");
    sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 32);
    sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, address_of("take") + 1);
    sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, address_of("_start") + 1);
    note.cbf_size = sfb_cbf_encoder_end(&encoder, false);
    cr_assert(
        lt(sz, 3,
           sframe_backtrace_alloc_line(line, sizeof line, &note, SFRAME_BACKTRACE_ALLOC_README)));
    folder_write("log", line);
    expect_output(0, "$SFB report --lws small log",
                  "BYTES  BLOCKS  STACK\n"
                  "   24       1  take (small.c:1)\n"
                  "               _start (small.c:2)\n"
                  "   24       1  in all\n",
                  "");
}

static const char *const kinds[] = { SFB_POOL_KINDS };

/* The whole way: a pool that writes its log, with a block that was written past its end, and who has the others. */
Test(tool_lws, names_who_has_the_blocks_of_a_pool)
{
    for (size_t i = 0; i < 2 * (sizeof kinds / sizeof *kinds); i++) {
        struct run run =
            run_line("'%s' '%s/pool-program-%s' %s >log && '%s' report --lws maps log | "
                     "sed -n '/^ *[0-9B]/s/[ (]*(.*//p; / in all/p' && grep -c 'was written past "
                     "its end' log",
                     SFB_EMULATE, SFB_PROGRAMS, kinds[i / 2], i % 2 ? "readme" : "", SFB_TOOL);

        cr_expect(eq(int, run.status, 0), "%s: %s", kinds[i / 2], run.err);
        run_expect_text(
            kinds[i / 2], run.out,
            "  160       1  table_of\n   21       3  name_of\n  181       4  in all\n1\n");
        run_free(&run);
    }
}
