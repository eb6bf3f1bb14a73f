/*
 * sfb synth --sframe-version: copies of each version run, equal .eh_frame, and are printed
 * correctly by the objdump of the version.
 */
#include <string.h>

#include "toolchain/tests/synth/folder.h"

#define FIXTURES SFB_SOURCE_DIR "/fixtures/elf/"
#define PROGRAM  SFB_BINARY_DIR "/cli/sfb"

#ifndef SFB_OBJDUMP_2
#define SFB_OBJDUMP_2 ""
#define SFB_OBJDUMP_3 ""
#endif

static const char *const versions[] = { "1", "2", "3", "auto" };

#define COUNT(array) (sizeof(array) / sizeof *(array))

TestSuite(tool_synth_versions, .init = make_folder, .fini = remove_folder);

/* The version of a copy, as sfb dump prints it. */
static void expect_version(const char *copy, char version)
{
    struct run run =
        in_folder("\"$sfb\" dump '%s' | sed -n 's/ *Version: SFRAME_VERSION_//p'", copy);
    const char want[] = { version, '\n', '\0' };

    run_expect_text(copy, run.out, want);
    run_free(&run);
}

static void expect_sound(const char *copy)
{
    struct run run = in_folder("\"$sfb\" check '%s' | tail -n 1", copy);

    cr_expect(strstr(run.out, ": 0 errors, 0 warnings, ") != NULL, "%s: %s", copy, run.out);
    run_free(&run);
}

Test(tool_synth_versions, run_and_say_what_eh_frame_says)
{
    for (size_t i = 0; i < COUNT(versions); i++) {
        DONE("\"$sfb\" synth --sframe-version %s '%s' -o copy", versions[i], PROGRAM);
        expect_version("copy", i < 3 ? versions[i][0] : '3'); /* _start is outermost */
        expect_no_differences("copy");
        expect_sound("copy");
        expect_same_output("'" SFB_EMULATE "' '" PROGRAM "' --help",
                           "'" SFB_EMULATE "' ./copy --help");
        DONE("'%s' ./copy dump copy >again && \"$sfb\" dump copy | cmp - again", SFB_EMULATE);
    }
}

/* A new section replaces type, size and place of the old one. */
Test(tool_synth_versions, replace_each_other)
{
    DONE("cp '%s' copy", PROGRAM);
    for (size_t i = 0; i < 2 * 3; i++) {
        const char *type = i % 3 == 2 ? "6ffffff4: \\|LOOS+0xffffff4 \\|GNU_SFRAME " : "PROGBITS ";

        DONE("\"$sfb\" synth --force --sframe-version %s copy -o next && mv next copy",
             versions[i % 3]);
        expect_version("copy", versions[i % 3][0]);
        expect_no_differences("copy");
        expect_sound("copy");
        DONE("test $(readelf -SW copy | grep -c ' .sframe  *\\(%s\\)') = 1", type);
        DONE("test $(readelf -lW copy | grep -c ' GNU_SFRAME ') = 1");
    }
}

Test(tool_synth_versions, agree_with_assemblers_on_every_machine_and_byte_order)
{
    static const char *const files[] = {
        FIXTURES "v2/amd64/free_pie",          FIXTURES "v2/amd64/unmerged.so",
        FIXTURES "v2/aarch64_be/free_pie_pac", FIXTURES "v3/amd64/free_pie",
        FIXTURES "v3/amd64/unmerged.so",       FIXTURES "v3/aarch64_be/free_pie_pac",
    };

    for (size_t i = 0; i < COUNT(files); i++) {
        const char version = files[i][strlen(FIXTURES) + 1];

        DONE("\"$sfb\" synth --force --sframe-version %c '%s' -o copy", version, files[i]);
        expect_version("copy", version);
        expect_no_differences("copy");
        expect_as_assembled(version, files[i], version == '2' && strstr(files[i], "free_pie"));
    }
}

/* objdump of a version prints a copy as sfb dump does, but for the first lines. */
static void expect_objdump(const char *objdump, char version, const char *file)
{
    DONE("\"$sfb\" synth --force --sframe-version %c '%s' -o copy", version, file);
    DONE("'%s' --sframe copy >theirs && test $(wc -l <theirs) -gt 20", objdump);
    DONE("\"$sfb\" dump copy | tail -n +4 >ours && tail -n +4 theirs | cmp - ours");
}

Test(tool_synth_versions, are_printed_by_objdump_as_they_are_meant)
{
    static const char *const files[] = { PROGRAM, FIXTURES "v2/amd64/prog_sig", SFB_ODD_LIBRARY,
                                         SFB_LIBC };

    if (!SFB_OBJDUMP_2[0])
        cr_skip_test("no objdump of binutils 2.44 and 2.47");
    for (size_t i = 0; i < COUNT(files); i++) {
        if (!files[i][0])
            continue;
        expect_objdump(SFB_OBJDUMP_2, '2', files[i]);
        expect_objdump(SFB_OBJDUMP_3, '2', files[i]);
        expect_objdump(SFB_OBJDUMP_3, '3', files[i]);
    }
}

