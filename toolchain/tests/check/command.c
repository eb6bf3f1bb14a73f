/* `sfb check` as a command: output and exit status. */
#include <stdio.h>
#include <string.h>

#include "toolchain/tests/check/folder.h"

#define FIXTURES SFB_SOURCE_DIR "/fixtures/elf/v1"

TestSuite(check_command, .init = make_folder, .fini = remove_folder);

Test(check_command, says_one_finding_a_line)
{
    struct run run;

    write_bad("bad", false);
    run = run_line("cd '%s' && '%s' check --no-cfi bad", folder, SFB_TOOL);
    cr_expect(eq(int, run.status, 1), "%s", run.err);
    run_expect_text("text", run.out,
                    "bad: .sframe+0x56: FDE 0 FRE 2: SF0312 error: a row after the function's end: "
                    "row starts at 0x40, after the function's end (size 0x30), in f+0x0\n"
                    "bad: made by GNU binutils 2.40, or sfb synth, by the looks of it\n"
                    "1 file, 1 with .sframe: 1 error, 0 warnings, 0 notes\n");
    run_free(&run);
}

Test(check_command, ends_with_0_for_notes_and_2_for_what_cannot_be_read)
{
    static const struct {
        const char *arguments;
        int status;
        const char *says;
    } cases[] = {
        { FIXTURES "/amd64/prog_sig", 0, "SF0138 note" },
        { FIXTURES "/amd64/free_pie", 1, "SF0509 error" },
        { "/dev/null", 2, "/dev/null: +0x0: not an ELF file" },
        { "/nowhere", 2, "/nowhere: No such file" },
        { "--raw /dev/null", 1, "SF0120 error" },
        { "--vma 1 /dev/null", 2, "--vma goes with --raw" },
        { "--max-errors x /dev/null", 2, "'x' is no number" },
        { "--extract 0 /dev/null /dev/null", 2, "--extract takes one file" },
        { "--extract 99 " FIXTURES "/amd64/prog_sig", 1, "no FDE 99: there are 7" },
        { "--explain SF9999", 2, "'SF9999' is no code" },
        { "--explain sf0312", 0, "### SF0312 error: a row after the function's end" },
        { "--explain all", 0, "\n- Written by: sfb check, for functions without .eh_frame\n" },
        { "", 2, "no file given" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line("'%s' check %s", SFB_TOOL, cases[i].arguments);

        cr_expect(eq(int, run.status, cases[i].status), "%s: %s", cases[i].arguments, run.err);
        cr_expect(strstr(run.out, cases[i].says) || strstr(run.err, cases[i].says), "%s: %s%s",
                  cases[i].arguments, run.out, run.err);
        cr_expect(run.status != 2 || run_count_lines(run.err) == 1, "%s: %s", cases[i].arguments,
                  run.err);
        run_free(&run);
    }
}

/* Registers from 16 on are controls with the sign bit of their byte set. */
Test(check_command, finds_nothing_wrong_with_high_registers)
{
    struct run run = run_line("cd '" SFB_SOURCE_DIR "/fixtures/check' && '%s' check s390x "
                              "saved_in_xmm.so",
                              SFB_TOOL);

    cr_expect(eq(int, run.status, 0), "%s", run.out);
    cr_expect(strstr(run.out, "saved_in_xmm.so: rows: 3, covered 100.00 %, of these equal 100.00 "
                              "%") != NULL,
              "%s", run.out);
    cr_expect(strstr(run.out,
                     "s390x: +0x0: SF0515 note: .eh_frame of this machine is not compared: "
                     "only x86-64 and AArch64 are compared: levels 1 to 3 only\n") != NULL,
              "%s", run.out);
    cr_expect(strstr(run.out, ": 0 errors, 0 warnings, 1 note\n") != NULL, "%s", run.out);
    run_free(&run);
}

/*
 * PT_GNU_EH_FRAME leads to .eh_frame where no section headers are: the same is compared, and a row
 * with another CFA is found.
 */
Test(check_command, compares_files_without_section_headers)
{
    static const struct {
        const char *file;
        unsigned at; /* of the CFA's offset in a row */
        const char *octal;
        const char *says;
    } cases[] = {
        { "v3/amd64/prog_sig", 0x2228, "020", "FDE 3 FRE 2: SF0501 error" },
        { "v2/amd64/prog_sig", 0x222f, "020", "FDE 3 FRE 2: SF0501 error" },
        { "v1/aarch64_be/libsample_pac_bkey.so", 0x19ab9, "050", "FDE 2 FRE 2: SF0501 error" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run with =
            run_line("'%s' check '" SFB_SOURCE_DIR "/fixtures/elf/%s'", SFB_TOOL, cases[i].file);
        struct run without = run_line(
            "cd '%s' && cat '" SFB_SOURCE_DIR "/fixtures/elf/%s' >bare && "
            "for at in $(seq 40 47) $(seq 60 63); do printf '\\000' | "
            "dd of=bare bs=1 seek=$at conv=notrunc status=none; done && '%s' check bare; "
            "printf '\\%s' | dd of=bare bs=1 seek=%u conv=notrunc status=none; '%s' check bare",
            folder, cases[i].file, SFB_TOOL, cases[i].octal, cases[i].at, SFB_TOOL);
        const char *a = strstr(with.out, ": rows: "), *b = strstr(without.out, ": rows: ");

        cr_assert(a && b, "%s: %s", cases[i].file, without.out);
        cr_expect(strncmp(a, b, strcspn(a, "\n") + 1) == 0, "%s: %s%s", cases[i].file, a, b);
        cr_expect(strstr(with.out, cases[i].says) == NULL && strstr(b, cases[i].says) != NULL,
                  "%s: %s", cases[i].file, b);
        run_free(&with);
        run_free(&without);
    }
}

/* The same field at the same place as `sfb dump` and `sfb synth` say. */
Test(check_command, names_the_field_of_a_header_that_is_broken)
{
    static const struct {
        const char *breaks;
        const char *says;
    } cases[] = {
        { "head -c -1 bad > broken", "+0x28: e_shoff: the section headers end past the file\n" },
        { "cp bad broken && printf A | dd of=broken bs=1 seek=58 conv=notrunc status=none",
          "+0x3a: e_shentsize: not the size of a section header\n" },
    };
    static const char *const tools[] = { "check", "dump", "synth" };

    write_bad("bad", false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < sizeof tools / sizeof *tools; k++) {
            struct run run = run_line("cd '%s' && %s && '%s' %s broken", folder, cases[i].breaks,
                                      SFB_TOOL, tools[k]);

            cr_expect(lt(int, 0, run.status), "%s", tools[k]);
            cr_expect(strstr(run.err, cases[i].says) != NULL, "%s: %s", tools[k], run.err);
            run_free(&run);
        }
    }
}

Test(check_command, reads_members_of_archives)
{
    struct run run;

    write_bad("bad.o", true);
    run = run_line("cd '%s' && ar rc lib.a bad.o && '%s' check --no-cfi lib.a", folder, SFB_TOOL);
    cr_expect(eq(int, run.status, 1), "%s", run.err);
    cr_expect(
        ne(ptr, strstr(run.out, "lib.a(bad.o): .sframe+0x45: FDE 0 FRE 2: SF0312 error"), NULL),
        "%s", run.out);
    run_free(&run);
    run = run_line("cd '%s' && ar rcT thin.a bad.o && '%s' check thin.a", folder, SFB_TOOL);
    cr_expect(eq(int, run.status, 2));
    cr_expect(ne(ptr, strstr(run.err, "a thin archive"), NULL), "%s", run.err);
    run_free(&run);
}

/* glibc's libpthread.a has no members since 2.34, and a table of symbols may be all that is there. */
Test(check_command, passes_over_archives_without_members)
{
    struct run run =
        run_line("cd '%s' && printf '!<arch>\\n' >empty.a && rm -f a.a && ar rcs a.a && "
                 "'%s' check empty.a a.a",
                 folder, SFB_TOOL);

    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strcmp(run.out, "empty.a: no .sframe\na.a: no .sframe\n2 files, 0 with .sframe: 0 "
                              "errors, 0 warnings, 0 notes\n") == 0,
              "%s", run.out);
    run_free(&run);
    run = run_line("cd '%s' && printf '!<arch>\\nx' >empty.a && '%s' check empty.a", folder,
                   SFB_TOOL);
    cr_expect(eq(int, run.status, 2), "%s", run.out);
    run_free(&run);
}

