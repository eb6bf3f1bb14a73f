#include "profiler/report/formats/trace_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "profiler/report/formats/json.h"
#include "profiler/report/formats/row_nodes.h"
#include "profiler/report/formats/time_line.h"
#include "util/base_name.h"

enum { CHUNK = 512 }; /* samples: readers work chunk by chunk */

struct trace {
    FILE *to;
    const struct report_model *model;
    struct report_row_nodes
        tree;         /* a root for each thread: a node's number is unique in the file */
    uint32_t written; /* nodes so far: a thread's first one is its root */
    struct report_pieces pieces;
    uint32_t root, idle; /* of the thread */
    uint64_t end;        /* of the thread's time line so far */
    /* The chunk in the making. */
    REPORT_ARRAY(uint32_t) samples;
    REPORT_ARRAY(uint64_t) deltas;
    uint64_t chunk_time;
    bool begun; /* an event was written */
};

/* --- Events ------------------------------------------------------------------------------------ */

/* Recordings of several machines may have one process number twice: each recording has numbers of its own. */
static void put_head(struct trace *t, const char *name, const char *phase, uint32_t member,
                     uint64_t time)
{
    const struct report_member *m = &t->model->members.at[member];

    fputs(t->begun ? ",\n" : "\n", t->to);
    t->begun = true;
    fprintf(t->to,
            "{\"name\":\"%s\",\"ph\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu32 ",\"ts\":", name,
            phase, m->source * UINT64_C(10000000) + m->process->pid, m->thread->tid);
    report_time_line_put(t->to, time, 3);
}

static void put_label(struct trace *t, const char *kind, uint32_t member, const char *name)
{
    put_head(t, kind, "M", member, 0);
    fputs(",\"cat\":\"__metadata\",\"args\":{\"name\":", t->to);
    report_json_text(t->to, name);
    fputs("}}", t->to);
}

static void put_profile_head(struct trace *t, const char *name, uint32_t member, uint64_t time)
{
    put_head(t, name, "P", member, time);
    fprintf(t->to,
            ",\"cat\":\"disabled-by-default-v8.cpu_profiler\",\"id\":\"0x%" PRIx32
            "\",\"args\":{\"data\":{",
            member + 1);
}

/* --- Chunks ------------------------------------------------------------------------------------ */

/* Nodes that came since the last chunk: callers stand before what they call. */
static void put_nodes(struct trace *t)
{
    const struct report_call_nodes *nodes = &t->tree.nodes;

    fputs("\"nodes\":[", t->to);
    for (const uint32_t first = t->written; t->written < nodes->all.count; t->written++) {
        const uint32_t caller = nodes->all.at[t->written].caller;

        fprintf(t->to, "%s{\"id\":%" PRIu32 ",", t->written > first ? ",\n" : "", t->written + 1);
        if (caller != REPORT_NONE)
            fprintf(t->to, "\"parent\":%" PRIu32 ",", caller + 1);
        report_row_nodes_put(t->to, &t->tree, t->written);
        putc('}', t->to);
    }
    putc(']', t->to);
}

static void put_chunk(struct trace *t, uint32_t member)
{
    if (t->samples.count == 0)
        return;
    put_profile_head(t, "ProfileChunk", member, t->chunk_time);
    fputs("\"cpuProfile\":{", t->to);
    put_nodes(t);
    for (size_t i = 0; i < t->samples.count; i++)
        fprintf(t->to, "%s%" PRIu32, i > 0 ? "," : ",\"samples\":[", t->samples.at[i] + 1);
    for (size_t i = 0; i < t->deltas.count; i++) {
        fputs(i > 0 ? "," : "]},\"timeDeltas\":[", t->to);
        report_time_line_put(t->to, t->deltas.at[i], 3);
    }
    fputs("]}}}", t->to);
    t->samples.count = t->deltas.count = 0;
}

/* @param time  when it begins: it lasts until the next one. @param before  when the last one began */
static bool add_sample(struct trace *t, uint32_t member, uint32_t node, uint64_t time,
                       uint64_t *before)
{
    uint32_t *sample;
    uint64_t *delta;

    if (t->samples.count == CHUNK)
        put_chunk(t, member);
    if (t->samples.count == 0)
        t->chunk_time = time;
    sample = REPORT_NEXT(t->samples);
    delta = REPORT_NEXT(t->deltas);
    if (!sample || !delta)
        return false;
    *sample = node;
    *delta = time - *before;
    *before = time;
    return true;
}

