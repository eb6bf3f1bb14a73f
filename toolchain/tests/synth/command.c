/*
 * sfb synth: copies of programs and libraries that run as the originals do, with an .sframe equal
 * to their .eh_frame; and refusals. The long version is toolchain/tests/synth/run.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "toolchain/tests/synth/folder.h"

#define FIXTURES SFB_SOURCE_DIR "/fixtures/elf/v1/"
#define FIXTURE  FIXTURES "amd64/prog_sig"
#define PROGRAM  SFB_BINARY_DIR "/cli/sfb"

/* In an emulator a command takes a tenth of a second to start. */
static bool is_emulated(void)
{
    return strcmp(SFB_EMULATE, "env") != 0;
}

TestSuite(tool_synth, .init = make_folder, .fini = remove_folder);

/* Expects one message, with a text in it. */
static void expect_refused(const struct run *run, int status, const char *says)
{
    cr_expect(run->status == status, "'%s': exit status %d: %s", says, run->status, run->err);
    cr_expect(run->out_size == 0, "'%s': %s", says, run->out);
    cr_expect(run_count_lines(run->err) == 1 && strncmp(run->err, "sfb: ", 5) == 0, "%s", run->err);
    cr_expect(strstr(run->err, says) != NULL, "'%s': %s", says, run->err);
}

static void expect_files(const char *want)
{
    struct run run = in_folder("ls -A");

    run_expect_text("files", run.out, want);
    run_free(&run);
}

Test(tool_synth, makes_a_program_that_runs_and_rows_that_are_right)
{
    DONE("\"$sfb\" synth '%s' -o copy", PROGRAM);
    expect_same_output("'" SFB_EMULATE "' '" PROGRAM "' --help", "'" SFB_EMULATE "' ./copy --help");
    expect_same_output("'" SFB_EMULATE "' '" PROGRAM "' dump '" FIXTURE "'",
                       "'" SFB_EMULATE "' ./copy dump '" FIXTURE "'");
    expect_no_differences("copy");
}

Test(tool_synth, makes_what_binutils_accepts_and_keeps)
{
    struct run readelf, version = run_line(SFB_TOOL_PREFIX "strip --version");

    DONE("\"$sfb\" synth '%s' -o copy", PROGRAM);
    readelf = in_folder(SFB_TOOL_PREFIX "readelf -lSW copy");
    cr_expect(readelf.err[0] == '\0', "%s", readelf.err);
    cr_expect(strstr(readelf.out, "  GNU_SFRAME ") != NULL, "%s", readelf.out);
    cr_expect(strstr(readelf.out, " .sframe           PROGBITS") != NULL, "%s", readelf.out);
    run_free(&readelf);
    if (version.status == 0) {
        DONE(SFB_TOOL_PREFIX "strip -o stripped copy");
        DONE(SFB_TOOL_PREFIX "objcopy -O binary --only-section=.sframe copy a && " SFB_TOOL_PREFIX
                             "objcopy -O binary --only-section=.sframe stripped b && cmp a b");
        expect_same_output("'" SFB_EMULATE "' '" PROGRAM "' --help",
                           "'" SFB_EMULATE "' ./stripped --help");
    }
    run_free(&version);
}

Test(tool_synth, reads_every_machine_and_byte_order)
{
    static const char *const files[] = { FIXTURES "amd64/free_pie", FIXTURES "amd64/prog_sig",
                                         FIXTURES "aarch64/prog_pac_bkey",
                                         FIXTURES "aarch64_be/free_pie_pac",
                                         FIXTURES "aarch64_be/libsample_pac_bkey.so" };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        DONE("\"$sfb\" synth --force '%s' -o copy && \"$sfb\" dump copy", files[i]);
        expect_no_differences("copy");
        expect_as_assembled('1', files[i], strstr(files[i], "free_pie") != NULL);
    }
}

