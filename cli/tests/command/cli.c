/* The sfb command as a user meets it: help, exit statuses, and one line for each thing wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/test.h"

#define ELF_FILE SFB_SOURCE_DIR "/fixtures/elf/v1/amd64/free_pie"

/* Offset of .sframe in ELF_FILE, where to damage it. */
static size_t section_offset(const struct run *file)
{
    for (size_t i = 0; i + 4 < file->out_size; i++)
        if (memcmp(file->out + i, "\xe2\xde\x01\x01", 4) == 0)
            return i;
    cr_fatal("no SFrame header in " ELF_FILE);
}

static void expect_one_complaint(const struct run *run, const char *what)
{
    cr_expect(strncmp(run->err, "sfb: ", 5) == 0, "%s: %s", what, run->err);
    cr_expect(run_count_lines(run->err) == 1, "%s: %s", what, run->err);
}

Test(tool_cli, gives_help_on_stdout)
{
    static const char *const asked[] = {
        "--help",           "-h",           "dump --help", "decode --help", "encode --help",
        "symbolize --help", "synth --help", "synth -h",    "decode -h",     "--version"
    };

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct run run = run_line("'%s' %s", SFB_TOOL, asked[i]);

        cr_expect(run.status == 0, "%s", asked[i]);
        cr_expect(run.out_size > 10, "%s", asked[i]);
        cr_expect(run.err[0] == '\0', "%s: %s", asked[i], run.err);
        run_free(&run);
    }
}

Test(tool_cli, answers_wrong_usage_with_a_line_that_hints_at_help)
{
    static const char *const wrong[] = {
        "",
        "frobnicate",
        "--frobnicate",
        "dump",
        "dump --frobnicate " ELF_FILE,
        "dump -x " ELF_FILE,
        "dump --help=yes",
        "dump --vma 0x1000 " ELF_FILE,
        "dump --raw-section --vma 0x10zz " ELF_FILE,
        "dump --raw-section --vma",
        "decode a b",
        "encode a b",
        "encode --bits 48 -",
        "encode --bits",
        "symbolize -",
        "symbolize --pid 1 --maps /proc/self/maps -",
        "symbolize --pid self -",
        "symbolize --pid 0 -",
        "symbolize --object",
        "symbolize --object " ELF_FILE " --pid 1",
        "symbolize --object " ELF_FILE " 0x10 10zz",
        "symbolize --object " ELF_FILE " 0x",
        "symbolize --names=long --object " ELF_FILE " 0x10",
        "synth",
        "synth " ELF_FILE " " ELF_FILE,
        "synth -o",
        "synth --output",
        "synth -x " ELF_FILE,
        "synth -vx " ELF_FILE,
        "synth --verbose=yes " ELF_FILE,
        "synth --force=yes " ELF_FILE,
        "synth --vma 0x1000 " ELF_FILE,
        "synth --section-only --vma 10zz " ELF_FILE,
        "synth --sframe-version 4 " ELF_FILE,
        "synth --sframe-version 0 " ELF_FILE,
        "synth --sframe-version",
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct run run = run_line("'%s' %s", SFB_TOOL, wrong[i]);

        cr_expect(run.status == 2, "'%s' exits with %d", wrong[i], run.status);
        cr_expect(run.out_size == 0, "'%s'", wrong[i]);
        cr_expect(strstr(run.err, "--help'\n") != NULL, "'%s': %s", wrong[i], run.err);
        expect_one_complaint(&run, wrong[i]);
        run_free(&run);
    }
}

