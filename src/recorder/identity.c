#include "recorder/identity.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/tasks.h"

#define LOAD(member) __atomic_load_n(&(member), __ATOMIC_RELAXED)

/* How well a process here fits what a slot says. Where both namespaces are known there is no doubt. */
enum { FITS_NOT, FITS_NUMBER, FITS_PROGRAM, FITS_SPACE };

static bool is_followed(const struct sfb_recorder_follow *f, pid_t here)
{
    for (size_t i = 0; i < SFB_SHARED_PROCESS_MAX; i++)
        if (f->process[i].pid != 0 && !f->process[i].told && f->process[i].here == here)
            return true;
    return false;
}

/* --- programs ------------------------------------------------------------------------------------ */

/* Path and arguments of a slot: both end. @return bytes, those of the path and its '\0' included */
static size_t copy_text(char out[SFB_SHARED_TEXT + 1], const struct sfb_shared_process *shared)
{
    size_t size = LOAD(shared->text_size);

    if (size > SFB_SHARED_TEXT)
        size = 0;
    memcpy(out, shared->text, size);
    out[size] = '\0';
    return size;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* In another root the path is another one. A slot has no room for all arguments. */
static bool runs(pid_t here, const char *text, size_t size)
{
    char name[SFB_SHARED_TEXT], arguments[SFB_SHARED_TEXT];
    const size_t path = strlen(text) + 1;
    const size_t arguments_size = sfb_recorder_task_arguments(here, arguments, sizeof arguments);
    size_t common = size > path ? size - path : 0;

    if (!sfb_recorder_task_program(here, name, sizeof name) ||
        strcmp(base_of(name), base_of(text)) != 0)
        return false;
    if (common > arguments_size)
        common = arguments_size;
    return memcmp(arguments, text + path, common) == 0;
}

bool sfb_recorder_identity_has_changed(const struct sfb_recorder_follow *f, uint32_t slot)
{
    static const size_t path_max = 1000; /* so much of it an agent tells */
    const pid_t here = f->process[slot].here;
    char text[SFB_SHARED_TEXT + 1], name[SFB_SHARED_TEXT];
    const size_t size = copy_text(text, &f->processes[slot]), path = strlen(text);

    if (text[0] != '/' || path >= size || path >= path_max ||
        !sfb_recorder_task_has_our_files(here) ||
        !sfb_recorder_task_program(here, name, sizeof name))
        return false;
    return strncmp(name, text, path) != 0 ||
           (name[path] != '\0' && strcmp(name + path, " (deleted)") != 0);
}

/* --- numbers ------------------------------------------------------------------------------------- */

struct wanted {
    const struct sfb_recorder_follow *follow;
    bool forked;
    uint64_t pid_space; /* 0: not known */
    pid_t parent;       /* FORKED: its number here; 0: not known */
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

/* @return FITS_SPACE, FITS_NOT, or FITS_NUMBER where one of both is not known */
static int fits_space(const struct wanted *wanted, pid_t here)
{
    uint64_t space;

    if (wanted->pid_space == 0 || !sfb_recorder_task_pid_space(here, &space))
        return FITS_NUMBER;
    return space == wanted->pid_space ? FITS_SPACE : FITS_NOT;
}

/* Who forked itself may run another program by now, and has the parent that it says. */
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

bool sfb_recorder_identity_find(struct sfb_recorder_follow *f, uint32_t slot)
{
    struct sfb_recorder_followed *p = &f->process[slot];
    const bool is_here = sfb_recorder_task_is_of(p->pid, p->pid, 0);
    struct wanted wanted;
    bool all;

    describe(&wanted, f, slot);
    p->pid_space = wanted.pid_space;
    if (is_here && fits_space(&wanted, p->pid) != FITS_NOT && sfb_recorder_task_is_ours(p->pid) &&
        !is_followed(f, p->pid)) {
        p->same = true;
        p->here = p->pid;
        return true;
    }
    if (!sfb_recorder_tasks_known()) {
        p->here = p->pid;
        return true;
    }
    all = sfb_recorder_tasks_find(p->pid, judge, &wanted);
    p->here = wanted.found;
    /* It may have got the memory without descending from us. */
    return wanted.found != 0 || (all && !(is_here && runs(p->pid, wanted.text, wanted.text_size)));
}

/*
 * Of several that run it, it is not the one that ran it before. The slot of who had forked may be looked at after that of
 * what it executed: it is nowhere then, and comes last.
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
    /* It may as well be one that nobody follows yet. */
    sfb_recorder_tasks_find(pid, judge, &wanted);
    return wanted.fits >= FITS_PROGRAM ? SFB_SHARED_PROCESS_MAX : best;
}

/* --- clocks -------------------------------------------------------------------------------------- */

int64_t sfb_recorder_identity_clock(pid_t here)
{
    int64_t own, other;

    if (sfb_recorder_task_shares(here, "time") || !sfb_recorder_task_clock_offset(getpid(), &own) ||
        !sfb_recorder_task_clock_offset(here, &other))
        return 0;
    return other - own;
}
