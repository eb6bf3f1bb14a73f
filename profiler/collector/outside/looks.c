#include "profiler/collector/outside/looks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/outside/attach_tasks.h"
#include "profiler/collector/outside/look_awaited.h"
#include "profiler/collector/outside/look_cpu.h"
#include "profiler/collector/outside/look_events.h"
#include "profiler/collector/outside/look_holders.h"
#include "profiler/collector/outside/look_switches.h"
#include "profiler/collector/outside/look_waits.h"
#include "profiler/collector/outside/wait_kernel.h"
#include "remote/access_fault.h"
#include "remote/halt.h"
#include "util/fnv.h"

enum { MAPS_PART = 64 << 10, ASKED_MOST = 16, HINTS = 4096, PASSES = 4, SPARE = 64 };

/* Where threads were found last, by their numbers: indices. */
static struct hint {
    size_t process, thread;
} hints[HINTS];

static const uint64_t second_ns = 1000000000;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * second_ns + (uint64_t)t.tv_nsec;
}

/* As /proc counts when processes have started. */
static uint64_t now_ticks(void)
{
    const uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * ticks + (uint64_t)t.tv_nsec * ticks / second_ns;
}

/* @return descriptors that this program has open now, rings and events among them */
static size_t descriptors_used(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* Files are opened for a moment as well: some descriptors, or a quarter of few, are left for those. */
static size_t descriptors_left(void)
{
    const size_t used = descriptors_used();
    struct rlimit files;
    size_t most, spare;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return 0;
    most = (size_t)files.rlim_cur;
    spare = most / 4 < SPARE ? most / 4 : SPARE;
    return most > used + spare ? most - used - spare : 0;
}

struct looks *looks_open(struct outside *outside, bool waits, struct wait_events *events)
{
    struct looks *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    if (events && events->rung == WAIT_STACKS) {
        l->kernel = wait_kernel_open();
        if (!l->kernel) {
            free(l);
            return NULL;
        }
    }
    l->events = events;
    l->room = WAIT_SWITCHES;
    l->judged = now_ns();
    l->outside = outside;
    l->python.read = &l->look.python;
    l->waits = waits;
    l->begun = now_ticks();
    look_cpu_open(l);
    l->limit = descriptors_left();
    if (events)
        l->limit -= events->rings.limit < l->limit ? events->rings.limit : l->limit;
    return l;
}

bool looks_may(pid_t pid, struct sfb_remote_fault *fault)
{
    return !remote_access_fault(fault, attach_live_task(pid));
}

uint64_t looks_stops(const struct looks *l)
{
    return l->stops;
}

/* --- Threads -------------------------------------------------------------------------------------------- */

/* CPU time in ns, and turns; 0: it has ended. */
static void read_run(const struct look_process *p, struct look_thread *t)
{
    struct remote_task_run run;

    if (!look_run_read(&run, p, t))
        run = (struct remote_task_run){ .cpu_time = 0 };
    t->cpu = run.cpu_time;
    t->turns = run.turns;
}

/* When a thread began that was not there at the last list. @return CLOCK_MONOTONIC, as exact as a tick */
static uint64_t begun_at(const struct look_process *p, pid_t tid)
{
    const uint64_t now = now_ns(), tick_ns = second_ns / (uint64_t)sysconf(_SC_CLK_TCK);
    struct remote_task_stat stat;
    struct timespec boot;
    uint64_t age, begun;

    clock_gettime(CLOCK_BOOTTIME, &boot);
    if (!remote_task_stat_read(&stat, p->tasks, tid))
        return now;
    begun = stat.started * tick_ns;
    age = (uint64_t)boot.tv_sec * second_ns + (uint64_t)boot.tv_nsec;
    age = age > begun ? age - begun : 0;
    return age < now - p->listed_before ? now - age : p->listed_before;
}

/* Half of the descriptors are for threads; of more of those the file is opened each time. The rest is for processes. */
static bool add_thread(struct looks *l, struct look_process *p, pid_t tid, bool is_new)
{
    struct look_thread *t = REPORT_NEXT(p->threads);

    if (!t)
        return false;
    t->tid = tid;
    t->run = l->files < l->limit / 2 ? look_run_open(p, tid) : -1;
    t->seen = true;
    l->files += t->run >= 0;
    read_run(p, t);
    t->sampled = is_new && !l->paused ? 0 : t->cpu;
    t->found = t->sampled;
    look_events_begin(l, t);
    if (l->waits)
        look_wait_begin(p, t, is_new ? begun_at(p, tid) : 0);
    return true;
}

/* @param first  where it is looked for first: lists are mostly in the same order */
static struct look_thread *find_thread(struct look_process *p, pid_t tid, size_t first)
{
    for (size_t i = 0; i < p->threads.count; i++) {
        struct look_thread *t = &p->threads.at[(first + i) % p->threads.count];

        if (t->tid == tid)
            return t;
    }
    return NULL;
}

static void close_thread(struct looks *l, const struct look_process *p, struct look_thread *t)
{
    if (l->waits)
        look_wait_end(l, p, t);
    look_events_end(l, t);
    if (t->run < 0)
        return;
    close(t->run);
    l->files--;
}

/* Threads that are not in the last list have ended. Their last records were taken. */
static void forget_unseen(struct looks *l, struct look_process *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->threads.count; i++)
        if (p->threads.at[i].seen)
            p->threads.at[kept++] = p->threads.at[i];
        else
            close_thread(l, p, &p->threads.at[i]);
    p->threads.count = kept;
}

