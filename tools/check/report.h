/*
 * How findings are told: as lines, as JSON, as SARIF 2.1.0, or as commands of a GitHub workflow.
 *
 * A report is written as it comes: nothing is kept but counts. Its calls come in this order: open,
 * head; for each file (or member of an archive) begin, finding..., end; tail, close.
 */
#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include <stdio.h>

#include "check.h"

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_SARIF, REPORT_GITHUB };

/* What is said of all files, at the end. */
struct report_counts {
    uint64_t files, with_section, with_findings, unreadable;
    uint64_t by_severity[3];
};

struct report {
    enum report_format format;
    FILE *to;
    struct report_counts counts;
    bool any; /* of JSON a file, of SARIF a result was written: a comma stands before the next */
    bool any_finding; /* of JSON, in the file */
    FILE *later;      /* SARIF: notifications, which stand behind all results */
    char *later_text; /* of it */
    size_t later_size;
    bool failed; /* no memory for something */
};

/* One file as it is told. */
struct report_file {
    const char *name;   /* "libx.a(member.o)" for members */
    const char *path;   /* what was opened */
    uint64_t member_at; /* where the member is in it; else 0 */
};

/* @return false: no memory */
bool report_open(struct report *out, enum report_format format, FILE *to);

/* What stands before all files, and behind them. */
void report_head(struct report *report);
void report_tail(struct report *report);

/* @return false: something could not be written for want of memory */
bool report_close(struct report *report);

void report_begin(struct report *report, const struct report_file *file);
void report_finding(struct report *report, const struct report_file *file, const struct check *c,
                    const struct finding *finding);
void report_end(struct report *report, const struct report_file *file,
                const struct check_result *result);

/* ---- for the formats ---- */

/* Where a finding is in the file that was opened. */
uint64_t report_byte_offset(const struct report_file *file, const struct check_result *result,
                            const struct finding *finding);

/* Rounded down: 100 is said of all of them only. */
double report_percent_down(uint64_t part, uint64_t all);

/* "FDE 3 FRE 2: ", or less. */
void report_owner(char *out, size_t size, const struct finding_place *place);

void report_text_finding(struct report *report, const struct report_file *file,
                         const struct finding *finding);
void report_text_end(struct report *report, const struct report_file *file,
                     const struct check_result *result);
void report_text_tail(struct report *report);

void report_github_finding(struct report *report, const struct report_file *file,
                           const struct finding *finding);
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
