/* What tests of the agent expect of a recording. */
#ifndef RECORD_EXPECT_H
#define RECORD_EXPECT_H

#include "profiler/tests/record/recorder.h"

/* The program exited so. */
void expect_status(const struct recorded *recorded, int status);

void expect_no_loss(const struct recorded *recorded);

/* A process has so many threads that together used at least so many ms of CPU time, all of it in samples, nearly. */
void expect_sampled(const struct recorded *recorded, int process, unsigned ms, unsigned threads);

#endif
