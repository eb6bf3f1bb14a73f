/*
 * A recording from anywhere as a report, by its own names: modules, threads, programs, code made at run time. Whatever
 * they are, a report is lines of printable text, and reading it ends.
 */
#include "fuzz/fuzz.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/seal.h"
#include "profiler/report/formats/callgrind.h"
#include "profiler/report/formats/cpuprofile.h"
#include "profiler/report/formats/dhat.h"
#include "profiler/report/formats/firefox.h"
#include "profiler/report/formats/folded.h"
#include "profiler/report/formats/gperftools.h"
#include "profiler/report/formats/heaptrack.h"
#include "profiler/report/formats/otlp.h"
#include "profiler/report/formats/perf_script.h"
#include "profiler/report/formats/pprof.h"
#include "profiler/report/formats/rows.h"
#include "profiler/report/formats/speedscope.h"
#include "profiler/report/formats/trace_events.h"
#include "profiler/report/model/make.h"
#include "profiler/report/model/merge.h"
#include "profiler/report/model/merge_input.h"
#include "profiler/report/model/symbol_names.h"
#include "profiler/report/page/html.h"
#include "profiler/report/text/callers.h"
#include "profiler/report/text/causes.h"
#include "profiler/report/text/diff.h"
#include "profiler/report/text/histogram.h"
#include "profiler/report/text/hottest.h"
#include "profiler/report/text/list.h"
#include "profiler/report/text/losses.h"
#include "profiler/report/text/stacks.h"
#include "profiler/report/text/summary.h"
#include "profiler/report/text/threads.h"
#include "profiler/report/text/timeline.h"
#include "profiler/report/text/top.h"
#include "profiler/report/text/tree.h"
#include "support/pprof_read.h"

static char path[64];
static int file = -1;

static void put_file(const uint8_t *bytes, size_t size)
{
    if (file < 0) {
        file = memfd_create("recording", 0);
        FUZZ_CHECK(file >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    FUZZ_CHECK(ftruncate(file, 0) == 0);
    FUZZ_CHECK(pwrite(file, bytes, size, 0) == (ssize_t)size);
}

/* No byte that does more to a terminal than show itself. */
static void check_text(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        FUZZ_CHECK(text[i] == '\n' || ((uint8_t)text[i] >= 0x20 && text[i] != 0x7f));
}

/* A line ends in a blank and a number: readers of folded stacks look for the last blank. */
static void check_folded(const char *text, size_t size)
{
    const char *end = text + size;

    for (const char *line = text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line)), *digits;

        FUZZ_CHECK(stop != NULL && stop > line);
        for (digits = stop; digits > line && digits[-1] >= '0' && digits[-1] <= '9'; digits--)
            continue;
        FUZZ_CHECK(digits < stop && digits > line + 1 && digits[-1] == ' ');
        line = stop + 1;
    }
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

/* No name begins or ends an element: there are the data and the page's own script. */
static void check_page(const char *text)
{
    FUZZ_CHECK(count_of(text, "<script") == 2 && count_of(text, "</script") == 2);
    FUZZ_CHECK(count_of(text, "<!--") == 0);
}

/* Bytes of a source file: nobody's. */
static char *read_text(void *user, const char *name, uint64_t time, size_t *size, bool *changed)
{
    static const char text[] = "\tline\033[2J\n\\\xff\r\n\nlast";

    (void)user;
    (void)name;
    (void)time;
    *size = sizeof text - 1;
    *changed = true;
    return strdup(text);
}

/* All kinds; leaks with suppressions that find some of them. */
static void write_stacks(FILE *to, const struct report_model *model,
                         const struct report_style *style)
{
    struct report_suppressions suppressions;
    size_t line;

    FUZZ_CHECK(report_suppressions_read(&suppressions, "leak:*a\nleak:^[\nleak:$\n", &line));
    for (int order = REPORT_STACKS_LEAKS; order <= REPORT_STACKS_ELSEWHERE; order++) {
        const struct report_stacks stacks = { .order = (enum report_stacks_order)order,
                                              .rows = 7,
                                              .percent = 0.1,
                                              .suppressions = &suppressions };

        FUZZ_CHECK(report_stacks_write(to, model, style, &stacks));
    }
    report_suppressions_free(&suppressions);
}

static void write_views(FILE *to, const struct report_model *model,
                        const struct report_style *style)
{
    const struct report_texts texts = { .read = read_text };
    bool *wanted = malloc(model->functions.count + 1);

    FUZZ_CHECK(wanted != NULL);
    memset(wanted, true, model->functions.count + 1);
    for (int by = REPORT_BY_FUNCTION; by <= REPORT_BY_CALL; by++) {
        const struct report_top top = { .by = (enum report_by)by, .rows = 100 };

        FUZZ_CHECK(report_top_write(to, model, style, &top));
        FUZZ_CHECK(report_diff_write(to, model, style, &top));
    }
    FUZZ_CHECK(report_hottest_write(to, model, style));
    FUZZ_CHECK(report_tree_write(to, model, style, 0.1));
    FUZZ_CHECK(report_callers_write(to, model, style, wanted, 0.0));
    FUZZ_CHECK(report_list_write(to, model, style, wanted, 10, &texts));
    FUZZ_CHECK(report_threads_write(to, model, style, 0.0));
    report_histogram_write(to, model, style, REPORT_SIZES, 3);
    report_histogram_write(to, model, style, REPORT_LIFETIMES, 0);
    write_stacks(to, model, style);
    free(wanted);
}

/* --- Files for other tools --------------------------------------------------------------------- */

/* What a writer writes. @return to be freed */
static char *written(bool (*write)(FILE *, const struct report_model *),
                     const struct report_model *model, size_t *size)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, size);

    FUZZ_CHECK(to != NULL);
    FUZZ_CHECK(write(to, model));
    FUZZ_CHECK(fclose(to) == 0);
    return text;
}

