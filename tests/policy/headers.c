/*
 * Each public header can be included first, in C11 and in C++17, by any compiler that is here. The
 * examples of the front doors compile, and stable headers include stable ones only.
 */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sframe_backtrace.h"
#include "support/command.h"

#define INCLUDE SFB_SOURCE_DIR "/include"

static const struct {
    const char *compiler;
    const char *language;
} compilers[] = {
    { SFB_CC, "-x c -std=c11" },
    { SFB_TOOL_PREFIX "gcc", "-x c -std=c11" },
    { SFB_TOOL_PREFIX "g++", "-x c++ -std=c++17" },
    { "clang", "-x c -std=c11" },
    { "clang++", "-x c++ -std=c++17" },
};

/* All of the C library that a public header may ask for: freestanding headers and ssize_t. */
static const char *const libc_headers[] = { "<stdbool.h>", "<stddef.h>", "<stdint.h>",
                                            "<sys/types.h>" };

static void find_headers(glob_t *out)
{
    cr_assert_eq(glob(INCLUDE "/*.h", 0, NULL, out), 0);
    cr_assert_eq(glob(INCLUDE "/*/*.h", GLOB_APPEND, NULL, out), 0);
    cr_assert_geq(out->gl_pathc, 2);
}

Test(headers, compile_alone_and_twice)
{
    glob_t headers;

    find_headers(&headers);
    for (size_t c = 0; c < sizeof compilers / sizeof *compilers; c++) {
        struct command there = command_run("command -v '%s'", compilers[c].compiler);

        free(there.output);
        if (there.status != 0)
            continue;
        for (size_t i = 0; i < headers.gl_pathc; i++) {
            const char *path = headers.gl_pathv[i];
            struct command result =
                command_run("printf '#include \"%%s\"\\ntypedef int not_empty;\n' '%s' '%s' | '%s' "
                            "%s -Wall -Wextra "
                            "-Wpedantic -Werror -fsyntax-only -",
                            path, path, compilers[c].compiler, compilers[c].language);

            cr_expect_eq(result.status, 0, "%s %s %s:\n%s", compilers[c].compiler,
                         compilers[c].language, path, result.output);
            free(result.output);
        }
    }
    globfree(&headers);
}

/* What stands behind " *     " in the first comment, as statements: the header's example. */
static char *example_of(const char *header)
{
    char *text = text_read(header), *end = strstr(text, "*/"), *example = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&example, &size);

    cr_assert(out && end);
    *end = '\0';
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
        if (strncmp(line, " *     ", 7) == 0)
            fprintf(out, "%s\n", line + 3);
    fclose(out);
    free(text);
    cr_assert_gt(size, 0, "%s has no example", header);
    return example;
}

static void write_example(const char *path, const char *header)
{
    char *example = example_of(header);
    FILE *out = fopen(path, "w");

    cr_assert_not_null(out);
    fprintf(out, "#include \"%s\"\n#include <stdio.h>\nint main(void)\n{\n%s    return 0;\n}\n",
            header, example);
    fclose(out);
    free(example);
}

Test(headers, have_examples_that_compile)
{
    char path[] = "/tmp/sfb-example-XXXXXX";
    glob_t headers;

    close(mkstemp(path));
    cr_assert_eq(glob(INCLUDE "/*.h", 0, NULL, &headers), 0);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        write_example(path, headers.gl_pathv[i]);
        free(command_output("'%s' -x c -std=c11 -Wall -Wextra -Werror -I'" INCLUDE
                            "' -fsyntax-only '%s'",
                            SFB_CC, path));
    }
    globfree(&headers);
    unlink(path);
}

/* That of the header, of the library, and of the package. */
Test(headers, have_the_version_of_the_library)
{
    char version[32];

    snprintf(version, sizeof version, "%d.%d.%d", SFRAME_BACKTRACE_VERSION_MAJOR,
             SFRAME_BACKTRACE_VERSION_MINOR, SFRAME_BACKTRACE_VERSION_PATCH);
    cr_expect_str_eq(version, SFB_PROJECT_VERSION);
    cr_expect_eq(sframe_backtrace_version(), (unsigned)SFRAME_BACKTRACE_VERSION);
}

static bool is_unstable(const char *path)
{
    char *text = text_read(path);
    bool unstable = strncmp(text, "/* Unstable: ", 13) == 0;

    free(text);
    return unstable;
}

/* An include of a public header: one of ours, that is there, or one of the few of the C library. */
static void judge_include(const char *header, const char *included)
{
    char *path = NULL;

    for (size_t i = 0; i < sizeof libc_headers / sizeof *libc_headers; i++)
        if (strcmp(included, libc_headers[i]) == 0)
            return;
    cr_expect(included[0] == '"' && !strstr(included, ".."), "%s includes %s", header, included);
    if (included[0] != '"')
        return;
    cr_assert_geq(asprintf(&path, "%.*s/%.*s", (int)(strrchr(header, '/') - header), header,
                           (int)strcspn(included + 1, "\""), included + 1),
                  0);
    cr_expect(strncmp(path, INCLUDE "/", sizeof INCLUDE) == 0 && access(path, R_OK) == 0,
              "%s includes %s, which is not beside it", header, included);
    cr_expect(is_unstable(header) || access(path, R_OK) != 0 || !is_unstable(path),
              "%s is stable, and includes %s", header, included);
    free(path);
}

Test(headers, include_only_each_other_and_a_little_libc)
{
    glob_t headers;

    find_headers(&headers);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        char *text = text_read(headers.gl_pathv[i]);

        for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
            if (strncmp(line, "#include ", 9) == 0)
                judge_include(headers.gl_pathv[i], line + 9);
        free(text);
    }
    globfree(&headers);
}
