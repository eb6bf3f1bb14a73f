/*
 * The functions of an .sframe by name, each with its rows as rules: what two builds can be compared
 * by, whatever versions and addresses they have.
 */
#ifndef TOOLCHAIN_DIFF_TABLE_H
#define TOOLCHAIN_DIFF_TABLE_H

#include <sfb/rule.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/fault.h"
#include "util/input.h"

struct diff_row {
    uint32_t offset; /* from the function's start */
    struct sfb_rule rule;
};

struct diff_function {
    char *name; /* of the symbol that begins there, else ".plt+0x0" */
    uint64_t start;
    uint32_t size, repeat; /* repeat: bytes after which the rows hold again; 0: they do not */
    size_t first, count;   /* of its rows; a row equal to the one before it is left out */
};

struct diff_table {
    struct diff_function *functions; /* ascending by name, then by start */
    size_t function_count, function_capacity;
    struct diff_row *rows;
    size_t row_count, row_capacity;
    uint64_t size;        /* of the section */
    uint64_t left_out;    /* functions whose rows cannot be read */
    uint8_t version, abi; /* version 0: there is no section that can be read */
};

/*
 * Reads a file.
 *
 * @param fault  written on failure: what is wrong with the file, or no memory
 */
bool diff_table_read(struct diff_table *out, struct object_fault *fault, const struct input *input);

void diff_table_free(struct diff_table *table);

#endif
