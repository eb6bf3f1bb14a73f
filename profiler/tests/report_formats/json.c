/* speedscope's files, rows and folded stacks of sfb report, of recordings with known figures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/tests/report_formats/recordings.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(report_json, .init = folder_enter, .fini = folder_remove);

/* --- speedscope -------------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    cr_assert(text != NULL, "no text %s", key);
    return text;
}

static long long number_of(const json_t *object, const char *key)
{
    const json_t *number = json_object_get(object, key);

    cr_assert(number && json_typeof(number) == JSON_INTEGER, "no number %s", key);
    return json_integer_value(number);
}

/* " outermost;...;leaf;=WEIGHT" for each sample. @return the sum of weights */
static long long write_profile(FILE *to, const json_t *frames, const json_t *profile)
{
    const json_t *samples = json_object_get(profile, "samples");
    const json_t *weights = json_object_get(profile, "weights");
    long long sum = 0;

    cr_expect(eq(sz, json_array_size(weights), json_array_size(samples)));
    for (size_t k = 0; k < json_array_size(samples); k++) {
        const json_t *sample = json_array_get(samples, k);
        const long long weight = json_integer_value(json_array_get(weights, k));

        fputc(' ', to);
        for (size_t n = 0; n < json_array_size(sample); n++) {
            const size_t frame = (size_t)json_integer_value(json_array_get(sample, n));

            fprintf(to, "%s;", text_of(json_array_get(frames, frame), "name"));
        }
        fprintf(to, "=%lld", weight);
        sum += weight;
    }
    return sum;
}

/* Profiles in the order of the file. */
static void expect_profiles(const json_t *json, const char *want)
{
    const json_t *frames = json_object_get(json_object_get(json, "shared"), "frames");
    const json_t *profiles = json_object_get(json, "profiles");
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    for (size_t i = 0; i < json_array_size(profiles); i++) {
        const json_t *profile = json_array_get(profiles, i);

        recordings_expect_text(text_of(profile, "type"), "sampled");
        recordings_expect_text(text_of(profile, "unit"), "nanoseconds");
        fprintf(to, "%s:", text_of(profile, "name"));
        cr_expect(eq(i64, write_profile(to, frames, profile), number_of(profile, "endValue")));
        fputc('\n', to);
    }
    fclose(to);
    run_expect_text("profiles", text, want);
    free(text);
}

Test(report_json, speedscope_has_threads_by_time)
{
    json_t *json;

    recordings_known("r", 0);
    recordings_report("--speedscope s r");
    json = recordings_json("s");
    expect_profiles(json,
                    "main (201): formats_outer;formats_outer;formats_inner;=10000000\n"
                    "f\xc3\xa4"
                    "den (202): [truncated];formats_outer;=2000000 [no stack];=2500000 "
                    "[unsampled];=1000000\n"
                    "[no thread]: [unsampled];=500000\n"
                    "all threads: main (201);formats_outer;formats_outer;formats_inner;=10000000 "
                    "f\xc3\xa4"
                    "den (202);[truncated];formats_outer;=2000000 f\xc3\xa4"
                    "den (202);[no stack];=2500000 f\xc3\xa4"
                    "den (202);[unsampled];=1000000 [no thread];[unsampled];=500000\n");
    recordings_expect_text(text_of(json, "name"), "./pro\\377gram");
    json_decref(json);
    recordings_known("new", 3000000);
    recordings_report("--diff --speedscope s r new");
    json = recordings_json("s");
    recordings_expect_text(text_of(json_array_get(json_object_get(json, "profiles"), 0), "name"),
                           "new: main (201)");
    json_decref(json);
}

Test(report_json, speedscope_names_are_text)
{
    json_t *json;

    recordings_hostile("r");
    recordings_report("--speedscope s r");
    json = recordings_json("s");
    recordings_expect_text(text_of(json_array_get(json_object_get(json, "profiles"), 1), "name"),
                           HOSTILE_SHOWN " (201)");
    json_decref(json);
}

/* --- Rows -------------------------------------------------------------------------------------- */

Test(report_json, rows_have_all_of_it)
{
    static const char *const lists[] = { "stack", "file", "module", "module_build_id", "offset" };
    json_t *rows[16];
    long long value = 0, samples = 0;
    size_t count;

    recordings_known("r", 0);
    recordings_report("--rows=n r");
    count = recordings_rows("n", rows, 16);
    cr_assert(eq(sz, count, 5));
    for (size_t i = 0; i < count; i++) {
        value += number_of(rows[i], "value");
        samples += number_of(rows[i], "count");
        recordings_expect_text(text_of(rows[i], "time"), "2023-11-14T22:13:20.123Z");
        recordings_expect_text(text_of(rows[i], "host"), "machine");
        recordings_expect_text(text_of(rows[i], "service"), "pro\\377gram");
        recordings_expect_text(text_of(rows[i], "version"), "");
        recordings_expect_text(text_of(rows[i], "kind"), "cpu");
        recordings_expect_text(text_of(rows[i], "unit"), "nanoseconds");
        cr_expect(eq(i64, number_of(rows[i], "pid"), 101));
        for (size_t k = 1; k < 5; k++)
            cr_expect(eq(sz, json_array_size(json_object_get(rows[i], lists[k])),
                         json_array_size(json_object_get(rows[i], "stack"))));
    }
    cr_expect(eq(i64, value, 16000000));
    cr_expect(eq(i64, samples, 4));
    cr_expect(eq(i64, number_of(rows[0], "value"), 10000000));
    cr_expect(eq(i64, number_of(rows[0], "tid"), 201));
    recordings_expect_text(json_string_value(json_array_get(json_object_get(rows[0], "stack"), 0)),
                           "formats_inner");
    recordings_expect_text(json_string_value(json_array_get(json_object_get(rows[4], "stack"), 0)),
                           "[unsampled]");
    cr_expect(eq(int, json_typeof(json_object_get(rows[4], "tid")), JSON_NULL));
    recordings_free_rows(rows, count);
}

