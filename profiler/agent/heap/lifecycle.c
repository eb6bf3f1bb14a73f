#include "profiler/agent/heap/lifecycle.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/find_session.h"
#include "profiler/agent/heap/allocator.h"
#include "profiler/agent/heap/heap_sample.h"
#include "profiler/agent/heap/live_hooks.h"
#include "profiler/agent/heap/next.h"
#include "profiler/agent/heap/passed_by.h"
#include "profiler/agent/heap/thread_state.h"
#include "profiler/agent/heap/usable.h"
#include "profiler/agent/live/live.h"
#include "profiler/agent/modules.h"
#include "profiler/agent/python/python_find.h"
#include "profiler/agent/real.h"
#include "profiler/agent/slot.h"
#include "unwind/process/loader.h"
#include "unwind/process/program.h"

static void set_mode(enum sfb_heap_mode mode)
{
    __atomic_store_n(&sfb_heap.mode, mode, __ATOMIC_RELEASE);
}

/* Stops recording before a seccomp filter is installed: events need a system call now and then. */
static void end_for_good(void)
{
    set_mode(SFB_HEAP_OFF);
}

/* Modules bypass the agent, in this process and its children to come. */
static bool bypassed;

static void library_hides(void)
{
    __atomic_store_n(&bypassed, true, __ATOMIC_RELAXED);
    if (sfb_agent_is_here())
        sfb_agent_lose(SFB_LOSS_DEEPBIND);
}

/* In memory that is zeroed in the child of any kind of fork. */
static uint32_t *here;

static bool prepare_here(void)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return false;
    madvise(at, size, MADV_WIPEONFORK); /* refused: children of _Fork() pass for their parent */
    sfb_heap.here = here = at;
    *here = 1;
    return true;
}

/*
 * For fork() in a signal handler that interrupted an event: the child resumes the event and writes. The ring is the
 * parent's, so private memory replaces it.
 */
