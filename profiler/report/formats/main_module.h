/* Which of a model's modules is the program: the one that several formats begin with. */
#ifndef PROFILER_REPORT_FORMATS_MAIN_MODULE_H
#define PROFILER_REPORT_FORMATS_MAIN_MODULE_H

#include "profiler/report/model/model.h"

/* @return index: of the program that most time was spent in, its libraries included; REPORT_NONE: no program is known */
uint32_t report_main_module(const struct report_model *model);

#endif
