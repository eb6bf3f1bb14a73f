/* sfb record --every: one recording after another, into a spool. */
#ifndef CLI_RECORD_CONTINUOUS_H
#define CLI_RECORD_CONTINUOUS_H

#include "cli/record/parts.h"
#include "cli/record/uploader.h"

struct continuous_request {
    uint64_t every_ns; /* 0: one recording */
    const char *spool;
    uint64_t keep;
    struct uploader_options upload; /* target.url NULL: no upload */
};

/*
 * Records from outside, until the program or the process has ended, or the user ends it. A recording that fails is reported,
 * and the next one begins at its time.
 *
 * @param path  of the program to start; NULL: --pid or --all
 * @return the command's exit status
 */
int record_continuously(const struct record_request *request,
                        const struct continuous_request *continuous, const char *path);

#endif