/* @return false: no memory */
static bool list_threads(struct looks *l, struct look_process *p, bool is_new)
{
    pid_t *tids = NULL;
    const ssize_t count = remote_task_list(&tids, p->tasks);
    bool good = true;

    if (count < 0) /* no descriptor: the known threads stay */
        return true;
    for (size_t i = 0; i < p->threads.count; i++)
        p->threads.at[i].seen = false;
    for (ssize_t i = 0; good && i < count; i++) {
        struct look_thread *known = find_thread(p, tids[i], (size_t)i);

        if (known)
            known->seen = true;
        else
            good = add_thread(l, p, tids[i], is_new);
    }
    free(tids);
    return good;
}

/* --- Processes ------------------------------------------------------------------------------------------ */

/* @return a number for what is mapped; 0: it has ended */
static uint64_t hash_of_maps(pid_t pid)
{
    static char part[MAPS_PART];
    uint64_t hash = SFB_FNV_START;
    char path[32];
    ssize_t size;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while ((size = read(fd, part, sizeof part)) > 0)
        hash = sfb_fnv(hash, part, (size_t)size);
    close(fd);
    return hash;
}

static void close_threads(struct looks *l, struct look_process *p)
{
    for (size_t i = 0; i < p->threads.count; i++)
        close_thread(l, p, &p->threads.at[i]);
    p->threads.count = 0;
}

static void free_process(struct looks *l, struct look_process *p)
{
    close_threads(l, p);
    free(p->threads.at);
    remote_python_close(&p->python);
    remote_memory_close(&p->memory);
    look_mappings_free(&p->mappings);
    if (p->tasks >= 0) {
        close(p->tasks);
        l->files--;
    }
    free(p);
}

/* @return false: it has no memory any more */
static bool read_memory(struct look_process *p)
{
    p->memory.pid = attach_live_task(p->pid);
    if (p->python.heap)
        p->python.heap->pid = p->memory.pid;
    return remote_memory_refresh(&p->memory);
}

/* Looks for an interpreter in what is mapped now. @return false: no memory */
static bool find_python(struct look_process *p)
{
    p->memory.python = &p->python;
    return remote_python_find_in(&p->python, p->memory.pid, p->tasks);
}

/* Looks at what is mapped now, if that has changed. @return false: no memory */
static bool read_maps(struct looks *l, struct look_process *p)
{
    const uint64_t maps = hash_of_maps(p->memory.pid);

    if (maps != 0 && maps != p->maps)
        attach_introduce_files(l->outside, p->pid);
    if (maps != 0 && maps != p->maps && !find_python(p))
        return false;
    if (maps != p->maps)
        look_mappings_forget(&p->mappings);
    p->maps = maps;
    return true;
}

/* What is mapped, and which threads there are, is read anew each second. */
static bool refresh(struct looks *l, struct look_process *p, uint64_t now)
{
    p->listed_before = p->listed;
    p->listed = now;
    return !read_memory(p) || (read_maps(l, p) && list_threads(l, p, true));
}

