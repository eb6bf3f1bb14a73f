/* What of a file shows that a finding is a known fault: the same code elsewhere is another one. */
#ifndef TOOLCHAIN_CHECK_KNOWN_FACTS_H
#define TOOLCHAIN_CHECK_KNOWN_FACTS_H

#include "toolchain/check/check.h"

enum known_fact {
    FACT_NONE,
    /* of the CFI of the function that the finding is about: cfi_marks.h */
    FACT_ARGS_SIZE,
    FACT_NESTED,
    FACT_REMEMBER_LATE,
    FACT_NO_ADVANCE,
    FACT_OTHER_CFA,
    FACT_RA_OFFSET,
    FACT_RA_REGISTER,
    FACT_RA_UNDEFINED,
    FACT_FP_SAME,
    FACT_FP_ALONE,
    FACT_PAST_END,
    FACT_SIMPLE,
    FACT_SIGNAL, /* .cfi_signal_frame */
    FACT_EMPTY,  /* an entry of .eh_frame for no bytes */
    /* of the file */
    FACT_OBJECT, /* an object file */
    FACT_MERGED, /* an object file, said to be sorted, with a relocation for each entry, and not on its start */
    FACT_LEFT_OUT,  /* what is lost has CFI that GNU as leaves out */
    FACT_WHOLE,     /* what is lost is all functions of object files, by their symbols */
    FACT_DISCARDED, /* an empty section, and no segment */
    FACT_PLT_SEC    /* a linkage table .plt.sec */
};

/* .eh_frame, read when a fact first needs it. */
struct known_facts {
    struct cfi *cfi; /* NULL: not read, or none */
    bool asked;
};

/* Whether the fact holds where a finding is. */
bool known_fact_holds(const struct check *c, const struct finding *finding, enum known_fact fact);

/* Whether the CFI at a pc is what GNU as leaves functions out for. */
bool known_left_out(const struct check *c, uint64_t pc);

void known_facts_free(struct known_facts *facts);

#endif
