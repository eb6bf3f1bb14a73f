#include "remote/thread_look.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "unwind/machine/arch.h"

/* A thread that wakes up as often as that runs: it is stopped. */
enum { TRIES = 3 };

static void set_registers(struct sfb_context *out, const struct remote_task_call *call)
{
    *out = (struct sfb_context){ .valid = (uint64_t)1 << SFB_ARCH_PC | (uint64_t)1 << SFB_ARCH_SP };
    out->reg[SFB_ARCH_PC] = call->pc;
    out->reg[SFB_ARCH_SP] = call->sp;
    out->reg[SFB_ARCH_FP] = REMOTE_NO_FP;
}

static bool same_call(const struct remote_task_call *a, const struct remote_task_call *b)
{
    return a->where == b->where && a->number == b->number && a->sp == b->sp && a->pc == b->pc &&
           memcmp(a->argument, b->argument, sizeof a->argument) == 0;
}

static bool same_run(const struct remote_task_run *a, const struct remote_task_run *b)
{
    return a->cpu_time == b->cpu_time && a->turns == b->turns;
}

/* By its turns on a CPU; where the kernel does not count them, by its call. */
static bool is_as_before(const struct remote_look *look, const struct remote_task_files *files)
{
    struct remote_task_call call;
    struct remote_task_run run;

    if (remote_task_run_read(&run, files))
        return same_run(&look->run, &run);
    remote_task_call_read(&call, files);
    return same_call(&look->call, &call);
}

static enum remote_look_end end_of(enum remote_task_where where)
{
    switch (where) {
    case REMOTE_TASK_GONE: return REMOTE_LOOK_GONE;
    case REMOTE_TASK_REFUSED: return REMOTE_LOOK_REFUSED;
    case REMOTE_TASK_RUNS: return REMOTE_LOOK_RUNS;
    case REMOTE_TASK_SLEEPS: break;
    }
    return REMOTE_LOOK_DONE;
}

static enum remote_look_end look_once(struct remote_look *out, const struct remote_memory *memory,
                                      const struct remote_task_files *files, size_t most)
{
    enum remote_look_end end;
    struct timespec now;

    remote_task_run_read(&out->run, files);
    remote_task_call_read(&out->call, files);
    clock_gettime(CLOCK_MONOTONIC, &now);
    out->at = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    end = end_of(out->call.where);
    if (end != REMOTE_LOOK_DONE)
        return end;
    set_registers(&out->registers, &out->call);
    if (!remote_stack_copy(&out->stack[0], memory, out->call.sp, most))
        return REMOTE_LOOK_REFUSED;
    remote_python_look(&out->python, memory->python, out->tid);
    if (out->call.in_call && out->call.number == SYS_futex)
        remote_python_note_futex(&out->python, out->call.argument[0]);
    return is_as_before(out, files) ? REMOTE_LOOK_DONE : REMOTE_LOOK_RUNS;
}

enum remote_look_end remote_look_asleep(struct remote_look *out, const struct remote_memory *memory,
                                        int tasks, pid_t tid, size_t most)
{
    enum remote_look_end end = REMOTE_LOOK_RUNS;
    struct remote_task_files files;

    out->tid = tid;
    out->stopped = false;
    out->stack[1].size = 0;
    if (!remote_task_files_open(&files, tasks, tid))
        return errno == ENOENT || errno == ESRCH ? REMOTE_LOOK_GONE : REMOTE_LOOK_REFUSED;
    for (unsigned i = 0; i < TRIES && end == REMOTE_LOOK_RUNS; i++)
        end = look_once(out, memory, &files, most);
    remote_task_files_close(&files);
    return end;
}

void remote_look_free(struct remote_look *look)
{
    for (unsigned i = 0; i < REMOTE_STACKS; i++)
        free(look->stack[i].bytes);
    remote_python_free(&look->python);
}

bool remote_look_holds(const struct remote_look *look, int tasks)
{
    struct remote_task_files files;
    bool holds;

    if (!remote_task_files_open(&files, tasks, look->tid))
        return false;
    holds = is_as_before(look, &files);
    remote_task_files_close(&files);
    return holds;
}