bool look_maps_anew(struct looks *l, struct look_process *p, bool *changed)
{
    const uint64_t now = now_ns(), before = p->maps, ms = second_ns / 1000;

    *changed = false;
    if (now - p->maps_asked < p->maps_pause)
        return true;
    p->maps_asked = now;
    if (read_memory(p) && !read_maps(l, p))
        return false;
    *changed = p->maps != before;
    p->maps_pause = *changed ? 0 : 2 * p->maps_pause + ms;
    if (p->maps_pause > second_ns / 5)
        p->maps_pause = second_ns / 5;
    return true;
}

/* The hash is read first: what is mapped meanwhile makes another one, and is found. */
static void begin_maps(struct looks *l, struct look_process *p, uint64_t now)
{
    if (read_memory(p))
        p->maps = hash_of_maps(p->memory.pid);
    p->maps_asked = p->maps_pause = 0;
    attach_introduce(l->outside, p->pid, now);
}

/* The process has executed another program. */
static void replace(struct looks *l, struct look_process *p, const struct remote_task_image *image,
                    uint64_t now)
{
    p->image = *image;
    for (size_t i = 0; l->waits && i < p->threads.count; i++)
        look_wait_end(l, p, &p->threads.at[i]);
    outside_replaced(l->outside, (uint32_t)p->pid, now);
    begin_maps(l, p, now);
    for (size_t i = 0; l->waits && i < p->threads.count; i++)
        look_wait_begin(p, &p->threads.at[i], 0);
    look_mappings_forget(&p->mappings);
    remote_python_close(&p->python);
    p->python = (struct remote_python){ .fits = false };
    if (!find_python(p))
        p->maps = 0; /* no memory: it is looked for again */
}

/* @return ns that it takes to read so many threads, if nothing comes between */
static uint64_t pass_ns(size_t count)
{
    return 1000000 + (uint64_t)count * 20000;
}

/* The time of all threads begins at one moment, as it ends. */
static void begin_all(struct look_process *p, bool is_new)
{
    for (unsigned i = 0; i < PASSES; i++) {
        const uint64_t before = now_ns();

        for (size_t k = 0; k < p->threads.count; k++)
            look_wait_begin(p, &p->threads.at[k], is_new ? begun_at(p, p->threads.at[k].tid) : 0);
        if (now_ns() - before < pass_ns(p->threads.count))
            break;
    }
}

/* @return false: no memory */
static bool begin_process(struct looks *l, struct look_process *p, uint64_t now)
{
    begin_maps(l, p, now);
    if (p->started > l->begun)
        outside_from_birth(l->outside, (uint32_t)p->pid);
    p->listed = now;
    if (!find_python(p) || !list_threads(l, p, false))
        return false;
    if (l->waits)
        begin_all(p, p->started > l->begun);
    return true;
}

static bool lacks_descriptor(void)
{
    return errno == EMFILE || errno == ENFILE;
}

/*
 * @param skipped  written: it lives, and there is no descriptor for it
 * @return false: no memory
 */
static bool add_process(struct looks *l, pid_t pid, uint64_t now, bool *skipped)
{
    struct look_process *p = calloc(1, sizeof *p), **next;
    struct remote_task_stat stat;
    char path[32];

    if (!p || !remote_memory_open(&p->memory, pid)) {
        free(p);
        return false;
    }
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    p->pid = pid;
    p->seen = true;
    errno = 0;
    p->tasks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    l->files += p->tasks >= 0;
    if (p->tasks < 0 || !remote_task_stat_read(&stat, p->tasks, pid)) {
        *skipped = lacks_descriptor();
        free_process(l, p);
        return true;
    }
    p->started = stat.started;
    p->image = stat.image;
    next = REPORT_NEXT(l->processes);
    if (!next) {
        free_process(l, p);
        return false;
    }
    *next = p;
    return begin_process(l, p, now);
}

/* A pid may have come again. It lives on where that cannot be read: without a descriptor. */
static bool is_same(const struct look_process *p)
{
    struct remote_task_stat stat;

    errno = ESRCH;
    if (remote_task_stat_read(&stat, p->tasks, p->pid))
        return stat.started == p->started;
    return errno != ESRCH && errno != ENOENT;
}

