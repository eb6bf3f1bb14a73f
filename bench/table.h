/** The figures as people read them, and whether the targets are met. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

/* A table for each situation that has figures. */
void tables_print(void);

/* The same of whole walks: what a user has. */
void walks_print(void);

/* @return the column that a peer which needs frame pointers is compared in: "fp 32" of "nofp 32" */
const char *table_fp_column(const char *column, char *buffer);

/* The targets, each met or missed. */
void targets_print(void);

#endif