Test(tool_synth, lists_what_it_leaves_out)
{
    static const struct {
        const char *name, *reason;
    } odd[] = {
        { "register", "the CFA is counted from a register other than sp and fp" },
        { "memory", "the CFA is a word in memory" },
        { "fp", "fp is saved neither in its register nor in the frame" },
        { "two", "an expression of more than one register or word, or an offset beyond 32 bits" },
        { "outermost", "the return address is undefined: outermost" },
        { "ra", "the return address is not at CFA-8" },
        { "sp", "sp has a rule of its own" },
        { "inside", "the CFA lies inside of the frame" },
        { "signal", "a signal frame" },
    };
    struct run list, brief;

    if (!SFB_ODD_LIBRARY[0])
        cr_skip_test("written for x86-64");
    list = in_folder("\"$sfb\" synth -v '%s' -o copy", SFB_ODD_LIBRARY);
    brief = in_folder("\"$sfb\" synth '%s'", SFB_ODD_LIBRARY);
    cr_expect(strstr(list.out, "\n9 functions not wholly expressible, ") != NULL, "%s", list.out);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct run symbols = in_folder("nm '%s' | sed -n 's/^0*\\([0-9a-f]*\\) T odd_%s\\(_end\\)*$"
                                       "/0x\\1/p' | sort",
                                       SFB_ODD_LIBRARY, odd[i].name);
        char want[256];

        cr_assert(run_count_lines(symbols.out) == 2, "%s", symbols.out);
        snprintf(want, sizeof want, "\n  %s-", strtok(symbols.out, "\n"));
        cr_expect(strstr(list.out, want) != NULL, "%s: %s", odd[i].name, list.out);
        snprintf(want, sizeof want, "-%s", strtok(NULL, "\n"));
        cr_expect(strstr(list.out, want) != NULL, "%s: %s", odd[i].name, list.out);
        snprintf(want, sizeof want, ": %s\n", odd[i].reason);
        cr_expect(strstr(list.out, want) != NULL, "%s: %s", odd[i].name, list.out);
        snprintf(want, sizeof want, "\n  1 byte (1x): %s\n", odd[i].reason);
        cr_expect(strstr(brief.out, want) != NULL, "%s: %s", odd[i].name, brief.out);
        run_free(&symbols);
    }
    expect_no_differences("copy");
    run_free(&list);
    run_free(&brief);
}

Test(tool_synth, writes_bytes_that_are_those_in_the_copy)
{
    struct run copy, bytes, report, quiet;

    DONE("\"$sfb\" synth '%s' -o copy && \"$sfb\" synth --section-only '%s' -o bytes", PROGRAM,
         PROGRAM);
    DONE(SFB_TOOL_PREFIX "objcopy -O binary --only-section=.sframe copy section && "
                         "cmp section bytes");
    copy = in_folder("\"$sfb\" dump copy | tail -n +4");
    bytes = in_folder("\"$sfb\" dump --raw-section --vma $(readelf -SW copy | "
                      "sed -n 's/.* .sframe *PROGBITS *\\([0-9a-f]*\\) .*/0x\\1/p') bytes | "
                      "tail -n +4");
    run_expect_text("dump", bytes.out, copy.out);
    cr_expect(lt(sz, 300, copy.out_size));
    /* To stdout: the same bytes, without the report. */
    DONE("\"$sfb\" synth '%s' -o - >streamed 2>report && cmp copy streamed", PROGRAM);
    report = in_folder("cat report");
    quiet = in_folder("\"$sfb\" synth '%s'", PROGRAM);
    run_expect_text("report", report.out, quiet.out);
    DONE("\"$sfb\" synth - -o fromstdin <'%s' && cmp copy fromstdin", PROGRAM);
    run_free(&copy);
    run_free(&bytes);
    run_free(&report);
    run_free(&quiet);
}

