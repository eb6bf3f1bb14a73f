/*
 * Criterion, for every test here.
 *
 * Its assertions assign an int to a bit-field, of which gcc warns where they are used, so that the
 * warning is off from here on in gcc; clang keeps looking for conversions in the same code.
 */
#ifndef SUPPORT_TEST_H
#define SUPPORT_TEST_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wconversion"
#endif

#endif
