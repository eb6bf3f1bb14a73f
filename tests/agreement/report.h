/* What the parts of the report share: report.c, and shadow_report.c for bursts. */
#ifndef SFB_AGREEMENT_REPORT_H
#define SFB_AGREEMENT_REPORT_H

#include <stdio.h>

#include "stepper.h"

/* Sums one total, at this offset of struct stepper, over all threads. */
unsigned long long report_total(size_t offset);

/* A line for each element of an array of totals that is not 0: `what N TEXT`. */
void report_array(FILE *f, const char *what, size_t offset, size_t count,
                  const char *(*text)(size_t));

const char *report_status(size_t i);

/* The shadow's verdicts, and an example of each kind. */
void report_truth(FILE *f);

#endif