/* Processes without a mark have ended. */
static void end_unseen(struct looks *l, uint64_t now)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        if (p->seen) {
            l->processes.at[kept++] = p;
            continue;
        }
        close_threads(l, p);
        outside_gone(l->outside, (uint32_t)p->pid, now);
        free_process(l, p);
    }
    l->processes.count = kept;
}

uint64_t looks_skipped(const struct looks *l)
{
    return l->skipped;
}

bool looks_set(struct looks *l, const pid_t *pids, size_t count, uint64_t now)
{
    struct sfb_remote_fault fault;
    uint64_t skipped = 0;
    bool good = true;

    l->has_unknown = false;
    for (size_t i = 0; i < l->processes.count; i++)
        l->processes.at[i]->seen = false;
    for (size_t i = 0; i < count; i++) {
        struct look_process *known = look_process_of(l, pids[i]);

        if (known)
            known->seen = is_same(known);
    }
    end_unseen(l, now);
    for (size_t i = 0; good && i < count; i++) {
        bool lacks = l->files >= l->limit;

        if (look_process_of(l, pids[i]) || !looks_may(pids[i], &fault))
            continue;
        good = lacks || add_process(l, pids[i], now, &lacks);
        skipped += lacks;
    }
    if (skipped > l->skipped)
        l->skipped = skipped;
    return good;
}

/* --- Looks ---------------------------------------------------------------------------------------------- */

static bool has_run(const struct look_process *p, struct look_thread *t)
{
    const uint64_t before = t->cpu;
    const bool may_run = t->runs;

    read_run(p, t);
    t->runs = false;
    return t->cpu != before || may_run;
}

static bool is_replaced(const struct look_process *p, const struct remote_task_image *image)
{
    return image->code != 0 && memcmp(&p->image, image, sizeof *image) != 0;
}

/*
 * Reads the state of a thread that has run since the last look; finds an exec.
 *
 * @return its letter of proc(5); 0: it has ended
 */
static char read_state(struct looks *l, struct look_process *p, const struct look_thread *t,
                       uint64_t now)
{
    struct remote_task_stat stat;

    if (!remote_task_stat_read(&stat, p->tasks, t->tid))
        return 0;
    if (is_replaced(p, &stat.image))
        replace(l, p, &stat.image, now);
    outside_thread(l->outside, (uint32_t)p->pid, (uint32_t)t->tid, stat.name);
    return stat.state;
}

/* Looks at the thread if it has run since the last look, and runs now. One that waits for a CPU is not stopped. */
static bool look_at(struct looks *l, struct look_process *p, struct look_thread *t, uint64_t now)
{
    struct outside_place place;
    bool good;

    if (!l->waits)
        return !has_run(p, t) || read_state(l, p, t, now) != 'R' ||
               look_cpu_find(l, p, t) == LOOK_QUEUED || look_running(l, p, t, true, &place);
    return look_wait_goes_on(l, p, t, &good) ? good
                                             : look_wait_take(l, p, t, read_state(l, p, t, now));
}

/* Threads have come or gone. Of many processes that is asked less often. */
static bool has_other_threads(const struct looks *l, const struct look_process *p)
{
    size_t count;

    return l->waits && l->processes.count <= ASKED_MOST && remote_task_count(&count, p->tasks) &&
           count != p->threads.count;
}

struct look_thread *looks_find_thread(const struct looks *l, pid_t pid, pid_t tid,
                                      struct look_process **process)
{
    struct hint *hint = &hints[(unsigned)tid % HINTS];

    if (hint->process < l->processes.count) {
        *process = l->processes.at[hint->process];
        if (hint->thread < (*process)->threads.count &&
            (*process)->threads.at[hint->thread].tid == tid && (pid == 0 || (*process)->pid == pid))
            return &(*process)->threads.at[hint->thread];
    }
    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_thread *t;

        *process = l->processes.at[i];
        if (pid != 0 && (*process)->pid != pid)
            continue;
        t = find_thread(*process, tid, 0);
        if (!t)
            continue;
        *hint = (struct hint){ i, (size_t)(t - (*process)->threads.at) };
        return t;
    }
    return NULL;
}

void looks_lost(struct looks *l)
{
    for (size_t i = 0; i < l->processes.count; i++)
        for (size_t k = 0; k < l->processes.at[i]->threads.count; k++)
            look_wait_doubt(&l->processes.at[i]->threads.at[k]);
}

