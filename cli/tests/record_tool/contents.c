#include "cli/tests/record_tool/contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thread {
    uint32_t process;
};

enum { THREADS_MAX = 1 << 16 };

static struct contents_process *process_of(struct contents *c, uint32_t id)
{
    for (uint32_t i = 0; i < c->process_count; i++)
        if (c->process[i].id == id)
            return &c->process[i];
    return NULL;
}

static void take_process(struct contents *c, const struct sfb_recording_process *e)
{
    struct contents_process *p = &c->process[c->process_count];

    if (c->process_count == CONTENTS_PROCESSES)
        return;
    c->process_count++;
    *p =
        (struct contents_process){ .id = e->id, .parent = e->parent, .pid = e->pid, .how = e->how };
    snprintf(p->program, sizeof p->program, "%s", e->program);
}

static void take_losses(struct contents *c, const struct sfb_recording_losses *e)
{
    const size_t size = strlen(c->texts);

    if (e->reason < SFB_LOSS_COUNT)
        c->lost[e->reason] += e->count;
    if (*e->text)
        snprintf(c->texts + size, sizeof c->texts - size, "%s\n", e->text);
}

static void take_sample(struct contents *c, const struct sfb_recording_sample *e,
                        const struct thread *threads)
{
    struct contents_process *p =
        e->thread < THREADS_MAX ? process_of(c, threads[e->thread].process) : NULL;

    c->samples++;
    c->weight += e->weight;
    c->complete += e->end == SFB_END && e->stack != 0;
    if (e->engine < sizeof c->engines / sizeof *c->engines)
        c->engines[e->engine]++;
    if (p) {
        p->samples++;
        p->weight += e->weight;
    }
}

static void take(struct contents *c, const struct sfb_recording_event *e, struct thread *threads)
{
    struct contents_process *p;

    switch ((enum sfb_recording_kind)e->kind) {
    case SFB_EVENT_START:
        c->engine = e->of.start.engine;
        snprintf(c->engine_text, sizeof c->engine_text, "%s", e->of.start.engine_text);
        break;
    case SFB_EVENT_PROCESS: take_process(c, &e->of.process); break;
    case SFB_EVENT_PROCESS_END:
        c->unsampled += e->of.process_end.unsampled_ns;
        p = process_of(c, e->of.process_end.id);
        if (p) {
            p->ended = true;
            p->end = e->of.process_end.end;
            p->status = e->of.process_end.status;
            p->cpu = e->of.process_end.cpu_ns;
            p->unsampled += e->of.process_end.unsampled_ns;
        }
        break;
    case SFB_EVENT_THREAD:
        if (e->of.thread.id < THREADS_MAX) {
            c->threads += threads[e->of.thread.id].process == 0;
            threads[e->of.thread.id].process = e->of.thread.process;
        }
        break;
    case SFB_EVENT_THREAD_END:
        c->rests += e->of.thread_end.unsampled_ns;
        p = e->of.thread_end.id < THREADS_MAX ? process_of(c, threads[e->of.thread_end.id].process)
                                              : NULL;
        if (p)
            p->unsampled += e->of.thread_end.unsampled_ns;
        break;
    case SFB_EVENT_MODULES: c->modules++; break;
    case SFB_EVENT_STACK: c->stacks++; break;
    case SFB_EVENT_SAMPLE: take_sample(c, &e->of.sample, threads); break;
    case SFB_EVENT_LOSSES: take_losses(c, &e->of.losses); break;
    case SFB_EVENT_FILE: c->maps += strncmp(e->of.file.name, "/tmp/perf-", 10) == 0; break;
    case SFB_EVENT_FINISH: snprintf(c->reason, sizeof c->reason, "%s", e->of.finish.reason); break;
    case SFB_EVENT_MARK:
        c->marks++;
        c->last_mark_time = e->of.mark.time;
        snprintf(c->last_mark, sizeof c->last_mark, "%s", e->of.mark.name);
        break;
    case SFB_EVENT_PAUSE: c->pauses += e->of.pause.paused; break;
    case SFB_EVENT_WAIT: c->waited += e->of.wait.weight; break;
    case SFB_EVENT_HEAP:
    case SFB_EVENT_HEAP_SITE:
    case SFB_EVENT_HEAP_TOTALS:
    case SFB_EVENT_HEAP_STATE:
    case SFB_EVENT_CODE:
    case SFB_EVENT_CODE_FRAMES:
    case SFB_EVENT_AWAITED:
    case SFB_EVENT_HEAP_EVENT: break;
    }
}

const char *contents_read(struct contents **out, const char *path)
{
    struct thread *threads = calloc(THREADS_MAX, sizeof *threads);
    struct contents *c = calloc(1, sizeof *c);
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;
    enum sfb_status status;

    *out = c;
    if (!threads || !c) {
        free(threads);
        return "no memory";
    }
    status = sfb_recording_reader_open(&reader, path, NULL);
    if (status == SFB_OK) {
        while ((status = sfb_recording_reader_next(reader, &event)) == SFB_OK)
            take(c, &event, threads);
        sfb_recording_reader_health(reader, &c->health);
        sfb_recording_reader_close(reader);
    }
    free(threads);
    return status == SFB_END ? NULL : sfb_status_str(status);
}
