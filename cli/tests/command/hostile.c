/*
 * The sfb command in the hands of somebody who chose every name: names that drive a terminal or
 * forge a line, on every output of every command; and names of what is no regular file, which must
 * not be opened.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/run.h"
#include "support/test.h"

#define PROGRAM SFB_SOURCE_DIR "/fixtures/elf/v1/amd64/prog_sig"

static char folder[64] = "/tmp/sfb-hostile.XXXXXX";

static void make_folder(void)
{
    cr_assert(ne(ptr, mkdtemp(folder), NULL));
    cr_assert(eq(int, chdir(folder), 0));
}

static void remove_folder(void)
{
    struct run run = run_line("rm -rf '%s'", folder);

    run_free(&run);
}

TestSuite(tool_hostile, .init = make_folder, .fini = remove_folder);

static void write_file(const char *name, const void *data, size_t size)
{
    FILE *to = fopen(name, "wb");

    cr_assert(ne(ptr, to, NULL), "%s", name);
    cr_assert(eq(sz, fwrite(data, 1, size, to), size));
    cr_assert(eq(int, fclose(to), 0));
}

static void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

/* --- names ----------------------------------------------------------------------------------- */

/* NOLINTBEGIN(misc-misleading-bidirectional): escapes, which change nothing that is read here */

/*
 * A title for the terminal and a line that is not ours; then C1 as UTF-8 and as a byte, DEL, an
 * override of direction, a backslash that is a letter, and a letter that has to stay.
 */
#define FORGED  "\nsfb: forged"
#define HOSTILE "n\033]0;pwn\007" FORGED "\302\233\233\177\342\200\256\\033\303\251"

/* What a symbol and the like are overwritten with, byte for byte. */
#define PLACEHOLDER "hostile_name"
#define NAME        "\033\n\007\233\302\233\342\200\256\\\303\251"

_Static_assert(sizeof PLACEHOLDER == sizeof NAME, "one takes the place of the other");

static bool is_utf8(const uint8_t *at, size_t left, size_t *length, uint32_t *value)
{
    *length = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    *value = *length == 1 ? at[0] : at[0] & (0xffu >> (*length + 1));
    for (size_t i = 1; i < *length; i++) {
        if (i >= left || (at[i] & 0xc0) != 0x80)
            return false;
        *value = *value << 6 | (at[i] & 0x3f);
    }
    return at[0] < 0x80 || at[0] >= 0xc2;
}

static bool is_plain(uint32_t c)
{
    return (c >= 0x20 || c == '\n') && (c < 0x7f || c > 0x9f) && c != 0x61c &&
           (c < 0x200e || c > 0x200f) && (c < 0x2028 || c > 0x202e) && (c < 0x2066 || c > 0x2069);
}

static void expect_plain(const char *what, const char *text, size_t size)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t length = 1;

    for (size_t i = 0; i < size; i += length) {
        uint32_t value;
        bool good = is_utf8(at + i, size - i, &length, &value) && is_plain(value);

        cr_expect(good, "%s: byte 0x%02x at %zu of\n%s", what, at[i], i, text);
        if (!good)
            return;
    }
    cr_expect(strstr(text, FORGED) == NULL, "%s: a forged line:\n%s", what, text);
}

/* @return what it wrote, for the test to look at further */
static struct run run_hostile(const char *arguments)
{
    struct run run = run_line("'%s' %s", SFB_TOOL, arguments);

    cr_expect(lt(int, run.status, 3), "%s: status %d: %s", arguments, run.status, run.err);
    expect_plain(arguments, run.out, run.out_size);
    expect_plain(arguments, run.err, strlen(run.err));
    return run;
}

static void replace_all(char *data, size_t size, const char *from, const char *to)
{
    char *at = data;

    while ((at = memmem(at, size - (size_t)(at - data), from, strlen(from))) != NULL)
        memcpy(at, to, strlen(to));
}

