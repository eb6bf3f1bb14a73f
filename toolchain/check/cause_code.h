/*
 * The rows that a function should have, by its code: where no .eh_frame is, rules compare with these.
 *
 * The code is followed from the function's start, without any row. At each instruction a row that fits the frame
 * is right, whatever it counts from; else the row is what a compiler would write there. A function is unknown if one
 * of its instructions is: behind a jump table, where two paths bring different frames, or without a known distance to
 * the CFA.
 */
#ifndef TOOLCHAIN_CHECK_CAUSE_CODE_H
#define TOOLCHAIN_CHECK_CAUSE_CODE_H

#include "toolchain/check/cause_pair.h"

struct code_rows;

/* @return NULL: no decoder for that machine, the code is not asked, or no memory */
struct code_rows *code_rows_open(const struct check *c);

void code_rows_close(struct code_rows *code);

/* The functions of the section that have code, as a .eh_frame would have them. @return false: no memory */
bool code_rows_functions(struct cfi *out, const struct hunt *h);

/* Makes pair_want() and pair_agrees() compare with the code. */
void code_rows_attach(struct code_rows *code, struct row_pair *p);

#endif
