#include "profiler/report/text/start.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "profiler/report/model/parts.h"
#include "profiler/report/text/advice.h"
#include "util/counted.h"
#include "util/foreign.h"

/* Recordings that are named. */
enum { STARTS_MAX = 8 };

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* Whether a shell reads a word as it is. */
static bool is_plain(const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

    for (const char *at = word; *at; at++)
        if ((unsigned char)*at < 0x80 && !strchr(plain, *at))
            return false;
    return word[0] != '\0';
}

static void write_quoted(FILE *to, const char *word)
{
    fputc('\'', to);
    for (size_t size; *word; word += size) {
        char part[256];

        size = strcspn(word, "'");
        if (size == 0) {
            fputs("'\\''", to);
            size = 1;
            continue;
        }
        if (size >= sizeof part) {
            size = sizeof part - 1;
            while (size > 1 && ((unsigned char)word[size] & 0xc0) == 0x80)
                size--; /* not within a character */
        }
        memcpy(part, word, size);
        part[size] = '\0';
        foreign_print(to, part);
    }
    fputc('\'', to);
}

void report_command_write(FILE *to, const char *words, size_t size)
{
    for (size_t i = 0; i < size; i += strlen(words + i) + 1) {
        if (i > 0)
            fputc(' ', to);
        if (is_plain(words + i))
            foreign_print(to, words + i);
        else
            write_quoted(to, words + i);
    }
}

/* How its heap was recorded. */
static void write_heap(FILE *to, const struct report_data *data)
{
    const struct report_heap *heap = data->heap.heaps.at;

    if (data->heap.heaps.count == 0)
        fputs("the heap of no process: no agent was loaded", to);
    else if (heap->flags & SFB_HEAP_LIVE)
        fputs("what lives in the heap", to);
    else if (heap->rate > 0)
        fprintf(to, "a sample each %s of the heap", counted(heap->rate, "bytes").text);
    else
        fputs("each allocation", to);
    if (data->heap.heaps.count > 0 && (heap->flags & SFB_HEAP_MMAP))
        fputs(", mmap too", to);
    if (data->heap.heaps.count > 0 && (heap->flags & SFB_HEAP_AGGREGATE))
        fputs(", sums without events", to);
}

static void write_labels(FILE *to, const struct report_data *data)
{
    for (const char *l = labels_next(&data->labels, NULL), *first = l; l;
         l = labels_next(&data->labels, l)) {
        fputs(l == first ? "  labels: " : ", ", to);
        foreign_print(to, l);
    }
    if (data->labels.size > 0)
        fputc('\n', to);
}

/* Where the recording was marked: --time mark:A..mark:B. */
static void write_marks(FILE *to, const struct report_data *data)
{
    enum { MARKS_MAX = 16 };

    for (size_t i = 0; i < data->marks.count && i < MARKS_MAX; i++) {
        const struct report_moment *m = &data->marks.at[i];
        const uint64_t start = data->start.monotonic;

        fputs(i == 0 ? "  marks: " : ", ", to);
        foreign_print(to, m->name);
        fprintf(to, " at %.3f s", seconds(m->time > start ? m->time - start : 0));
    }
    if (data->marks.count > MARKS_MAX)
        fprintf(to, ", and %zu more", data->marks.count - MARKS_MAX);
    if (data->marks.count > 0)
        fputc('\n', to);
}

enum { PAUSES_MAX = 8 };

/* How much of a part's pauses is in no pause of the whole recording: other parts ran. */
static uint64_t paused_alone(const struct report_data *data, const struct report_pause *pauses,
                             size_t count)
{
    const uint64_t start = data->start.monotonic, end = report_data_end(data);
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t to = pauses[i].to > 0 && pauses[i].to < end ? pauses[i].to : end;

        if (pauses[i].from >= start && to > pauses[i].from)
            sum = report_saturated(
                sum,
                to - pauses[i].from - report_data_paused(data, pauses[i].from - start, to - start));
    }
    return sum;
}

static void write_spans(FILE *to, const struct report_data *data, const struct report_pause *pauses,
                        size_t count)
{
    const uint64_t start = data->start.monotonic;

    for (size_t i = 0; i < count && i < PAUSES_MAX; i++) {
        const struct report_pause *p = &pauses[i];

        fprintf(to, "%s %.3f to ", i == 0 ? ", from" : ",",
                seconds(p->from > start ? p->from - start : 0));
        if (p->to == 0)
            fputs("the end", to);
        else
            fprintf(to, "%.3f s", seconds(p->to > start ? p->to - start : 0));
    }
    if (count > PAUSES_MAX)
        fprintf(to, ", and %zu more", count - PAUSES_MAX);
}

/* Inputs of a merged recording that were paused while others ran. */
static void write_part_pauses(FILE *to, const struct report_data *data)
{
    const struct report_pause *all = data->part_pauses.at;
    size_t shown = 0, more = 0;

    for (size_t i = 0, next; i < data->part_pauses.count; i = next) {
        uint64_t alone;

        for (next = i + 1; next < data->part_pauses.count && all[next].part == all[i].part;)
            next++;
        alone = paused_alone(data, all + i, next - i);
        more += alone > 0 && shown >= PAUSES_MAX;
        if (alone == 0 || shown >= PAUSES_MAX)
            continue;
        shown++;
        fprintf(to, "  not recorded while others were, as asked for: %.3f s of input %" PRIu32,
                seconds(alone), all[i].part);
        write_spans(to, data, all + i, next - i);
        fputc('\n', to);
    }
    if (more > 0)
        fprintf(to, "  and parts of %zu more inputs\n", more);
}