static void copy_with_names(const char *from, const char *to, const char *old, const char *new)
{
    struct run file = run_line("cat '%s'", from);

    cr_assert(ne(sz, file.out_size, 0), "%s", from);
    replace_all(file.out, file.out_size, old, new);
    write_file(to, file.out, file.out_size);
    run_free(&file);
}

/* Every command, with files and arguments that have such a name. */
Test(tool_hostile, names_of_files_and_arguments_are_escaped)
{
    static const char *const commands[] = {
        "dump \"$N\"",
        "dump --resolve \"$N\"",
        "dump --raw-section \"$N\"",
        "dump \"$N.none\"",
        "dump --vma \"$N\" x",
        "check \"$N\"",
        "check --max-errors 1 \"$N\"",
        "check --raw \"$N\"",
        "check --json \"$N\" \"$N.none\"",
        "check --sarif \"$N\" \"$N.none\"",
        "check --format=github \"$N\" \"$N.none\"",
        "check -j 2 --json \"$N\" \"$N.none\" \"$N\"",
        "check --stats --require \"$N\"",
        "check --write-baseline /dev/stdout \"$N\"",
        "check --baseline \"$N\" \"$N\"",
        "check --format \"$N\" x",
        "check --only \"$N\" x",
        "check --min-coverage \"$N\" x",
        "check --extract 0 \"$N\"",
        "check --extract 5 \"$N\"",
        "check --extract 99 \"$N\"",
        "check \"$N.a\"",
        "check --json \"$N.a\"",
        "check --sarif \"$N.a\"",
        "check --explain \"$N\"",
        "check --max-errors \"$N\" x",
        "check --vma \"$N\" x",
        "diff \"$N\" \"$N\"",
        "diff \"$N\" \"$N.none\"",
        "diff --max \"$N\" x x",
        "synth \"$N\"",
        "synth -v \"$N\"",
        "synth -o \"$N.out\" --force \"$N\"",
        "synth -o \"$N.none/out\" \"$N\"",
        "synth -o \"$N\" \"$N\"",
        "synth --vma \"$N\" --section-only \"$N\"",
        "synth --sframe-version \"$N\" \"$N\"",
        "decode \"$N\"",
        "decode --raw \"$N\"",
        "decode --hex \"$N\"",
        "decode \"$N.none\"",
        "encode --hex \"$N\"",
        "encode --bits \"$N\"",
        "symbolize \"$N\"",
        "symbolize \"$N.log\"",
        "symbolize --maps \"$N\" \"$N\"",
        "symbolize --pid \"$N\" \"$N\"",
        "\"$N\"",
        "\"--$N\"",
        "dump \"-$N\"",
        "check \"--$N\"",
        "decode \"-$(printf '\\233')\"",
        "symbolize \"--$N=1\"",
    };

    cr_assert(eq(int, setenv("N", HOSTILE, 1), 0));
    copy_with_names(PROGRAM, HOSTILE, "_start", "\033\n\233\342\200\256");
    copy_with_names(HOSTILE, HOSTILE, "handler", "\n\302\233\007\342\200\251");
    write_text(HOSTILE ".log", "sframe-backtrace: crash: SIGSEGV\033[2J\302\233\233 \342\200\256\n"
                               "cbf " HOSTILE "\nmodule " HOSTILE "\nend\n");
    {
        struct run run = run_line("ar rc \"$N.a\" \"$N\"");

        cr_assert(eq(int, run.status, 0), "%s", run.err);
        run_free(&run);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct run run = run_hostile(commands[i]);

        cr_expect(ne(sz, run.out_size + strlen(run.err), 0), "%s says nothing", commands[i]);
        run_free(&run);
    }
}

/* The escapes are octal, as in crash reports; a backslash is one, too; letters stay letters. */
Test(tool_hostile, escapes_can_be_read_back)
{
    struct run run;

    cr_assert(eq(int, setenv("N", HOSTILE, 1), 0));
    run = run_hostile("dump \"$N\"");
    run_expect_text("stderr", run.err,
                    "sfb: n\\033]0;pwn\\007\\012sfb: forged\\302\\233\\233\\177\\342\\200\\256"
                    "\\134033\303\251: No such file or directory\n");
    run_free(&run);
}

