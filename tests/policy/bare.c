/*
 * The library needs a C compiler and libc, and nothing else: in somebody else's project, added as a
 * subproject or fetched, and at top level, where the parts that need more are left out and named.
 *
 * CMake finds no library, header or package here, as on a machine that has none: their roots are an
 * empty folder, and so is that of pkg-config. Nothing of this build's configuration is handed on.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/command.h"

static char work[] = "/tmp/sfb-bare-XXXXXX";

static void make_work_folder(void)
{
    cr_assert_not_null(mkdtemp(work));
    free(command_output("mkdir '%s/empty'", work));
}

static void remove_work_folder(void)
{
    free(command_output("rm -rf '%s'", work));
}

TestSuite(bare, .init = make_work_folder, .fini = remove_work_folder);

static struct command configure(const char *source, const char *options)
{
    return command_run("env -i PATH=\"$PATH\" PKG_CONFIG_LIBDIR='%s/empty' '%s' -G '%s' -S '%s' "
                       "-B '%s/build' " SFB_CMAKE_OPTIONS " -DCMAKE_FIND_ROOT_PATH='%s/empty' "
                       "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY "
                       "-DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY "
                       "-DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY "
                       "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON %s",
                       work, SFB_CMAKE, SFB_GENERATOR, source, work, work, options);
}

static void expect_said(const struct command *command, const char *what)
{
    cr_expect_not_null(strstr(command->output, what), "no '%s' in:\n%s", what, command->output);
}

/*
 * What was compiled: the sources of the target sfb-objects, each once, and the program's own two. Nothing of the
 * profiler or the toolchain's tools.
 */
static void expect_only_the_library(void)
{
    char *compiled =
        command_output("cd '%s/build' && find . -name '*.o' | grep -v sfb-objects", work);
    char *objects =
        command_output("cd '%s/build' && find . -path '*sfb-objects*' -name '*.o' | wc -l", work);
    char *sources = command_output(
        "grep -c '^ *\"file\": .*/src/[^\"]*\"' '%s/build/compile_commands.json'", work);

    cr_expect_str_eq(compiled,
                     "./CMakeFiles/consumer-shared.dir/main.c.o\n"
                     "./CMakeFiles/consumer-static.dir/main.c.o\n",
                     "%s", compiled);
    cr_expect_str_eq(objects, sources);
    cr_expect_gt(atoi(objects), 50, "%s", objects);
    free(compiled);
    free(objects);
    free(sources);
}

/* Builds the program of an empty project with the library, and runs it. */
static void build_and_run(const char *options)
{
    struct command configured = configure(SFB_SOURCE_DIR "/tests/policy/consumer", options);
    char *needed;

    cr_assert_eq(configured.status, 0, "%s", configured.output);
    expect_said(&configured, "built without libunwind (steps where a module has no tables): not "
                             "found: libunwind.h; Debian: apt install libunwind-dev\n");
    cr_expect_null(strstr(configured.output, "the profiler"), "%s", configured.output);
    cr_expect_null(strstr(configured.output, "the toolchain"), "%s", configured.output);
    cr_expect_null(strstr(configured.output, "tests"), "%s", configured.output);
    free(configured.output);
    free(command_output("'%s' --build '%s/build' && cd '%s/build' && ./consumer-shared && "
                        "./consumer-static",
                        SFB_CMAKE, work, work));
    expect_only_the_library();
    needed = command_output("cd '%s/build' && '%s' -d $(find . -name libsframe-backtrace.so) | "
                            "sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p' | "
                            "grep -v '^ld-linux-' | tr -d '\\n'",
                            work, SFB_READELF);
    cr_expect_str_eq(needed, "libc.so.6", "the library needs %s", needed);
    free(needed);
    /* the build type is the project's affair, and so are the targets that it gets by default */
    free(command_output("cd '%s/build' && grep -qx 'CMAKE_BUILD_TYPE:STRING=' CMakeCache.txt && "
                        "test -z \"$(find . -type f '(' -name sfb -o -name 'test-*' ')')\"",
                        work));
}

