/** The figures as people read them, and whether the targets are met. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "measure.h"

void table_print(const struct measurement *m);
void table_targets(const struct measurement *m);

#endif
