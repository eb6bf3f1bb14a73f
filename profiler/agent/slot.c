#include "profiler/agent/slot.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/modules.h"
#include "unwind/process/program.h"

static struct sfb_shared_process *claim_slot(uint32_t *out)
{
    if (sfb_agent_claim_process(out))
        return sfb_agent_process(*out);
    __atomic_fetch_add(&sfb_agent.shared->lost[SFB_LOSS_NO_PROCESS], 1, __ATOMIC_RELAXED);
    return NULL;
}

/* Of the program: its path, '\0', then its arguments, each with '\0'. */
static char text[SFB_SHARED_TEXT];
static uint32_t text_size;

static void add_text(const char *word)
{
    size_t size = strlen(word) + 1;

    if (size > sizeof text - text_size)
        size = sizeof text - text_size;
    memcpy(text + text_size, word, size);
    text_size += (uint32_t)size;
    text[sizeof text - 1] = '\0';
}

void sfb_slot_describe(int argument_count, char *const arguments[])
{
    char path[1024];
    const size_t size = strnlen(sfb_program_path(), sizeof path - 1);

    text_size = 0;
    memcpy(path, sfb_program_path(), size);
    path[size] = '\0';
    add_text(path);
    for (int i = 0; i < argument_count && arguments[i]; i++)
        add_text(arguments[i]);
}

const char *sfb_slot_arguments(size_t *size)
{
    size_t path = strnlen(text, sizeof text) + 1;

    *size = text_size > path ? text_size - path : 0;
    return text + (text_size > path ? path : 0);
}

/*
 * A pid is meaningful only within its PID namespace: both together identify the process for the recorder. A child of fork()
 * is in its parent's namespace if it sees the parent under the parent's own pid: a namespace's first process sees no parent.
 */
static uint64_t pid_space(bool forked)
{
    static uint64_t last;
    const int before = errno;
    struct stat space;

    if (!forked || last == 0 || getppid() != sfb_agent.pid)
        last = stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0;
    errno = before;
    return last;
}

bool sfb_slot_take(uint32_t parent, uint64_t cpu_start)
{
    uint32_t slot;
    struct sfb_shared_process *p = claim_slot(&slot);
    struct timespec tick = { 0, 0 };

    if (!p)
        return false;
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    p->pid = (uint32_t)getpid();
    p->parent_pid = (uint32_t)getppid();
    p->pid_space = pid_space(parent != 0);
    p->how = parent ? SFB_PROCESS_FORKED : SFB_PROCESS_STARTED;
    p->parent = parent;
    p->tick_ns = (uint32_t)tick.tv_nsec;
    p->start = sfb_now();
    p->cpu_start = cpu_start;
    p->end = p->cpu_end = 0;
    memset(p->lost, 0, sizeof p->lost);
    p->modules_lock = p->modules_written = p->modules_taken = p->modules_size = 0;
    p->modules_time = 0;
    p->heap_used = p->heap_held = 0;
    p->prof_ignored = 0;
    memcpy(p->text, text, sizeof p->text);
    p->text_size = text_size;

    sfb_agent.process = p;
    sfb_agent.slot = slot;
    __atomic_store_n(&sfb_agent.pid, (pid_t)p->pid, __ATOMIC_RELAXED);
    sfb_agent.others = false;
    sfb_agent.wants_sampler = 0;
    sfb_agent.period_ns =
        sfb_agent.shared->rate_hz > 0 ? 1000000000U / sfb_agent.shared->rate_hz : 0;
    sfb_modules_begin(sfb_agent.shared->mode == SFB_SHARED_CPU);
    __atomic_store_n(&sfb_agent.ending, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&p->state, SFB_SLOT_LIVE, __ATOMIC_RELEASE);
    return true;
}
