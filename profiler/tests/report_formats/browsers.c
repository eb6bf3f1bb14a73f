/* What browsers' profilers read of sfb report, of recordings with known figures: Firefox's profile, .cpuprofile, Chrome's trace. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/tests/report_formats/recordings.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(report_browsers, .init = folder_enter, .fini = folder_remove);

static json_t *at(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    cr_assert(value != NULL, "no %s", key);
    return value;
}

static double number_at(const json_t *array, size_t i)
{
    return json_number_value(json_array_get(array, i));
}

static size_t index_at(const json_t *array, size_t i)
{
    return (size_t)json_integer_value(json_array_get(array, i));
}

static const char *text_at(const json_t *array, size_t i)
{
    const char *text = json_string_value(json_array_get(array, i));

    cr_assert(text != NULL, "no text %zu", i);
    return text;
}

/* --- Firefox ----------------------------------------------------------------------------------- */

/* All columns of a table are as long as it says. */
static void expect_table(const json_t *parent, const char *name)
{
    json_t *table = at(parent, name), *column;
    const char *key;

    json_object_foreach(table, key, column) if (json_is_array(column))
        cr_expect(eq(sz, json_array_size(column), (size_t)json_integer_value(at(table, "length"))),
                  "%s.%s", name, key);
}

/* "leaf;...;outermost;" of a stack */
static void print_stack(FILE *to, const json_t *shared, const json_t *number)
{
    const json_t *stacks = at(shared, "stackTable"), *strings = at(shared, "stringArray");
    const json_t *functions = at(at(shared, "frameTable"), "func");

    for (; json_is_integer(number);
         number = json_array_get(at(stacks, "prefix"), (size_t)json_integer_value(number))) {
        const size_t frame = index_at(at(stacks, "frame"), (size_t)json_integer_value(number));
        const size_t function = index_at(functions, frame);

        fprintf(to, "%s;",
                text_at(strings, index_at(at(at(shared, "funcTable"), "name"), function)));
    }
}

/* "name: stack @ms +ms ..." for each thread */
static char *firefox_text(const json_t *json)
{
    const json_t *threads = at(json, "threads");
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    for (size_t i = 0; i < json_array_size(threads); i++) {
        const json_t *thread = json_array_get(threads, i), *samples = at(thread, "samples");

        expect_table(thread, "samples");
        expect_table(thread, "markers");
        fprintf(to, "%s:", json_string_value(at(thread, "name")));
        for (size_t k = 0; k < json_array_size(at(samples, "stack")); k++) {
            fputc(' ', to);
            print_stack(to, at(json, "shared"), json_array_get(at(samples, "stack"), k));
            fprintf(to, "@%g +%g", number_at(at(samples, "time"), k),
                    number_at(at(samples, "weight"), k));
        }
        fputc('\n', to);
    }
    fclose(to);
    return text;
}

static void expect_tables(const json_t *json)
{
    static const char *const tables[] = { "stackTable", "frameTable",    "funcTable",
                                          "sources",    "resourceTable", "nativeSymbols" };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        expect_table(at(json, "shared"), tables[i]);
}

Test(report_browsers, firefox_has_threads_by_time)
{
    json_t *json;
    char *text;

    recordings_known("r", 0);
    recordings_report("--firefox f r");
    json = recordings_json("f");
    expect_tables(json);
    text = firefox_text(json);
    run_expect_text(
        "threads", text,
        "main: formats_inner;formats_outer;formats_outer;@500 +6 "
        "formats_inner;formats_outer;formats_outer;@600 +4\n"
        "f\xc3\xa4"
        "den: formats_outer;[truncated];@700 +2 [no stack];@800 +2.5 [unsampled];@2000 +1\n"
        "[no thread]: [unsampled];@0 +0.5\n");
    free(text);
    cr_expect(epsilon_eq(dbl, json_number_value(at(at(json, "meta"), "startTime")), 1700000000123.0,
                         0.001));
    json_decref(json);
}

/* A second recording began a second later: it stands behind the first, and its process is another one. */
Test(report_browsers, recordings_stand_at_their_time)
{
    json_t *json;
    const json_t *threads;

    recordings_known("r", 0);
    recordings_known_later("later", 1000000000);
    recordings_report("--firefox f later r");
    json = recordings_json("f");
    threads = at(json, "threads");
    cr_assert(eq(sz, json_array_size(threads), 5));
    cr_expect(epsilon_eq(dbl, number_at(at(at(json_array_get(threads, 0), "samples"), "time"), 0),
                         1500.0, 1e-6));
    cr_expect(epsilon_eq(dbl, number_at(at(at(json_array_get(threads, 2), "samples"), "time"), 0),
                         500.0, 1e-6));
    cr_expect(strcmp(json_string_value(at(json_array_get(threads, 0), "pid")),
                     json_string_value(at(json_array_get(threads, 2), "pid"))) != 0);
    json_decref(json);
}

/* --- .cpuprofile ------------------------------------------------------------------------------- */

/* Adds the CPU time of a node and of what it calls. */
static double sum_below(const json_t *nodes, size_t id)
{
    const json_t *node = json_array_get(nodes, id - 1), *children = at(node, "children");
    double sum = json_number_value(at(node, "hitCount"));

    cr_assert(eq(sz, (size_t)json_integer_value(at(node, "id")), id));
    for (size_t i = 0; i < json_array_size(children); i++) {
        cr_assert(lt(sz, id, index_at(children, i)));
        sum += sum_below(nodes, index_at(children, i));
    }
    return sum;
}

