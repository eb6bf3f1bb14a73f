/* Recordings that tests of formats write: each figure in them is known. */
#ifndef TESTS_REPORT_FORMATS_RECORDINGS_H
#define TESTS_REPORT_FORMATS_RECORDINGS_H

#include <jansson.h>
#include <stdint.h>

#include "support/compiler.h"
#include "support/pprof_read.h"

/* A name of a process, a thread and code, and how it is shown. */
#define HOSTILE       "\xff</script>\"\\\x1b[2J;\xe2\x80\x8f"
#define HOSTILE_SHOWN "\\377</script>\"\\134\\033[2J;\\342\\200\\217"

/* Functions that stacks are made of; nobody calls them. */
NOINLINE int formats_inner(int x);
NOINLINE int formats_outer(int x);

/* @return an address in a function */
uint64_t recordings_inside(int (*function)(int));

/* The path of this program, which recordings are of. */
char *recordings_program(void);

/*
 * 16 ms: of thread 201 10 ms with a whole stack (4, then 6), of 202 2 ms with one that is cut off, 2.5 ms without a stack
 * and 1 ms never sampled, of the process 0.5 ms never sampled. Samples stand in the file by thread, not by time.
 *
 * @param more  of thread 201
 */
void recordings_known(const char *name, uint64_t more);

/* The same of a recording that began later. */
void recordings_known_later(const char *name, uint64_t ns);

/* The same with labels. @param labels  each ends with its '\0'; an array */
#define recordings_known_as(name, labels) recordings_known_labels(name, labels, sizeof(labels) - 1)
void recordings_known_labels(const char *name, const char *labels, size_t size);

/* Names that nobody wants in a file. */
void recordings_hostile(const char *name);

/* No sample, no thread, no process. */
void recordings_empty(const char *name);

/* --- What sfb report makes of them ------------------------------------------------------------- */

/* Runs `sfb report OPTIONS`, which has nothing to complain of. */
void recordings_report(const char *options);

struct pprof_file recordings_pprof(const char *name);
json_t *recordings_json(const char *name);

/* A line each. @return how many */
size_t recordings_rows(const char *name, json_t **out, size_t room);

void recordings_free_rows(json_t **rows, size_t count);

void recordings_expect_text(const char *got, const char *want);

#endif