Test(tool_synth, replaces_a_section_only_when_told_to)
{
    struct run run = in_folder("\"$sfb\" synth '%s' -o copy", FIXTURE);

    expect_refused(&run, 1, "prog_sig: there is an .sframe already: --force replaces it");
    run_free(&run);
    expect_files("");
    DONE("\"$sfb\" synth --force '%s' -o copy && \"$sfb\" synth --force copy -o again", FIXTURE);
    /* The copy's own segment is written again, also with another version in between. */
    DONE("cmp copy again && \"$sfb\" synth --force --sframe-version 2 again -o second && "
         "\"$sfb\" synth --force second -o again && cmp copy again");
    expect_no_differences("second");
    DONE("test $(readelf -SW again | grep -c ' .sframe ') = 1");
    DONE("test $(readelf -lW again | grep -c ' GNU_SFRAME ') = 1");
    expect_no_differences("copy");
    expect_no_differences("again");
}

Test(tool_synth, writes_whole_files_or_none)
{
    static const struct {
        const char *line;
        int status;
        const char *says;
    } refused[] = {
        { "\"$sfb\" synth file -o file", 2, "the output is the input itself" },
        { "\"$sfb\" synth file -o hard", 2, "the output is the input itself" },
        { "\"$sfb\" synth soft -o file", 2, "the output is the input itself" },
        { "\"$sfb\" synth file -o none/file", 2, "none/file: No such file or directory" },
        { "\"$sfb\" synth file -o folder", 2, "folder: Is a directory" },
        { "\"$sfb\" synth file -o /dev/full", 2, "/dev/full: No space left on device" },
        { "\"$sfb\" synth file -o - >/dev/full", 2, "standard output: No space left on device" },
        { "ulimit -f 8 && \"$sfb\" synth file -o copy", 2, "copy: File too large" },
        { "\"$sfb\" synth none -o copy", 2, "none: No such file or directory" },
        { "\"$sfb\" synth folder -o copy", 2, "folder: Is a directory" },
    };
    struct stat status;
    char path[sizeof folder + 16];

    DONE("cp '%s' file && ln file hard && ln -s file soft && mkdir folder", PROGRAM);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct run run = in_folder("%s", refused[i].line);

        expect_refused(&run, refused[i].status, refused[i].says);
        run_free(&run);
    }
    expect_files("file\nfolder\nhard\nsoft\n");
    DONE("cmp file '%s'", PROGRAM);

    /* A running program goes on, a link stays one, and permissions are the input's. */
    DONE("printf old >target && ln -s target link && cp target before && chmod 4751 file");
    DONE("exec 3<target && \"$sfb\" synth file -o link && test -L link && cat <&3 | cmp - before");
    snprintf(path, sizeof path, "%s/target", folder);
    cr_assert(stat(path, &status) == 0);
    cr_expect(eq(int, status.st_mode & 07777, 0751));
    DONE("\"$sfb\" synth file -o /dev/null && test -c /dev/null");
    expect_files("before\nfile\nfolder\nhard\nlink\nsoft\ntarget\n");
}

/* --- what is refused -----------------------------------------------------------------------------
 */

/* Where the first program header of a type is in a little-endian file. */
static size_t find_phdr(const char *image, unsigned type)
{
    unsigned found;

    for (size_t at = 64;; at += 56) {
        memcpy(&found, image + at, 4);
        if (found == type)
            return at;
    }
}