/* Of a finding about an entry, which has no pc in its text. */
Test(check_command, names_the_function_in_each_line)
{
    static struct file f;
    struct run run;

    file_make(&f, &(struct file_plan){ .version = 1, .abi = SFB_ABI_AMD64_LE });
    file_set(&f, FILE_SFRAME_AT + f.fde[1] + 16, 1, 0x0f);
    write_file("bad", &f);
    run = run_line(
        "cd '%s' && '%s' check --only SF0211 bad; '%s' check --only SF0211 --format=github bad",
        folder, SFB_TOOL, SFB_TOOL);
    cr_expect(
        strstr(run.out, "FDE 1: SF0211 error: unknown size of row starts: type 15, in g+0x0\n") !=
            NULL,
        "%s", run.out);
    cr_expect(strstr(run.out, "::FDE 1: type 15, in g+0x0\n") != NULL, "%s", run.out);
    run_free(&run);
}

Test(check_command, limits_what_it_prints_and_counts_the_rest)
{
    struct run all =
        run_line("'%s' check --max-errors 0 '%s/aarch64/prog_pac_bkey'", SFB_TOOL, FIXTURES);
    struct run some =
        run_line("'%s' check --max-errors 2 '%s/aarch64/prog_pac_bkey'", SFB_TOOL, FIXTURES);

    cr_expect(eq(sz, run_count_lines(all.out), 7 + 4 + 1), "%s", all.out);
    cr_expect(ne(ptr, strstr(some.out, "4 more of SF0505 note"), NULL), "%s", some.out);
    cr_expect(ne(ptr, strstr(some.out, "0 errors, 0 warnings, 7 notes"), NULL), "%s", some.out);
    run_free(&some);
    run_free(&all);
}