/* Valid JSON is valid UTF-8. Weights may have 64 bits, which jansson's integers have not. */
static void check_json(const char *text, size_t size)
{
    json_t *json = json_loadb(text, size, JSON_DECODE_INT_AS_REAL, NULL);

    FUZZ_CHECK(json != NULL);
    json_decref(json);
}

static void check_rows(const char *text, size_t size)
{
    const char *end = text + size;

    for (const char *line = text, *stop; line < end; line = stop + 1) {
        stop = memchr(line, '\n', (size_t)(end - line));
        FUZZ_CHECK(stop != NULL);
        check_json(line, (size_t)(stop - line));
    }
}

/* All of the CPU time is in it: of a comparison the difference. */
static void check_pprof(const char *text, size_t size, const struct report_model *model)
{
    const uint64_t all = model->totals[model->main] + model->unsampled;
    struct pprof_file f;
    uint64_t sum = 0;

    FUZZ_CHECK(pprof_read(&f, text, size));
    for (size_t i = 0; i < f.sample_count; i++)
        sum += (uint64_t)f.samples[i].values[1];
    if (!model->heap)
        FUZZ_CHECK(sum == (model->source_count == 1 ? all : 0));
    pprof_free(&f);
}

static bool (*const json_writers[])(FILE *, const struct report_model *) = {
    report_firefox_write, report_cpuprofile_write, report_trace_events_write
};
static bool (*const line_writers[])(FILE *,
                                    const struct report_model *) = { report_perf_script_write,
                                                                     report_callgrind_write };

