#include "profiler/report/formats/firefox_threads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/formats/json.h"
#include "profiler/report/formats/time_line.h"
#include "util/base_name.h"

/* --- Stacks ------------------------------------------------------------------------------------ */

/* @param out  the stack's number; REPORT_NONE: it has no frame */
static bool number_stack(struct report_firefox *f, const struct report_piece *piece, uint32_t *out)
{
    const struct report_model *model = f->model;
    bool good = true;

    if (!piece->last && f->of_row[piece->row] != 0) {
        *out = f->of_row[piece->row] - 1;
        return true;
    }
    *out = REPORT_NONE;
    good = piece->last ? report_frames_take_mark(&f->frames, model, REPORT_FRAME_UNSAMPLED)
                       : report_frames_take(&f->frames, model, model->rows.at[piece->row].stack);
    for (size_t i = f->frames.all.count; good && i-- > 0;)
        good = report_call_nodes_find(&f->stacks, *out, f->frames.all.at[i].line, out);
    if (good && !piece->last)
        f->of_row[piece->row] = *out + 1;
    return good;
}

/* --- One thread -------------------------------------------------------------------------------- */

/* ns of an instant of a recording, from the beginning of the first one. */
static uint64_t instant(const struct report_firefox *f, const struct report_member *m,
                        uint64_t time)
{
    const struct sfb_recording_start *start = &f->model->sources[m->source].data->start;
    const uint64_t began = start->realtime > f->origin ? start->realtime - f->origin : 0;

    return report_saturated(began, time > start->monotonic ? time - start->monotonic : 0);
}

static uint64_t thread_end(const struct report_firefox *f, const struct report_member *m)
{
    const struct report_data *data = f->model->sources[m->source].data;

    return instant(f, m, m->thread->ended ? m->thread->end_time : report_data_end(data));
}

static void put_ms(const struct report_firefox *f, const char *key, uint64_t ns)
{
    fprintf(f->to, ",\"%s\":", key);
    report_time_line_put(f->to, ns, 6);
}

/* Processes of several recordings may have one number. */
static void put_identity(const struct report_firefox *f, const struct report_member *m)
{
    const bool is_main = m->process->pid == m->thread->tid;

    fputs("\"name\":", f->to);
    report_json_text(f->to, m->thread->name);
    fprintf(f->to, ",\"isMainThread\":%s,\"processType\":\"default\",\"processName\":",
            is_main ? "true" : "false");
    report_json_text(f->to, sfb_base_name(m->process->program));
    fprintf(f->to, ",\"pid\":\"%" PRIu32, m->process->pid);
    if (f->model->source_count > 1)
        fprintf(f->to, ".%" PRIu32, m->source + 1);
    fprintf(f->to, "\",\"tid\":%" PRIu32, m->thread->tid);
    put_ms(f, "processStartupTime", instant(f, m, m->process->time));
    if (m->process->ended)
        put_ms(f, "processShutdownTime", instant(f, m, m->process->end_time));
    else
        fputs(",\"processShutdownTime\":null", f->to);
    put_ms(f, "registerTime", instant(f, m, m->thread->time));
    put_ms(f, "unregisterTime", thread_end(f, m));
}

static void put_no_thread(const struct report_firefox *f)
{
    fputs("\"name\":\"[no thread]\",\"isMainThread\":false,\"processType\":\"default\","
          "\"processName\":\"[no thread]\",\"pid\":\"0\",\"tid\":0,\"processStartupTime\":0,"
          "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null",
          f->to);
}

static uint64_t cpu_of(const struct report_model *model, const struct report_piece *piece)
{
    return !piece->last && report_waits_in(model, model->rows.at[piece->row].stack) ? 0
                                                                                    : piece->weight;
}

static bool put_samples(struct report_firefox *f, size_t first, size_t end, uint64_t gone)
{
    const struct report_piece *pieces = f->pieces.all.at;
    bool good = true;

    fputs(",\n\"samples\":{\"stack\":[", f->to);
    for (size_t i = first; good && i < end; i++) {
        uint32_t stack;

        good = number_stack(f, &pieces[i], &stack);
        if (i > first)
            putc(',', f->to);
        if (stack == REPORT_NONE)
            fputs("null", f->to);
        else
            fprintf(f->to, "%" PRIu32, stack);
    }
    for (size_t i = first; i < end; i++) {
        fputs(i > first ? "," : "],\n\"time\":[", f->to);
        report_time_line_put(f->to, pieces[i].last && pieces[i].time < gone ? gone : pieces[i].time,
                             6);
    }
    for (size_t i = first; i < end; i++) {
        fputs(i > first ? "," : "],\n\"weight\":[", f->to);
        report_time_line_put(f->to, pieces[i].weight, 6);
    }
    for (size_t i = first; i < end; i++)
        fprintf(f->to, "%s%" PRIu64, i > first ? "," : "],\n\"threadCPUDelta\":[",
                cpu_of(f->model, &pieces[i]));
    fprintf(f->to, "],\n\"weightType\":\"tracing-ms\",\"length\":%zu}", end - first);
    return good;
}

