/*
 * The shared library exports what its stable headers declare, and nothing else: every other name
 * would be taken from, or given to, the program and the other libraries of the process. What the
 * unstable headers declare is in the static library only.
 */
#include <criterion/criterion.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/command.h"

/*
 * What libsframe of binutils 2.40 to 2.45 exports. It is in a process that uses libbfd or
 * libopcodes; the installed one is asked, too.
 */
static const char libsframe[] = "dump_sframe\n"
                                "sframe_calc_fre_type\n"
                                "sframe_decode\n"
                                "sframe_decoder_free\n"
                                "sframe_decoder_get_abi_arch\n"
                                "sframe_decoder_get_fixed_fp_offset\n"
                                "sframe_decoder_get_fixed_ra_offset\n"
                                "sframe_decoder_get_flags\n"
                                "sframe_decoder_get_fre\n"
                                "sframe_decoder_get_funcdesc\n"
                                "sframe_decoder_get_funcdesc_v2\n"
                                "sframe_decoder_get_hdr_size\n"
                                "sframe_decoder_get_num_fidx\n"
                                "sframe_decoder_get_version\n"
                                "sframe_encode\n"
                                "sframe_encoder_add_fre\n"
                                "sframe_encoder_add_funcdesc\n"
                                "sframe_encoder_add_funcdesc_v2\n"
                                "sframe_encoder_free\n"
                                "sframe_encoder_get_abi_arch\n"
                                "sframe_encoder_get_hdr_size\n"
                                "sframe_encoder_get_num_fidx\n"
                                "sframe_encoder_write\n"
                                "sframe_errmsg\n"
                                "sframe_fde_create_func_info\n"
                                "sframe_find_fre\n"
                                "sframe_fre_get_base_reg_id\n"
                                "sframe_fre_get_cfa_offset\n"
                                "sframe_fre_get_fp_offset\n"
                                "sframe_fre_get_ra_mangled_p\n"
                                "sframe_fre_get_ra_offset\n"
                                "sframe_get_funcdesc_with_addr\n";

/* Whether a text has a line that is this name. */
static bool has_line(const char *text, const char *name)
{
    size_t size = strlen(name);

    for (const char *at = text; (at = strstr(at, name)); at += size)
        if ((at == text || at[-1] == '\n') && (at[size] == '\n' || at[size] == '\0'))
            return true;
    return false;
}

/* The names that a library exports, one a line. */
static char *exports_of(const char *library)
{
    char *names =
        command_output("'%s' -D -P --defined-only '%s' | sed 's/[ @].*//'", SFB_NM, library);

    cr_assert_gt(strlen(names), 0, "%s exports nothing", library);
    return names;
}

/* As its first line says. */
static bool is_unstable(const char *header_text)
{
    return strncmp(header_text, "/* Unstable: ", 13) == 0;
}

/* The functions that headers of one kind declare with SFB_API, one a line. */
static char *declarations(bool unstable)
{
    char *names = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&names, &size);
    glob_t headers;

    cr_assert_not_null(out);
    cr_assert_eq(glob(SFB_SOURCE_DIR "/include/*.h", 0, NULL, &headers), 0);
    cr_assert_eq(glob(SFB_SOURCE_DIR "/include/sfb/*.h", GLOB_APPEND, NULL, &headers), 0);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        char *text = text_read(headers.gl_pathv[i]);

        /* At the start of a line: api.h and the comments name it elsewhere. */
        for (char *at = text; is_unstable(text) == unstable && (at = strstr(at, "\nSFB_API "));
             at++) {
            const char *end = strchr(at, '('), *start = end;

            cr_assert_not_null(end, "SFB_API on no function in %s", headers.gl_pathv[i]);
            while (isalnum((unsigned char)start[-1]) || start[-1] == '_')
                start--;
            fprintf(out, "%.*s\n", (int)(end - start), start);
        }
        free(text);
    }
    globfree(&headers);
    fclose(out);
    return names;
}

static void expect_subset(const char *subset, const char *set, const char *complaint)
{
    char *copy = strdup(subset);

    for (char *rest = copy, *name; (name = strsep(&rest, "\n"));)
        cr_expect(*name == '\0' || has_line(set, name), "%s %s", name, complaint);
    free(copy);
}

Test(exports, have_our_prefixes)
{
    char *names = exports_of(SFB_SHARED_LIBRARY);

    for (char *rest = names, *name; (name = strsep(&rest, "\n"));)
        cr_expect(*name == '\0' || strncmp(name, "sfb_", 4) == 0 ||
                      strcmp(name, "sframe_backtrace") == 0 ||
                      strncmp(name, "sframe_backtrace_", 17) == 0,
                  "%s is exported", name);
    free(names);
}

Test(exports, are_the_functions_of_the_stable_headers)
{
    char *names = exports_of(SFB_SHARED_LIBRARY), *declared = declarations(false);

    expect_subset(names, declared, "is exported, but no stable header declares it");
    expect_subset(declared, names, "is declared in a stable header, but not exported");
    free(declared);
    free(names);
}

Test(exports, of_unstable_headers_are_in_the_static_library)
{
    char *names = command_output("'%s' -P -g --defined-only '%s' | sed 's/ .*//'", SFB_NM,
                                 SFB_STATIC_LIBRARY);
    char *declared = declarations(true);

    cr_expect(has_line(declared, "sfb_walker_next"), "the unstable headers are not known as such");
    expect_subset(declared, names, "is declared in an unstable header, but defined nowhere");
    free(declared);
    free(names);
}

Test(exports, do_not_clash_with_libsframe)
{
    char *names = exports_of(SFB_SHARED_LIBRARY);

    for (char *rest = names, *name; (name = strsep(&rest, "\n"));)
        cr_expect(*name == '\0' || !has_line(libsframe, name), "libsframe has %s, too", name);
    free(names);
}

Test(exports, do_not_clash_with_the_libsframe_installed)
{
    /* 0 in binutils 2.40, 1 in 2.44, 3 in 2.47. */
    char *path = command_output("for n in 9 8 7 6 5 4 3 2 1 0; do"
                                "  p=$('%s' -print-file-name=libsframe.so.$n);"
                                "  case $p in */*) echo $p; exit ;; esac; "
                                "done; echo none",
                                SFB_CC);
    char *names, *theirs;

    path[strcspn(path, "\n")] = '\0';
    if (!strchr(path, '/'))
        cr_skip_test("libsframe is not installed (Debian: libbinutils)");
    theirs = exports_of(path);
    names = exports_of(SFB_SHARED_LIBRARY);
    for (char *rest = names, *name; (name = strsep(&rest, "\n"));)
        cr_expect(*name == '\0' || !has_line(theirs, name), "libsframe has %s, too", name);
    free(names);
    free(theirs);
    free(path);
}
