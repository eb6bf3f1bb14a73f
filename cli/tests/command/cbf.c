/* sfb decode and sfb encode: texts, offsets, streams, and that one undoes the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/test.h"

static const struct {
    const char *name;
    const char *arguments;
    const char *hex;
    int status;
    const char *out;
    const char *err;
} decodings[] = {
    { "every kind", "", "02 1a401234 2001 31 0200 46 81 01", 0,
      "pc 0x401234\nra 0x401235\nasync 0x401435\nomit 7\nomit 7\nomit 7\ntruncated\n", "" },
    { "repeats", "", "02 1810 82 00", 0, "pc 0x10\npc 0x10\npc 0x10\npc 0x10\n", "" },
    { "white space and case", "", " 02\t1\n", 1, "", "text+0x4: " },
    { "digit", "", "02 1x", 1, "", "text+0x4: not a hexadecimal digit" },
    { "no frames", "", "0200", 0, "", "" },
    { "no terminator", "", "02 1810", 0, "pc 0x10\n", "" },
    { "back to back", "", "02 1810 00 02 00 01 1810 01", 0, "pc 0x10\n\n\npc 0x10\ntruncated\n",
      "" },
    { "fault in the second", "", "02 1810 00 02 1811 0f 00", 1, "pc 0x10\n\npc 0x11\n",
      "standard input: +0x7: opcode: " },
    { "version", "", "0600", 1, "", "+0x0: info byte: " },
    { "operand cut off", "", "02 1810 1f0102", 1, "pc 0x10\n", "+0x6: pc operand: " },
    { "rep first", "", "0280", 1, "", "+0x1: opcode: " },
    { "relative first", "", "02 1010 00", 1, "", "+0x1: opcode: " },
    { "as Swift writes it", "--swift", "02 1010 2001 00", 0, "pc 0x10\nra 0x11\n", "" },
    { "raw", "--raw", "01 1810 81 2001 40 01", 0,
      "bits 32                     # +0x0, 1 byte\n"
      "pc 0x10                     # +0x1, 2 bytes, absolute\n"
      "rep 2                       # +0x3, 1 byte\n"
      "ra 0x11                     # +0x4, 2 bytes, relative\n"
      "omit 1                      # +0x6, 1 byte\n"
      "trunc                       # +0x7, 1 byte\n",
      "" },
    { "raw without terminator", "--raw", "02 1810", 0,
      "pc 0x10                     # +0x1, 2 bytes, absolute\n", "" },
};

Test(tool_cbf, decodes_each_case)
{
    for (size_t i = 0; i < sizeof decodings / sizeof *decodings; i++) {
        const char *name = decodings[i].name, *hex = decodings[i].hex;
        struct run run = run_with_input(hex, strlen(hex), "'%s' decode --hex %s -", SFB_TOOL,
                                        decodings[i].arguments);

        cr_expect(run.status == decodings[i].status, "%s: exit status %d", name, run.status);
        run_expect_text(name, run.out, decodings[i].out);
        cr_expect(strstr(run.err, decodings[i].err) != NULL, "%s: %s", name, run.err);
        cr_expect(run_count_lines(run.err) == (run.status ? 1 : 0), "%s: %s", name, run.err);
        run_free(&run);
    }
}

static const struct {
    const char *name;
    const char *arguments;
    const char *text;
    int status;
    const char *out;
    const char *err;
} encodings[] = {
    { "every kind", "", "pc 0x401234\nra 4198965\nasync 0x401435\nomit 7\ntruncated\n", 0,
      "021a401234200131020046"
      "01\n",
      "" },
    { "repeats merge", "", "ra 5\nra 5\nrep 2\nra 5\nend\n", 0, "0228058300\n", "" },
    { "blanks, comments, CR", "", "# head\r\n  pc  0x10\t# why\r\nrep 1\r\n", 0, "0218108000\n",
      "" },
    { "nothing", "", "", 0, "0200\n", "" },
    { "empty lines", "", "pc 1\n\n\ntrunc\n", 0, "02180100\n0200\n0201\n", "" },
    { "last line open", "", "pc 1", 0, "02180100\n", "" },
    { "words of 32 bits", "--bits 32", "pc 0xfffffff0\n", 0, "0118f000\n", "" },
    { "word size in the text", "", "bits 16\npc 0x10\n\npc 0x10\n", 0, "00181000\n02181000\n", "" },
    { "too wide", "--bits 32", "pc 1\n\npc 2\npc 0x100000000\n", 1, "01180100\n01180201\n",
      "standard input: line 4: " },
    { "unknown word", "", "pc 1\nfoo 3\npc 2\n", 1, "02180101\n", "line 2: unknown word" },
    { "no number", "", "pc\n", 1, "0201\n", "line 1: a number is missing" },
    { "no hexadecimal", "", "pc 40a\n", 1, "0201\n", "line 1: not a number" },
    { "65 bits", "", "pc 0x10000000000000000\n", 1, "0201\n", "line 1: a number wider" },
    { "two numbers", "", "pc 1 2\n", 1, "0201\n", "line 1: something follows" },
    { "rep first", "", "rep 2\n", 1, "0201\n", "line 1: rep with no frame" },
    { "rep 0", "", "pc 1\nrep 0\n", 1, "02180101\n", "line 2: rep 0" },
    { "omit 0", "", "omit 0\n", 1, "0201\n", "line 1: omit 0" },
    { "rep beyond its limit", "", "pc 1\nrep 1048577\n", 1, "02180101\n",
      "line 2: more than 2^20" },
    { "behind the end", "", "end\npc 1\n", 1, "0201\n", "line 2: a line behind the end" },
    { "late bits", "", "pc 1\nbits 32\n", 1, "02180101\n", "line 2: bits behind" },
};

Test(tool_cbf, encodes_each_case)
{
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        const char *name = encodings[i].name, *text = encodings[i].text;
        struct run run = run_with_input(text, strlen(text), "'%s' encode --hex %s", SFB_TOOL,
                                        encodings[i].arguments);

        cr_expect(run.status == encodings[i].status, "%s: exit status %d", name, run.status);
        run_expect_text(name, run.out, encodings[i].out);
        cr_expect(strstr(run.err, encodings[i].err) != NULL, "%s: %s", name, run.err);
        cr_expect(run_count_lines(run.err) == (run.status ? 1 : 0), "%s: %s", name, run.err);
        run_free(&run);
    }
}

/* Backtraces that the first buffer of 64 KiB does not hold, so that it has to grow. */
Test(tool_cbf, gives_back_what_it_was_given)
{
    struct run lines = run_line("awk 'BEGIN { srand(1); for (i = 0; i < 50000; i++) {"
                                " printf \"ra 0x%%x%%07x\\n\", 1 + rand() * 2000, rand() * 2^28;"
                                " if (i %% 100 == 0) print \"omit \" i + 1;"
                                " if (i %% 20000 == 19999) print \"truncated\\n\" } }'");
    struct run cbf = run_with_input(lines.out, lines.out_size, "'%s' encode", SFB_TOOL);

    cr_assert(cbf.status == 0 && cbf.out_size > 128 << 10, "%zu bytes", cbf.out_size);
    for (int raw = 0; raw <= 1; raw++) {
        struct run text =
            run_with_input(cbf.out, cbf.out_size, "'%s' decode %s", SFB_TOOL, raw ? "--raw" : "");
        struct run again = run_with_input(text.out, text.out_size, "'%s' encode", SFB_TOOL);

        cr_expect(text.status == 0 && (raw || strcmp(text.out, lines.out) == 0));
        cr_expect(again.out_size == cbf.out_size && memcmp(again.out, cbf.out, cbf.out_size) == 0);
        run_free(&text);
        run_free(&again);
    }
    run_free(&lines);
    run_free(&cbf);
}

Test(tool_cbf, expands_a_million_repeats_without_keeping_them)
{
    const char text[] = "ra 5\nrep 1048576\nrep 1048576\nrep 1048576\n";
    struct run run = run_with_input(text, strlen(text),
                                    "'%s' encode | '%s' decode | sort -u -S 1M | tr '\\n' ' '; "
                                    "'%s' encode --hex </dev/null; "
                                    "echo 02 2805 8a100000 | '%s' decode --hex | wc -l",
                                    SFB_TOOL, SFB_TOOL, SFB_TOOL, SFB_TOOL);

    run_expect_text("streams", run.out, "ra 0x5 0200\n1048577\n");
    run_free(&run);
}
