/* What the parts of `sfb record` share. */
#ifndef CLI_RECORD_PARTS_H
#define CLI_RECORD_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/tool.h"
#include "profiler/collector/rings/watch.h"
#include "util/labels.h"

/* What was asked for. */
struct record_request {
    const struct tool_command *command;
    const char *output; /* NULL: sfb-PROGRAM-PID.sfbr */
    bool force, no_children, progress, quiet;
    uint32_t rate_hz;
    uint32_t wall_hz;     /* looks a second at waits; 0: they are not recorded */
    uint32_t max_frames;  /* of a stack */
    uint64_t duration_ns; /* 0: until the program ends */
    pid_t pid;            /* a process that runs; 0: see `all` */
    bool all;             /* the user's processes; root's: the machine's */
    bool paused;          /* nothing is recorded until `sfb ctl PID start` */
    bool kernel;          /* kernel time has to be sampled */
    uint64_t delay_ns;    /* before a recording of them begins */
    uint64_t max_size;    /* 0: no limit */
    uint32_t engine;      /* enum sfb_recording_engine; NONE: the best one */
    bool heap;            /* and not CPU time */
    bool heap_mmap, heap_wait, python_objects, aggregate;
    uint64_t heap_rate;        /* mean bytes between two samples; 0: every allocation */
    uint64_t snapshot_ns;      /* between two snapshots of sums; 0: none but the last */
    uint32_t temporary_within; /* events; 0: the default */
    uint64_t fail_above;       /* bytes of the peak; 0: no limit */
    bool fail_on_leak;
    const char *suppressions; /* of leaks; NULL: the usual ones alone */
    struct labels labels;     /* --label */
    char **arguments;         /* of the program, its name first */
};

/* --- program.c: before it starts ------------------------------------------------------------ */

/*
 * Finds the program as execvp() does, and says why it cannot be recorded if that can be seen.
 *
 * @param path     written on success; PATH_MAX bytes
 * @param heap     is to be recorded
 * @param outside  written on success: no agent can be loaded into it, and it is recorded from outside
 * @return 0, or the exit status after a complaint
 */
int record_find_program(char *path, const char *name, bool heap, bool *outside);

/* --- sanitizer.c ---------------------------------------------------------------------------- */

/* @return false after a complaint: a sanitizer in the program has a malloc() that no agent can precede */
bool record_takes_heap_agent(const char *path);

/* --- agent.c -------------------------------------------------------------------------------- */

/* The agent's file: beside this command, or as SFB_AGENT says. @return false after a complaint */
bool record_find_agent(char *path, bool heap);

/* --- child.c: its process ------------------------------------------------------------------- */

struct record_child {
    pid_t pid;
    int go;    /* a byte written here lets it start */
    int error; /* errno of exec is read here; nothing: it runs */
};

/* Makes a process that waits. @return false after a complaint */
bool record_child_make(struct record_child *out, const char *path, char **arguments,
                       char **environment);

/* Lets it execute the program. @return 0, or errno */
int record_child_start(struct record_child *child);

/* Lets it end before it has executed anything. */
void record_child_drop(struct record_child *child);

/* --- recording_file.c: the recording's file ----------------------------------------------------------- */

/*
 * Opens /dev/null as each standard stream that is closed: what has its number would get what is printed. The program
 * does not inherit that. @return false: errno says why not
 */
bool record_keep_streams(void);

struct record_file {
    int fd;
    bool made; /* by this command: else it is a pipe or a device, and stays */
    char name[4096];
};

/* Opens it; what exists stays, without --force. @return false after a complaint */
bool record_file_open(struct record_file *out, const struct record_request *request,
                      const char *program, pid_t pid);

/* Takes back a file that nothing was recorded in. */
void record_file_drop(const struct record_file *file);

/* --- recording_writer.c ------------------------------------------------------------------------ */

/*
 * Begins the recording.
 *
 * @param text  about the engine
 * @return false after a complaint
 */
bool record_writer_open(struct sfb_recording_writer **out, const struct record_file *file,
                        const struct record_request *request, uint32_t engine, const char *text);

/* --- signals.c -------------------------------------------------------------------------------- */

/* Catches the signals that end programs. The first one that a process sends goes to the program. */
void record_signals_catch(pid_t program);

/* Signals of processes so far, and of the terminal, which has sent them to the program as well. */
unsigned record_signals_sent(void);
unsigned record_signals_typed(void);
int record_signals_last(void);

/* --- progress.c: what it says while it runs, and at its end ------------------------------------ */

void record_progress(const struct record_request *request, const struct sfb_recorder_totals *totals,
                     uint64_t size, uint64_t passed_ns);
void record_progress_end(void);

/* How a recording ended. */
struct record_outcome {
    struct sfb_recorder_totals totals;
    const char *file;
    uint64_t size;        /* of the file */
    uint64_t unwritten;   /* samples that the file has no room for; the totals do not count them */
    const char *nothing;  /* why there are no samples or allocations; NULL: there are some */
    char unrecorded[256]; /* of CPU time that is in no process: whose; "" */
    bool limited;         /* by --max-size */
    int error;            /* errno of what ended it */
};

/* Errors, losses, and the line at the end. */
void record_summary(const struct record_request *request, const struct record_outcome *outcome);

/* Says that a signal ended the program, as a shell would: the shell sees an exit status only. */
void record_crash_line(int wait_status);

#endif
