/*
 * As many inputs of a pack are run as it says that it holds, and a pack that holds none, or not what it
 * says, is refused: the corpus cannot pass because it is gone.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/command.h"

#define CORPUS    SFB_SOURCE_DIR "/tests/fuzz/corpus"
#define TARGET    "'" SFB_EMULATE "' '" SFB_BINARY_DIR "/tests/fuzz-cbf_decoder' "
#define PACK_TOOL "'" SFB_EMULATE "' '" SFB_BINARY_DIR "/tests/fuzz-pack' "

static char work[] = "/tmp/sfb-packs-XXXXXX";

static void make_work_folder(void)
{
    cr_assert_not_null(mkdtemp(work));
}

static void remove_work_folder(void)
{
    free(command_output("rm -rf '%s'", work));
}

TestSuite(packs, .init = make_work_folder, .fini = remove_work_folder);

/* Writes what printf(1) makes of the text. */
static void write_pack(const char *text)
{
    free(command_output("printf '%s' > '%s/made.pack'", text, work));
}

static void expect_refused(const char *text, const char *reason)
{
    struct command run;

    write_pack(text);
    run = command_run(TARGET "'%s/made.pack'", work);
    cr_expect_eq(run.status, 2, "%s: %d\n%s", text, run.status, run.output);
    cr_expect_not_null(strstr(run.output, reason), "%s: %s", text, run.output);
    free(run.output);
}

static void expect_run(const char *arguments, const char *inputs)
{
    struct command run = command_run(TARGET "%s", arguments);
    char *last;

    cr_expect_eq(run.status, 0, "%s", run.output);
    last = strstr(run.output, inputs);
    cr_expect(last != NULL && (last == run.output || last[-1] == '\n'), "not %s: %s", inputs,
              run.output);
    free(run.output);
}

/* Of one byte, of none, and of two. */
#define GOOD                                                                                       \
    "SFBPACK1\\3\\0\\0\\0"                                                                         \
    "\\1\\0\\0\\0\\2"                                                                              \
    "\\0\\0\\0\\0"                                                                                 \
    "\\2\\0\\0\\0\\2\\377"

Test(packs, are_run_input_by_input)
{
    char *arguments = NULL;

    write_pack(GOOD);
    cr_assert_geq(asprintf(&arguments, "'%s/made.pack'", work), 0);
    expect_run(arguments, "3 inputs\n");
    free(arguments);
}

Test(packs, of_the_corpus_are_run_whole)
{
    static const char *const names[] = { "eh_frame", "walk" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *count =
            command_output("od -A n -t u4 -j 8 -N 4 " CORPUS "/%s.pack | tr -d ' \\n'", names[i]);
        char *arguments = NULL, *inputs = NULL;

        cr_assert_geq(asprintf(&arguments, "'" CORPUS "/%s.pack'", names[i]), 0);
        cr_assert_geq(asprintf(&inputs, "%s inputs\n", count), 0);
        cr_expect_gt(atoi(count), 100, "%s holds %s", names[i], count);
        expect_run(arguments, inputs);
        free(inputs);
        free(arguments);
        free(count);
    }
}

Test(packs, that_hold_nothing_are_refused)
{
    expect_refused("", "no pack");
    expect_refused("SFBPACK2\\1\\0\\0\\0\\0\\0\\0\\0", "no pack");
    expect_refused("SFBPACK1", "no inputs");
    expect_refused("SFBPACK1\\0\\0\\0\\0", "no inputs");
}

Test(packs, that_hold_less_or_more_than_they_say_are_refused)
{
    expect_refused("SFBPACK1\\4\\0\\0\\0"
                   "\\1\\0\\0\\0\\2"
                   "\\0\\0\\0\\0"
                   "\\2\\0\\0\\0\\2\\377",
                   "ends before its last input");
    expect_refused("SFBPACK1\\2\\0\\0\\0"
                   "\\1\\0\\0\\0\\2"
                   "\\0\\0\\0\\0"
                   "\\2\\0\\0\\0\\2\\377",
                   "bytes follow the last input");
    expect_refused("SFBPACK1\\1\\0\\0\\0"
                   "\\377\\377\\377\\377\\2",
                   "ends before its last input");
}

Test(packs, cut_anywhere_are_refused)
{
    size_t whole;
    char *size;

    write_pack(GOOD);
    free(command_output("mv '%s/made.pack' '%s/good.pack'", work, work));
    size = command_output("stat -c %%s '%s/good.pack'", work);
    whole = (size_t)atoi(size);
    free(size);
    cr_assert_eq(whole, 27);
    for (size_t n = 0; n < whole; n++) {
        struct command run =
            command_run("head -c %zu '%s/good.pack' > '%s/cut.pack' && " TARGET "'%s/cut.pack'", n,
                        work, work, work);

        cr_expect_eq(run.status, 2, "%zu bytes: %d\n%s", n, run.status, run.output);
        free(run.output);
    }
}

/* What is added is there once, and unpacked as it was. */
Test(packs, are_made_and_taken_apart)
{
    free(command_output("cd '%s' && printf one > 1 && printf two > 2 && : > 3 && "
                        "mkdir new && printf named > new/a-name && printf named > 4 && "
                        "{ " PACK_TOOL "add new.pack 1 2 && " PACK_TOOL
                        "add new.pack 2 3 4 1; } && " PACK_TOOL
                        "unpack new.pack out && cmp 1 out/packed-0000 && "
                        "cmp 2 out/packed-0001 && cmp 3 out/packed-0002 && "
                        "test \"$(ls out | wc -l)\" = 3",
                        work));
}