static void write_files(const struct report_model *model)
{
    size_t size;
    char *text = written(report_pprof_write, model, &size);

    check_pprof(text, size, model);
    free(text);
    free(written(report_otlp_write, model, &size));
    text = written(report_speedscope_write, model, &size);
    check_json(text, size);
    check_text(text, size);
    free(text);
    for (size_t i = 0; i < sizeof json_writers / sizeof *json_writers; i++) {
        text = written(json_writers[i], model, &size);
        check_json(text, size);
        check_text(text, size);
        free(text);
    }
    for (size_t i = 0; i < sizeof line_writers / sizeof *line_writers; i++) {
        text = written(line_writers[i], model, &size);
        for (char *tab = text; (tab = memchr(tab, '\t', (size_t)(text + size - tab)));)
            *tab = ' ';
        check_text(text, size);
        free(text);
    }
    text = written(report_rows_write, model, &size);
    check_rows(text, size);
    check_text(text, size);
    free(text);
    text = written(report_folded_ns_write, model, &size);
    check_folded(text, size);
    check_text(text, size);
    free(text);
}

/* Those that refuse a recording say why, and are not asked again. */
static void write_heap_files(const struct report_model *model)
{
    size_t size;
    char *text;

    FUZZ_CHECK(model->heap || (report_dhat_refuses(model) && report_heaptrack_refuses(model) &&
                               report_gperftools_refuses(model)));
    if (!report_dhat_refuses(model)) {
        text = written(report_dhat_write, model, &size);
        check_json(text, size);
        check_text(text, size);
        free(text);
    }
    if (!report_heaptrack_refuses(model)) {
        text = written(report_heaptrack_write, model, &size);
        check_text(text, size);
        free(text);
    }
    if (!report_gperftools_refuses(model)) {
        text = written(report_gperftools_write, model, &size);
        check_text(text, size);
        FUZZ_CHECK(count_of(text, "MAPPED_LIBRARIES:\n") == 1);
        free(text);
    }
}

/* A heap has parts by time, too. */
static void report_parts_of_run(FILE *to, const struct report_source *source)
{
    static const struct report_choice choices[] = {
        { .at_instant = true, .to = 1000000 },
        { .from = 1000, .to = 1000000000 },
        { .from = 1 },
        { .tail_percent = 50.0, .value = REPORT_HEAP_LIVE },
        { .tail = 1000, .value = REPORT_HEAP_LIVE },
        { .value = REPORT_HEAP_ALLOCATED, .blocks = true },
        { .value = REPORT_HEAP_PEAK },
        { .value = REPORT_HEAP_TEMPORARY },
    };
    static const struct report_style plain = { .width = 0 };
    struct report_model model;

    if (!report_data_is_heap(source->data))
        return;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        FUZZ_CHECK(report_model_make(&model, source, 1, &choices[i]));
        FUZZ_CHECK(report_summary_write(to, &model, REPORT_DETAIL_CALM));
        FUZZ_CHECK(report_summary_write(to, &model, REPORT_DETAIL_ALL));
        FUZZ_CHECK(report_tree_write(to, &model, &plain, 0.1));
        for (size_t type = 0; type < REPORT_VALUES; type += 2)
            FUZZ_CHECK(model.totals[type] <= model.totals[REPORT_ALLOC_OBJECTS]);
        report_model_free(&model);
    }
}

/* All of a cause's time is in its shares. */
static void check_causes(const struct report_causes *causes, bool all)
{
    uint64_t total = 0, shared = 0;

    for (size_t i = 0; i < causes->all.count; i++) {
        const struct report_cause *c = &causes->all.at[i];

        FUZZ_CHECK(c->waits > 0 && c->longest > 0 && c->longest <= c->total);
        total = report_saturated(total, c->total);
    }
    for (size_t i = 0; i < causes->shares.count; i++)
        shared = report_saturated(shared, causes->shares.at[i].total);
    FUZZ_CHECK(all ? shared == total : shared <= total);
}

