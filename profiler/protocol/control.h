/*
 * How `sfb ctl` speaks to a recorder that runs. The recorder has a datagram socket with the abstract name "sfb-control-NAMESPACE-PID",
 * PID its own number in its PID namespace. A container may share its network with others, whose numbers mean other processes, and
 * whose answers the kernel says to be of process 0. It answers processes of its user and of root alone, as the kernel tells whose they are.
 *
 * A question is {process, what, name}. The process is one that is recorded, or the recorder. An answer is {good, text}: text to
 * be shown, or why not. To others the process is never in the recording.
 */
#ifndef PROFILER_PROTOCOL_CONTROL_H
#define PROFILER_PROTOCOL_CONTROL_H

#include <stdint.h>

#define SFB_CONTROL_SOCKET "sfb-control-"

enum { SFB_CONTROL_NAME = 64, SFB_CONTROL_TEXT = 512 };

enum sfb_control_what {
    SFB_CONTROL_STATUS = 0,
    SFB_CONTROL_MARK = 1,
    SFB_CONTROL_START = 2,
    SFB_CONTROL_STOP = 3
};

enum sfb_control_answer {
    SFB_CONTROL_OTHER = 0, /* the process is not in this recording */
    SFB_CONTROL_DONE = 1,
    SFB_CONTROL_FAILED = 2,
    SFB_CONTROL_WIDE = 3 /* to SFB_CONTROL_STATUS: done, and the recording is of all processes */
};

struct sfb_control_question {
    uint32_t process, what;
    char name[SFB_CONTROL_NAME + 1]; /* of a mark */
};

struct sfb_control_reply {
    uint32_t answer;
    char text[SFB_CONTROL_TEXT];
};

#endif
