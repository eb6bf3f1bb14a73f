/* Functions by name and module, each once. */
#ifndef REPORT_FUNCTIONS_H
#define REPORT_FUNCTIONS_H

#include "report/array.h"
#include "report/index.h"

struct report_function {
    char *name;   /* of what has none: "[0x1234]", an offset in its module */
    char *module; /* ""; none */
};

struct report_functions {
    REPORT_ARRAY(struct report_function) all;
    struct report_index index; /* by two hashes of the texts */
};

/*
 * @param name, module  copied
 * @return false: no memory
 */
bool report_functions_add(struct report_functions *functions, const char *name, const char *module,
                          uint32_t *out);

void report_functions_free(struct report_functions *functions);

#endif