Test(tool_synth_versions, auto_takes_the_newest_only_for_a_function_that_needs_it)
{
    static const struct {
        const char *directives, *says;
    } cases[] = {
        { "", "version 1 of the format: no function needs a later one\n" },
        { ".cfi_val_offset 3, 0", "version 1 of the format: no function needs a later one\n" },
        /* Inexpressible in all versions. */
        { ".cfi_escape 0x0f,5,0x77,8,6,0x23,8",
          "version 1 of the format: no function needs a later one\n" },
        { ".cfi_def_cfa 3, 8", "(the CFA is counted from a register other than sp and fp)\n" },
        { ".cfi_signal_frame", "(a signal frame)\n" },
        { ".cfi_undefined " SFB_RA_COLUMN, "(the return address is undefined: outermost)\n" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const bool newer = cases[i].says[0] == '(';
        struct run run;

        DONE("printf '.globl f\\nf: .cfi_startproc\\nnop\\n%s\\nnop\\n.cfi_endproc\\n"
             ".globl g\\ng: .cfi_startproc\\nnop\\n.cfi_endproc\\n' >f.s && "
             "%sgcc -shared -nostdlib f.s -o f.so",
             cases[i].directives, SFB_TOOL_PREFIX);
        run = in_folder("\"$sfb\" synth --sframe-version auto f.so -o copy && nm f.so | "
                        "sed -n 's/^0*\\(.*\\) T f$/0x\\1/p'");
        cr_expect(strstr(run.out, cases[i].says) != NULL, "%zu: %s%s", i, run.out, run.err);
        if (newer) {
            char *function = strstr(run.out, "version 3 of the format: the function at 0x");
            char *start = strrchr(run.out, 'x') - 1;

            cr_assert(function != NULL, "%zu: %s", i, run.out);
            start[strcspn(start, "\n")] = '\0';
            cr_expect(strncmp(function + 41, start, strlen(start)) == 0, "%zu: %s", i, run.out);
        }
        expect_version("copy", newer ? '3' : '1');
        expect_no_differences("copy");
        run_free(&run);
    }
}

Test(tool_synth_versions, leave_less_out_in_version_3)
{
    struct run run;

    if (!SFB_ODD_LIBRARY[0])
        cr_skip_test("written for x86-64");
    run = in_folder("\"$sfb\" synth --sframe-version 2 '%s' | tail -n +2", SFB_ODD_LIBRARY);
    cr_expect(strncmp(run.out, "9 functions not wholly expressible, ", 36) == 0, "%s", run.out);
    run_free(&run);
    run = in_folder("\"$sfb\" synth --sframe-version 3 '%s' -o copy | tail -n +2", SFB_ODD_LIBRARY);
    run_expect_text("version 3", run.out,
                    "3 functions not wholly expressible, 3 bytes of 49:\n"
                    "  1 byte (1x): an expression of more than one register or word, or an offset "
                    "beyond 32 bits\n"
                    "  1 byte (1x): sp has a rule of its own\n"
                    "  1 byte (1x): the CFA lies inside of the frame\n");
    run_free(&run);
    expect_no_differences("copy");
    expect_sound("copy");
}

/* Version 3 counts rows of a function in 16 bits; gas leaves such a function out. */
Test(tool_synth_versions, state_all_rows_of_a_function_with_very_many)
{
    DONE("printf '.globl f\\nf: .cfi_startproc\\n.rept 70000\\nnop\\n.cfi_adjust_cfa_offset 16\\n"
         ".endr\\nnop\\n.cfi_endproc\\n' >f.s && %sgcc -shared -nostdlib f.s -o f.so",
         SFB_TOOL_PREFIX);
    for (size_t i = 0; i < 3; i++) {
        struct run run;

        DONE("\"$sfb\" synth --sframe-version %s f.so -o copy && \"$sfb\" dump copy >dump",
             versions[i]);
        run = in_folder("grep -c 'func idx' dump");
        run_expect_text(versions[i], run.out, i == 2 ? "2\n" : "1\n");
        run_free(&run);
        DONE("grep -E '^ +[0-9a-f]{16} ' dump | cut -c 1-33 >rows.%s && "
             "test $(wc -l <rows.%s) = 70001 && cmp rows.1 rows.%s",
             versions[i], versions[i], versions[i]);
    }
}

Test(tool_synth_versions, make_a_libc_that_is_walked_by_them)
{
    for (size_t i = 0; i < 3; i++) {
        struct run run;

        DONE("mkdir -p lib && \"$sfb\" synth --sframe-version %s '%s' -o lib/libc.so.6",
             versions[i], SFB_LIBC);
        expect_no_differences("lib/libc.so.6");
        expect_sound("lib/libc.so.6"); /* with the signal trampoline of x86-64 */
        if (!SFB_WALK[0])
            cr_skip_test("a sanitizer replaces functions of libc");
        run = in_folder("LD_LIBRARY_PATH=lib '%s' '%s'", SFB_EMULATE, SFB_WALK);
        cr_expect(run.status == 0 && strstr(run.out, "libc.so.6 sframe\n") != NULL, "%s%s", run.out,
                  run.err);
        for (char *line = strtok(run.out, "\n"); line; line = strtok(NULL, "\n"))
            cr_expect(strncmp(line, "libc.so.6 ", 10) != 0 || strcmp(line + 10, "sframe") == 0,
                      "%s", line);
        run_free(&run);
    }
}
