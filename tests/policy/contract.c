/* docs/SIGNALS.md's table of promises has every public function once, and nothing else. */
#include "support/contract_table.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"

enum { FUNCTIONS_MAX = 128 };

static contract_text functions[FUNCTIONS_MAX];
static size_t function_count;
static struct contract_table table;

static void read_headers(const char *pattern)
{
    glob_t found;

    cr_assert(eq(int, glob(pattern, 0, NULL, &found), 0), "%s", pattern);
    for (size_t i = 0; i < found.gl_pathc; i++)
        function_count += contract_functions(functions + function_count,
                                             FUNCTIONS_MAX - function_count, found.gl_pathv[i]);
    globfree(&found);
    cr_assert(le(sz, function_count, (size_t)FUNCTIONS_MAX));
}

static void read_all(void)
{
    const char *wrong = contract_table_read(&table, SFB_SOURCE_DIR "/docs/SIGNALS.md");

    cr_assert(wrong == NULL, "%s: row %zu: %s", SFB_SOURCE_DIR "/docs/SIGNALS.md", table.row_count,
              wrong);
    read_headers(SFB_SOURCE_DIR "/include/*.h");
    read_headers(SFB_SOURCE_DIR "/include/sfb/*.h");
    cr_assert(ge(sz, function_count, (size_t)30), "not all of them were found");
}

TestSuite(contract, .init = read_all);

Test(contract, has_a_row_for_every_function)
{
    for (size_t i = 0; i < function_count; i++)
        cr_expect(contract_row_of(&table, functions[i]) != NULL, "%s", functions[i]);
}

Test(contract, names_no_other_function)
{
    for (size_t r = 0; r < table.row_count; r++)
        for (size_t i = 0; i < table.row[r].function_count; i++) {
            bool known = false;

            for (size_t k = 0; k < function_count; k++)
                known |= strcmp(functions[k], table.row[r].function[i]) == 0;
            cr_expect(known, "%s", table.row[r].function[i]);
        }
}
