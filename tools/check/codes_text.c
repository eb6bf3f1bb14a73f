/*
 * The texts of all codes, in ascending order, a file for each level. The last paragraph of each is how
 * to get a section with that fault: "the tests' builder" is tests/support/check_file.h, with which
 * check.codes makes every one of levels 1 to 4.
 */
#include "codes.h"

#define NOBODY  "no release of binutils; a damaged file, or a new producer"
#define BUILDER "the tests' builder: "

const struct check_code_text check_codes[] = {
/* clang-format off */
#include "codes_header.inc"
#include "codes_container.inc"
#include "codes_order.inc"
#include "codes_rows.inc"
#include "codes_place.inc"
#include "codes_cfi.inc"
#include "codes_asked.inc"
#include "codes_code.inc"
    /* clang-format on */
};

const size_t check_code_count = sizeof check_codes / sizeof *check_codes;