/* To a program JSON says the name itself. */
Test(tool_hostile, json_stays_json)
{
    static const char name[] = "n\033" FORGED "\302\233\177\342\200\256\\\303\251";
    static const char *const forms[] = { "--json", "--sarif" };

    cr_assert(eq(int, setenv("N", name, 1), 0));
    copy_with_names(PROGRAM, name, "_start", "\033\n\233\342\200\256");
    for (size_t i = 0; i < 2; i++) {
        char line[64];
        json_error_t error;
        json_t *root;
        struct run run;

        snprintf(line, sizeof line, "check %s \"$N\"", forms[i]);
        run = run_hostile(line);
        root = json_loadb(run.out, run.out_size, 0, &error);
        cr_assert(ne(ptr, root, NULL), "%s: %s\n%s", line, error.text, run.out);
        if (i == 0) {
            const json_t *file = json_array_get(json_object_get(root, "files"), 0);

            cr_expect(strcmp(json_string_value(json_object_get(file, "name")), name) == 0);
        }
        json_decref(root);
        run_free(&run);
    }
}

/* A shared library whose symbols, files, SONAME and sections are named so. @return false: skip */
static bool build_library(const char *options)
{
    struct run run;

    write_text(PLACEHOLDER ".c",
               "static inline __attribute__((always_inline)) int " PLACEHOLDER "_in(int x)\n"
               "{ __asm__ volatile(\"nop\" : \"+r\"(x)); return x; }\n"
               "__attribute__((section(\"." PLACEHOLDER "\"))) int " PLACEHOLDER "_f(int x)\n"
               "{ return " PLACEHOLDER "_in(x) + 1; }\n");
    run = run_line(SFB_TOOL_PREFIX "gcc -g -O1 -fPIC -shared -nostdlib -Wl,-soname," PLACEHOLDER
                                   " %s " PLACEHOLDER ".c -o clean.so",
                   options);
    if (run.status != 0) {
        run_free(&run);
        return false;
    }
    run_free(&run);
    copy_with_names("clean.so", HOSTILE ".so", PLACEHOLDER, NAME);
    return true;
}

Test(tool_hostile, names_inside_of_files_are_escaped)
{
    struct run run, cbf;
    char report[2048];

    if (!build_library(""))
        cr_skip_test("no " SFB_TOOL_PREFIX "gcc to make a library with");
    cr_assert(eq(int, setenv("N", HOSTILE, 1), 0));
    cbf = run_line("printf 'pc 0x%%s\n' $(" SFB_TOOL_PREFIX
                   "nm clean.so | sed -n 's/ T " PLACEHOLDER "_f//p') | '%s' encode --hex",
                   SFB_TOOL);
    cr_assert(eq(int, cbf.status, 0), "%s", cbf.err);
    snprintf(report, sizeof report,
             "sframe-backtrace: crash: SIGSEGV (11) thread 1 \"\033\233\302\233\\033\"\ncbf %s"
             "module 0x0-0x100000 build-id - %s/n\\033]0;pwn\\007\\012sfb: forged"
             "\\302\\233\\233\\177\342\200\256\\134033\303\251.so\nend\n",
             cbf.out, folder);
    write_text("report", report);
    run = run_hostile("symbolize report");
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    /* Symbol, source file and module, and the thread's name as the report has it. */
    cr_expect(ne(ptr,
                 strstr(run.out, "\\033\\012\\007\\233\\302\\233\\342\\200\\256\\134\303\251_in"),
                 NULL),
              "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, "\\134\303\251_f+0x0 (\\033"), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, "\\134\303\251.c:"), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, " in n\\033]0;pwn\\007"), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, "\"\\033\\233\\302\\233\\033\""), NULL), "%s", run.out);
    run_free(&run);
    run_free(&cbf);
    run_free(&(struct run[]){ run_hostile("check \"$N.so\"") }[0]);
    run_free(&(struct run[]){ run_hostile("synth -v \"$N.so\"") }[0]);
    run_free(&(struct run[]){ run_hostile("dump \"$N.so\"") }[0]);
}

