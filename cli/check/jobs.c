/*
 * Several files at a time: a process for each, because libelf has one state for all threads, and
 * because a check that crashes must not end the others.
 *
 * What a process says goes to unnamed files, and is copied when all before it were. So memory does
 * not grow with what is said.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/check/files.h"

/* Files that may be done, or in work, while one before them is: for each process. */
enum { WAITING_PER_JOB = 4 };

/* What a process tells its parent in shared memory. */
struct outcome {
    struct report_counts counts;
    enum tool_exit exit_status;
    bool any, failed, done;
};

struct job {
    const char *path;
    pid_t pid; /* 0: it has ended */
    int status;
    FILE *out, *later, *baseline, *complaints;
    struct outcome *outcome;
};

struct pool {
    struct run *run;
    struct job *jobs; /* a ring: job i of all is at i % room */
    size_t room;
    size_t begun, told; /* how many of all */
    size_t running;
};

static struct job *job_at(const struct pool *p, size_t i)
{
    return &p->jobs[i % p->room];
}

/* The process: as if there were one file. */
static void work(const struct run *from, const struct job *job)
{
    struct run run = { .options = from->options, .policy = from->policy };
    struct outcome *o = job->outcome;

    if (run.policy.baseline_to)
        run.policy.baseline_to = job->baseline;
    dup2(fileno(job->complaints), STDERR_FILENO);
    if (report_open(&run.report, from->report.format, job->out)) {
        run_file(&run, job->path);
        if (run.report.later && fflush(run.report.later) == 0)
            fwrite(run.report.later_text, 1, run.report.later_size, job->later);
    } else {
        run.no_memory = true;
    }
    o->counts = run.report.counts;
    o->exit_status = run.exit_status;
    o->any = run.report.any;
    o->failed = run.no_memory || run.report.failed;
    o->done = fflush(job->out) == 0 && fflush(job->later) == 0 && fflush(job->baseline) == 0;
    _exit(0);
}

static bool begin(struct pool *p, const char *path)
{
    struct job *j = job_at(p, p->begun);

    j->path = path;
    j->out = tmpfile();
    j->later = tmpfile();
    j->baseline = tmpfile();
    j->complaints = tmpfile();
    memset(j->outcome, 0, sizeof *j->outcome);
    if (!j->out || !j->later || !j->baseline || !j->complaints)
        return false;
    fflush(NULL);
    j->pid = fork();
    if (j->pid < 0)
        return false;
    if (j->pid == 0)
        work(p->run, j);
    p->begun++;
    p->running++;
    return true;
}

/* @return whether there was anything */
static bool copy(FILE *from, FILE *to, const char *before)
{
    char bytes[1 << 16];
    bool any = false;

    rewind(from);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, from)) > 0; any = true) {
        if (!any)
            fputs(before, to);
        fwrite(bytes, 1, n, to);
    }
    return any;
}

static void add_counts(struct report_counts *to, const struct report_counts *n)
{
    to->files += n->files;
    to->with_section += n->with_section;
    to->with_findings += n->with_findings;
    to->unreadable += n->unreadable;
    for (size_t i = 0; i < 3; i++)
        to->by_severity[i] += n->by_severity[i];
}

static void tell_lost(struct run *run, const struct job *j)
{
    char cause[96];

    if (WIFSIGNALED(j->status))
        snprintf(cause, sizeof cause, "its check was ended by signal %d", WTERMSIG(j->status));
    else
        snprintf(cause, sizeof cause, "its check ended before it was done");
    run_unreadable(run, j->path, &(struct object_fault){ .cause = cause });
    tool_complain(TOOL_USAGE, "%s: %s", j->path, cause);
}

static void tell(struct run *run, struct job *j)
{
    struct report *r = &run->report;
    const struct outcome *o = j->outcome;
    const bool lists = r->format == REPORT_JSON || r->format == REPORT_SARIF;

    if (o->done) {
        copy(j->out, r->to, lists && r->any && o->any ? "," : "");
        r->any |= o->any;
        if (r->later)
            copy(j->later, r->later, ftell(r->later) > 0 ? "," : "");
        if (run->policy.baseline_to)
            copy(j->baseline, run->policy.baseline_to, "");
        fflush(r->to);
        copy(j->complaints, stderr, "");
        add_counts(&r->counts, &o->counts);
        run->exit_status = tool_worse(run->exit_status, o->exit_status);
        run->no_memory |= o->failed;
    } else {
        tell_lost(run, j);
    }
    fclose(j->out);
    fclose(j->later);
    fclose(j->baseline);
    fclose(j->complaints);
}

/* Waits for one process to end. */
static void wait_for_one(struct pool *p)
{
    int status;
    pid_t pid;

    do
        pid = wait(&status);
    while (pid < 0 && errno == EINTR);
    for (size_t i = p->told; i < p->begun; i++)
        if (job_at(p, i)->pid == pid) {
            job_at(p, i)->pid = 0;
            job_at(p, i)->status = status;
            p->running--;
        }
}

static void run_all(struct pool *p, char **paths, size_t jobs)
{
    bool more = *paths != NULL;

    while (more || p->told < p->begun) {
        while (more && p->running < jobs && p->begun - p->told < p->room) {
            if (!begin(p, *paths)) {
                p->run->exit_status =
                    tool_complain(TOOL_USAGE, "%s: no process for it: %s", *paths, strerror(errno));
                more = false;
                break;
            }
            more = *++paths != NULL;
        }
        if (p->running > 0)
            wait_for_one(p);
        while (p->told < p->begun && job_at(p, p->told)->pid == 0)
            tell(p->run, job_at(p, p->told++));
    }
}

void run_jobs(struct run *run, char **paths, size_t jobs)
{
    struct pool p = { .run = run, .room = jobs * WAITING_PER_JOB };
    const size_t size = p.room * sizeof(struct outcome);
    struct outcome *outcomes =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    p.jobs = calloc(p.room, sizeof *p.jobs);
    if (outcomes != MAP_FAILED && p.jobs) {
        for (size_t i = 0; i < p.room; i++)
            p.jobs[i].outcome = &outcomes[i];
        run_all(&p, paths, jobs);
    } else {
        run->no_memory = true;
    }
    free(p.jobs);
    if (outcomes != MAP_FAILED)
        munmap(outcomes, size);
}
