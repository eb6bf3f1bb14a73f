/* What the parts of `sfb ctl` share. */
#ifndef CLI_CTL_CTL_H
#define CLI_CTL_CTL_H

#include <stdbool.h>

#include "cli/tool.h"
#include "profiler/collector/live/live_map.h"

struct ctl_request {
    const struct tool_command *command;
    const char *target;        /* a process's number, or a file */
    uint64_t address;          /* of block */
    const char *mark;          /* name of a new mark */
    const char *output;        /* NULL: lines on stdout */
    const char *since, *until; /* of dump: marks; NULL: none */
    uint64_t every_ns;         /* of dump; 0: once */
    bool list, remove, force, check_tails, at_peak;
};

/* @return whether a text may be a process's number. 0 stands for the caller itself in some calls, and is no process */
bool ctl_is_process(const char *target, uint64_t *pid);

/* Whether a process that runs has a live table. */
bool ctl_has_table(const char *target);

/* @param out  to be closed on success. @return false after a complaint */
bool ctl_open_target(struct live_map *out, const char *target);

/* --list. */
enum tool_exit ctl_list(const struct ctl_request *request);

/* dump. */
enum tool_exit ctl_dump(const struct ctl_request *request);

/* One of several dumps. */
struct ctl_look {
    const char *output; /* NULL: lines on stdout */
    bool force;         /* the file is overwritten, at once */
    uint64_t above;     /* live bytes: nothing is written unless there are more */
    uint64_t bytes;     /* written: live bytes */
};

/* Reads the table, and writes a dump. */
enum tool_exit ctl_dump_once(const struct ctl_request *request, struct ctl_look *look);

/* dump --every, --at-peak: until the process ends, or a signal comes. */
enum tool_exit ctl_dump_often(const struct ctl_request *request);

/* mark NAME, and marks. */
enum tool_exit ctl_mark(const struct ctl_request *request);
enum tool_exit ctl_marks(const struct ctl_request *request);

struct sfb_control_question;
struct sfb_control_reply;

enum ctl_answer {
    CTL_ANSWERED,
    CTL_NONE,   /* the target is no process's number, or no recorder here has it */
    CTL_LATE,   /* a recorder that may have it has not answered */
    CTL_SEVERAL /* recorders of the same width have it */
};

/*
 * Asks the recorder that has a process in its recording: one of few processes before one of all.
 *
 * @param question  its process is not read
 * @param reply     written if it has answered
 */
enum ctl_answer ctl_ask_recorder(const char *target, const struct sfb_control_question *question,
                                 struct sfb_control_reply *reply);

/* Says why there is no answer, in one line. */
enum tool_exit ctl_say_unrecorded(const char *target, enum ctl_answer answer);

/* start, stop: the recording of a process goes on, or is paused. */
enum tool_exit ctl_pause(const struct ctl_request *request, bool paused);

/* status. */
enum tool_exit ctl_status(const struct ctl_request *request);

/* block. */
enum tool_exit ctl_block(const struct ctl_request *request);

#endif