Test(tool_synth, says_what_it_cannot_make_one_from)
{
    enum { EH_FRAME_HDR = 0x6474e550, LOAD = 1, INTERP = 3 };
    struct run image = run_line("cat '%s'", FIXTURE);
    const size_t hdr = find_phdr(image.out, EH_FRAME_HDR), load = find_phdr(image.out, LOAD);
    const size_t interp = find_phdr(image.out, INTERP);
    size_t hdr_offset;

    memcpy(&hdr_offset, image.out + hdr + 8, 8);
    {
        const struct {
            size_t at;
            const char *bytes;
            size_t size;
            const char *says;
        } cases[] = {
            { 0,
              "\x7f"
              "ELG",
              4, "standard input: +0x0: not an ELF file" },
            { 4, "\1", 1, "a 32-bit file" },
            { 16, "\1", 1, "+0x10: e_type: a relocatable object" },
            { 16, "\4", 1, "+0x10: e_type: neither a program nor a shared library" },
            { 18, "\x08", 1, "+0x12: e_machine: neither x86-64 nor AArch64" },
            { 5, "\2", 1, "+0x12: e_machine: neither x86-64 nor AArch64" },
            { 54, "\x39", 1, "+0x36: e_phentsize: not the size of a program header" },
            { 56, "\0", 1, "+0x38: e_phnum: no program headers" },
            { 34, "\x7f", 1, "+0x20: e_phoff: the program headers end past the file" },
            { 42, "\x7f", 1, "+0x28: e_shoff: the section headers end past the file" },
            { 58, "\x41", 1, "+0x3a: e_shentsize: not the size of a section header" },
            { 62, "\xf0", 1, "+0x3e: e_shstrndx: there is no such section" },
            { hdr, "\0", 1, "+0x40: p_type: no PT_GNU_EH_FRAME: there is no table of .eh_frame" },
            { hdr + 18, "\x7f", 1, "p_vaddr: PT_GNU_EH_FRAME has no bytes in this file" },
            { hdr_offset, "\2", 1, "version: .eh_frame cannot be read" },
            { hdr_offset + 3, "\1", 1, "table_enc: .eh_frame cannot be read" },
            { hdr_offset + 11, "\x7f", 1, "fde_count: table ends past the section" },
            { hdr_offset + 16, "\xff\xff\xff\x7f", 4, "table: .eh_frame cannot be read" },
            { load + 34, "\x7f", 1, "p_filesz: a segment ends past the file" },
            { load + 40, "\1\0\0", 3, "p_memsz: a segment is larger in the file than in memory" },
            { load + 18, "\x7f", 1, "p_vaddr: segments overlap, or do not ascend" },
            { interp + 33, "\x10", 1, "p_vaddr: what stands behind the program headers is not" },
            { image.out_size, "payload", 7, "+0x28: e_shoff: something is attached to the file" },
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            size_t size = image.out_size > cases[i].at + cases[i].size
                              ? image.out_size
                              : cases[i].at + cases[i].size;
            char *copy = calloc(1, size);
            struct run run;

            memcpy(copy, image.out, image.out_size);
            memcpy(copy + cases[i].at, cases[i].bytes, cases[i].size);
            run = run_with_input(copy, size, "cd '%s' && '%s' synth --force - -o copy", folder,
                                 SFB_TOOL);
            expect_refused(&run, 1, cases[i].says);
            run_free(&run);
            free(copy);
        }
    }
    expect_files("");
    run_free(&image);
}

/* A function without an expressible row; and Chromium's libvulkan.so.1 with an empty .eh_frame. */
Test(tool_synth, makes_no_empty_section)
{
    struct run run =
        in_folder("printf '.globl f\\nf: .cfi_startproc\\n.cfi_escape 0x0f,3,0x77,8,6\\nnop\\n"
                  ".cfi_endproc\\n' >f.s && '%sgcc' -shared -nostdlib f.s -o f.so && "
                  "! \"$sfb\" synth f.so -o copy && \"$sfb\" synth f.so && rm f.s f.so && ls",
                  SFB_TOOL_PREFIX);

    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.err, "f.so: .eh_frame: no function that a row can be made of") != NULL,
              "%s", run.err);
    cr_expect(strstr(run.out, "copy") == NULL, "%s", run.out);
    run_free(&run);
}

