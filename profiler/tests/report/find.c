/* Functions are found by the text that a user typed. */
#include "profiler/report/text/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

/* What a report may have; an inlined one of clang -gmlt is known by its last name. */
static const struct {
    const char *name, *system_name;
    bool inlined;
} functions[] = {
    { "void std::sort<int*, less<int> >(int*, int*, less<int>)", "_ZSt4sortIPi4lessIiEEvT_S3_T0_",
      true },
    { "void std::sort<char*>(char*, char*)", "_ZSt4sortIPcEvT_S1_", false },
    { "sort<long *, less<long> >", "sort<long *, less<long> >", true },
    { "void std::stable_sort<int*>(int*, int*)", "_ZSt11stable_sortIPiEvT_S1_", false },
    { "qsort", "qsort", false },
    { "swap", "swap", true },
    { "shape::area(double)", "_ZN5shape4areaEd", false },
    { "shape::area(int)", "_ZN5shape4areaEi", false },
    { "circle::area2()", "_ZN6circle5area2Ev", false },
    { "main", "main", false },
    { "lone<int>", "lone<int>", false },
    { "operator()", "operator()", true },
    { "apply<int (*)(int)>", "apply<int (*)(int)>", true },
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

static struct report_model model;

static void make(void)
{
    model = (struct report_model){ .source_count = 0 };
    for (size_t i = 0; i < FUNCTIONS; i++) {
        struct report_function *f = REPORT_NEXT(model.functions);
        struct report_line *line = REPORT_NEXT(model.lines);

        cr_assert(f != NULL && line != NULL);
        *f = (struct report_function){ .known = true };
        *line = (struct report_line){ .function = (uint32_t)i, .inlined = functions[i].inlined };
        cr_assert(report_strings_add(&model.strings, functions[i].name, &f->name));
        cr_assert(report_strings_add(&model.strings, functions[i].system_name, &f->system_name));
    }
}

TestSuite(find, .init = make);

/* @return the indices of the functions found: "0 2" */
static const char *found(const char *text)
{
    static char numbers[64];
    regex_t expression;
    bool *wanted;
    size_t count;

    numbers[0] = '\0';
    cr_assert_eq(regcomp(&expression, text, REG_EXTENDED | REG_NOSUB), 0);
    count = report_find_functions(&model, text, &expression, &wanted);
    cr_assert(wanted != NULL);
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (wanted[i]) {
            const size_t used = strlen(numbers);

            snprintf(numbers + used, sizeof numbers - used, "%s%zu", used > 0 ? " " : "", i);
            count--;
        }
    cr_expect_eq(count, 0);
    free(wanted);
    regfree(&expression);
    return numbers;
}

Test(find, functions_by_the_names_that_people_type)
{
    static const char *const cases[][2] = {
        /* Whole names, as shown and as linked. */
        { "main", "9" },
        { "shape::area(int)", "7" },
        { "_ZN5shape4areaEd", "6" },
        /* Without arguments: every instance, and the one that is known by its last name alone. */
        { "std::sort", "0 1 2" },
        { "std::stable_sort", "3" },
        { "shape::area", "6 7" },
        /* With some of them. */
        { "std::sort<int*, less<int>>", "0" },
        { "std::sort<char *>", "1" },
        { "std::sort<long*, less<long>>", "2" },
        /* Parts: the whole last name, and no other that ends so. */
        { "area", "6 7" },
        { "stable_sort", "3" },
        { "sort", "0 1 2" },
        { "sort<char*>", "1" },
        { "std::swap", "5" },
        /* A function that was not inlined has its namespace, if it has one. */
        { "std::qsort", "" },
        { "std::lone", "" },
        { "work::compare::operator()", "11" },
        { "std::apply", "12" },
        /* Expressions. */
        { "are.", "6 7 8" },
        { "^(main|qsort)$", "4 9" },
        { "stable_", "3" },
        { "nobody", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(found(cases[i][0]), cases[i][1], "'%s': '%s'", cases[i][0],
                         found(cases[i][0]));
}

Test(find, what_is_nearest_where_none_is_meant)
{
    static const char *const cases[][2] = {
        { "std::srot", "'std::sort'" },
        { "std::srot<int>", "'std::sort'" },
        { "srot", "'std::sort', 'sort', 'qsort'" },
        { "aera", "'shape::area', 'circle::area2'" },
        { "shape::aera(int)", "'shape::area'" },
        { "Main", "'main'" },
        { "frobnicate::stable_srot", "'std::stable_sort'" },
        { "std::aply", "'apply'" },
        { "frobnicate", NULL },
        { "", NULL },
        { "(", NULL },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *near = report_nearest_functions(&model, cases[i][0]);

        if (cases[i][1])
            cr_expect_str_eq(near ? near : "", cases[i][1], "'%s': '%s'", cases[i][0], near);
        else
            cr_expect(near == NULL, "'%s': '%s'", cases[i][0], near);
        free(near);
    }
}
