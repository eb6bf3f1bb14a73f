/*
 * `sfb dump` prints what `objdump --sframe` of binutils 2.40 prints: for the files of fixtures/elf
 * as it was when they were made, and for everything in the build tree as the objdump here does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/test.h"

#define ELF_FOLDER SFB_SOURCE_DIR "/fixtures/elf"

Test(tool_dump, prints_fixtures_as_objdump_did)
{
    struct run list = run_line("cd '%s' && find . -name '*.objdump.txt'", ELF_FOLDER);
    size_t count = 0;

    for (char *name = strtok(list.out, "\n"); name; name = strtok(NULL, "\n"), count++) {
        struct run want, got;

        name += strlen("./");
        want = run_line("cat '%s/%s'", ELF_FOLDER, name);
        name[strlen(name) - strlen(".objdump.txt")] = '\0';
        /* From inside the folder: the file's name as it was given is part of the output. */
        got = run_line("cd '%s' && '%s' dump '%s'", ELF_FOLDER, SFB_TOOL, name);
        cr_expect(got.status == 0 && want.status == 0, "%s: %s", name, got.err);
        cr_expect(got.err[0] == '\0', "%s", got.err);
        run_expect_text(name, got.out, want.out);
        cr_expect(got.out_size == want.out_size, "%s", name);
        run_free(&want);
        run_free(&got);
    }
    cr_expect(count >= 5, "only %zu fixtures found", count);
    run_free(&list);
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
    /* live.big_endian's are of another machine, and compared there; what tool_synth makes, and may
     * be making now, is not built. */
    list = run_line("find '%s' '(' -name big_endian -o -name 'synth.*' ')' -prune -o -type f '(' "
                    "-perm -u+x -o -name '*.o' ')' -print",
                    SFB_BINARY_DIR);
    for (char *file = strtok(list.out, "\n"); file; file = strtok(NULL, "\n")) {
        struct run want = run_line(SFB_TOOL_PREFIX "objdump --sframe '%s' 2>/dev/null", file);

        if (want.status == 0) { /* an ELF file that has a section to show */
            struct run got = run_line("'%s' dump '%s'", SFB_TOOL, file);

            cr_expect(got.status == 0, "%s: %s", file, got.err);
            run_expect_text(file, got.out, want.out);
            run_free(&got);
            count++;
        }
        run_free(&want);
    }
    run_free(&list);
    run_free(&version);
    if (count == 0)
        cr_skip_test("nothing built here has .sframe");
}
