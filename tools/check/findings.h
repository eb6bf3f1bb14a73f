/*
 * What a check of one file found: each finding is handed on as it comes, and everything is counted.
 *
 * A fault that is everywhere must not drown one that is somewhere: of each code the first few are
 * told, and the rest is counted. Nothing is kept, so that memory does not grow with what is wrong.
 */
#ifndef CHECK_FINDINGS_H
#define CHECK_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codes.h"

/* What an offset counts from. */
enum finding_region { IN_SFRAME, IN_FILE, IN_EH_FRAME };

enum { FINDING_NONE = -1 };

/* Where something is. */
struct finding_place {
    enum finding_region region;
    uint64_t offset;
    int64_t fde, fre; /* FINDING_NONE: of no function, of no row */
    bool has_pc;      /* it is about code: */
    uint64_t pc;      /* there */
};

/* What the two tables say, in words; NULL where one says nothing. */
struct finding_rules {
    const char *sframe, *eh_frame;
};

struct finding {
    enum check_code code;
    enum check_severity severity; /* to the caller of the check */
    struct finding_place place;
    struct finding_rules rules;
    const char *text;     /* what is particular about it */
    const char *known;    /* the release that writes it; NULL: none that is known */
    uint64_t fingerprint; /* fingerprint.h */
};

struct check_policy;

/* Takes a finding; what it points to is there during the call only. */
typedef void findings_taker(void *data, const struct finding *finding);

/*
 * Fills in what is known of an error or a warning. Its text may be NULL.
 *
 * @return false: it is passed over
 */
typedef bool findings_judge(void *data, struct finding *finding);

enum findings_verdict {
    VERDICT_GOOD,  /* no errors, no warnings */
    VERDICT_KNOWN, /* none but those that a release is known for */
    VERDICT_BAD
};

/* Releases that are named in a verdict. */
enum { KNOWN_MAX = 4 };

/* Who is told, and who has a say. */
struct findings_ears {
    findings_taker *take; /* NULL: findings are counted, and nobody is told */
    findings_judge *judge;
    void *data;                        /* of both */
    const struct check_policy *policy; /* NULL: all codes, as they are */
    bool judge_wants_text;
};

struct findings {
    struct findings_ears ears;
    size_t limit, limit_of_code; /* how many to tell; 0: all */
    uint64_t told;
    uint64_t *of_code;       /* how often each code came, in the order of check_codes */
    uint64_t *told_of_code;  /* how often somebody was told */
    uint64_t *explained;     /* of each code: how many one cause explains; of_code lacks them */
    uint64_t by_severity[3]; /* of_code, by enum check_severity */
    uint64_t ignored;        /* by their code; of_code does not have them ... */
    uint64_t passed;         /* ... nor those that the judge passed over */
    uint64_t known;          /* errors and warnings that a release is known for */
    const char *known_for[KNOWN_MAX];
    bool no_memory; /* something was not told that should have been */
};

/* @return false: no memory */
bool findings_init(struct findings *f, size_t limit, const struct findings_ears *ears);

void findings_free(struct findings *f);

/* Adds one; `format` says what is particular about it, and may lack what the place tells. */
void findings_add(struct findings *f, enum check_code code, struct finding_place place,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same, of a pc at which the tables differ. */
void findings_add_rules(struct findings *f, enum check_code code, struct finding_place place,
                        struct finding_rules rules, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* How many of a code nobody was told. */
uint64_t findings_left_out(const struct findings *f, enum check_code code);

enum findings_verdict findings_verdict(const struct findings *f);

/* Whether there is an error or a warning that the policy does not allow. */
bool findings_bad(const struct findings *f);

static inline struct finding_place in_sframe(uint64_t offset)
{
    return (struct finding_place){ IN_SFRAME, offset, FINDING_NONE, FINDING_NONE, false, 0 };
}

static inline struct finding_place in_file(uint64_t offset)
{
    return (struct finding_place){ IN_FILE, offset, FINDING_NONE, FINDING_NONE, false, 0 };
}

static inline struct finding_place in_eh_frame(uint64_t offset)
{
    return (struct finding_place){ IN_EH_FRAME, offset, FINDING_NONE, FINDING_NONE, false, 0 };
}

/* A place, and the code that it is about. */
static inline struct finding_place of_pc(struct finding_place place, uint64_t pc)
{
    place.has_pc = true;
    place.pc = pc;
    return place;
}

#endif
