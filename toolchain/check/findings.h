/*
 * The findings of a check of one file: each is passed on, and all are counted.
 *
 * A fault that is everywhere must not hide one that is somewhere: of each code the first few are passed
 * on, and the rest is counted. Notes wait for the end, so that errors stand in front of them; errors wait
 * while a cause of them may be found, HELD_MAX of them at most.
 */
#ifndef TOOLCHAIN_CHECK_FINDINGS_H
#define TOOLCHAIN_CHECK_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "toolchain/check/finding.h"

struct check_policy;

/* Receives a finding; its pointers are valid during the call only. */
typedef void findings_taker(void *data, const struct finding *finding);

/*
 * Called for each finding that is not ignored: fills in `fingerprint` and `known`. The text is NULL if it is not wanted.
 *
 * @return false: drop the finding; it is counted as passed over
 */
typedef bool findings_judge(void *data, struct finding *finding);

enum findings_verdict {
    VERDICT_GOOD,  /* no errors, no warnings */
    VERDICT_KNOWN, /* known faults of a release alone */
    VERDICT_BAD
};

/* Errors and warnings that wait, at most. */
enum { HELD_MAX = 256 };

/* Releases named in a verdict. */
enum { KNOWN_MAX = 4 };

/* Callbacks for findings, and the policy. */
struct findings_ears {
    findings_taker *take; /* NULL: findings are only counted */
    findings_judge *judge;
    void *data;                        /* for both callbacks */
    const struct check_policy *policy; /* NULL: all codes, at their own severity */
    bool judge_wants_text;
};

/* A finding that is kept, with copies of its texts. */
struct held_finding {
    struct finding finding;
    char *texts; /* one behind the other; what its pointers lead to */
};

struct findings {
    struct findings_ears ears;
    struct held_finding *held; /* findings that wait for findings_release() */
    size_t held_count, held_capacity;
    bool holds;                  /* all findings wait, and not the notes alone */
    bool overflow;               /* HELD_MAX: more were found than are kept */
    size_t limit, limit_of_code; /* of findings passed on; 0: all */
    uint64_t told;
    uint64_t *of_code;       /* findings of each code, in the order of check_codes */
    uint64_t *told_of_code;  /* of these, passed on */
    uint64_t *explained;     /* of each code: explained by one cause; not in of_code */
    uint64_t by_severity[3]; /* of_code, by enum check_severity */
    const uint8_t *folded; /* functions whose errors and warnings one cause explains; NULL: none */
    uint64_t ignored;      /* by their code; not in of_code */
    uint64_t passed;       /* passed over by the judge; not in of_code */
    uint64_t known;        /* errors and warnings that are known faults */
    const char *known_for[KNOWN_MAX];
    uint64_t stop_at; /* so many errors and warnings say enough: the levels end; 0: they do not */
    bool no_memory;   /* a finding could not be passed on */
};

/* @return false: no memory */
bool findings_init(struct findings *f, size_t limit, const struct findings_ears *ears);

void findings_free(struct findings *f);

/*
 * Whether the next finding of a code needs its text and its rules: it may be passed on, or is compared with a
 * baseline. Most of them are only counted, above all while causes are tried.
 */
bool findings_want_text(const struct findings *f, enum check_code code);

/* Whether the levels may end: a repair that leaves so many is no cause. */
static inline bool findings_are_enough(const struct findings *f)
{
    return f->stop_at != 0 &&
           f->by_severity[CHECK_ERROR] + f->by_severity[CHECK_WARNING] >= f->stop_at;
}

/* Adds one; `format` has the details, without what the place already says. */
void findings_add(struct findings *f, enum check_code code, struct finding_place place,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same, for a pc at which the tables differ. */
void findings_add_rules(struct findings *f, enum check_code code, struct finding_place place,
                        struct finding_rules rules, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Passes on what waits: errors and warnings, then notes. Later ones are passed on at once. */
void findings_release(struct findings *f);

/* Forgets all findings, as before the first one. */
void findings_restart(struct findings *f);

/* Findings of a code that were counted and not passed on. */
uint64_t findings_left_out(const struct findings *f, enum check_code code);

enum findings_verdict findings_verdict(const struct findings *f);

/* Whether the policy fails the check: an error or a warning that it does not allow. */
bool findings_bad(const struct findings *f);

#endif
