#include "profiler/collector/processes/identity.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/collector/processes/tasks.h"
#include "util/base_name.h"

#define LOAD(member) __atomic_load_n(&(member), __ATOMIC_RELAXED)

/* How well a process here matches a slot, ascending. If both namespaces are known, the match is certain. */
enum { FITS_NOT, FITS_NUMBER, FITS_PROGRAM, FITS_SPACE };

static bool is_followed(const struct sfb_recorder_follow *f, pid_t here)
{
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        if (f->process[i].pid != 0 && !f->process[i].told && f->process[i].here == here)
            return true;
    return false;
}

/* --- programs ------------------------------------------------------------------------------------ */

/* Copies path and arguments of a slot, and terminates both. @return bytes, including the path and its '\0' */
static size_t copy_text(char out[SFB_SHARED_TEXT + 1], const struct sfb_shared_process *shared)
{
    size_t size = LOAD(shared->text_size);

    if (size > SFB_SHARED_TEXT)
        size = 0;
    memcpy(out, shared->text, size);
    out[size] = '\0';
    return size;
}

/* Compares base names: in another root the path differs. A slot may hold only the first arguments. */
static bool runs(pid_t here, const char *text, size_t size)
{
    char name[SFB_SHARED_TEXT], arguments[SFB_SHARED_TEXT];
    const size_t path = strlen(text) + 1;
    const size_t arguments_size = sfb_recorder_task_arguments(here, arguments, sizeof arguments);
    size_t common = size > path ? size - path : 0;

    if (!sfb_recorder_task_program(here, name, sizeof name) ||
        strcmp(sfb_base_name(name), sfb_base_name(text)) != 0)
        return false;
    if (common > arguments_size)
        common = arguments_size;
    return memcmp(arguments, text + path, common) == 0;
}

/* An emulator's own file is the process's program: Valgrind runs the reported one in itself, and so has it mapped. */
static bool has_mapped(pid_t here, const char *program)
{
    char path[64], line[SFB_SHARED_TEXT + 128];
    bool found = false;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%ld/maps", (long)here);
    maps = fopen(path, "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        const char *file = strchr(line, '/');

        line[strcspn(line, "\n")] = '\0';
        found = file && strcmp(file, program) == 0;
    }
    if (maps)
        fclose(maps);
    return found;
}

bool sfb_recorder_identity_has_changed(const struct sfb_recorder_follow *f, uint32_t slot)
{
    static const size_t path_max = 1000; /* longest path that an agent reports */
    const pid_t here = f->process[slot].here;
    char text[SFB_SHARED_TEXT + 1], name[SFB_SHARED_TEXT];
    const size_t size = copy_text(text, &f->processes[slot]), path = strlen(text);

    if (text[0] != '/' || path >= size || path >= path_max ||
        !sfb_recorder_task_program(here, name, sizeof name))
        return false;
    if (strncmp(name, text, path) == 0 &&
        (name[path] == '\0' || strcmp(name + path, " (deleted)") == 0))
        return false;
    return sfb_recorder_task_has_our_files(here) && !has_mapped(here, text);
}

/* --- pids ---------------------------------------------------------------------------------------- */

struct wanted {
    const struct sfb_recorder_follow *follow;
    bool forked;
    uint64_t pid_space; /* 0: unknown */
    pid_t parent;       /* FORKED: pid here; 0: unknown */
    char text[SFB_SHARED_TEXT + 1];
    size_t text_size;
    pid_t found;
    int fits;
};

static void describe(struct wanted *out, const struct sfb_recorder_follow *f, uint32_t slot)
{
    const struct sfb_shared_process *shared = &f->processes[slot];
    const uint32_t parent = LOAD(shared->parent) - 1;

    *out = (struct wanted){ .follow = f, .forked = LOAD(shared->how) == SFB_PROCESS_FORKED };
    if (out->forked && parent < SFB_SHARED_PROCESS_MAX && f->process[parent].pid != 0)
        out->parent = f->process[parent].here;
    out->text_size = copy_text(out->text, shared);
    out->pid_space = LOAD(shared->pid_space);
}

/* @return FITS_SPACE, FITS_NOT, or FITS_NUMBER if one of both namespaces is unknown */
static int fits_space(const struct wanted *wanted, pid_t here)
{
    uint64_t space;

    if (wanted->pid_space == 0 || !sfb_recorder_task_space(here, "pid", &space))
        return FITS_NUMBER;
    return space == wanted->pid_space ? FITS_SPACE : FITS_NOT;
}

/* A forked process may run another program by now, so its parent is compared instead. */
static void judge(void *with, pid_t here)
{
    struct wanted *wanted = with;
    int fits = fits_space(wanted, here);

    if (fits == FITS_NUMBER && (wanted->forked ? wanted->parent == sfb_recorder_task_parent(here)
                                               : runs(here, wanted->text, wanted->text_size)))
        fits = FITS_PROGRAM;
    if (fits <= wanted->fits || is_followed(wanted->follow, here))
        return;
    wanted->found = here;
    wanted->fits = fits;
}

