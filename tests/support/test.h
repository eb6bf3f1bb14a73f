/*
 * Criterion, for every test here.
 *
 * Its assertions assign an int to a bit-field, of which gcc warns where they are used, so that the
 * warning is off from here on in gcc; clang keeps looking for conversions in the same code.
 */
#ifndef SUPPORT_TEST_H
#define SUPPORT_TEST_H

#include <stdio.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* Criterion 2.4.1's is `ge`: gt(int, 0, 0) holds. Its `lt` is right: exchange the sides. */
#pragma GCC poison gt

/*
 * Says what of a test is left out here, and why: "SUITE: REASON". A whole test: cr_skip_test(). cr_log_warn() would make the
 * program fail, with all its tests passed.
 */
#undef cr_log_warn
#pragma GCC poison cr_log_warn
#define SAY_SKIPPED(...)                                                                           \
    do {                                                                                           \
        fputs("skipped: ", stderr);                                                                \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
    } while (0)

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wconversion"
#endif

#endif
