/* Findings that are kept, for those who look at them after the check. */
#ifndef CHECK_FINDING_LIST_H
#define CHECK_FINDING_LIST_H

#include "check.h"

/* One that is kept: without the words of its rules, which its text has. */
struct kept_finding {
    enum check_code code;
    enum check_severity severity;
    struct finding_place place;
    char *text;
};

struct finding_list {
    struct kept_finding *list; /* in the order in which they were found */
    size_t count, capacity;
    bool no_memory; /* something is missing */
};

/* For check_options.take, whose data is a list. */
void finding_list_take(void *data, const struct check *c, const struct finding *finding);

void finding_list_free(struct finding_list *list);

#endif