Test(check_command, extracts_a_function)
{
    struct run run = run_line("'%s' check --extract 2 '%s/amd64/prog_sig'", SFB_TOOL, FIXTURES);
    static const char *const lines[] = {
        "FDE 2: [0x1070, 0x10ef), 3 rows, info 0x00; SFrame version 1, ABI 3\n",
        "  .sframe+0x3e: 18 ef ff ff 7f 00 00 00 12 00 00 00 03 00 00 00 00\n",
        "  FRE 1 .sframe+0xa8: 07 23 c0 00\n    0x1077 (+0x7): CFA = sp+192, RA at CFA-8",
        ".eh_frame+0xe0: [0x1070, 0x10ef)\n",
        "  0x10ee (+0x7e): CFA = sp+8, RA at CFA-8, FP unchanged\n",
        "code, 127 bytes:\n",
        "  0x1070: 48 81 ec b8 00 00 00",
    };

    cr_expect(eq(int, run.status, 0), "%s", run.err);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(ne(ptr, strstr(run.out, lines[i]), NULL), "%s", lines[i]);
    run_free(&run);
}

/* toolchain/docs/CHECKS.md holds what --explain table prints, word by word. */
Test(check_command, explains_what_the_documentation_says)
{
    struct run codes = run_line("'%s' check --explain table", SFB_TOOL);
    struct run page = run_line("cat '%s/toolchain/docs/CHECKS.md'", SFB_SOURCE_DIR);
    char *start = strstr(page.out, "<!-- begin codes -->\n");
    char *end = start ? strstr(start, "<!-- end codes -->\n") : NULL;

    cr_assert(start != NULL && end != NULL);
    *end = '\0';
    run_expect_text("toolchain/docs/CHECKS.md", start + strlen("<!-- begin codes -->\n"),
                    codes.out);
    run_free(&page);
    run_free(&codes);
}

/* Copies by sfb synth have no errors or warnings, and equal .eh_frame. */
Test(check_command, finds_nothing_in_what_synth_makes)
{
    struct run list = run_line("ls /usr/bin/* | head -n 4000");
    size_t count = 0;

    for (char *path = strtok(list.out, "\n"); path && count < 24; path = strtok(NULL, "\n")) {
        struct run run = run_line("cd '%s' && '%s' synth '%s' -o copy", folder, SFB_TOOL, path);

        if (run.status == 0) {
            run_free(&run);
            run = run_line("cd '%s' && '%s' check copy", folder, SFB_TOOL);
            cr_expect(eq(int, run.status, 0), "%s: %s", path, run.out);
            cr_expect(ne(ptr, strstr(run.out, "of these equal 100.00 %"), NULL), "%s: %s", path,
                      run.out);
            cr_expect(strstr(run.out, "of these equal 9") == NULL, "%s: %s", path, run.out);
            count++;
        }
        run_free(&run);
    }
    if (count == 0)
        cr_skip_test("no program in /usr/bin of which sfb synth makes a copy");
    run_free(&list);
}

/* Behind an inexpressible row in the middle the same symbol has another entry. */
Test(check_command, takes_a_function_in_pieces_for_one)
{
#ifdef __x86_64__
    struct run run =
        run_line("cd '%s' && printf '.globl f\\n.type f, @function\\nf: .cfi_startproc\\nnop\\n"
                 ".cfi_def_cfa rcx, 8\\nnop\\n.cfi_def_cfa rsp, 8\\nret\\n.cfi_endproc\\n"
                 ".size f, . - f\\n' >f.s && '%sgcc' -shared -nostdlib f.s -o f.so && '%s' synth "
                 "f.so -o copy && "
                 "'%s' check copy",
                 folder, SFB_TOOL_PREFIX, SFB_TOOL, SFB_TOOL);

    cr_expect(eq(int, run.status, 0), "%s%s", run.out, run.err);
    cr_expect(strstr(run.out, "SF0507 note") && !strstr(run.out, "SF0402"), "%s", run.out);
    run_free(&run);
#else
    cr_skip_test("the function is x86-64's");
#endif
}