Test(tool_cli, tells_unreadable_input_from_bad_data)
{
    static const struct {
        const char *arguments;
        int status;
        const char *says;
    } cases[] = {
        { "dump /nonexistent/file", 2, "sfb: /nonexistent/file: No such file or directory\n" },
        { "dump /", 2, "sfb: /: Is a directory\n" },
        { "decode /nonexistent", 2, "sfb: /nonexistent: No such file or directory\n" },
        { "encode /", 2, "sfb: /: Is a directory\n" },
        { "symbolize --maps /nonexistent </dev/null", 2, "/nonexistent: No such file" },
        { "symbolize --pid 999999999 </dev/null", 2, "process 999999999: No such process\n" },
        { "symbolize --maps '" ELF_FILE "' </dev/null", 1, "not what /proc/PID/maps looks like\n" },
        { "symbolize --object /nonexistent 10", 2, "/nonexistent: No such file" },
        { "symbolize --object /dev/null 10", 2, "/dev/null: " },
        { "symbolize --object '" SFB_SOURCE_DIR "/LICENSE' 10", 1, "LICENSE: " },
        { "symbolize --object \"$(head -c 300 /bin/sh >cut.elf; echo cut.elf)\" 10; s=$?; rm "
          "cut.elf; "
          "exit $s",
          1, "cut.elf: the section headers end past the file\n" },
        { "symbolize --object " ELF_FILE " <<END >/dev/null\nhere\nEND\n", 1,
          "sfb: stdin:1: no address: here\n" },
        { "dump /dev/null", 1, "sfb: /dev/null: +0x0: not an ELF file\n" },
        { "dump '" SFB_SOURCE_DIR "/LICENSE'", 1, "LICENSE: +0x0: not an ELF file\n" },
        { "decode /dev/null", 1, "sfb: /dev/null: +0x0: info byte: " },
        { "dump /bin/sh", 1, "sfb: /bin/sh: no .sframe section\n" },
        { "synth /nonexistent -o x", 2, "sfb: /nonexistent: No such file or directory\n" },
        { "synth /", 2, "sfb: /: Is a directory\n" },
        { "synth '" SFB_SOURCE_DIR "/LICENSE'", 1, "LICENSE: +0x0: not an ELF file\n" },
        { "dump --raw-section /bin/sh", 1, "sfb: /bin/sh: .sframe+0x0: sfp_magic: " },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line("'%s' %s", SFB_TOOL, cases[i].arguments);

        cr_expect(run.status == cases[i].status, "'%s' exits with %d", cases[i].arguments,
                  run.status);
        cr_expect(strstr(run.err, cases[i].says) != NULL, "'%s': %s", cases[i].arguments, run.err);
        expect_one_complaint(&run, cases[i].arguments);
        run_free(&run);
    }
}

Test(tool_cli, goes_on_with_the_next_file_and_reports_the_worst)
{
    struct run alone = run_line("'%s' dump '%s'", SFB_TOOL, ELF_FILE);
    struct run run = run_line("'%s' dump /dev/null '%s' /", SFB_TOOL, ELF_FILE);

    cr_expect(run.status == 2);
    run_expect_text("stdout", run.out, alone.out);
    cr_expect(run_count_lines(run.err) == 2, "%s", run.err);
    run_free(&alone);
    run_free(&run);
}

Test(tool_cli, notices_that_its_output_is_lost)
{
    static const char *const writing[] = { "--help",       "dump '" ELF_FILE "'",
                                           "encode --hex", "encode",
                                           "dump --help",  "dump /dev/null '" ELF_FILE "'" };

    for (size_t i = 0; i < sizeof writing / sizeof *writing; i++) {
        struct run run = run_line("'%s' %s >/dev/full", SFB_TOOL, writing[i]);

        cr_expect(run.status == 2, "'%s' exits with %d", writing[i], run.status);
        cr_expect(strstr(run.err, "sfb: standard output: No space left on device\n") != NULL,
                  "'%s': %s", writing[i], run.err);
        run_free(&run);
    }
}

Test(tool_cli, keeps_a_complaint_on_one_line_whatever_the_name)
{
    struct run run = run_line("'%s' dump \"$(printf '/no\\nsuch\\033file')\"", SFB_TOOL);

    cr_expect(run.status == 2);
    run_expect_text("stderr", run.err, "sfb: /no\\012such\\033file: No such file or directory\n");
    run_free(&run);
}

