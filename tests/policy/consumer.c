/*
 * An installed copy builds and runs a program, found by CMake or by pkg-config, also after it was
 * moved: neither package may hold the prefix that it was installed into. So does the source, as a
 * subproject.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/command.h"

#define CONSUMER SFB_SOURCE_DIR "/tests/policy/consumer"

static char work[] = "/tmp/sfb-consumer-XXXXXX";

static void make_work_folder(void)
{
    cr_assert_not_null(mkdtemp(work));
}

static void remove_work_folder(void)
{
    free(command_output("rm -rf '%s'", work));
}

TestSuite(consumer, .init = make_work_folder, .fini = remove_work_folder);

/* Installs, and moves what was installed to <work>/moved if asked. */
static const char *install(bool move)
{
    free(
        command_output("'%s' --install '%s' --prefix '%s/first'", SFB_CMAKE, SFB_BINARY_DIR, work));
    if (!move)
        return "first";
    free(command_output("mv '%s/first' '%s/moved'", work, work));
    return "moved";
}

static void build_and_run(const char *options)
{
    free(command_output("'%s' -G '%s' -S '%s' -B '%s/build' %s %s && '%s' --build '%s/build' && "
                        "'%s' '%s/build/consumer-shared' && '%s' '%s/build/consumer-static'",
                        SFB_CMAKE, SFB_GENERATOR, CONSUMER, work, SFB_CMAKE_OPTIONS, options,
                        SFB_CMAKE, work, SFB_EMULATE, work, SFB_EMULATE, work));
    if (SFB_HAVE_PROFILER)
        free(command_output("'%s' '%s/build/consumer-recording' '%s/own.sfbr'", SFB_EMULATE, work,
                            work));
    if (SFB_HAVE_REMOTE)
        free(command_output("'%s' '%s/build/consumer-remote'", SFB_EMULATE, work));
}

static void build_with_cmake(bool move)
{
    char *options = NULL;

    cr_assert_geq(asprintf(&options, "-DCMAKE_PREFIX_PATH='%s/%s'", work, install(move)), 0);
    build_and_run(options);
    free(options);
}

static void build_with_pkg_config(bool move)
{
    const char *prefix = install(move);
    char *needed;

    /* Both kinds lie in one folder, and -l takes the shared one unless told otherwise. */
    free(command_output("cd '%s' && pc=$(find \"$PWD/%s\" -name sframe-backtrace.pc) && "
                        "export PKG_CONFIG_PATH=\"${pc%%/*}\" && "
                        "flags=$(pkg-config --cflags sframe-backtrace) && "
                        "libs=$(pkg-config --libs sframe-backtrace) && "
                        "cc() { '%s' %s \"$@\"; } && "
                        "cc '%s/main.c' $flags $libs -o shared && "
                        "cc '%s/main.c' $flags -Wl,-Bstatic $libs -Wl,-Bdynamic -o static && "
                        "LD_LIBRARY_PATH=\"${pc%%/pkgconfig/*}\" '%s' ./shared && '%s' ./static",
                        work, prefix, SFB_CC, SFB_CC_OPTIONS, CONSUMER, CONSUMER, SFB_EMULATE,
                        SFB_EMULATE));
    needed = command_output("'%s' -d '%s/shared'", SFB_READELF, work);
    cr_expect_not_null(strstr(needed, "[libsframe-backtrace.so.1]"), "%s", needed);
    free(needed);
    needed = command_output("'%s' -d '%s/static'", SFB_READELF, work);
    cr_expect_null(strstr(needed, "libsframe-backtrace"), "%s", needed);
    free(needed);
}

/* Of the two libraries one is the shared core: it has all that recordings need. */
static void build_recording_with_pkg_config(bool move)
{
    free(command_output("cd '%s' && pc=$(find \"$PWD/%s\" -name sfb-recording.pc) && "
                        "export PKG_CONFIG_PATH=\"${pc%%/*}:$PKG_CONFIG_PATH\" && "
                        "flags=$(%s pkg-config --cflags sfb-recording) && "
                        "libs=$(%s pkg-config --libs sfb-recording) && "
                        "'%s' %s '%s/recording.c' $flags $libs -o recording && "
                        "LD_LIBRARY_PATH=\"${pc%%/pkgconfig/*}\" '%s' ./recording own.sfbr",
                        work, install(move), SFB_PKG_CONFIG_SETTINGS, SFB_PKG_CONFIG_SETTINGS,
                        SFB_CC, SFB_CC_OPTIONS, CONSUMER, SFB_EMULATE));
}

Test(consumer, finds_the_cmake_package)
{
    build_with_cmake(false);
}

Test(consumer, finds_a_cmake_package_that_was_moved)
{
    build_with_cmake(true);
}

Test(consumer, finds_the_pkg_config_file)
{
    build_with_pkg_config(false);
}

Test(consumer, finds_a_pkg_config_file_that_was_moved)
{
    build_with_pkg_config(true);
}