/* AArch64: the linkage table pushes RA for glibc's resolver, so RA is above the CFA. */
Test(check_command, believes_a_return_address_above_the_cfa_that_eh_frame_has)
{
    struct run run =
        run_line("cd '%s' && printf '.globl f\\n.type f, %%%%function\\nf: "
                 ".cfi_startproc\\n.cfi_offset 30, 8\\n"
                 "nop\\nldp x9, x30, [sp], 16\\n.cfi_restore 30\\n.cfi_def_cfa_offset "
                 "0\\nret\\n.cfi_endproc\\n"
                 ".size f, . - f\\n' >f.s && aarch64-linux-gnu-gcc -shared -nostdlib f.s -o f.so",
                 folder);

    if (run.status != 0)
        cr_skip_test("no compiler for AArch64: %s", run.err);
    run_free(&run);
    run = run_line(
        "cd '%s' && '%s' synth f.so -o copy >out && '%s' check copy && '%s' check --no-cfi "
        "copy",
        folder, SFB_TOOL, SFB_TOOL, SFB_TOOL);
    cr_expect(eq(int, run.status, 1), "%s%s", run.out, run.err);
    cr_expect(strstr(run.out, "0 errors, 0 warnings, 0 notes\ncopy: .sframe+0x") != NULL, "%s",
              run.out);
    cr_expect(strstr(run.out, "SF0309 warning: a register saved where nothing can be saved: RA at "
                              "CFA+8, in f+0x0\n") != NULL,
              "%s", run.out);
    run_free(&run);
}

/*
 * .cfi_sections .sframe beside start files with .eh_frame: one note covers all functions, and the
 * code shows whether their rows are right. A function with a wrong start is still reported.
 */
Test(check_command, names_the_cause_of_functions_without_eh_frame)
{
#ifdef __x86_64__
    struct run run =
        run_line("cd '%s' && printf '.cfi_sections .sframe\\n.globl main\\n.type main, "
                 "@function\\nmain: .cfi_startproc\\n"
                 "push %%%%rbx\\n.cfi_adjust_cfa_offset 8\\ncall f\\npop "
                 "%%%%rbx\\n.cfi_adjust_cfa_offset -8\\nret\\n"
                 ".cfi_endproc\\n.size main, . - main\\n.type f, @function\\nf: "
                 ".cfi_startproc\\nret\\n.cfi_endproc\\n"
                 ".size f, . - f\\n' >alone.s && '%sgcc' -Wa,--gsframe alone.s -o alone",
                 folder, SFB_TOOL_PREFIX);

    if (run.status != 0)
        cr_skip_test("no assembler with --gsframe: %s", run.err);
    run_free(&run);
    run = run_line("cd '%s' && '%s' check --max-errors 0 alone", folder, SFB_TOOL);
    cr_expect(
        strstr(run.out, "SF0705 note: functions that .eh_frame does not have: 2 functions of ") !=
            NULL,
        "%s", run.out);
    cr_expect(strstr(run.out, "explained: 2 of SF0508 warning") != NULL, "%s", run.out);
    cr_expect(strstr(run.out, "SF0508 warning: code that only .sframe describes: at") == NULL, "%s",
              run.out);
    run_free(&run);
#else
    cr_skip_test("the functions are x86-64's");
#endif
}

/* LLVM does not align frames of leaf functions, as in librustc_driver.so. */
Test(check_command, believes_an_unaligned_frame_that_eh_frame_has)
{
#ifdef __x86_64__
    struct run run = run_line(
        "cd '%s' && printf '.globl f\\n.type f, @function\\nf: .cfi_startproc\\nsub $0x8e, "
        "%%%%rsp\\n"
        ".cfi_def_cfa_offset 0x96\\nnop\\nadd $0x8e, %%%%rsp\\n.cfi_def_cfa_offset 8\\nret\\n"
        ".cfi_endproc\\n.size f, . - f\\n' >f.s && '%sgcc' -shared -nostdlib f.s -o f.so && "
        "'%s' synth f.so -o copy && '%s' check copy && '%s' check --no-cfi copy",
        folder, SFB_TOOL_PREFIX, SFB_TOOL, SFB_TOOL, SFB_TOOL);

    cr_expect(eq(int, run.status, 1), "%s%s", run.out, run.err);
    cr_expect(strstr(run.out, "0 errors, 0 warnings, 0 notes\ncopy: .sframe+0x") != NULL, "%s",
              run.out);
    cr_expect(strstr(run.out,
                     "SF0308 warning: a CFA that is not aligned: CFA = sp+150, in f+0x7\n") != NULL,
              "%s", run.out);
    run_free(&run);
#else
    cr_skip_test("the function is x86-64's");
#endif
}