Test(bare, builds_as_a_subproject)
{
    build_and_run("-DCONSUMER_SUBPROJECT='" SFB_SOURCE_DIR "'");
}

/* From an archive with the library alone: it needs no file of the rest, either. */
Test(bare, builds_when_fetched)
{
    char *options = NULL;

    free(command_output("cd '" SFB_SOURCE_DIR "' && "
                        "tar -cf '%s/source.tar' CMakeLists.txt cmake include src",
                        work));
    cr_assert_geq(asprintf(&options, "-DCONSUMER_URL='%s/source.tar'", work), 0);
    build_and_run(options);
    free(options);
}

static bool has_all_products(void)
{
    return access(SFB_SOURCE_DIR "/toolchain", F_OK) == 0;
}

Test(bare, leaves_out_at_top_level_what_needs_more)
{
    struct command configured = configure(SFB_SOURCE_DIR, "");

    if (!has_all_products())
        cr_skip_test("a copy of the library alone has no other products");

    cr_assert_eq(configured.status, 0, "%s", configured.output);
    expect_said(&configured, "built without libunwind (steps where a module has no tables): not "
                             "found: libunwind.h; Debian: apt install libunwind-dev\n");
    /* libiberty is a plain file: the compiler finds it where CMake finds nothing. */
    expect_said(&configured, "built without the profiler (sfb record, sfb report, sfb ctl): not "
                             "found: libelf, libdw, liblzma, zlib, libzstd; Debian: apt install "
                             "libelf-dev libdw-dev liblzma-dev zlib1g-dev libzstd-dev\n");
    expect_said(&configured,
                "built without the toolchain's tools (sfb check, sfb diff, sfb synth, sfb dump): "
                "not found: libelf, libdw, liblzma, jansson; Debian: apt install libelf-dev "
                "libdw-dev liblzma-dev libjansson-dev\n");
    expect_said(&configured, "built without the tests and the benchmark: not found: libelf, "
                             "libdw, jansson, criterion; Debian: apt install libelf-dev libdw-dev "
                             "libjansson-dev libcriterion-dev\n");
    free(configured.output);
    free(command_output("grep -x 'CMAKE_BUILD_TYPE:STRING=Release' '%s/build/CMakeCache.txt'",
                        work));
}

/* CMake wraps the text of an error: what is looked for are pieces of it. */
static const struct {
    const char *option, *missing;
} parts[] = {
    { "SFRAME_BACKTRACE_LIBUNWIND", "libunwind.h" },
    { "SFRAME_BACKTRACE_PROFILER", "libelf," }, /* CMake breaks the line behind it */
    { "SFRAME_BACKTRACE_TOOLCHAIN", "libelf," },
    { "SFRAME_BACKTRACE_TESTS", "criterion" },
};

Test(bare, fails_where_a_part_is_asked_for)
{
    if (!has_all_products())
        cr_skip_test("a copy of the library alone has no parts to ask for");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct command configured;
        char *options = NULL;

        cr_assert_geq(asprintf(&options,
                               "-USFRAME_BACKTRACE_LIBUNWIND -USFRAME_BACKTRACE_TOOLCHAIN "
                               "-USFRAME_BACKTRACE_PROFILER -USFRAME_BACKTRACE_TESTS -D%s=ON",
                               parts[i].option),
                      0);
        configured = configure(SFB_SOURCE_DIR, options);
        cr_expect_neq(configured.status, 0, "%s: %s", options, configured.output);
        expect_said(&configured, parts[i].option);
        expect_said(&configured, parts[i].missing);
        free(configured.output);
        free(options);
    }
}

Test(bare, keeps_a_build_type_that_is_given)
{
    struct command configured = configure(SFB_SOURCE_DIR, "-DCMAKE_BUILD_TYPE=None");

    cr_assert_eq(configured.status, 0, "%s", configured.output);
    free(configured.output);
    free(command_output("grep -x 'CMAKE_BUILD_TYPE:STRING=None' '%s/build/CMakeCache.txt'", work));
}
