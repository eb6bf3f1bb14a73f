/* Rows of a heap: what its sites allocated, and what of it lives. */
#ifndef PROFILER_REPORT_MODEL_MAKE_HEAP_H
#define PROFILER_REPORT_MODEL_MAKE_HEAP_H

#include "profiler/report/model/maker.h"

/* The model is to be of heaps. */
void report_make_heap_types(struct report_model *model);

/* Adds the sites of the maker's recording, whose members are there. @return false: no memory */
bool report_make_heap(struct report_maker *maker);

/* All recordings are in it: which value is the main one, where none was asked for. */
void report_make_heap_main(struct report_model *model);

#endif
