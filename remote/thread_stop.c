#include "remote/thread_stop.h"

#include <stddef.h>

#include "remote/tracee.h"
#include "unwind/machine/arch.h"

/*
 * A call that ends with EINTR though no signal came was interrupted by the stop. A signal that comes
 * now is handled before the call is issued again, as if it had come before the call.
 */
static void repair_call(struct remote_tracee *tracee, int tasks, bool job_control)
{
    struct remote_task_call call = { .where = REMOTE_TASK_GONE };
    struct remote_task_files files;

    if (job_control || !remote_tracee_was_interrupted(tracee) ||
        remote_task_signals(tasks, tracee->tid) != 0 ||
        !remote_task_files_open(&files, tasks, tracee->tid))
        return;
    remote_task_call_read(&call, &files);
    remote_task_files_close(&files);
    if (call.in_call)
        remote_tracee_issue_again(tracee, call.argument[0]);
}

/* Between stop and go: no more than has to be. @return false: out is not whole */
static bool copy(struct remote_look *out, const struct remote_memory *memory,
                 const struct remote_tracee *tracee, const struct remote_wanted *wanted)
{
    remote_tracee_registers(&out->registers, tracee);
    out->call = (struct remote_task_call){ .where = REMOTE_TASK_RUNS,
                                           .sp = out->registers.reg[SFB_ARCH_SP],
                                           .pc = out->registers.reg[SFB_ARCH_PC] };
    out->stack[1].size = 0;
    if (wanted->other != 0)
        remote_stack_copy(&out->stack[1], memory, wanted->other, wanted->most);
    remote_python_look(&out->python, memory->python, out->tid);
    return remote_stack_copy(&out->stack[0], memory, out->call.sp, wanted->most);
}

enum remote_look_end remote_stop_end(enum remote_halted halted, const char **cause)
{
    switch (halted) {
    case REMOTE_HALTED: return REMOTE_LOOK_DONE;
    case REMOTE_HALT_GONE: return REMOTE_LOOK_GONE;
    case REMOTE_HALT_REFUSED:
        *cause = "it may not be stopped: another program traces it, or no permission";
        break;
    case REMOTE_HALT_LATE:
        *cause = "it did not stop within a second: uninterruptible, in the kernel";
        break;
    }
    return REMOTE_LOOK_REFUSED;
}

bool remote_stop_copy(struct remote_look *out, const struct remote_memory *memory, int tasks,
                      const struct remote_halt *halt, const struct remote_wanted *wanted,
                      bool job_control, const char **cause)
{
    struct remote_tracee tracee;
    const bool read = remote_tracee_read(&tracee, halt->tid);
    const bool whole = read && copy(out, memory, &tracee, wanted);

    if (read && halt->signal == 0)
        repair_call(&tracee, tasks, job_control);
    if (!whole)
        *cause = "its registers or its stack could not be read";
    return whole;
}

enum remote_look_end remote_look_stopped(struct remote_look *out,
                                         const struct remote_memory *memory, int tasks, pid_t tid,
                                         const struct remote_wanted *wanted, bool job_control,
                                         const char **cause)
{
    enum remote_look_end end;
    struct remote_halt halt;
    sigset_t mask;

    *cause = NULL;
    out->tid = tid;
    out->stopped = true;
    if (!remote_stack_reserve(&out->stack[0], wanted->most)) {
        *cause = "no memory for its stack";
        return REMOTE_LOOK_REFUSED;
    }
    remote_halts_begin(&mask);
    end = remote_stop_end(remote_halt_ask(tid), cause);
    if (end == REMOTE_LOOK_DONE)
        end = remote_stop_end(remote_halt_wait(&halt, tid), cause);
    if (end == REMOTE_LOOK_DONE) {
        if (!remote_stop_copy(out, memory, tasks, &halt, wanted, job_control, cause))
            end = REMOTE_LOOK_REFUSED;
        remote_halt_end(&halt);
    }
    remote_halts_end(&mask);
    return end;
}
