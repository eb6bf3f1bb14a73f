/* Which functions are meant by a text that somebody typed. */
#ifndef REPORT_FIND_H
#define REPORT_FIND_H

#include <regex.h>

#include "report/model.h"

/*
 * Functions of that name; if there are none, those of that name without their arguments; if there are none, those in
 * whose name the expression is found. As shown, or as linked.
 *
 * @param expression  the same text
 * @param out         whether each function of the model is meant; to be freed
 * @return how many are; if out is NULL, there is no memory
 */
size_t report_find_functions(const struct report_model *model, const char *text,
                             const regex_t *expression, bool **out);

#endif