static void write_nowhere(const struct sfb_heap_thread *t)
{
    (void)mmap(t->ring, sfb_shared_ring_stride(sfb_agent.ring_bytes), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* A new process with a copy of the heap. The blocks allocated before fork() are unknown in it. */
static void after_fork_in_child(void)
{
    struct sfb_heap_local *local = &sfb_heap_local;
    const enum sfb_heap_mode mode = sfb_heap_mode();

    sfb_modules_continue_in_child();
    sfb_python_continue_in_child();
    if (!sfb_agent.shared || sfb_agent.left_alone || mode == SFB_HEAP_OFF)
        return;
    set_mode(SFB_HEAP_OFF);
    if (local->state == SFB_HEAP_AT_WORK) {
        if (local->thread)
            write_nowhere(local->thread);
        return;
    }
    if (local->state == SFB_HEAP_IN_CALL)
        sfb_heap.look_at_allocator = NULL; /* a handler forked while the allocator ran */
    local->state = SFB_HEAP_AT_WORK;
    local->random = 0;
    local->until = 0;
    sfb_heap_threads_forget();
    sfb_heap_forget_stacks();
    sfb_heap_allocator_forget();
    if (mode == SFB_HEAP_SAMPLED)
        sfb_heap_samples_forget();
    if (!sfb_agent_is_over() && !(sfb_agent.shared->flags & SFB_SHARED_NO_CHILDREN) &&
        sfb_slot_take(sfb_agent.slot + 1, 0)) {
        *here = 1;
        if (bypassed)
            sfb_agent_lose(SFB_LOSS_DEEPBIND);
        set_mode(mode);
        sfb_agent_wake_recorder();
    }
    local->state = SFB_HEAP_IDLE;
}

/* Reads the arguments from /proc: library constructors, which get them too, run before ours. */
static void describe(void)
{
    static char bytes[SFB_SHARED_TEXT], *arguments[SFB_SHARED_TEXT / 2 + 1]; /* called once */
    ssize_t size = 0;
    int count = 0, fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        size = read(fd, bytes, sizeof bytes - 1);
        close(fd);
    }
    bytes[size > 0 ? size : 0] = '\0';
    for (ssize_t i = 0; i < size && count < SFB_SHARED_TEXT / 2; i++)
        if (i == 0 || bytes[i - 1] == '\0')
            arguments[count++] = bytes + i;
    sfb_slot_describe(count, arguments);
}

static void modules_are_new(void)
{
    sfb_heap_forget_stacks();
    sfb_python_look_for();
}

static bool begin(struct sfb_shared *shared, uint64_t cpu_start)
{
    const enum sfb_heap_mode mode = shared->heap_rate ? SFB_HEAP_SAMPLED : SFB_HEAP_EVERY;

    if (!prepare_here() || !sfb_heap_threads_prepare() || !sfb_heap_events_prepare() ||
        (mode == SFB_HEAP_SAMPLED && !sfb_heap_samples_prepare()) ||
        pthread_atfork(NULL, NULL, after_fork_in_child) != 0)
        return false;
    sfb_heap.counter = shared->counter;
    sfb_heap.counter_start = shared->counter_start;
    sfb_heap.rate = shared->heap_rate;
    sfb_heap.maps = shared->heap_flags & SFB_SHARED_HEAP_MMAP;
    sfb_heap.waits = shared->heap_flags & SFB_SHARED_HEAP_WAIT;
    sfb_agent.shared = shared;
    sfb_agent.ring_bytes = shared->ring_bytes;
    sfb_agent.end = end_for_good;
    sfb_agent.modules_are_new = modules_are_new;
    sfb_agent.library_hides = library_hides;
    sfb_heap_usable_begin();
    describe();
    if (!sfb_slot_take(0, cpu_start)) {
        sfb_agent.shared = NULL;
        return false;
    }
    for (uint32_t left = sfb_heap_passed_by(); left > 0; left--)
        library_hides();
    /* A sampled allocation may be of a signal handler that interrupted an unsampled one: its locks may be taken. */
    if (mode == SFB_HEAP_EVERY && sfb_heap_allocator_find())
        sfb_heap.look_at_allocator = sfb_heap_allocator_look;
    set_mode(mode);
    sfb_agent_wake_recorder();
    return true;
}

static void look(void)
{
    const uint64_t cpu_start = sfb_clock(CLOCK_PROCESS_CPUTIME_ID);
    struct sfb_shared *shared;

    set_mode(SFB_HEAP_OFF);
    sfb_heap_next_find();
    sfb_loader_begin();
    sfb_program_begin();
    sfb_real();
    sfb_space.kind = &sfb_heap_space;
    shared = getauxval(AT_SECURE)
                 ? NULL
                 : sfb_session_map(getenv(SFB_SHARED_ENVIRONMENT), SFB_SHARED_HEAP);
    if (shared && begin(shared, cpu_start))
        return;
    sfb_heap_pass_all();
    if (shared || getauxval(AT_SECURE))
        return;
    sfb_heap_table_prepare();
    sfb_heap_table_look();
}

void sfb_heap_process_look(void)
{
    static uint32_t looked;
    struct sfb_heap_local *local = &sfb_heap_local;
    const int before = errno;

    if (!environ || local->state != SFB_HEAP_IDLE ||
        __atomic_exchange_n(&looked, 1, __ATOMIC_ACQ_REL))
        return;
    local->state = SFB_HEAP_AT_WORK;
    look();
    local->state = SFB_HEAP_IDLE;
    errno = before;
}

__attribute__((constructor)) static void start(void)
{
    sfb_heap_process_look();
}

/* A signal handler may call exit() while the allocator runs. */
static void look_a_last_time(void)
{
    struct sfb_heap_local *local = &sfb_heap_local;

    if (!sfb_heap.look_at_allocator || local->state != SFB_HEAP_IDLE || !local->thread ||
        local->thread->nested || sfb_heap_mode() == SFB_HEAP_OFF)
        return;
    local->state = SFB_HEAP_AT_WORK;
    sfb_heap_allocator_look_now();
    local->state = SFB_HEAP_IDLE;
}

/* Other destructors still free after this one: the rings stay. The recorder notices the process's exit by itself. */
__attribute__((destructor)) static void end(void)
{
    sfb_live_end();
    if (!sfb_agent_is_here())
        return;
    look_a_last_time();
    sfb_agent.process->end = sfb_now();
    sfb_agent.process->cpu_end = sfb_clock(CLOCK_PROCESS_CPUTIME_ID);
}
