/* Machine formats of `sfb check`: JSON, SARIF, GitHub's annotations; many files, many findings. */
#include <jansson.h>
#include <string.h>
#include <sys/resource.h>

#include "support/json_schema.h"
#include "toolchain/tests/check/folder.h"

#define FIXTURES SFB_SOURCE_DIR "/fixtures/elf"

TestSuite(check_formats, .init = make_folder, .fini = remove_folder);

static json_t *parse(const struct run *run)
{
    json_error_t error;
    json_t *root = json_loadb(run->out, run->out_size, JSON_DISABLE_EOF_CHECK, &error);

    cr_assert(ne(ptr, root, NULL), "%s: %s", error.text, run->out);
    return root;
}

/* Every JSON object of these tests is validated by the installed schema. */
static json_t *parse_json(const struct run *run)
{
    json_t *root = parse(run), *schema;
    json_error_t error;
    char why[640];

    schema = json_load_file(SFB_SOURCE_DIR "/toolchain/docs/check.schema.json", 0, &error);
    cr_assert(schema != NULL, "%s", error.text);
    cr_expect(json_keeps_to(schema, root, why, sizeof why), "%s", why);
    json_decref(schema);
    return root;
}

/* The value at a path such as "files/0/name". */
static const json_t *at(const json_t *root, const char *path)
{
    char copy[128], *rest = copy;

    snprintf(copy, sizeof copy, "%s", path);
    for (const char *step; root && (step = strsep(&rest, "/")) != NULL;)
        root = json_is_array(root) ? json_array_get(root, strtoul(step, NULL, 10))
                                   : json_object_get(root, step);
    return root;
}

static void expect_text(const json_t *root, const char *path, const char *want)
{
    const char *got = json_string_value(at(root, path));

    cr_expect(got != NULL && strcmp(got, want) == 0, "%s: %s", path, got ? got : "none");
}

static void expect_number(const json_t *root, const char *path, json_int_t want)
{
    cr_expect(json_integer_value(at(root, path)) == want && json_is_integer(at(root, path)), "%s",
              path);
}

Test(check_formats, writes_json)
{
    struct run run;
    json_t *root;

    write_bad("bad", false);
    run = run_line("cd '%s' && '%s' check --json bad /dev/null /nowhere/at/all", folder, SFB_TOOL);
    cr_expect(eq(int, run.status, 2));
    root = parse_json(&run);
    expect_text(root, "files/0/findings/0/code", "SF0312");
    expect_text(root, "files/0/findings/0/severity", "error");
    expect_number(root, "files/0/findings/0/offset", 0x56);
    expect_number(root, "files/0/findings/0/file_offset", FILE_SFRAME_AT + 0x56);
    expect_number(root, "files/0/findings/0/fde", 0);
    expect_number(root, "files/0/findings/0/fre", 2);
    expect_text(root, "files/0/findings/0/pc", "0x1000");
    expect_text(root, "files/0/findings/0/symbol/name", "f");
    expect_number(root, "files/0/findings/0/symbol/offset", 0);
    expect_text(root, "files/0/findings/0/section/name", ".text");
    expect_text(root, "files/0/findings/1/code", "SF0501");
    expect_number(root, "files/0/comparison/functions/all", 3);
    expect_text(root, "files/1/unreadable/cause", "not an ELF file (--raw: a bare section)");
    expect_text(root, "files/2/name", "/nowhere/at/all");
    expect_text(root, "files/2/unreadable/cause", "No such file or directory");
    expect_number(root, "unreadable", 2);
    json_decref(root);
    run_free(&run);
}

/* The required properties of SARIF 2.1.0, and the ones that viewers need. */
Test(check_formats, writes_sarif)
{
    char rule[64];
    struct run run;
    json_t *root;

    write_bad("a file", false);
    run = run_line("cd '%s' && '%s' check --sarif 'a file' /nowhere/at/all", folder, SFB_TOOL);
    cr_expect(eq(int, run.status, 2));
    root = parse(&run);
    expect_text(root, "version", "2.1.0");
    expect_text(root, "runs/0/tool/driver/name", "sfb check");
    expect_text(root, "runs/0/results/0/ruleId", "SF0312");
    expect_text(root, "runs/0/results/0/level", "error");
    snprintf(rule, sizeof rule, "runs/0/tool/driver/rules/%d/id",
             (int)json_integer_value(at(root, "runs/0/results/0/ruleIndex")));
    expect_text(root, rule, "SF0312");
    cr_expect(json_string_value(at(root, "runs/0/results/0/message/text")) != NULL);
    expect_text(root, "runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri",
                "a%20file");
    expect_number(root, "runs/0/results/0/locations/0/physicalLocation/region/byteOffset",
                  FILE_SFRAME_AT + 0x56);
    expect_number(root, "runs/0/results/0/locations/0/physicalLocation/region/startLine", 1);
    cr_expect(json_object_get(at(root, "runs/0/results/0/partialFingerprints"), "sfbCheck/v1") !=
              NULL);
    cr_expect(strncmp(json_string_value(at(root, "runs/0/tool/driver/rules/0/helpUri")), "https://",
                      8) == 0);
    expect_text(root, "runs/0/invocations/0/toolExecutionNotifications/0/message/text",
                "/nowhere/at/all: No such file or directory");
    expect_text(root,
                "runs/0/invocations/0/toolExecutionNotifications/0/locations/0/physicalLocation/"
                "artifactLocation/uri",
                "file:///nowhere/at/all");
    json_decref(root);
    run_free(&run);
}