/* NOLINTEND(misc-misleading-bidirectional) */

/* --- what is no regular file ------------------------------------------------------------------ */

/* main of the program is at 0x1070; 0x10 is in the module before it. */
static void write_report(const char *name, const char *module, const char *build_id)
{
    struct run cbf = run_line("printf 'pc 0x10\\npc 0x11070\\n' | '%s' encode --hex", SFB_TOOL);
    char report[4096];

    cr_assert(eq(int, cbf.status, 0));
    snprintf(report, sizeof report,
             "sframe-backtrace: crash: SIGSEGV (11)\ncbf %smodule 0x0-0x1000 build-id %s %s\n"
             "module 0x10000-0x20000 build-id - " PROGRAM "\nend\n",
             cbf.out, build_id, module);
    write_text(name, report);
    run_free(&cbf);
}

Test(tool_hostile, symbolize_opens_regular_files_only)
{
    static const struct {
        const char *path, *cause;
    } cases[] = {
        { "./fifo", "a FIFO, not a regular file" },
        { "/dev/zero", "a device, not a regular file" },
        { "/dev/ptmx", "a device, not a regular file" },
        { "/dev/stdin", "a FIFO, not a regular file" },
        { "/", "a directory, not a regular file" },
        { "./nothing", "No such file or directory" },
    };
    struct run made = run_line("mkfifo fifo");

    cr_assert(eq(int, made.status, 0), "%s", made.err);
    run_free(&made);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int id = 0; id < 2; id++) {
            struct run run;
            char want[256];

            write_report("report", cases[i].path, id ? "0011223344556677" : "-");
            run = run_line("'%s' symbolize report 3<>fifo <&3", SFB_TOOL);
            snprintf(want, sizeof want, "sfb: %s: %s\n", cases[i].path, cases[i].cause);
            cr_expect(eq(int, run.status, 1), "%s: status %d", cases[i].path, run.status);
            run_expect_text(cases[i].path, run.err, want);
            cr_expect(ne(ptr, strstr(run.out, "\n#1 0x11070 main+0x0 in prog_sig\n"), NULL), "%s",
                      run.out);
            run_free(&run);
        }
}

/* What an ELF file names is opened by libdw, which asks nobody. */
Test(tool_hostile, symbolize_opens_no_fifo_that_a_file_names)
{
    static const struct {
        const char *what, *make, *module, *fifo;
    } cases[] = {
        { "split debug information",
          SFB_TOOL_PREFIX "gcc -g -gsplit-dwarf -gdwarf-5 -c a.c -o a.o && " SFB_TOOL_PREFIX
                          "gcc -shared -nostdlib a.o -o split.so && rm a.dwo && mkfifo a.dwo",
          "split.so", "a.dwo" },
        { "separate debug information",
          SFB_TOOL_PREFIX "gcc -g -fPIC -shared -nostdlib a.c -o linked.so && " SFB_TOOL_PREFIX
                          "objcopy --only-keep-debug linked.so linked.debug && " SFB_TOOL_PREFIX
                          "strip -g linked.so && " SFB_TOOL_PREFIX
                          "objcopy --add-gnu-debuglink=linked.debug linked.so && rm linked.debug "
                          "&& mkfifo linked.debug",
          "linked.so", "linked.debug" },
        { "shared debug information",
          SFB_TOOL_PREFIX "gcc -g -fPIC -shared -nostdlib a.c -o shared.so && printf "
                          "'alt\\000ABCDEFGHIJKLMNOPQRST' >link && " SFB_TOOL_PREFIX
                          "objcopy --add-section .gnu_debugaltlink=link shared.so && mkfifo alt",
          "shared.so", "alt" },
    };

    write_text("a.c", "int f(int x);\nint f(int x) { return x + 1; }\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line("%s", cases[i].make);
        char module[128], want[256];

        if (run.status != 0)
            cr_skip_test("no " SFB_TOOL_PREFIX "gcc and objcopy to make files with");
        run_free(&run);
        snprintf(module, sizeof module, "%s/%s", folder, cases[i].module);
        write_report("report", module, "-");
        /* The frame in the module before is that of f. */
        run =
            run_line("a=$(" SFB_TOOL_PREFIX "nm %s | sed -n 's/ T f//p') && sed -i \"s/^cbf.*/cbf "
                     "$(printf 'pc 0x%%s\\npc 0x11070\\n' $a | '%s' encode --hex)/; "
                     "s/0x0-0x1000 /0x0-0x10000 /\" report && '%s' symbolize report",
                     cases[i].module, SFB_TOOL, SFB_TOOL);
        cr_expect(lt(int, run.status, 2), "%s: status %d: %s", cases[i].what, run.status, run.err);
        snprintf(want, sizeof want, "%s: not opened: a FIFO, not a regular file\n", cases[i].fifo);
        /* libdw 0.188 does not look for split debug information here. */
        cr_expect(strstr(run.err, want) != NULL || (i == 0 && run.err[0] == '\0'), "%s: %s",
                  cases[i].what, run.err);
        cr_expect(ne(ptr, strstr(run.out, " f+0x0 "), NULL), "%s: %s", cases[i].what, run.out);
        cr_expect(ne(ptr, strstr(run.out, " main+0x0 in prog_sig\n"), NULL), "%s: %s",
                  cases[i].what, run.out);
        run_free(&run);
    }
}