Test(tool_cli, dumps_a_raw_section_like_the_one_in_its_file)
{
    struct run file = run_line("cat '%s'", ELF_FILE);
    struct run whole = run_line("'%s' dump '%s'", SFB_TOOL, ELF_FILE);
    struct run at = run_line("readelf -SW '%s' | sed -n 's/.* \\.sframe *[A-Z]* *//p'", ELF_FILE);
    size_t start = section_offset(&file);
    struct run raw = run_with_input(file.out + start, file.out_size - start,
                                    "'%s' dump --raw-section --vma 0x%.16s -", SFB_TOOL, at.out);

    cr_expect(raw.status == 0, "%s", raw.err);
    cr_expect(strstr(raw.out, "\nstandard input:     file format binary\n\n") == raw.out, "%s",
              raw.out);
    run_expect_text("dump", strstr(raw.out, "Contents"), strstr(whole.out, "Contents"));
    run_free(&file);
    run_free(&whole);
    run_free(&at);
    run_free(&raw);
}

Test(tool_cli, prints_what_stands_before_a_bad_byte_and_names_it)
{
    struct run file = run_line("cat '%s'", ELF_FILE);
    struct run good = run_line("'%s' dump '%s'", SFB_TOOL, ELF_FILE);
    size_t info = section_offset(&file) + 28 + 2 * 17 + 16; /* of the third function entry */
    struct run bad;
    size_t valid;

    file.out[info] = 0x7f;
    bad = run_with_input(file.out, file.out_size, "'%s' dump -", SFB_TOOL);
    cr_expect(bad.status == 1);
    run_expect_text("stderr", bad.err,
                    "sfb: standard input: .sframe+0x4e: sfde_func_info: function entry contradicts "
                    "the specification\n");
    valid = (size_t)(strstr(good.out, "\n    func idx [2]") - strstr(good.out, "Contents"));
    cr_expect(strlen(strstr(bad.out, "Contents")) == valid);
    cr_expect(memcmp(strstr(bad.out, "Contents"), strstr(good.out, "Contents"), valid) == 0);
    run_free(&file);
    run_free(&good);
    run_free(&bad);
}

Test(tool_cli, survives_a_file_cut_off_anywhere)
{
    struct run file = run_line("cat '%s'", ELF_FILE);

    /* Every length of the headers, then steps that meet each kind of place. */
    for (size_t n = 0; n < file.out_size; n += n < 0x80 ? 1 : 61) {
        struct run run = run_with_input(file.out, n, "'%s' dump -", SFB_TOOL);

        cr_expect(run.status == 1, "%zu bytes: exit status %d", n, run.status);
        cr_expect(run_count_lines(run.err) == 1, "%zu bytes: %s", n, run.err);
        run_free(&run);
    }
    run_free(&file);
}

Test(tool_cli, survives_random_damage)
{
    struct run file = run_line("cat '%s'", ELF_FILE);
    unsigned random = 1;

    for (size_t round = 0; round < 300; round++) {
        size_t at[2];
        char before[2];
        struct run run;

        for (size_t i = 0; i < 2; i++) {
            random = random * 1103515245u + 12345u;
            /* The ELF header and the section headers, which libelf believes, are at the ends. */
            at[i] = round % 2 ? (random >> 8) % 0x200 : file.out_size - 1 - (random >> 8) % 0x400;
            before[i] = file.out[at[i]];
            file.out[at[i]] = (char)(random >> 24);
        }
        run = run_with_input(file.out, file.out_size, "'%s' dump -", SFB_TOOL);
        cr_expect(run.status == 0 || run.status == 1, "round %zu: exit status %d\n%s", round,
                  run.status, run.err);
        cr_expect(run_count_lines(run.err) == (run.status == 0 ? 0 : 1), "round %zu: %s", round,
                  run.err);
        run_free(&run);
        file.out[at[1]] = before[1];
        file.out[at[0]] = before[0];
    }
    run_free(&file);
}

/* What the specification allows and this tool cannot read is not called a fault. */
Test(tool_cli, says_that_s390x_is_not_supported)
{
    struct run run =
        run_line("cd '" SFB_SOURCE_DIR "/fixtures/check' && '%s' dump s390x", SFB_TOOL);

    cr_expect(run.status == 1);
    run_expect_text("stderr", run.err,
                    "sfb: s390x: .sframe+0x4: sfh_abi_arch: ABI 4 (s390x) is not supported: x86-64 "
                    "and AArch64 are ('sfb check' reads it)\n");
    run_free(&run);
}