/* Rules are fields, and a symbol of any length is whole. */
Test(check_formats, write_both_rules)
{
    struct run run =
        run_line("'%s' check --format=json '%s/v1/amd64/free_pie'", SFB_TOOL, FIXTURES);
    json_t *root = parse_json(&run);
    size_t i, found = 0;
    json_t *one;

    json_array_foreach(at(root, "files/0/findings"), i, one)
    {
        const char *ours = json_string_value(at(one, "rules/sframe"));

        if (!ours || strcmp(json_string_value(json_object_get(one, "code")), "SF0509") != 0)
            continue;
        found++;
        cr_expect(strcmp(ours, "CFA = sp+8, RA at CFA-8, FP unchanged") == 0, "%s", ours);
        expect_text(one, "rules/eh_frame", "RA undefined (no caller)");
        expect_text(one, "symbol/name", "_start");
    }
    cr_expect(lt(sz, 0, found), "%s", run.out);
    json_decref(root);
    run_free(&run);
}

/* An object file has no addresses: a place in it is a section and an offset. */
Test(check_formats, name_places_of_object_files_by_section)
{
    struct run run;
    json_t *root;

    write_bad("bad.o", true);
    run = run_line("cd '%s' && '%s' check --json bad.o", folder, SFB_TOOL);
    root = parse_json(&run);
    expect_text(root, "files/0/findings/0/code", "SF0312");
    expect_text(root, "files/0/findings/0/section/name", ".text");
    expect_text(root, "files/0/findings/0/symbol/name", "f");
    cr_expect(at(root, "files/0/findings/0/pc") == NULL);
    cr_expect(strstr(run.out, "at .text+0x") != NULL, "%s", run.out);
    json_decref(root);
    run_free(&run);
}

/* A fingerprint does not depend on the folder. */
Test(check_formats, give_fingerprints_that_stay)
{
    struct run a, b;
    json_t *x, *y;

    write_bad("bad", false);
    a = run_line("cd '%s' && '%s' check --json bad", folder, SFB_TOOL);
    b = run_line("cd / && '%s' check --json '%s/bad'", SFB_TOOL, folder);
    x = parse_json(&a);
    y = parse_json(&b);
    cr_expect(json_equal(at(x, "files/0/findings/0/fingerprint"),
                         at(y, "files/0/findings/0/fingerprint")));
    cr_expect(json_equal(at(x, "files/0/findings/0/fingerprint"),
                         at(x, "files/0/findings/1/fingerprint")) == 0);
    json_decref(x);
    json_decref(y);
    run_free(&a);
    run_free(&b);
}

Test(check_formats, write_annotations)
{
    struct run run;

    write_bad("a,b:c%", false);
    run = run_line("cd '%s' && '%s' check --no-cfi --format=github 'a,b:c%%' /nowhere/at/all",
                   folder, SFB_TOOL);
    cr_expect(eq(int, run.status, 2));
    run_expect_text("annotations", run.out,
                    "::error file=a%2Cb%3Ac%25,title=SF0312 a row after the function's end::FDE 0 "
                    "FRE 2: row starts at 0x40, after the function's end (size 0x30), in f+0x0\n"
                    "a,b:c%: made by GNU binutils 2.40, or sfb synth, by the looks of it\n"
                    "::error file=/nowhere/at/all,title=it cannot be read::/nowhere/at/all: No "
                    "such file or directory\n"
                    "2 files, 1 with .sframe: 1 error, 0 warnings, 0 notes; 1 unreadable\n");
    run_free(&run);
}

/* Output and exit status do not depend on the number of processes. */
Test(check_formats, keep_the_order_of_the_files)
{
    static const char *const formats[] = { "text", "json", "sarif", "github" };

    write_bad("bad", false);
    write_bad("bad.o", true);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct run runs[2];

        for (unsigned k = 0; k < 2; k++)
            runs[k] = run_line(
                "cd '%s' && ar rc lib.a bad.o && '%s' check -j %u --format=%s lib.a bad /dev/null "
                "'" FIXTURES "/v1/amd64/prog_sig' /nowhere bad '" FIXTURES
                "/v2/amd64/free_pie' bad bad lib.a bad bad bad bad bad bad bad bad bad",
                folder, SFB_TOOL, k == 0 ? 1 : 3, formats[i]);
        cr_expect(eq(int, runs[0].status, 2));
        cr_expect(eq(int, runs[1].status, 2));
        run_expect_text(formats[i], runs[1].out, runs[0].out);
        run_expect_text("complaints", runs[1].err, runs[0].err);
        if (strcmp(formats[i], "json") == 0)
            json_decref(parse_json(&runs[1]));
        else if (strcmp(formats[i], "sarif") == 0)
            json_decref(parse(&runs[1]));
        run_free(&runs[0]);
        run_free(&runs[1]);
    }
}

