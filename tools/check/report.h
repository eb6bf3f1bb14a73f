/*
 * How findings are told: as lines, as JSON, or as SARIF 2.1.0.
 *
 * One report goes through the calls in this order: open, then for each file (or member of an
 * archive) `file`, then close.
 */
#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include "check.h"

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_SARIF };

struct report {
    enum report_format format;
    uint64_t files, with_section, with_findings, unreadable;
    uint64_t by_severity[3];
    void *root; /* of JSON and SARIF: what has been put together */
};

/* One file as it is told. */
struct report_file {
    const char *name;   /* "libx.a(member.o)" for members */
    const char *path;   /* what was opened */
    uint64_t member_at; /* where the member is in it; else 0 */
    const struct check_result *result;
};

/* @return false: no memory */
bool report_open(struct report *out, enum report_format format);
bool report_file(struct report *report, const struct report_file *file);

/* Prints what is left to print. */
bool report_close(struct report *report);

/* Where a finding is in the file that was opened. */
uint64_t report_byte_offset(const struct report_file *file, const struct finding *finding);

/* "FDE 3 FRE 2: ", or less. */
void report_owner(char *out, size_t size, const struct finding_place *place);

/* The formats. */
bool report_text_file(const struct report_file *file);
void report_text_summary(const struct report *report);
bool report_json_open(struct report *report);
bool report_json_file(struct report *report, const struct report_file *file);
bool report_json_close(struct report *report);
bool report_sarif_open(struct report *report);
bool report_sarif_file(struct report *report, const struct report_file *file);
bool report_sarif_close(struct report *report);

#endif
