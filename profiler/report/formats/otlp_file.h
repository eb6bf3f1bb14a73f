/* OTLP profiles in the making: what otlp*.c share. */
#ifndef PROFILER_REPORT_FORMATS_OTLP_FILE_H
#define PROFILER_REPORT_FORMATS_OTLP_FILE_H

#include <stdio.h>

#include "profiler/report/formats/pprof_file.h"
#include "util/index.h"

/* A value of the dictionary's attribute_table. */
struct report_otlp_attribute {
    uint32_t key;    /* string */
    uint32_t string; /* REPORT_NONE: a number */
    uint64_t number;
};

/* Entry 0 of each table is its zero value; ids are from 1. */
struct report_otlp {
    FILE *to;
    const struct report_model *model;
    struct report_pprof tables; /* mappings, locations, functions, strings; nothing is packed */
    struct report_pprof_numbers stacks;     /* the model's, then "[no stack]" and "[unsampled]" */
    struct report_index attribute_index[2]; /* texts; numbers */
    REPORT_ARRAY(struct report_otlp_attribute) attributes;
    bool failed;
};

/* @return the number of an attribute, which it has from its first use on */
uint32_t report_otlp_text(struct report_otlp *o, const char *key, const char *value);
uint32_t report_otlp_number(struct report_otlp *o, const char *key, uint64_t value);

/* Puts an AnyValue as a field of a message. */
void report_otlp_put_text(struct sfb_bytes *to, unsigned field, const char *text);
void report_otlp_put_number(struct sfb_bytes *to, unsigned field, uint64_t number);

/* Writes a field to the file, and empties the message. */
void report_otlp_write_field(struct report_otlp *o, unsigned field, struct sfb_bytes *message);

#endif