/* --- amounts ---------------------------------------------------------------------------------- */

/* One run of the encoder gives the backtraces of all reports, a line each. */
static char *encode_all(unsigned reports, unsigned frames)
{
    struct run run =
        run_line("seq 1 %u | awk '{ if (NR > 1) print \"\"; for (i = 0; i < %u; i++) "
                 "printf \"ra 0x%%x\\n\", $1 * 65536 + 4209 + i }' | '%s' encode --hex",
                 reports, frames, SFB_TOOL);
    char *out = run.out;

    cr_assert(eq(int, run.status, 0), "%s", run.err);
    free(run.err);
    return out;
}

/* The same program in each report, every time at another address, and modules that are not here. */
static void write_log(const char *name, unsigned reports, unsigned modules)
{
    char *cbf = encode_all(reports, 10), *rest = cbf;
    FILE *to = fopen(name, "w");

    cr_assert(ne(ptr, to, NULL));
    for (unsigned i = 1; i <= reports; i++) {
        fprintf(to, "sframe-backtrace: crash: SIGSEGV (11)\ncbf %s\n", strsep(&rest, "\n"));
        for (unsigned k = 0; k < modules; k++)
            fprintf(to, "module 0x%x-0x%x build-id - /nowhere/lib%u.so\n", 0x40000000 + 0x1000 * k,
                    0x40001000 + 0x1000 * k, k);
        fprintf(to, "module 0x%x-0x%x build-id - " PROGRAM "\nend\n", i << 16, (i << 16) + 0x5000);
    }
    fclose(to);
    free(cbf);
}

/*
 * Seconds of processor time, and ten times as many as it takes; sanitizers and emulators are slow.
 * libdw's list of modules is gone through for each that is added, and debug information used to be
 * read for each report: both took minutes.
 */
Test(tool_hostile, symbolize_takes_any_number_of_modules_and_reports)
{
    static const struct {
        unsigned reports, modules;
    } cases[] = { { 1, 200000 }, { 3000, 10 } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;

        write_log("log", cases[i].reports, cases[i].modules);
        run = run_line("ulimit -t 10; '%s' symbolize log", SFB_TOOL);
        cr_expect(eq(int, run.status, 0), "%s", run.err);
        cr_expect(eq(sz, run_count_lines(run.out), cases[i].reports * 12 - 1));
        cr_expect(ne(ptr, strstr(run.out, "\n#0 0x11071 main+0x1 in prog_sig\n"), NULL));
        run_free(&run);
    }
}
