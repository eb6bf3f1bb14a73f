/* A core file as a whole: opened, and its threads walked. */
#ifndef REMOTE_CORE_H
#define REMOTE_CORE_H

#include "remote/core_space.h"
#include "remote/python.h"

struct remote_core {
    struct remote_core_file file;
    struct remote_core_notes notes;
    struct remote_core_space space;
    struct sfb_remote_core facts;
    struct remote_python python;
    struct remote_python_stack frames; /* of one thread after the other */
};

/*
 * @param fd     closed with the core, and also on failure
 * @param fault  written on failure
 *
 * @return NULL: it cannot be read
 */
struct remote_core *remote_core_open(int fd, const struct sfb_remote_core_options *options,
                                     struct sfb_remote_fault *fault);

/* Walks one of its threads. @param out  its frames are for free() */
void remote_core_thread(struct sfb_remote_thread *out, struct remote_core *core, size_t index,
                        size_t max_frames);

void remote_core_close(struct remote_core *core);

#endif