/* Those of the command are added to those of the recording, and replace them. */
Test(report_json, rows_have_labels)
{
    json_t *rows[16];
    size_t count;

    recordings_known_as("r", "service=shop\0env=test\0\xff=no\0version=1\0");
    recordings_report("--label version=2,zone=b --rows=n r");
    count = recordings_rows("n", rows, 16);
    recordings_expect_text(text_of(rows[0], "service"), "shop");
    recordings_expect_text(text_of(rows[0], "version"), "2");
    recordings_expect_text(text_of(json_object_get(rows[0], "labels"), "env"), "test");
    recordings_expect_text(text_of(json_object_get(rows[0], "labels"), "zone"), "b");
    cr_expect(eq(sz, json_object_size(json_object_get(rows[0], "labels")), 2));
    recordings_free_rows(rows, count);
}

Test(report_json, rows_without_symbols_have_offsets)
{
    json_t *rows[16];
    size_t count;
    const char *id;

    recordings_known("r", 0);
    recordings_report("--symbols=none --rows=n r");
    count = recordings_rows("n", rows, 16);
    id = json_string_value(json_array_get(json_object_get(rows[0], "module_build_id"), 0));
    cr_expect(id && strcmp(id, text_of(rows[0], "build_id")) == 0, "%s", id);
    cr_expect(
        lt(i64, 0, json_integer_value(json_array_get(json_object_get(rows[0], "offset"), 0))));
    recordings_free_rows(rows, count);
}

Test(report_json, rows_are_json_whatever_names_are)
{
    json_t *rows[16];
    size_t count;

    recordings_hostile("r");
    recordings_report("--rows=n r");
    count = recordings_rows("n", rows, 16);
    cr_assert(eq(sz, count, 4));
    recordings_expect_text(text_of(rows[0], "thread"), HOSTILE_SHOWN);
    recordings_free_rows(rows, count);
    recordings_known("old", 0);
    recordings_known("new", 0);
    recordings_report("--diff --rows=n old new");
    count = recordings_rows("n", rows, 16);
    cr_assert(eq(sz, count, 10));
    recordings_expect_text(text_of(rows[0], "group"), "old");
    recordings_expect_text(text_of(rows[3], "group"), "new");
    recordings_free_rows(rows, count);
}

/* --- All of them ------------------------------------------------------------------------------- */

Test(report_json, folded_counts_samples_or_time)
{
    struct run run;

    recordings_known("r", 0);
    recordings_report("--folded=f --folded-ns=n r");
    run = run_line("cat f n");
    run_expect_text("folded", run.out,
                    "f\xc3\xa4"
                    "den;[no stack] 1\n"
                    "f\xc3\xa4"
                    "den;[truncated];formats_outer 1\n"
                    "main;formats_outer;formats_outer;formats_inner 2\n"
                    "[no thread];[unsampled] 500000\n"
                    "f\xc3\xa4"
                    "den;[no stack] 2500000\n"
                    "f\xc3\xa4"
                    "den;[truncated];formats_outer 2000000\n"
                    "f\xc3\xa4"
                    "den;[unsampled] 1000000\n"
                    "main;formats_outer;formats_outer;formats_inner 10000000\n");
    run_free(&run);
}

/* N recordings are N times one. */
Test(report_json, merged_recordings_add_up)
{
    struct pprof_file f;
    json_t *json, *rows[16];
    long long value = 0;
    size_t count;

    recordings_known("r", 0);
    recordings_report("--pprof p --speedscope s --rows=n r r r");
    f = recordings_pprof("p");
    cr_expect(eq(i64, f.duration, 7500000000));
    for (size_t i = 0; i < f.sample_count; i++)
        value += f.samples[i].values[1];
    cr_expect(eq(i64, value, 48000000));
    cr_expect(eq(sz, f.mapping_count, 1));
    pprof_free(&f);
    json = recordings_json("s");
    cr_expect(eq(sz, json_array_size(json_object_get(json, "profiles")), 8));
    json_decref(json);
    count = recordings_rows("n", rows, 16);
    cr_expect(eq(sz, count, 15));
    recordings_free_rows(rows, count);
}

Test(report_json, nothing_recorded_is_a_file_too)
{
    struct pprof_file f;
    json_t *json;
    struct run run;

    recordings_empty("r");
    recordings_report("--pprof p --speedscope s --rows=n --folded=f --folded-ns=g r");
    f = recordings_pprof("p");
    cr_expect(eq(sz, f.sample_count, 0));
    cr_expect(eq(sz, f.type_count, 2));
    pprof_free(&f);
    json = recordings_json("s");
    cr_expect(eq(sz, json_array_size(json_object_get(json, "profiles")), 0));
    json_decref(json);
    run = run_line("cat n f g");
    cr_expect(eq(sz, run.out_size, 0), "%s", run.out);
    run_free(&run);
}
