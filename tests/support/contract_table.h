/*
 * docs/SIGNALS.md's table of what each public function promises, and the functions that the headers
 * declare.
 */
#ifndef SUPPORT_CONTRACT_TABLE_H
#define SUPPORT_CONTRACT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { CONTRACT_ROWS = 24, CONTRACT_NAMES = 24, CONTRACT_CALLS = 12, CONTRACT_TEXT = 64 };

typedef char contract_text[CONTRACT_TEXT];

struct contract_row {
    contract_text function[CONTRACT_NAMES];
    size_t function_count; /* 0: the row of something that is no function */
    bool in_handlers, by_threads;
    bool cancel_any; /* else deferred cancellation only */
    size_t stack;    /* bytes */
    contract_text call[CONTRACT_CALLS];
    size_t call_count;
};

struct contract_table {
    struct contract_row row[CONTRACT_ROWS];
    size_t row_count;
};

/* Reads the table. @return NULL, or what is wrong with it */
const char *contract_table_read(struct contract_table *out, const char *path);

/* @return the only row of a function; NULL: there is none, or there are several */
const struct contract_row *contract_row_of(const struct contract_table *table,
                                           const char *function);

/*
 * Reads the names of all functions that the header at path declares as SFB_API.
 *
 * @return how many; above max: there are more
 */
size_t contract_functions(contract_text *out, size_t max, const char *path);

/* @return the number of a system call by its name, -1: not one that the table may name */
long contract_call_number(const char *name);

/* @return its name, or its number as text */
const char *contract_call_name(long number);

#endif
