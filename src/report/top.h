/* The functions that take most CPU time, as a table. */
#ifndef REPORT_TOP_H
#define REPORT_TOP_H

#include <stdio.h>

#include "report/model.h"

/*
 * Self is time in the function itself, total is time in it and in what it calls, a recursion counted once. Both are
 * shares of all CPU time, what was never sampled included.
 *
 * @param rows  functions at most; 0: all
 * @return false: no memory
 */
bool report_top_write(FILE *to, const struct report_model *model, size_t rows);

#endif