/* Cheapest check first: most parents are recorded. */
static bool is_ours(const struct sfb_recorder_follow *f, pid_t parent)
{
    return parent == getpid() || (parent > 0 && is_followed(f, parent)) ||
           sfb_recorder_task_is_ours(parent);
}

static void note(const struct sfb_recorder_follow *f, struct sfb_recorder_followed *p,
                 const struct sfb_recorder_task *task)
{
    p->owner = task->user;
    p->parent = task->parent;
    p->fresh = p->same && f->events && sfb_recorder_task_catches(task, f->events->signal);
}

void sfb_recorder_identity_note(const struct sfb_recorder_follow *f,
                                struct sfb_recorder_followed *p)
{
    struct sfb_recorder_task task = { .user = geteuid() };

    if (p->here > 0)
        sfb_recorder_task_read(&task, p->here);
    note(f, p, &task);
}

/* Its pid is of our namespace, and no process has it. */
static bool is_gone(const struct sfb_recorder_follow *f, const struct wanted *wanted, pid_t pid)
{
    return f->pid_space != 0 && wanted->pid_space == f->pid_space && kill(pid, 0) != 0 &&
           errno == ESRCH;
}

enum sfb_recorder_found sfb_recorder_identity_find(struct sfb_recorder_follow *f, uint32_t slot)
{
    struct sfb_recorder_followed *p = &f->process[slot];
    struct sfb_recorder_task task;
    const bool is_here = sfb_recorder_task_read(&task, p->pid) && task.group == p->pid && task.same;
    struct wanted wanted;
    bool all;

    describe(&wanted, f, slot);
    p->pid_space = wanted.pid_space;
    if (is_here && fits_space(&wanted, p->pid) != FITS_NOT && is_ours(f, task.parent) &&
        !is_followed(f, p->pid)) {
        p->same = true;
        p->here = p->pid;
        note(f, p, &task);
        return SFB_FOUND;
    }
    if (!is_here && is_gone(f, &wanted, p->pid)) {
        sfb_recorder_identity_note(f, p);
        return SFB_FOUND_GONE;
    }
    if (!sfb_recorder_tasks_known()) {
        p->here = p->pid;
        sfb_recorder_identity_note(f, p);
        return SFB_FOUND;
    }
    all = sfb_recorder_tasks_find(p->pid, judge, &wanted);
    p->here = wanted.found;
    sfb_recorder_identity_note(f, p);
    if (p->here > 0)
        return SFB_FOUND;
    /* It may have got the memory without descending from this process. */
    return all && !(is_here && runs(p->pid, wanted.text, wanted.text_size)) ? SFB_FOUND_NOWHERE
                                                                            : SFB_FOUND_UNSURE;
}

/*
 * How well a followed process fits as the one before an exec. By its program: it runs the new one, and its slot names
 * another. A forked process may be looked for only after its exec: it is then not found here, and ranks below others.
 */
static int fits_before(const struct sfb_recorder_follow *f, uint32_t before,
                       const struct wanted *wanted)
{
    const struct sfb_recorder_followed *p = &f->process[before];
    char text[SFB_SHARED_TEXT + 1];

    if (p->pid_space != 0 && wanted->pid_space != 0 && p->pid_space != wanted->pid_space)
        return FITS_NOT;
    if (p->pid_space != 0 && wanted->pid_space != 0)
        return p->here != 0 ? FITS_SPACE : FITS_PROGRAM;
    if (p->here == 0 || !runs(p->here, wanted->text, wanted->text_size))
        return FITS_NUMBER;
    return copy_text(text, &f->processes[before]) != wanted->text_size ||
                   memcmp(text, wanted->text, wanted->text_size) != 0
               ? FITS_PROGRAM
               : FITS_NUMBER;
}

uint32_t sfb_recorder_identity_before(const struct sfb_recorder_follow *f, uint32_t slot, pid_t pid)
{
    uint32_t best = SFB_SHARED_PROCESS_MAX;
    int best_fits = FITS_NOT;
    struct wanted wanted;

    describe(&wanted, f, slot);
    for (uint32_t i = 0; i < SFB_SHARED_PROCESS_MAX && !wanted.forked; i++) {
        int fits;

        if (f->process[i].pid == 0 || f->process[i].pid != pid || f->process[i].told)
            continue;
        fits = fits_before(f, i, &wanted);
        if (fits > best_fits) {
            best = i;
            best_fits = fits;
        }
    }
    if (best_fits != FITS_NUMBER)
        return best;
    /* It may also be a process that is not followed yet. */
    sfb_recorder_tasks_find(pid, judge, &wanted);
    return wanted.fits >= FITS_PROGRAM ? SFB_SHARED_PROCESS_MAX : best;
}

/* --- clocks -------------------------------------------------------------------------------------- */

int64_t sfb_recorder_identity_clock(const struct sfb_recorder_follow *f, pid_t here)
{
    uint64_t space;
    int64_t own, other;

    if (!sfb_recorder_task_space(here, "time", &space) || space == f->time_space ||
        !sfb_recorder_task_clock_offset(getpid(), &own) ||
        !sfb_recorder_task_clock_offset(here, &other))
        return 0;
    return other - own;
}