/* What waits are for, and what ended them. */
static void report_waits(FILE *to, struct report_source source)
{
    static const struct report_choice choices[] = {
        { .awaited = true }, { .awaited = true, .from = 1000, .to = 1000000000 }
    };
    static const struct report_style plain = { .width = 0 };
    struct report_model model;

    if (report_data_is_heap(source.data))
        return;
    source.namer.data = NULL; /* as that of code */
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        FUZZ_CHECK(report_model_make(&model, &source, 1, &choices[i]));
        check_causes(&model.locks, false);
        check_causes(&model.wakers, true);
        FUZZ_CHECK(report_locks_write(to, &model, &plain, 10));
        FUZZ_CHECK(report_wakers_write(to, &model, &plain, 10));
        FUZZ_CHECK(report_timeline_write(to, &model, &plain, 10));
        report_model_free(&model);
    }
}

/* Twice: as it is, and as the new one of a comparison. */
static void report(const struct report_data *data)
{
    static const struct report_style plain = { .width = 0 },
                                     narrow = { .width = 40, .bars = true, .utf8 = true };
    struct report_symbol_names *names = report_symbol_names_open(NULL, OBJECT_NAME_FULL);
    struct report_source sources[2] = { { .data = data }, { .data = data, .group = 1 } };
    struct report_model model;
    char *text = NULL;
    size_t size = 0, table;
    FILE *to = open_memstream(&text, &size);

    FUZZ_CHECK(names != NULL && to != NULL);
    sources[0].namer = report_symbol_names_namer(names);
    sources[0].namer.code = NULL; /* no file that somebody names is opened here */
    sources[1].namer = sources[0].namer;
    report_parts_of_run(to, sources);
    report_waits(to, sources[0]);
    for (size_t count = 1; count <= 2; count++) {
        FUZZ_CHECK(report_model_make(&model, sources, count, NULL));
        FUZZ_CHECK(report_summary_write(to, &model, REPORT_DETAIL_CALM));
        FUZZ_CHECK(report_summary_write(to, &model, REPORT_DETAIL_ALL));
        write_views(to, &model, count == 1 ? &plain : &narrow);
        report_losses_write(to, data);
        report_health_write(to, "a file", data);
        fflush(to);
        table = size;
        FUZZ_CHECK(report_folded_write(to, &model));
        fflush(to);
        check_folded(text + table, size - table);
        write_files(&model);
        write_heap_files(&model);
        table = size;
        FUZZ_CHECK(report_html_write(to, &model));
        fflush(to);
        check_page(text + table);
        report_model_free(&model);
    }
    fclose(to);
    check_text(text, size);
    free(text);
    report_symbol_names_close(names);
}

/* What is merged is a recording, with all samples and waits of its input. */
static void merge(const struct report_data *data)
{
    struct report_merge_start start = { .count = 0 };
    struct report_merge *merged;
    struct report_data again;
    struct sfb_error error;
    char name[32];
    int fd;

    if (!data->start.command || report_data_is_heap(data))
        return;
    fd = memfd_create("merged", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0);
    FUZZ_CHECK(report_merge_start_add(&start, &data->start));
    FUZZ_CHECK(report_merge_open(&merged, fd, &start) == SFB_OK);
    FUZZ_CHECK(report_merge_add(merged, data) == SFB_OK);
    FUZZ_CHECK(report_merge_close(merged) == SFB_OK);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    FUZZ_CHECK(report_data_read(&again, name, &error) == SFB_OK);
    FUZZ_CHECK(again.sample_count == data->sample_count && again.sampled_ns == data->sampled_ns);
    FUZZ_CHECK(again.wait_count == data->wait_count);
    report_data_free(&again);
    report_merge_start_free(&start);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *sealed = malloc(size > 0 ? size : 1);
    struct sfb_error error = { SFB_OK, "", 0 };
    struct report_data read;

    FUZZ_CHECK(sealed != NULL);
    if (size > 0)
        memcpy(sealed, data, size);
    fuzz_seal(sealed, size);
    put_file(sealed, size);
    if (report_data_read(&read, path, &error) == SFB_OK) {
        report(&read);
        merge(&read);
    }
    report_data_free(&read);
    free(sealed);
    return 0;
}