/* --- Markers ----------------------------------------------------------------------------------- */

/* "exited with 0" */
static void put_end(FILE *to, const struct report_process *p)
{
    if (!p->ended || p->end == SFB_PROCESS_LEFT)
        fputs("\"runs\"", to);
    else if (p->end == SFB_PROCESS_EXITED)
        fprintf(to, "\"exited with %" PRIu32 "\"", p->status);
    else if (p->end == SFB_PROCESS_KILLED)
        fprintf(to, "\"killed by signal %" PRIu32 "\"", p->status);
    else
        fputs(p->end == SFB_PROCESS_REPLACED ? "\"executed another program\"" : "\"ended\"", to);
}

/* Without the program's own name, which comes first. */
static void put_arguments(FILE *to, const struct report_process *p)
{
    char *text = NULL;
    size_t size;
    FILE *words = open_memstream(&text, &size);
    size_t at = p->arguments_size > 0 ? strnlen(p->arguments, p->arguments_size) + 1 : 0;

    if (!words) {
        fputs("\"\"", to);
        return;
    }
    for (const size_t first = at; at < p->arguments_size; at++) {
        if (at > first)
            putc(' ', words);
        for (; at < p->arguments_size && p->arguments[at]; at++)
            putc(p->arguments[at], words);
    }
    fclose(words);
    report_json_text(to, text ? text : "");
    free(text);
}

static bool put_markers(struct report_firefox *f, const struct report_member *m)
{
    uint32_t name = 0;

    if (!report_firefox_string(f, "Process", &name))
        return false;
    if (!m) {
        fputs(",\n\"markers\":{\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
              "\"category\":[],"
              "\"data\":[],\"length\":0}",
              f->to);
        return true;
    }
    fprintf(f->to, ",\n\"markers\":{\"name\":[%" PRIu32 "],\"startTime\":[", name);
    report_time_line_put(f->to, instant(f, m, m->process->time), 6);
    fputs("],\"endTime\":[", f->to);
    report_time_line_put(
        f->to, m->process->ended ? instant(f, m, m->process->end_time) : thread_end(f, m), 6);
    fputs("],\"phase\":[1],\"category\":[0],\"data\":[{\"type\":\"Process\",\"program\":", f->to);
    report_json_text(f->to, m->process->program);
    fputs(",\"arguments\":", f->to);
    put_arguments(f->to, m->process);
    fputs(",\"end\":", f->to);
    put_end(f->to, m->process);
    fputs("}],\"length\":1}", f->to);
    return true;
}

/* --- All threads ------------------------------------------------------------------------------- */

static bool put_thread(struct report_firefox *f, size_t first, size_t end,
                       const struct report_process *before)
{
    const uint32_t member = f->pieces.all.at[first].member;
    const struct report_member *m =
        member < f->model->members.count ? &f->model->members.at[member] : NULL;
    bool good;

    fputs(first > 0 ? ",\n{" : "\n{", f->to);
    if (m)
        put_identity(f, m);
    else
        put_no_thread(f);
    fputs(",\"pausedRanges\":[]", f->to);
    good = put_samples(f, first, end, m ? thread_end(f, m) : 0) &&
           put_markers(f, m && m->process != before ? m : NULL);
    putc('}', f->to);
    return good;
}

bool report_firefox_put_threads(struct report_firefox *f)
{
    const struct report_process *before = NULL;
    bool good = true;

    fputs("\"threads\":[", f->to);
    for (size_t i = 0, end; good && i < f->pieces.all.count; i = end) {
        const uint32_t member = f->pieces.all.at[i].member;

        end = report_pieces_end(&f->pieces, i);
        good = put_thread(f, i, end, before);
        before = member < f->model->members.count ? f->model->members.at[member].process : NULL;
    }
    fputs("],\n", f->to);
    return good;
}
