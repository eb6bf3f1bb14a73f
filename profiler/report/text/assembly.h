/*
 * The machine code of a function, instruction by instruction, each with its source line and its figures. A return address counts
 * for the call before it. What was inlined into the function is part of its code.
 */
#ifndef PROFILER_REPORT_TEXT_ASSEMBLY_H
#define PROFILER_REPORT_TEXT_ASSEMBLY_H

#include "profiler/report/model/model.h"
#include "util/strings.h"

/* Figures of a model's locations: from these instructions have theirs. */
struct report_place_weights {
    struct report_amount *self, *total; /* of each location */
    struct report_amount *of_code;      /* of each function: the self of all that its code has */
};

/* @return false: no memory; out is to be freed in any case */
bool report_place_weights_make(struct report_place_weights *out, const struct report_model *model);

void report_place_weights_free(struct report_place_weights *weights);

/* @return the function that contains a location's code, and not one that was inlined; REPORT_NONE: unknown */
uint32_t report_code_function(const struct report_model *model, uint32_t location);

struct report_instruction {
    uint64_t offset; /* in the module */
    uint32_t size;
    uint32_t text, file; /* strings of the assembly */
    uint32_t line;       /* 0: not known */
    struct report_amount self, total;
};

struct report_assembly {
    uint32_t function;
    struct report_strings strings;
    REPORT_ARRAY(struct report_instruction) instructions; /* by offset */
    struct report_amount
        elsewhere; /* self of its code that none of these has: another copy, or behind the last one */
};

/* Why a function has no assembly. */
enum report_assembly_end {
    REPORT_ASSEMBLY_DONE,
    REPORT_ASSEMBLY_NO_MEMORY,
    REPORT_ASSEMBLY_NO_CODE,        /* its module's file is not here, or was built anew */
    REPORT_ASSEMBLY_NO_DISASSEMBLER /* for this machine, or none was built in */
};

/* @return a sentence */
const char *report_assembly_str(enum report_assembly_end end);

/* @param out  to be freed in any case */
enum report_assembly_end report_assembly_make(struct report_assembly *out,
                                              const struct report_model *model,
                                              const struct report_place_weights *weights,
                                              uint32_t function);

void report_assembly_free(struct report_assembly *assembly);

#endif