Test(tool_synth, tells_other_files_apart)
{
    struct run object = run_line("find '%s' -name 'synth.c.o' | head -n 1", SFB_BINARY_DIR), run;

    object.out[strcspn(object.out, "\n")] = '\0';
    run = in_folder("\"$sfb\" synth '%s' -o copy", object.out);
    expect_refused(&run, 1, "+0x10: e_type: a relocatable object: link it first");
    run_free(&run);
    run = in_folder("\"$sfb\" synth '%s/libsframe-backtrace.a' -o copy", SFB_BINARY_DIR);
    expect_refused(&run, 1, "an archive: extract its members with ar");
    run_free(&run);
    run = in_folder("\"$sfb\" synth /dev/null -o copy");
    expect_refused(&run, 1, "/dev/null: +0x0: not an ELF file");
    run_free(&run);
    run = in_folder("\"$sfb\" synth --sframe-version 4 '%s'", FIXTURE);
    expect_refused(&run, 2, "synth: '4' is no version that is written: 1, 2, 3 and auto are");
    run_free(&run);
    run = in_folder("\"$sfb\" synth --vma 0x1000 '%s'", FIXTURE);
    expect_refused(&run, 2, "synth: --vma goes with --section-only");
    run_free(&run);
    run_free(&object);
}

/* A copy made without a message must be readable. */
static void expect_sound(const struct run *run, const char *what, size_t n)
{
    cr_expect(run->status <= 1, "%s %zu: exit status %d: %s", what, n, run->status, run->err);
    cr_expect(run_count_lines(run->err) == (size_t)run->status, "%s %zu: %s", what, n, run->err);
    if (run->status == 0) {
        struct run dump = in_folder("\"$sfb\" dump copy");

        cr_expect(dump.status == 0, "%s %zu: %s", what, n, dump.err);
        run_free(&dump);
    }
}

Test(tool_synth, survives_a_file_cut_off_anywhere)
{
    struct run image = run_line("cat '%s'", FIXTURE);

    const size_t step = is_emulated() ? 997 : 97;

    for (size_t n = 0; n < image.out_size; n += n < 0x40 ? step / 97 : step) {
        struct run run = run_with_input(image.out, n, "cd '%s' && '%s' synth --force - -o copy",
                                        folder, SFB_TOOL);

        cr_expect(run.status == 1, "%zu bytes: exit status %d", n, run.status);
        expect_sound(&run, "bytes", n);
        run_free(&run);
    }
    expect_files("");
    run_free(&image);
}

Test(tool_synth, survives_random_damage)
{
    struct run image = run_line("cat '%s'", FIXTURE);
    const size_t sections = image.out_size - 64 * 36;
    const size_t hdr = find_phdr(image.out, 0x6474e550);
    size_t tables;
    const size_t rounds = is_emulated() ? 60 : 400;
    unsigned random = 1, made = 0;

    memcpy(&tables, image.out + hdr + 8, 8);
    for (size_t round = 0; round < rounds; round++) {
        size_t at[3];
        char before[3];
        struct run run;

        for (size_t i = 0; i < 3; i++) {
            random = random * 1103515245u + 12345u;
            /* Headers at both ends, and the tables of .eh_frame. */
            at[i] = round % 3 == 0   ? (random >> 8) % 0x400
                    : round % 3 == 1 ? sections + (random >> 8) % (64 * 36)
                                     : tables + (random >> 8) % 0x180;
            before[i] = image.out[at[i]];
            image.out[at[i]] = (char)(random >> 20);
        }
        run = run_with_input(image.out, image.out_size,
                             "cd '%s' && '%s' synth --sframe-version %zu --force - -o copy", folder,
                             SFB_TOOL, round / 3 % 3 + 1);
        expect_sound(&run, "round", round);
        made += run.status == 0;
        run_free(&run);
        for (size_t i = 3; i-- > 0;)
            image.out[at[i]] = before[i];
    }
    cr_expect(made > rounds / 20 && made < rounds - rounds / 20, "%u were made", made);
    run_free(&image);
}