Test(consumer, finds_the_pkg_config_file_of_recordings)
{
    if (!SFB_HAVE_PROFILER)
        cr_skip_test("built without the profiler");
    build_recording_with_pkg_config(true);
}

/* A program that has names of its own, which parts of the archive had before. */
Test(consumer, finds_the_pkg_config_file_of_remote)
{
    const char *prefix = install(true);

    if (!SFB_HAVE_REMOTE)
        cr_skip_test("built without the profiler");
    free(command_output("cd '%s' && pc=$(find \"$PWD/%s\" -name sfb-remote.pc) && "
                        "export PKG_CONFIG_PATH=\"${pc%%/*}:$PKG_CONFIG_PATH\" && "
                        "'%s' %s '%s/remote.c' $(%s pkg-config --cflags --libs sfb-remote) "
                        "-o remote && LD_LIBRARY_PATH=\"${pc%%/pkgconfig/*}\" '%s' ./remote",
                        work, prefix, SFB_CC, SFB_CC_OPTIONS, CONSUMER, SFB_PKG_CONFIG_SETTINGS,
                        SFB_EMULATE));
}

/* A program that records itself, linked by pkg-config, which leads to the agents in their folder. */
Test(consumer, links_the_agents)
{
    static const char *const kinds[] = { "cpu", "heap" };
    const char *prefix = install(true);

    if (!SFB_HAVE_AGENTS)
        cr_skip_test("built without agents");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        free(command_output(
            "cd '%s' && pc=$(find \"$PWD/%s\" -name sfb-agent-%s.pc) && "
            "export PKG_CONFIG_PATH=\"${pc%%/*}\" && "
            "'%s' %s '%s/agent.c' -DHEAP=%zu $(pkg-config --cflags --libs sfb-agent-%s) "
            "-o agent-%s && '%s' ./agent-%s",
            work, prefix, kinds[i], SFB_CC, SFB_CC_OPTIONS, CONSUMER, i, kinds[i], kinds[i],
            SFB_EMULATE, kinds[i]));
}

/* Where the tree lies makes no difference to `sfb record`. */
Test(consumer, finds_the_agents_from_any_prefix)
{
    const char *prefix = install(true);
    char *path;

    if (!SFB_HAVE_AGENTS)
        cr_skip_test("built without agents");
    path =
        command_output("'%s' '%s/%s/bin/sfb' record --print-agent heap", SFB_EMULATE, work, prefix);
    path[strcspn(path, "\n")] = '\0';
    cr_expect_not_null(strstr(path, "/moved/"), "%s", path);
    cr_expect_not_null(strstr(path, "/sframe-backtrace/libsfb-preload-heap.so"), "%s", path);
    free(command_output("test -f '%s'", path));
    free(path);
}

Test(consumer, adds_the_source_as_a_subproject)
{
    build_and_run("-DCONSUMER_SUBPROJECT='" SFB_SOURCE_DIR "' " SFB_LIBUNWIND_OPTION
                  " " SFB_PROFILER_OPTION);
}

/*
 * Everything in include is installed: a header that is missing from the list would not be. The recorder's comes with the
 * agents, sfb/remote.h and sfb/copied.h with libsfb-remote.
 */
Test(consumer, gets_every_public_header)
{
    const char *prefix = install(false);

    free(command_output(
        "cd '" SFB_SOURCE_DIR "/include' && find . -name '*.h' %s%s| while read -r h; do "
        "cmp \"$h\" '%s/%s/include/'\"$h\" || exit 1; done",
        SFB_HAVE_REMOTE ? "" : "! -name remote.h ! -name copied.h ",
        access(SFB_SOURCE_DIR "/profiler", F_OK) == 0 ? "" : "! -name sframe_backtrace_record.h ",
        work, prefix));
}

/* They are installed as they lie in the source, with the examples: their links hold. */
Test(consumer, gets_pages_whose_links_lead_somewhere)
{
    const char *prefix;
    char *links;

    if (access(SFB_SOURCE_DIR "/NEWS.md", R_OK) != 0)
        cr_skip_test("a copy of the library alone has no pages");
    prefix = install(false);
    links = command_output(
        "cd \"$(dirname \"$(find '%s/%s' -name NEWS.md)\")\" && for page in $(find . -name "
        "'*.md'); do "
        "grep -oE '\\]\\([^)#]+' \"$page\" | cut -c 3- | grep -v '://' | while read -r link; do "
        "[ -e \"$(dirname \"$page\")/$link\" ] && echo ok || echo \"$page: no file for ($link)\"; "
        "done; done",
        work, prefix);
    size_t seen = 0;

    for (char *rest = links, *line; (line = strsep(&rest, "\n")) && *line; seen++)
        cr_expect_str_eq(line, "ok");
    cr_expect_gt(seen, 30); /* links are found at all */
    free(links);
    free(command_output("cd \"$(dirname \"$(find '%s/%s' -name NEWS.md)\")\" && "
                        "diff -r examples '" SFB_SOURCE_DIR "/examples'",
                        work, prefix));
}
