/* The columns of a table: CPU time itself and with what is called, shares, a bar, then a name. */
#ifndef REPORT_COLUMNS_H
#define REPORT_COLUMNS_H

#include "report/text/style.h"

struct report_columns {
    const struct report_style *style;
    const struct report_unit *unit;
    uint64_t all;    /* what 100 % is */
    bool selfs;      /* there is time of its own, and time of what it calls */
    bool times;      /* not shares alone */
    unsigned time;   /* width of a time */
    unsigned bar;    /* cells; 0: none */
    unsigned before; /* columns before the name */
};

/* On narrow terminals times give way to names, then bars. */
void report_columns_make(struct report_columns *out, const struct report_style *style, uint64_t all,
                         bool selfs);

/* @param what  what the names are of */
void report_columns_head(FILE *to, const struct report_columns *columns, const char *what);

/* Everything but the name. */
void report_columns_put(FILE *to, const struct report_columns *columns, uint64_t self,
                        uint64_t total);

/* The same of several, whose totals do not add up: that column is empty. */
void report_columns_put_sum(FILE *to, const struct report_columns *columns, uint64_t self);

/* The same of several branches of a tree, whose totals do add up. */
void report_columns_put_branches(FILE *to, const struct report_columns *columns, uint64_t total);

/* @return columns for a name; 0: as many as it takes */
unsigned report_columns_room(const struct report_columns *columns);

/* @return a share of all, in percent; of nothing 0 */
double report_share(uint64_t part, uint64_t all);

#endif
