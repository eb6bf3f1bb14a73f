/* `sfb diff`: differences of two sections, by symbol. */
#include <string.h>

#include "toolchain/tests/check/folder.h"

#define FIXTURES SFB_SOURCE_DIR "/fixtures/elf"

TestSuite(check_diff, .init = make_folder, .fini = remove_folder);

static void expect_diff(const char *arguments, int status, const char *text)
{
    struct run run = run_line("cd '%s' && '%s' diff %s 2>&1", folder, SFB_TOOL, arguments);

    cr_expect(eq(int, run.status, status), "%s: %s", arguments, run.out);
    run_expect_text(arguments, run.out, text);
    run_free(&run);
}

/* Versions and addresses differ, the rules do not. */
Test(check_diff, finds_the_same_in_two_versions)
{
    static const char *const names[] = { NULL, "v1", "v2", "v3" };
    static struct file f;

    for (unsigned version = 1; version <= 3; version++) {
        file_make(&f, &(struct file_plan){ .version = version, .abi = SFB_ABI_AMD64_LE });
        write_file(names[version], &f);
    }
    expect_diff("v1 v1", 0,
                "functions: 3 in A, 3 in B: 3 the same, 0 differ, 0 only in A, 0 only in B\n"
                "rows that change something: 6 in A, 6 in B; .sframe: version 1, 98 bytes; version "
                "1, 98 bytes\n");
    expect_diff("v1 v2 | head -n 1", 0,
                "functions: 3 in A, 3 in B: 3 the same, 0 differ, 0 only in A, 0 only in B\n");
    expect_diff("v2 v3 | head -n 1", 0,
                "functions: 3 in A, 3 in B: 3 the same, 0 differ, 0 only in A, 0 only in B\n");
}

Test(check_diff, names_what_differs)
{
    static struct file f;
    struct file_plan plan = { .version = 1, .abi = SFB_ABI_AMD64_LE };

    file_make(&f, &plan);
    write_file("good", &f);
    file_set(&f, FILE_SFRAME_AT + f.row[1][0] + 2, 1, 0x20); /* the CFA of g */
    file_set(&f, FILE_SFRAME_AT + f.fde[2] + 4, 4, 0x10);    /* .plt has one entry */
    write_file("other", &f);
    plan.skip = 1;
    file_make(&f, &plan);
    write_file("lost", &f);
    expect_diff("good other", 1,
                ".plt+0x0: A: 32 bytes; B: 16\n"
                "g+0x0: A: CFA = sp+8, RA at CFA-8, FP unchanged; B: CFA = sp+32, RA at CFA-8, FP "
                "unchanged\n"
                "functions: 3 in A, 3 in B: 1 the same, 2 differ, 0 only in A, 0 only in B\n"
                "rows that change something: 6 in A, 6 in B; .sframe: version 1, 98 bytes; version "
                "1, 98 bytes\n");
    expect_diff("good lost | head -n 2", 0,
                "g: only in A: 32 bytes, 1 row\n"
                "functions: 3 in A, 2 in B: 2 the same, 0 differ, 1 only in A, 0 only in B\n");
    expect_diff("--max 1 lost other | head -n 3", 0,
                ".plt+0x0: A: 32 bytes; B: 16\n"
                "1 more function\n"
                "functions: 2 in A, 3 in B: 1 the same, 1 differ, 0 only in A, 1 only in B\n");
}

/* Flag 0x4 on section-relative starts: sfb check reads on without the flag. */
Test(check_diff, takes_files_as_they_are)
{
    enum { SFRAME_FLAGS = 0x2158 + 3 };
    struct run run = run_line("cd '%s' && cp '" FIXTURES
                              "/v2/amd64/prog_sig' other && chmod u+w other && printf '\005' | dd "
                              "of=other bs=1 seek=%d conv=notrunc status=none && '%s' check other "
                              "| grep -c SF0701; '%s' diff "
                              "'" FIXTURES "/v2/amd64/prog_sig' other | tail -n 2",
                              folder, SFRAME_FLAGS, SFB_TOOL, SFB_TOOL);

    cr_expect(strncmp(run.out, "1\n", 2) == 0, "%s", run.out);
    cr_expect(strstr(run.out, "8 in A, 8 in B: 0 the same, 1 differ, 7 only in A, 7 only in B\n") !=
                  NULL,
              "%s", run.out);
    run_free(&run);
}

Test(check_diff, compares_real_files)
{
    struct run run = run_line("'%s' diff '%s/v2/amd64/free.o' '%s/v3/amd64/free.o'", SFB_TOOL,
                              FIXTURES, FIXTURES);

    cr_expect(eq(int, run.status, 1));
    cr_expect(strstr(run.out, "_start+0x0: A: CFA = sp+8, RA at CFA-8, FP unchanged; B: RA "
                              "undefined (no caller)\n"
                              "functions: 7 in A, 7 in B: 6 the same, 1 differ") != NULL,
              "%s", run.out);
    run_free(&run);
}

Test(check_diff, refuses_what_it_cannot_compare)
{
    static const struct {
        const char *arguments;
        const char *says;
    } cases[] = {
        { "good", "two files are compared" },
        { "good good good", "two files are compared" },
        { "good /nowhere", "/nowhere: No such file" },
        { "/dev/null good", "not an ELF file" },
        { "none good", "none: no .sframe that can be read" },
        { "--max x good good", "'x' is no number" },
    };
    static struct file f;
    struct run run;

    file_make(&f, &(struct file_plan){ .version = 1, .abi = SFB_ABI_AMD64_LE });
    write_file("good", &f);
    file_set(&f, FILE_SFRAME_AT, 1, 0);
    write_file("none", &f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run = run_line("cd '%s' && '%s' diff %s", folder, SFB_TOOL, cases[i].arguments);
        cr_expect(eq(int, run.status, 2), "%s", cases[i].arguments);
        cr_expect(strstr(run.err, cases[i].says) != NULL, "%s: %s", cases[i].arguments, run.err);
        run_free(&run);
    }
}