void looks_drained(struct looks *l, uint64_t time)
{
    l->drained = time;
}

bool looks_lack_process(const struct looks *l)
{
    return l->has_unknown;
}

uint64_t looks_by_looks(const struct looks *l)
{
    return l->by_looks_most;
}

uint64_t looks_no_events(const struct looks *l)
{
    return l->no_events_most;
}

uint64_t looks_rounds(const struct looks *l)
{
    return l->rounds;
}

bool looks_list(struct looks *l)
{
    const uint64_t now = now_ns(), listed_ns = l->waits && l->processes.count > ASKED_MOST
                                                   ? second_ns / 10
                                                   : second_ns;

    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        if ((now - p->listed > (l->paused ? second_ns : listed_ns) ||
             (!l->paused && has_other_threads(l, p))) &&
            !refresh(l, p, now))
            return false;
    }
    return true;
}

bool looks_take(struct looks *l)
{
    const uint64_t now = now_ns();
    bool good;

    for (size_t i = 0; i < l->processes.count; i++)
        forget_unseen(l, l->processes.at[i]);
    if (l->paused)
        return true;
    l->rounds++;
    look_cpu_round_begin(l);
    remote_halts_settle();
    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        for (size_t k = 0; k < p->threads.count; k++)
            if (!look_at(l, p, &p->threads.at[k], now))
                return false;
    }
    good = look_holders_find(l) && look_events_judge(l, now);
    look_cpu_round_end(l);
    return good;
}

/* The time of all threads ends at one moment: again, where this program has lost the CPU meanwhile. */
static void close_all(struct looks *l)
{
    for (unsigned i = 0; i < PASSES; i++) {
        const uint64_t before = now_ns();
        size_t count = 0;

        for (size_t k = 0; k < l->processes.count; k++) {
            struct look_process *p = l->processes.at[k];

            for (size_t j = 0; j < p->threads.count; j++)
                look_wait_close(p, &p->threads.at[j]);
            count += p->threads.count;
        }
        if (now_ns() - before < pass_ns(count))
            break;
    }
}

/* --- Pauses --------------------------------------------------------------------------------------------- */

/* What threads did up to now is recorded, and then nothing. @return false: the recording cannot be written */
static bool stop_threads(struct looks *l)
{
    bool good = true;

    if (l->waits)
        close_all(l);
    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        for (size_t k = 0; good && k < p->threads.count; k++) {
            read_run(p, &p->threads.at[k]);
            good = !l->waits || look_wait_put(l, p, &p->threads.at[k]);
        }
    }
    return good;
}

/* CPU time and waits count from now on, and what was recorded before stays. */
static void start_thread(const struct looks *l, const struct look_process *p, struct look_thread *t)
{
    const uint64_t before = t->cpu, recorded = t->wait.run.cpu_time - t->wait.cpu;

    read_run(p, t);
    t->sampled += t->cpu > before ? t->cpu - before : 0;
    t->found = t->cpu;
    t->runs = false;
    if (!l->waits)
        return;
    look_wait_begin(p, t, 0);
    t->wait.cpu -= recorded;
}

bool looks_pause(struct looks *l, bool paused)
{
    if (paused == l->paused)
        return true;
    l->paused = paused;
    if (paused)
        return stop_threads(l);
    for (size_t i = 0; i < l->processes.count; i++) {
        struct look_process *p = l->processes.at[i];

        for (size_t k = 0; k < p->threads.count; k++)
            start_thread(l, p, &p->threads.at[k]);
    }
    return true;
}

/* --- Its end -------------------------------------------------------------------------------------------- */

void looks_end(struct looks *l)
{
    if (l->waits && !l->paused)
        close_all(l);
    l->ends = true;
    for (size_t i = 0; i < l->processes.count; i++)
        close_threads(l, l->processes.at[i]);
}

void looks_close(struct looks *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->processes.count; i++)
        free_process(l, l->processes.at[i]);
    free(l->processes.at);
    look_cpu_close(l);
    remote_look_free(&l->look);
    look_awaited_free(&l->awaited);
    wait_kernel_close(l->kernel);
    report_strings_free(&l->names);
    free(l->due.at);
    free(l);
}
