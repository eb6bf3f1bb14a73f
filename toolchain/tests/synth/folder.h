/* Tests of `sfb synth`: a folder for the files of each, commands in it, comparison of copies. */
#ifndef SYNTH_FOLDER_H
#define SYNTH_FOLDER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/test.h"

/* The folder of a test. */
static char folder[4096];

static inline void make_folder(void)
{
    strcpy(folder, SFB_BINARY_DIR "/synth.XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
}

static inline void remove_folder(void)
{
    struct run run = run_line("rm -rf '%s'", folder);

    run_free(&run);
}

/* Runs a line in the folder; it must succeed. */
#define DONE(...)                                                                                  \
    do {                                                                                           \
        struct run run_done_ = in_folder(__VA_ARGS__);                                             \
                                                                                                   \
        cr_expect(run_done_.status == 0, "%s\n%s", run_done_.out, run_done_.err);                  \
        run_free(&run_done_);                                                                      \
    } while (0)

__attribute__((format(printf, 1, 2))) static inline struct run in_folder(const char *format, ...)
{
    va_list arguments;
    struct run run;
    char *line;

    va_start(arguments, format);
    cr_assert(vasprintf(&line, format, arguments) >= 0);
    va_end(arguments);
    run = run_line("cd '%s' && sfb='%s' && %s", folder, SFB_TOOL, line);
    free(line);
    return run;
}

/* Two lines must print the same and have the same status. */
static inline void expect_same_output(const char *a, const char *b)
{
    struct run x = in_folder("%s", a), y = in_folder("%s", b);

    cr_expect(x.status == y.status, "%s: %d, %s: %d", a, x.status, b, y.status);
    run_expect_text(b, y.out, x.out);
    run_expect_text(b, y.err, x.err);
    run_free(&x);
    run_free(&y);
}

static inline void expect_no_differences(const char *copy)
{
    struct run run = in_folder("'%s' '%s' '%s'", SFB_EMULATE, SFB_ROWS, copy);

    cr_expect(run.status == 0 && strstr(run.out, " 0 differences\n") != NULL, "%s: %s%s", copy,
              run.out, run.err);
    cr_expect(strstr(run.out, " 0 with rows") == NULL, "%s: %s", copy, run.out);
    run_free(&run);
}

/*
 * A section made of a file must equal the assembler's, with signatures and keys. Assemblers up to
 * 2.45 drop undefined return addresses: `drops` says that the file has its one function of that
 * kind.
 */
static inline void expect_as_assembled(char version, const char *file, bool drops)
{
    struct run run =
        in_folder("\"$sfb\" synth --sframe-version %c --section-only --vma 0x40000 '%s' "
                  "-o bytes && '%s' '%s' '%s' bytes 0x40000",
                  version, file, SFB_EMULATE, SFB_ROWS, file);

    if (drops)
        cr_expect(strstr(run.out, ": synth nothing, .sframe sp+") != NULL &&
                      run_count_lines(strstr(run.out, "\n0x") + 1) == 2,
                  "%s: %s", file, run.out);
    else
        cr_expect(strstr(run.out, " 0 differences\n") != NULL, "%s: %s%s", file, run.out, run.err);
    run_free(&run);
}

#endif
