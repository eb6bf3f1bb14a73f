/*
 * Output of findings: lines, JSON, SARIF 2.1.0, or commands of a GitHub workflow.
 *
 * A report is written as findings come; only counts are kept. Order of calls: open, head; for each
 * file (or member of an archive) begin, finding..., end; tail, close.
 */
#ifndef TOOLCHAIN_CHECK_REPORT_H
#define TOOLCHAIN_CHECK_REPORT_H

#include <stdio.h>

#include "toolchain/check/check.h"

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_SARIF, REPORT_GITHUB };

/* Totals of all files, for the end. */
struct report_counts {
    uint64_t files, with_section, with_findings, unreadable;
    uint64_t by_severity[3];
};

struct report {
    enum report_format format;
    FILE *to;
    struct report_counts counts;
    bool any;         /* a comma must precede the next file (JSON) or result (SARIF) */
    bool any_finding; /* the same for findings of a JSON file */
    FILE *later;      /* SARIF: notifications, which follow all results */
    char *later_text; /* the buffer of later */
    size_t later_size;
    bool failed; /* out of memory somewhere */
};

/* One file in a report. */
struct report_file {
    const char *name;   /* "libx.a(member.o)" for members */
    const char *path;   /* the opened file */
    uint64_t member_at; /* offset of the member in it; else 0 */
};

/* @return false: no memory */
bool report_open(struct report *out, enum report_format format, FILE *to);

/* Output before and behind all files. */
void report_head(struct report *report);
void report_tail(struct report *report);

/* @return false: out of memory, output is missing */
bool report_close(struct report *report);

void report_begin(struct report *report, const struct report_file *file);
void report_finding(struct report *report, const struct report_file *file, const struct check *c,
                    const struct finding *finding);
void report_end(struct report *report, const struct report_file *file,
                const struct check_result *result);

/* ---- for the formats ---- */

/* The offset of a finding in the opened file. */
uint64_t report_byte_offset(const struct report_file *file, const struct check_result *result,
                            const struct finding *finding);

/* Rounded down: 100 means all. */
double report_percent_down(uint64_t part, uint64_t all);

/* Of a line about a function: "FDE 3 FRE 2: ", or a part of it. */
void report_owner(char *out, size_t size, const struct finding_place *place);

/* The text of a finding, and the function if it does not name it: "..., in main+0x4"; for free(). */
char *report_text_of(const struct check *c, const struct finding *finding);

void report_text_finding(struct report *report, const struct report_file *file,
                         const struct check *c, const struct finding *finding);
void report_text_end(struct report *report, const struct report_file *file,
                     const struct check_result *result);
void report_text_tail(struct report *report);

void report_github_finding(struct report *report, const struct report_file *file,
                           const struct check *c, const struct finding *finding);
void report_github_end(struct report *report, const struct report_file *file,
                       const struct check_result *result);

void report_json_head(struct report *report);
void report_json_begin(struct report *report, const struct report_file *file);
void report_json_finding(struct report *report, const struct report_file *file,
                         const struct check *c, const struct finding *finding);
void report_json_end(struct report *report, const struct report_file *file,
                     const struct check_result *result);
void report_json_tail(struct report *report);

bool report_sarif_open(struct report *report);
void report_sarif_head(struct report *report);
void report_sarif_finding(struct report *report, const struct report_file *file,
                          const struct check *c, const struct finding *finding);
void report_sarif_end(struct report *report, const struct report_file *file,
                      const struct check_result *result);
void report_sarif_tail(struct report *report);

#endif
