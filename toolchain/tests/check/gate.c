/* `sfb check` as the gate of a build: what fails it, what does not, and known faults. */
#include <string.h>

#include "toolchain/tests/check/folder.h"

#define FIXTURES SFB_SOURCE_DIR "/fixtures/elf"

TestSuite(check_gate, .init = make_folder, .fini = remove_folder);

/* Arguments of `sfb check`, its exit status and a piece of its output. */
struct gate_case {
    const char *arguments;
    int status;
    const char *says;       /* NULL: anything */
    const char *never_says; /* NULL: nothing */
};

static void try_cases(const struct gate_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct gate_case *t = &cases[i];
        struct run run = run_line("cd '%s' && '%s' check %s 2>&1", folder, SFB_TOOL, t->arguments);

        cr_expect(eq(int, run.status, t->status), "%s: %s", t->arguments, run.out);
        cr_expect(t->says == NULL || strstr(run.out, t->says), "%s: no '%s': %s", t->arguments,
                  t->says, run.out);
        cr_expect(t->never_says == NULL || !strstr(run.out, t->never_says), "%s: %s", t->arguments,
                  run.out);
        run_free(&run);
    }
}

#define TRY(cases) try_cases(cases, sizeof(cases) / sizeof *(cases))

Test(check_gate, asks_for_a_section)
{
    static const struct gate_case cases[] = {
        { "none", 0, "none: no .sframe\n", "SF0601" },
        { "--require none", 1, "none: +0x0: SF0601 error: no .sframe, and --require asks for one",
          NULL },
        { "--require --only SF0501 none", 1, "SF0601", NULL },
        { "--require --ignore SF0601 none", 0, "1 ignored by their codes", "SF0601" },
        { "--require data.o", 0, "data.o: no .sframe\n", "SF0601" },
        { "--require " FIXTURES "/v1/amd64/prog_sig", 0, NULL, "SF0601" },
    };
    struct run run = run_line("cd '%s' && printf 'int x = 1;' >data.c && '%sgcc' -c data.c && "
                              "'%sgcc' -Wa,--gsframe -x c -c -o none.o - </dev/null; printf 'int f"
                              "(void) { return 1; }' >none.c && '%sgcc' -c none.c -o none",
                              folder, SFB_TOOL_PREFIX, SFB_TOOL_PREFIX, SFB_TOOL_PREFIX);

    cr_assert(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
    TRY(cases);
}

/* A linker that drops a table leaves functions without rows, which no level calls an error. */
Test(check_gate, measures_what_is_covered)
{
    static const struct gate_case cases[] = {
        { "lost", 1,
          "lost: +0x0: SF0516 warning: functions without rows are 1 % of the code or more: 1 "
          "function, 32 bytes of 112",
          "SF0602" },
        { "--note SF0516 lost", 0, "SF0505 note", NULL },
        { "--min-coverage functions=60 --note SF0516 lost", 0, NULL, "SF0602" },
        { "--min-coverage functions=100 lost", 1,
          "lost: +0x0: SF0602 error: less code has rows than --min-coverage asks for: functions: 2 "
          "of 3, and 100.00 % are asked for",
          NULL },
        { "--min-coverage bytes=71.5 lost", 1, "bytes: 80 of 112, and 71.50 %", NULL },
        { "--min-coverage bytes=71.4 --note SF0516 lost", 0, NULL, "SF0602" },
        { "--note SF0516 bare", 0,
          "SF0418 note: a symbol's code without a row: at 0x1040 (g+0x0): 32 bytes of 32",
          "SF0505" },
        { "--min-coverage functions=60 bare", 1, "functions: 1 of 2, and 60.00 %", NULL },
        { "bare", 1, "SF0516 warning", "SF0505" },
        { "--min-coverage bytes=60 --ignore SF0516 bare", 0, NULL, "SF0602" },
        { "--error SF0418 bare", 1, "SF0418 error", NULL },
        { "--min-coverage bytes=1 nothing", 1, "nothing says what functions there are", NULL },
        { "--min-coverage functions=100 --min-coverage bytes=100 all", 0, NULL, "SF06" },
        { "--min-coverage functions=101 all", 2, "'functions=101' is no coverage", NULL },
        { "--min-coverage rows=1 all", 2, "'rows=1' is no coverage", NULL },
    };
    static struct file f;
    struct file_plan plan = { .version = 1, .abi = SFB_ABI_AMD64_LE };

    file_make(&f, &plan);
    write_file("all", &f);
    plan.skip = 1;
    file_make(&f, &plan);
    write_file("lost", &f);
    plan.without_eh_frame = true;
    file_make(&f, &plan);
    write_file("bare", &f);
    plan.without_symbols = true;
    file_make(&f, &plan);
    write_file("nothing", &f);
    TRY(cases);
}

Test(check_gate, weighs_codes_as_it_is_told)
{
    static const struct gate_case cases[] = {
        { "bad", 1, "2 errors, 0 warnings, 0 notes", NULL },
        { "--only SF0312 bad", 1, "1 error, 0 warnings, 0 notes", "SF0501" },
        { "--only SF03 bad", 1, "1 error, 0 warnings, 0 notes", "SF0501" },
        { "--ignore sf0312,SF05 bad", 0, "bad: 2 ignored by their codes\n", "SF0501" },
        { "--note SF0312 bad", 1, "SF0312 note: a row after", "SF0312 error" },
        { "--note SF0312,SF0501 bad", 0, "0 errors, 0 warnings, 2 notes", NULL },
        { "--warning SF bad", 1, "0 errors, 2 warnings, 0 notes", NULL },
        { "--error SF0505 " FIXTURES "/v1/amd64/prog_sig", 1, "SF0505 error", NULL },
        { "--format=json --note SF0312 bad", 1, "\"code\": \"SF0312\", \"severity\": \"note\"",
          NULL },
        { "--ignore SF0312,SF9 bad", 2, "'SF9' is no code, nor the beginning of one", NULL },
        { "--only '' bad", 2, "is no code", NULL },
    };

    write_bad("bad", false);
    TRY(cases);
}

/* Each reader with a section of each version; and what it refuses beside the version. */
Test(check_gate, asks_whether_a_reader_takes_it)
{
    static const struct gate_case cases[] = {
        { "--reader glibc-2.43 " FIXTURES "/v1/amd64/free_pie", 1,
          "glibc-2.43 does not read version 1", "SF0606" },
        { "--reader glibc-2.43 --only SF06 " FIXTURES "/v2/amd64/free_pie", 0, "SF0606 note",
          "SF0605" },
        { "--reader glibc-2.43 --only SF06 " FIXTURES "/v3/amd64/free_pie", 1,
          "does not read version 3", "SF0606" },
        { "--reader glibc-2.43 --only SF06 " FIXTURES "/v2/amd64/unmerged.so", 1,
          "glibc-2.43 finds the section by PT_GNU_SFRAME", "SF0606" },
        { "--reader libsframe-2.47 --only SF06 " FIXTURES "/v2/amd64/free_pie", 1,
          "libsframe-2.47 takes starts for field-relative", "SF0606" },
        { "--reader libsframe-2.47 --only SF06 " FIXTURES "/v3/amd64/free_pie", 0, "SF0606 note",
          "SF0605" },
        { "--reader linux-unwind-user --only SF06 " SFB_SOURCE_DIR
          "/fixtures/check/saved_in_xmm.so",
          1, "linux-unwind-user refuses flexible rows", "SF0606" },
        { "--reader linux-unwind-user --raw " SFB_SOURCE_DIR
          "/fixtures/sframe/v3/amd64/edge.so.sframe.bin",
          1, "linux-unwind-user refuses rows that do not ascend", "SF0606" },
        /* The cause of a fault is no reading of a reader's. */
        { "--reader glibc-2.43 --only SF06 pcrel", 1,
          "glibc-2.43 reads the section as it stands, with the fault SF0701", "SF0606" },
        { "--reader glibc-2.43 --only SF06 flag", 1,
          "glibc-2.43 refuses flags 0x11: it does not know 0x10", "SF0606" },
        { "--reader glibc-2.40 x", 2, "'glibc-2.40' is no reader: glibc-2.42, ", NULL },
    };
    struct run run;

    run = run_line("cd '%s' && for f in pcrel:005 flag:021; do cp '" FIXTURES
                   "/v2/amd64/prog_sig' ${f%%:*} && chmod u+w ${f%%:*} && printf \"\\\\${f#*:}\" | "
                   "dd of=${f%%:*} bs=1 seek=$((0x$(readelf -SW ${f%%:*} | sed -nE 's/.* "
                   "\\.sframe +[^ ]+ +[0-9a-f]+ +([0-9a-f]+).*/\\1/p') + 3)) conv=notrunc "
                   "status=none; done",
                   folder);
    cr_assert(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
    TRY(cases);
}

Test(check_gate, lets_known_faults_pass)
{
    static const struct gate_case cases[] = {
        { FIXTURES "/v2/amd64/prog_sig", 1,
          "[known: GNU ld 2.44 to 2.47: `.plt.got` is described with sp+16", NULL },
        { "--allow-known " FIXTURES "/v2/amd64/prog_sig", 0,
          "nothing but known faults of GNU ld 2.44 to 2.47: `.plt.got` is described with sp+16",
          NULL },
        { "--allow-known --json " FIXTURES "/v3/amd64/prog_sig", 0, "\"verdict\": \"known\"",
          NULL },
        { "--allow-known " FIXTURES "/v1/amd64/free_pie " FIXTURES "/v2/amd64/free_pie", 0,
          "nothing but known faults of GNU as 2.40 to 2.44: `.cfi_undefined`", NULL },
        /* --allow-known passes no fault of gold. */
        { "--allow-known " FIXTURES "/v2/amd64/unmerged.so", 1, "SF0509", "nothing but known" },
        { "--allow-known bad", 1, "made by GNU binutils 2.40, or sfb synth", "nothing but known" },
        { "--allow-known worse", 1, "[known: GNU ld 2.44", "nothing but known" },
    };
    struct run run;

    write_bad("bad", false);
    /* The CFA of a row of FDE 3 is changed: a new fault beside the known one. */
    run = run_line("cd '%s' && cp '" FIXTURES "/v2/amd64/prog_sig' worse && chmod u+w worse && "
                   "printf '\\020' | dd of=worse bs=1 seek=%d conv=notrunc status=none",
                   folder, 0x222f);
    cr_assert(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
    TRY(cases);
}

/* Linkage tables that this linker describes wrongly, without .eh_frame: the code shows it. */
Test(check_gate, lets_known_faults_pass_that_the_code_shows)
{
#ifdef __x86_64__
    static const char *const files[][2] = { { "ld-plt-got", "-z lazy" },
                                            { "ld-ibtplt", "-z lazy -z ibtplt" } };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct run run = run_line(
            "cd '%s' && %sas --gsframe '" SFB_SOURCE_DIR
            "/toolchain/tests/check/reproducers/%s.s' -o plt.o && %sld -shared %s plt.o "
            "-o plt.so && %sobjcopy -R .eh_frame plt.so plt",
            folder, SFB_TOOL_PREFIX, files[i][0], SFB_TOOL_PREFIX, files[i][1], SFB_TOOL_PREFIX);

        if (run.status != 0)
            cr_skip_test("no assembler with --gsframe: %s", run.err);
        run_free(&run);
        run = run_line("cd '%s' && '%s' check --allow-known plt", folder, SFB_TOOL);
        cr_expect(eq(int, run.status, 0), "%s: %s", files[i][0], run.out);
        run_free(&run);
    }
#else
    cr_skip_test("the linkage tables are x86-64's");
#endif
}

Test(check_gate, passes_over_a_baseline)
{
    static const struct gate_case cases[] = {
        { "bad", 1, "2 errors", NULL },
        { "--write-baseline known bad lib.a", 0, "4 errors", NULL },
        { "--baseline known bad lib.a", 0, "bad: 2 in the baseline\n", "SF0312" },
        { "-j 2 --write-baseline parallel bad lib.a", 0, "4 errors", NULL },
        { "-j 2 --baseline parallel bad lib.a", 0, "lib.a(bad.o): 2 in the baseline\n", "SF0312" },
        /* Another build: the same file in another folder. Another file has faults of its own. */
        { "--baseline known elsewhere/bad", 0, "elsewhere/bad: 2 in the baseline\n", NULL },
        { "--baseline known bad other", 1, "other: .sframe+0x56: FDE 0 FRE 2: SF0312 error",
          "bad: .sframe+" },
        { "--baseline known --write-baseline known bad other", 0, NULL, NULL },
        { "--baseline known bad other", 0, "other: 2 in the baseline\n", NULL },
        { "--baseline /nowhere bad", 2, "/nowhere: No such file", NULL },
        { "--baseline bad bad", 2, "bad: line 1: no fingerprint at its beginning", NULL },
        { "--write-baseline /nowhere/at/all bad", 2, "/nowhere/at/all: No such file", NULL },
    };
    /* One line, even with NUL bytes in it. */
    static const struct gate_case odd[] = {
        { "--baseline nul bad", 1, "2 errors", NULL },
    };
    struct run run;

    write_bad("bad", false);
    write_bad("other", false);
    write_bad("bad.o", true);
    run = run_line("cd '%s' && ar rc lib.a bad.o && mkdir elsewhere && cp bad elsewhere", folder);
    run_free(&run);
    TRY(cases);
    run = run_line("cd '%s' && for i in $(seq 3000); do printf '0x1 \\000'; done >nul", folder);
    run_free(&run);
    TRY(odd);
    run = run_line("cd '%s' && diff known parallel; head -n 2 parallel", folder);
    cr_expect(strstr(run.out, "# sfb check: baseline 1\n0x") != NULL, "%s", run.out);
    cr_expect(strstr(run.out, " SF0312 bad: row starts at 0x40") != NULL, "%s", run.out);
    run_free(&run);
}