Test(report_browsers, cpuprofile_is_one_axis)
{
    json_t *json;
    const json_t *nodes, *deltas, *samples;
    double sum = 0;

    recordings_known("r", 0);
    recordings_report("--cpuprofile c r");
    json = recordings_json("c");
    nodes = at(json, "nodes");
    deltas = at(json, "timeDeltas");
    samples = at(json, "samples");
    cr_assert(eq(sz, json_array_size(samples), json_array_size(deltas)));
    for (size_t i = 0; i < json_array_size(deltas); i++)
        sum += number_at(deltas, i);
    cr_expect(epsilon_eq(dbl, sum, 16000.0, 1e-6));
    cr_expect(epsilon_eq(
        dbl, json_number_value(at(json, "endTime")) - json_number_value(at(json, "startTime")),
        16000.0, 1e-6));
    cr_expect(epsilon_eq(dbl, sum_below(nodes, 1), 16e6, 1e-6));
    recordings_expect_text(
        json_string_value(
            at(at(json_array_get(nodes, index_at(samples, 0) - 1), "callFrame"), "functionName")),
        "formats_inner");
    recordings_expect_text(
        json_string_value(at(at(json_array_get(nodes, 1), "callFrame"), "functionName")),
        "main (201)");
    json_decref(json);
}

/* --- Chrome's trace ---------------------------------------------------------------------------- */

/* A thread's time line: "begin function ..." in us; it ends idle. */
static char *trace_text(const json_t *json, long long tid)
{
    const json_t *events = at(json, "traceEvents");
    const char *names[64] = { "" };
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    double time = 0;

    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *name = json_string_value(at(event, "name"));
        const json_t *data = json_object_get(at(event, "args"), "data"), *profile;

        if (json_integer_value(at(event, "tid")) != tid)
            continue;
        if (strcmp(name, "Profile") == 0)
            time = json_number_value(at(data, "startTime"));
        if (strcmp(name, "ProfileChunk") != 0)
            continue;
        profile = at(data, "cpuProfile");
        for (size_t k = 0; k < json_array_size(at(profile, "nodes")); k++) {
            const json_t *node = json_array_get(at(profile, "nodes"), k);
            const size_t id = (size_t)json_integer_value(at(node, "id"));

            cr_assert(lt(sz, id, 64));
            names[id] = json_string_value(at(at(node, "callFrame"), "functionName"));
        }
        for (size_t k = 0; k < json_array_size(at(profile, "samples")); k++) {
            time += number_at(at(data, "timeDeltas"), k);
            fprintf(to, "%g %s;", time, names[index_at(at(profile, "samples"), k)]);
        }
    }
    fclose(to);
    return text;
}

Test(report_browsers, trace_has_threads_by_time)
{
    json_t *json;
    char *text;

    recordings_known("r", 0);
    recordings_report("--chrome-trace t r");
    json = recordings_json("t");
    text = trace_text(json, 201);
    run_expect_text("main", text,
                    "494000 formats_inner;500000 (idle);596000 formats_inner;600000 (idle);");
    free(text);
    text = trace_text(json, 202);
    run_expect_text("thread", text,
                    "698000 formats_outer;700000 (idle);797500 [no stack];800000 (idle);");
    free(text);
    recordings_expect_text(json_string_value(at(at(json, "metadata"), "startTime")),
                           "2023-11-14T22:13:20.123Z");
    json_decref(json);
}

/* The second sample would begin before the first one's end: it begins there, and lasts as long as it did. */
Test(report_browsers, trace_cuts_no_sample)
{
    json_t *json;
    char *text;

    recordings_known("r", 200000000);
    recordings_report("--chrome-trace t r");
    json = recordings_json("t");
    text = trace_text(json, 201);
    run_expect_text("main", text, "494000 formats_inner;500000 formats_inner;704000 (idle);");
    free(text);
    json_decref(json);
}

/* --- All of them ------------------------------------------------------------------------------- */

Test(report_browsers, names_are_text)
{
    json_t *json;

    recordings_hostile("r");
    recordings_report("--firefox f --cpuprofile c --chrome-trace t r");
    json = recordings_json("f");
    expect_tables(json);
    recordings_expect_text(json_string_value(at(json_array_get(at(json, "threads"), 0), "name")),
                           HOSTILE_SHOWN);
    json_decref(json);
    json = recordings_json("c");
    recordings_expect_text(
        json_string_value(
            at(at(json_array_get(at(json, "nodes"), 1), "callFrame"), "functionName")),
        HOSTILE_SHOWN " (201)");
    json_decref(json);
    json = recordings_json("t");
    recordings_expect_text(
        json_string_value(at(at(json_array_get(at(json, "traceEvents"), 1), "args"), "name")),
        HOSTILE_SHOWN);
    json_decref(json);
}

Test(report_browsers, nothing_recorded_is_a_file_too)
{
    json_t *json;

    recordings_empty("r");
    recordings_report("--firefox f --cpuprofile c --chrome-trace t r");
    json = recordings_json("f");
    expect_tables(json);
    cr_expect(eq(sz, json_array_size(at(json, "threads")), 0));
    json_decref(json);
    json = recordings_json("c");
    cr_expect(eq(sz, json_array_size(at(json, "nodes")), 1));
    json_decref(json);
    json = recordings_json("t");
    cr_expect(eq(sz, json_array_size(at(json, "traceEvents")), 0));
    json_decref(json);
}
