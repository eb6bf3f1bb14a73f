/* The process that uploads what is in a spool, beside the one that records. */
#ifndef CLI_RECORD_UPLOADER_H
#define CLI_RECORD_UPLOADER_H

#include <sys/types.h>

#include "cli/record/spool.h"
#include "cli/record/upload.h"

struct uploader_options {
    struct upload_target target;
    bool pprof; /* else OTLP */
};

struct uploader {
    const struct spool *spool;
    const struct uploader_options *options;
    pid_t pid;
    int wake; /* a byte for each new recording */
};

/*
 * Starts it. It sends one recording at a time, the oldest first, and waits longer after each failure: 1 s to 60 s, or as the
 * receiver says. A recording is marked only once the receiver has answered.
 *
 * @param spool,options  as long as it is there
 *
 * @return false after a complaint
 */
bool uploader_start(struct uploader *out, const struct spool *spool,
                    const struct uploader_options *options);

/* A recording is there. One that was killed is started again. */
void uploader_wake(struct uploader *uploader);

/* It tries what is left once, and ends. What could not be sent waits for the next start. */
void uploader_end(struct uploader *uploader);

#endif