/* A file size limit of 0 ends a process that writes its findings. */
Test(check_formats, go_on_after_a_process_that_crashed)
{
    struct run run;
    json_t *root;

    write_bad("bad", false);
    run = run_line("cd '%s' && (ulimit -c 0; ulimit -f 0; '%s' check -j 2 --json bad bad "
                   "2>/dev/null; echo $?) | cat",
                   folder, SFB_TOOL);
    cr_expect(strstr(run.out, "\n}\n2\n") != NULL, "%s", run.out);
    root = parse_json(&run);
    expect_text(root, "files/0/unreadable/cause", "its check was ended by signal 25");
    expect_text(root, "files/1/name", "bad");
    expect_number(root, "unreadable", 2);
    json_decref(root);
    run_free(&run);
}

/* Functions of no bytes, one finding each. */
static void write_many(unsigned functions)
{
    const unsigned fres = 28 + 17 * functions;
    uint8_t *b = calloc(1, fres + 4);
    char path[256];
    FILE *to;

    memcpy(b, (uint8_t[]){ 0xe2, 0xde, 1, 1, 3, 0, 0xf8, 0 }, 8);
    for (unsigned i = 0; i < 4; i++) {
        b[8 + i] = (uint8_t)(functions >> 8 * i);
        b[24 + i] = (uint8_t)(17 * functions >> 8 * i);
    }
    b[12] = 1;
    b[16] = 4;
    for (unsigned i = 0; i < functions; i++) {
        uint8_t *fde = b + 28 + (size_t)17 * i;

        for (unsigned k = 0; k < 4; k++)
            fde[k] = (uint8_t)(i * 16 >> 8 * k);
        fde[12] = 1;
    }
    b[fres + 1] = 3;
    b[fres + 2] = 8;
    snprintf(path, sizeof path, "%s/many", folder);
    to = fopen(path, "wb");
    cr_assert(to && fwrite(b, fres + 4, 1, to) == 1);
    fclose(to);
    free(b);
}

static long peak_kilobytes(const char *format, unsigned findings)
{
    struct rusage usage;
    struct run run;

    write_many(findings);
    run = run_line("cd '%s' && export ASAN_OPTIONS=\"$ASAN_OPTIONS:quarantine_size_mb=1\" && '%s' "
                   "check --raw --max-errors 0 --format=%s many | grep -c SF0206",
                   folder, SFB_TOOL, format);
    cr_expect(strtoul(run.out, NULL, 10) >= findings, "%s%s", run.out, run.err);
    run_free(&run);
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_maxrss;
}

/* As JSON values 20,000 findings took 36 MiB, as SARIF 72 MiB. */
Test(check_formats, take_no_memory_for_findings)
{
    static const char *const formats[] = { "json", "sarif" };

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const long few = peak_kilobytes(formats[i], 1000), many = peak_kilobytes(formats[i], 20000);

        cr_expect(lt(long, many - few, 16 << 10), "%s: %ld KiB, %ld KiB", formats[i], few, many);
    }
}

/* g, without an entry, is the only function with uncovered bytes. */
Test(check_formats, give_statistics)
{
    static struct file f;
    struct run run;
    json_t *root;

    file_make(&f, &(struct file_plan){ .version = 1, .abi = SFB_ABI_AMD64_LE, .skip = 1 });
    write_file("lost", &f);
    run = run_line("cd '%s' && '%s' check --stats lost", folder, SFB_TOOL);
    cr_expect(strstr(run.out,
                     "lost: .sframe 78 bytes: header 28, entries 34, rows 16; 39.0 bytes a "
                     "function, 3.2 a row; 0.57 of .eh_frame\n"
                     "lost: code: 3 functions, covered 2 (66.66 %); 112 bytes, covered 80 "
                     "(71.42 %)\n"
                     "lost:   .text: 2 functions, covered 1 (50.00 %); 80 bytes, covered "
                     "48 (60.00 %)\n"
                     "lost:   .plt: 1 function, covered 1 (100.00 %); 32 bytes, covered "
                     "32 (100.00 %)\n"
                     "lost:   without a row: 32 bytes of 32 at 0x1040 (g+0x0)\n") != NULL,
              "%s", run.out);
    run_free(&run);
    run = run_line("cd '%s' && '%s' check --stats --json lost '%s/v1/amd64/prog_sig'", folder,
                   SFB_TOOL, FIXTURES);
    root = parse_json(&run);
    expect_number(root, "files/0/stats/entries_size", 34);
    expect_text(root, "files/0/stats/sections/1/name", ".plt");
    expect_number(root, "files/0/stats/uncovered/0/missing", 32);
    /* .plt.got has 8 bytes, _start 34; other start files have no sizes. */
    expect_number(root, "files/1/stats/uncovered/0/missing", 34);
    expect_number(root, "files/1/stats/uncovered/1/missing", 8);
    json_decref(root);
    run_free(&run);
}
