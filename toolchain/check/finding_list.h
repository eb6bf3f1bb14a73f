/* Findings that are kept, for use after the check. */
#ifndef TOOLCHAIN_CHECK_FINDING_LIST_H
#define TOOLCHAIN_CHECK_FINDING_LIST_H

#include "toolchain/check/check.h"

/* A kept finding, without the texts of its rules, which its own text has. */
struct kept_finding {
    enum check_code code;
    enum check_severity severity;
    struct finding_place place;
    char *text;
};

struct finding_list {
    struct kept_finding *list; /* in order of discovery */
    size_t count, capacity;
    bool no_memory; /* some findings are missing */
};

/* For check_options.take; data is a struct finding_list. */
void finding_list_take(void *data, const struct check *c, const struct finding *finding);

void finding_list_free(struct finding_list *list);

#endif
