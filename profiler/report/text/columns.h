/* The columns of a table: values itself and with what is called, their errors, shares, a bar, then a name. */
#ifndef PROFILER_REPORT_TEXT_COLUMNS_H
#define PROFILER_REPORT_TEXT_COLUMNS_H

#include "profiler/report/model/model.h"
#include "profiler/report/text/style.h"

struct report_columns {
    const struct report_style *style;
    const struct report_unit *unit;
    uint64_t all;      /* what 100 % is */
    bool selfs;        /* there is time of its own, and time of what it calls */
    bool times;        /* values, not shares alone */
    bool errors;       /* behind each value: they are estimates */
    unsigned time;     /* width of a value */
    unsigned error;    /* and of an error */
    unsigned bar;      /* cells; 0: none */
    unsigned before;   /* columns before the name */
    const char *value; /* what of a heap it is; NULL */
};

/* @return what a heap's values are: "live"; NULL: CPU time needs no word */
const char *report_value_name(const struct report_model *model);

/* What the values of a model are in. */
enum report_quantity report_quantity_of(const struct report_model *model);

/* On narrow terminals values give way to names, then bars. */
void report_columns_make(struct report_columns *out, const struct report_style *style,
                         const struct report_model *model, uint64_t all, bool selfs);

/* @param what  what the names are of */
void report_columns_head(FILE *to, const struct report_columns *columns, const char *what);

/* Everything but the name. */
void report_columns_put(FILE *to, const struct report_columns *columns,
                        const struct report_amount *self, const struct report_amount *total);

/* The same of several, whose totals do not add up: that column is empty. */
void report_columns_put_sum(FILE *to, const struct report_columns *columns,
                            const struct report_amount *self);

/* The same of several branches of a tree, whose totals do add up. */
void report_columns_put_branches(FILE *to, const struct report_columns *columns,
                                 const struct report_amount *total);

/* @return columns for a name; 0: as many as it takes */
unsigned report_columns_room(const struct report_columns *columns);

/* Fewer samples than that say little of an error. */
enum { REPORT_SAMPLES_FEW = 10 };

/*
 * Writes an error, "12.3": one standard error; "few(3)": there are so few samples.
 *
 * @param width  0: as wide as it is
 */
void report_error_put(FILE *to, const struct report_unit *unit, const struct report_amount *amount,
                      unsigned width);

/* Writes "12.34 KiB" or "12.34 KiB \u00b1 1.20", "(few samples: 3)" behind it where it is of so few. */
void report_amount_put(FILE *to, const struct report_amount *amount, enum report_quantity quantity);

/* Writes bytes in blocks, as the two types of a pair: "12.34 KiB in 5 blocks". @param type  that of the blocks */
void report_bytes_put(FILE *to, const struct report_amount *blocks,
                      const struct report_amount *bytes);

/* @return a share of all, in percent; of nothing 0 */
double report_share(uint64_t part, uint64_t all);

#endif