/* What was asked not to be recorded is no loss. */
static void write_pauses(FILE *to, const struct report_data *data)
{
    if (data->pauses.count > 0) {
        fprintf(to, "  not recorded, as asked for: %.3f s",
                seconds(report_data_paused(data, 0, 0)));
        write_spans(to, data, data->pauses.at, data->pauses.count);
        if (report_data_is_heap(data))
            fputs(": blocks of that time are not in it", to);
        fputc('\n', to);
    }
    write_part_pauses(to, data);
}

static void write_start(FILE *to, const struct report_data *data)
{
    const struct sfb_recording_start *start = &data->start;
    const time_t when = (time_t)(start->realtime / 1000000000U);
    char date[64] = "?";
    struct tm tm;

    if (!start->command) {
        fputs("  the beginning of the recording is missing\n", to);
        return;
    }
    if (localtime_r(&when, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
    report_command_write(to, start->command, start->command_size);
    fputc('\n', to);
    if (start->engine == SFB_ENGINE_CALLS)
        fputs("  ", to);
    else
        fprintf(to, "  recorded %s, %.2f s, ", date,
                seconds(report_data_end(data) - start->monotonic));
    if (start->engine == SFB_ENGINE_CALLS)
        fputs(sfb_recording_engine_str(start->engine), to);
    else if (report_data_is_heap(data))
        write_heap(to, data);
    else
        fprintf(to, "%" PRIu32 " Hz by %s", start->rate_hz,
                sfb_recording_engine_str(start->engine));
    if (start->engine_text[0]) {
        fputs(": ", to);
        foreign_print(to, start->engine_text);
    }
    fputc('\n', to);
    write_labels(to, data);
    write_marks(to, data);
    write_pauses(to, data);
}

/* How the program ended that was recorded first, exec or not, unless all went well. */
static void write_program_end(FILE *to, const struct report_data *data)
{
    const struct report_process *last = data->processes.at;

    for (size_t i = 1; i < data->processes.count; i++)
        if (data->processes.at[i].pid == last->pid)
            last = &data->processes.at[i];
    if (data->processes.count == 0 || !last->ended)
        return;
    if (last->end == SFB_PROCESS_KILLED)
        fprintf(to, "  it was ended by signal %" PRIu32 "\n", last->status);
    else if (last->end == SFB_PROCESS_EXITED && last->status != 0)
        fprintf(to, "  it exited with status %" PRIu32 "\n", last->status);
}

/* Why the recording ended, unless the program did. */
static void write_end(FILE *to, const struct report_data *data)
{
    write_program_end(to, data);
    if (!data->finish.reason || strcmp(data->finish.reason, "the program ended") == 0)
        return;
    fputs("  the recording ended: ", to);
    foreign_print(to, data->finish.reason);
    fputc('\n', to);
    if (strstr(data->finish.reason, "before a look found it"))
        report_advice_unfound(to, data);
}

void report_starts_write(FILE *to, const struct report_model *model)
{
    const bool comparison = report_model_compares(model);

    for (size_t i = 0; i < model->source_count && i < STARTS_MAX; i++) {
        if (comparison)
            fputs(model->sources[i].group == 0 ? "old: " : "new: ", to);
        write_start(to, model->sources[i].data);
        write_end(to, model->sources[i].data);
    }
    if (model->source_count > STARTS_MAX)
        fprintf(to, "and %s\n", counted(model->source_count - STARTS_MAX, "more recordings").text);
}

static void write_time_chosen(FILE *to, const struct report_choice *c)
{
    if (c->at_instant) {
        fprintf(to, "at %.3f s", seconds(c->to));
        return;
    }
    fprintf(to, "from %.3f s ", seconds(c->from));
    if (c->to > 0)
        fprintf(to, "to %.3f s", seconds(c->to));
    else
        fputs("on", to);
}

void report_choice_write(FILE *to, const struct report_choice *c)
{
    const char *part = "  only ";

    if (c->process) {
        fprintf(to, "%sprocess ", part);
        foreign_print(to, c->process);
        part = ", ";
    }
    if (c->thread) {
        fprintf(to, "%sthread ", part);
        foreign_print(to, c->thread);
        part = ", ";
    }
    if (report_choice_is_timed(c)) {
        fputs(part, to);
        write_time_chosen(to, c);
        part = ", ";
    }
    if (c->function)
        fprintf(to, "%sstacks with a function that --filter finds", part);
    if (c->process || c->thread || report_choice_is_timed(c) || c->function)
        fputc('\n', to);
}

void report_members_write(FILE *to, const struct report_model *model)
{
    size_t processes = 0, threads = 0;

    for (size_t i = 0; i < model->members.count; i++)
        threads += model->members.at[i].wanted;
    for (size_t i = 0; i < model->source_count; i++)
        for (size_t k = 0; k < model->sources[i].data->processes.count; k++)
            processes +=
                report_choice_has_process(&model->choice, &model->sources[i].data->processes.at[k]);
    fprintf(to, " in %s and %s", counted(processes, "processes").text,
            counted(threads, "threads").text);
}

void report_unfinished_write(FILE *to, const struct report_model *model)
{
    size_t count = 0;

    for (size_t i = 0; i < model->source_count; i++)
        count += !model->sources[i].data->health.finished;
    if (count > 0 && model->source_count == 1)
        fputs("  the recording is cut off: it has no end\n", to);
    else if (count > 0)
        fprintf(to, "  %zu of %s %s cut off, without an end\n", count,
                counted(model->source_count, "recordings").text, count == 1 ? "is" : "are");
}
