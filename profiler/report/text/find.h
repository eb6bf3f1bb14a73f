/* Finds functions by the text that a user typed. */
#ifndef PROFILER_REPORT_TEXT_FIND_H
#define PROFILER_REPORT_TEXT_FIND_H

#include <regex.h>

#include "profiler/report/model/model.h"

/*
 * The first of these that finds a function:
 *
 *     the whole name, as shown or as linked
 *     of Python: app.py:handler, json.loads, Shop.cart, cart
 *     the name with its namespaces: std::sort is any instance, std::sort<int*> those with these arguments, and
 *         shape::area(double) the one with these parameters. An inlined "sort<int*>", whose namespaces debug
 *         information does not have, is std::sort, too
 *     the last parts of the name: sort is std::sort
 *     an extended regular expression, found in the name as shown or as linked
 *
 * @param expression  the same text
 * @param out         for each function of the model whether it is found; to be freed
 * @return their number; if out is NULL, there is no memory
 */
size_t report_find_functions(const struct report_model *model, const char *text,
                             const regex_t *expression, bool **out);

/* @return the nearest names, up to three, "'std::sort', 'qsort'"; to be freed. NULL: none is near */
char *report_nearest_functions(const struct report_model *model, const char *text);

#endif
