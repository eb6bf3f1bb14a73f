/*
 * `sfb dump` prints the text of `objdump --sframe` of the release that made the section: for
 * fixtures as recorded, for files of the build tree as the objdump here and the newer toolchains
 * print it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/compiler.h"
#include "support/run.h"
#include "support/test.h"

#define ELF_FOLDER     SFB_SOURCE_DIR "/fixtures/elf"
#define SECTION_FOLDER SFB_SOURCE_DIR "/fixtures/sframe"

Test(tool_dump, prints_fixtures_as_objdump_did)
{
    struct run list = run_line("cd '%s' && find . -name '*.objdump.txt'", ELF_FOLDER);
    size_t count = 0;

    for (char *name = strtok(list.out, "\n"); name; name = strtok(NULL, "\n"), count++) {
        struct run want, got;

        name += strlen("./");
        want = run_line("cat '%s/%s'", ELF_FOLDER, name);
        name[strlen(name) - strlen(".objdump.txt")] = '\0';
        /* In the folder, because the file's name is part of the output. */
        got = run_line("cd '%s' && '%s' dump '%s'", ELF_FOLDER, SFB_TOOL, name);
        cr_expect(got.status == 0 && want.status == 0, "%s: %s", name, got.err);
        cr_expect(got.err[0] == '\0', "%s", got.err);
        run_expect_text(name, got.out, want.out);
        cr_expect(got.out_size == want.out_size, "%s", name);
        run_free(&want);
        run_free(&got);
    }
    cr_expect(count >= 16, "only %zu fixtures found", count);
    run_free(&list);
}

/* All but the second line, which has file and format. */
Test(tool_dump, prints_sections_as_objdump_did)
{
    struct run list = run_line("cd '%s' && find . -name '*.objdump.txt'", SECTION_FOLDER);
    size_t count = 0;

    for (char *name = strtok(list.out, "\n"); name; name = strtok(NULL, "\n"), count++) {
        struct run want, got;

        name += strlen("./");
        want = run_line("sed 2d '%s/%s'", SECTION_FOLDER, name);
        name[strlen(name) - strlen(".objdump.txt")] = '\0';
        got = run_line("cd '%s' && '%s' dump --raw-section --vma 0x$(awk '{ print $3 }' "
                       "'%s.sections.txt') '%s.sframe.bin' | sed 2d",
                       SECTION_FOLDER, SFB_TOOL, name, name);
        cr_expect(got.err[0] == '\0', "%s", got.err);
        run_expect_text(name, got.out, want.out);
        run_free(&want);
        run_free(&got);
    }
    cr_expect(count >= 47, "only %zu fixtures found", count);
    run_free(&list);
}

/* Starts as `nm` prints them, for every header. */
Test(tool_dump, resolves_what_no_linker_has_merged)
{
    static const struct {
        const char *name, *starts;
    } cases[] = {
        { "v2/amd64/free.o", "0x0 0x10 0x20 0x50 0x60 0x80 0xd0 " },
        { "v3/amd64/free.o", "0x0 0x10 0x20 0x50 0x60 0x80 0xd0 " },
        { "v2/amd64/unmerged.so", "0x5e0 0x630 0x680 0x690 0x6a0 0x6d0 0x6f0 0x710 0x770 " },
        { "v3/amd64/unmerged.so", "0x5e0 0x630 0x680 0x690 0x6a0 0x6d0 0x6f0 0x710 0x770 " },
        { "v1/amd64/free_pie", "0x1000 0x1010 0x1020 0x1050 0x1060 0x1080 0x10d0 " },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run got =
            run_line("'%s' dump --resolve '%s/%s' | sed -nE 's/.* pc = (0x[0-9a-f]+), .*/\\1/p' | "
                     "tr '\\n' ' '",
                     SFB_TOOL, ELF_FOLDER, cases[i].name);

        cr_expect(got.err[0] == '\0', "%s", got.err);
        run_expect_text(cases[i].name, got.out, cases[i].starts);
        run_free(&got);
    }
}

#ifndef SFB_OBJDUMP_2
#define SFB_OBJDUMP_2 ""
#define SFB_OBJDUMP_3 ""
#endif

/* The objdump of a version; "": not here. */
static const char *objdump_of(const char *dump)
{
    if (strstr(dump, "SFRAME_VERSION_1\n") != NULL)
        return SFB_TOOL_PREFIX "objdump";
    if (strstr(dump, "SFRAME_VERSION_2\n") != NULL)
        return SFB_OBJDUMP_2;
    return strstr(dump, "SFRAME_VERSION_3\n") != NULL ? SFB_OBJDUMP_3 : "";
}

Test(tool_dump, prints_what_is_built_here_as_objdump_does)
{
    struct run version = run_line(SFB_TOOL_PREFIX "objdump --version && " SFB_TOOL_PREFIX
                                                  "objdump --help | grep -e --sframe");
    struct run list;
    size_t count = 0;

    if (version.status != 0)
        cr_skip_test("objdump is not installed, or has no --sframe");
    if (!strstr(version.out, ") 2.40"))
        cr_skip_test("objdump is not of binutils 2.40, and other releases print another format");
    if (sanitized())
        cr_skip_test("a thousand processes: other builds compare what is built");
    /*
     * Left out: files of another machine, which command.big_endian compares; files of tool_synth,
     * which may be running; libmany_rows, for which objdump takes 14 seconds. Of the many objects
     * only those built for their sections.
     */
    list = run_line("find '%s' '(' -name big_endian -o -name 'synth.*' ')' -prune -o -type f "
                    "! -name 'libmany_rows*' '(' -perm -u+x -o -name '*.o' -path '*-sframe*' -o "
                    "-name '*.o' -path '*-v[23]*' ')' -print",
                    SFB_BINARY_DIR);
    for (char *file = strtok(list.out, "\n"); file; file = strtok(NULL, "\n")) {
        struct run got = run_line("'%s' dump '%s' 2>/dev/null", SFB_TOOL, file), want;
        const char *objdump = objdump_of(got.out);

        if (objdump[0] != '\0') { /* an ELF file with a section */
            want = run_line("'%s' --sframe '%s' 2>/dev/null", objdump, file);
            cr_expect(got.status == 0, "%s: %s", file, got.err);
            cr_expect(want.status == 0, "%s", file);
            run_expect_text(file, got.out, want.out);
            run_free(&want);
            count++;
        } else {
            want = run_line(SFB_TOOL_PREFIX "objdump --sframe '%s' 2>/dev/null", file);
            cr_expect(strstr(want.out, "SFRAME_VERSION_1\n") == NULL, "%s", file);
            run_free(&want);
        }
        run_free(&got);
    }
    cr_log_info("%zu files compared\n", count);
    run_free(&list);
    run_free(&version);
    if (count == 0)
        cr_skip_test("nothing built here has .sframe");
}