/* --- Threads ----------------------------------------------------------------------------------- */

/* A pause that is short beside what follows it is the difference of two clocks. */
static bool is_pause(uint64_t ns, uint64_t weight)
{
    return ns > weight / 10;
}

/*
 * Each lasts as long as its weight, so that a reader's sums are ours. One that would begin before the last one's end is moved
 * behind it; the next pause takes that back.
 */
static bool put_pieces(struct trace *t, size_t first, size_t end, uint64_t begin)
{
    const uint32_t member = t->pieces.all.at[first].member;
    uint64_t before = begin;
    bool good = true;

    t->end = begin;
    for (size_t i = first; good && i < end && !t->pieces.all.at[i].last; i++) {
        const struct report_piece *p = &t->pieces.all.at[i];
        uint64_t start = p->time > p->weight ? p->time - p->weight : 0;
        uint32_t node;

        if (start > t->end && is_pause(start - t->end, p->weight))
            good = add_sample(t, member, t->idle, t->end, &before);
        else
            start = t->end;
        good = good && report_row_nodes_find(&t->tree, p, t->root, &node) &&
               add_sample(t, member, node, start, &before);
        t->end = report_saturated(start, p->weight);
    }
    good = good && add_sample(t, member, t->idle, t->end, &before);
    put_chunk(t, member);
    return good;
}

/* DevTools shows threads that have an event of their own. */
static void put_life(struct trace *t, uint32_t member, uint64_t begin)
{
    put_head(t, "RunTask", "X", member, begin);
    fputs(",\"cat\":\"disabled-by-default-devtools.timeline\",\"dur\":", t->to);
    report_time_line_put(t->to, t->end - begin, 3);
    fputs(",\"args\":{}}", t->to);
}

static bool put_thread(struct trace *t, size_t first, size_t end)
{
    const struct report_piece *p = &t->pieces.all.at[first];
    const struct report_member *m;
    uint64_t begin;

    if (p->member == t->model->members.count || p->last)
        return true;
    m = &t->model->members.at[p->member];
    begin = p->time > p->weight ? p->time - p->weight : 0;
    put_label(t, "process_name", p->member, sfb_base_name(m->process->program));
    put_label(t, "thread_name", p->member, m->thread->name);
    put_profile_head(t, "Profile", p->member, begin);
    fputs("\"startTime\":", t->to);
    report_time_line_put(t->to, begin, 3);
    fputs("}}}", t->to);
    if (!report_row_nodes_own_root(&t->tree, p->member, &t->root) ||
        !report_row_nodes_idle(&t->tree, t->root, &t->idle) || !put_pieces(t, first, end, begin))
        return false;
    put_life(t, p->member, begin);
    return true;
}

/* --- The file ---------------------------------------------------------------------------------- */

/* DevTools shows when it was recorded. */
static void put_metadata(const struct trace *t)
{
    const uint64_t origin = report_pieces_origin(t->model);
    const time_t when = (time_t)(origin / 1000000000U);
    char date[64] = "";
    struct tm tm;

    if (gmtime_r(&when, &tm))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    fprintf(t->to,
            "\n],\n\"metadata\":{\"source\":\"sframe-backtrace\",\"startTime\":\"%s.%03uZ\"}}\n",
            date, (unsigned)(origin / 1000000U % 1000));
}

bool report_trace_events_write(FILE *to, const struct report_model *model)
{
    struct trace t = { .to = to, .model = model };
    bool good = report_row_nodes_begin(&t.tree, model);

    good = report_pieces_make(&t.pieces, model, 0) && good;
    fputs("{\"traceEvents\":[", to);
    for (size_t i = 0, end; good && i < t.pieces.all.count; i = end) {
        end = report_pieces_end(&t.pieces, i);
        good = put_thread(&t, i, end);
    }
    put_metadata(&t);
    report_row_nodes_free(&t.tree);
    report_pieces_free(&t.pieces);
    free(t.samples.at);
    free(t.deltas.at);
    return good;
}
