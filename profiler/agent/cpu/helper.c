#include "profiler/agent/cpu/helper.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/cpu/own_tasks.h"
#include "profiler/agent/cpu/thread.h"
#include "profiler/agent/cpu/thread_life.h"
#include "profiler/agent/real.h"

#define LOOK_NS ((uint64_t)100000000)

static pid_t helpers[SFB_HELPER_COUNT];

void sfb_helper_begin(enum sfb_helper which, const char *name)
{
    sfb_thread_own(); /* the thread-local state is now of this recording */
    sfb_thread_local.gone = true;
    prctl(PR_SET_NAME, name);
    __atomic_store_n(&helpers[which], (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
}

static bool is_zombie(pid_t tid)
{
    const char state = sfb_task_state(tid);

    return state == 'Z' || state == 'X';
}

struct seen {
    bool self, others;
};

static void look(pid_t tid, void *with)
{
    struct seen *seen = with;

    seen->self |= tid == (pid_t)syscall(SYS_gettid);
    for (size_t i = 0; i < SFB_HELPER_COUNT; i++)
        if (tid == __atomic_load_n(&helpers[i], __ATOMIC_ACQUIRE))
            return;
    seen->others = seen->others || tid != getpid() || !is_zombie(tid);
}

bool sfb_helper_is_alone(uint64_t *next)
{
    uint64_t now = sfb_now();
    struct seen seen = { false, false };

    if (now < *next)
        return false;
    *next = now + LOOK_NS;
    sfb_tasks(look, &seen);
    return seen.self && !seen.others;
}

void sfb_helper_leave(void)
{
    sigset_t none;

    sigemptyset(&none);
    sfb_real()->pthread_sigmask(SIG_SETMASK, &none, NULL);
}

void sfb_helper_forget_all(void)
{
    memset(helpers, 0, sizeof helpers);
}
