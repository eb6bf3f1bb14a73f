/*
 * The texts of all codes, in ascending order, one file for each level. Their last text is a recipe for a
 * section with that fault. "the tests' builder" is tests/support/check_file.h: check.codes makes the faults
 * of levels 1 to 4 with it. SARIF output holds title, meaning and effect: a change of these changes it.
 */
#include "toolchain/check/codes.h"

#define NO_RELEASE "no release of binutils; a damaged file, or a new producer"
#define BUILDER    "the tests' builder: "

const struct check_code_text check_codes[] = {
/* clang-format off */
#include "toolchain/check/codes_header.inc"
#include "toolchain/check/codes_container.inc"
#include "toolchain/check/codes_order.inc"
#include "toolchain/check/codes_rows.inc"
#include "toolchain/check/codes_place.inc"
#include "toolchain/check/codes_cfi.inc"
#include "toolchain/check/codes_asked.inc"
#include "toolchain/check/codes_code.inc"
    /* clang-format on */
};

const size_t check_code_count = sizeof check_codes / sizeof *check_codes;
