/*
 * A heap for other tools: pprof, DHAT, heaptrack, gperftools. A small recording with known figures, and a run of 20,000
 * events made at random, which this test counts by itself.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/tests/report/made_heap.h"
#include "profiler/tests/report_formats/heap_run.h"
#include "support/folder.h"
#include "support/pprof_read.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(report_formats_heap, .init = folder_enter, .fini = folder_remove);

static const struct made_heap known = { .events = true, .totals = true };
static const struct made_heap aggregate = { .flags = SFB_HEAP_AGGREGATE, .totals = true };
static const struct made_heap sampled = { .rate = 1000, .events = true, .totals = true };

static void report(const char *options)
{
    made_expect(0, options, "", NULL);
}

static bool is_here(const char *program)
{
    struct run run = run_line("command -v %s", program);
    const bool here = run.status == 0;

    run_free(&run);
    return here;
}

/* --- pprof --------------------------------------------------------------------------------------- */

static struct pprof_file read_pprof(void)
{
    struct run run = run_line("cat p");
    struct pprof_file f;

    cr_assert(pprof_read(&f, run.out, run.out_size), "%s", f.fault);
    run_free(&run);
    return f;
}

static void expect_pprof(const struct made_heap *how, int64_t period)
{
    static const char *const types[][2] = {
        { "alloc_objects", "count" },     { "alloc_space", "bytes" },
        { "inuse_objects", "count" },     { "inuse_space", "bytes" },
        { "peak_objects", "count" },      { "peak_space", "bytes" },
        { "temporary_objects", "count" }, { "temporary_space", "bytes" },
    };
    static const int64_t sums[] = { 21, 14892, 14, 5696, 17, 14192, 1, 100 };
    int64_t sum[8] = { 0 };
    struct pprof_file f;

    made_heap_write(how, "exit");
    report("--pprof p");
    f = read_pprof();
    cr_assert(eq(sz, f.type_count, how->rate > 0 ? 6 : 8));
    for (size_t i = 0; i < f.type_count; i++) {
        cr_expect(strcmp(f.types[i][0], types[i][0]) == 0 &&
                      strcmp(f.types[i][1], types[i][1]) == 0,
                  "%s %s", f.types[i][0], f.types[i][1]);
        for (size_t k = 0; k < f.sample_count; k++)
            sum[i] += f.samples[k].values[i];
        cr_expect(eq(i64, sum[i], sums[i]), "%s", types[i][0]);
    }
    cr_expect(eq(sz, f.sample_count, 3));
    run_expect_text("default", f.default_type, "inuse_space");
    run_expect_text("period", f.period_type[0], "space");
    run_expect_text("period", f.period_type[1], "bytes");
    cr_expect(eq(i64, f.period, period));
    pprof_free(&f);
}

Test(report_formats_heap, pprof_has_what_go_has_and_the_peak)
{
    expect_pprof(&known, 1);
    expect_pprof(&aggregate, 1);
}

/* Values are what samples stand for: nobody multiplies them again. What is temporary is not known of samples. */
Test(report_formats_heap, pprof_of_a_sampled_heap_has_its_rate)
{
    expect_pprof(&sampled, 1000);
}

/* --- DHAT ---------------------------------------------------------------------------------------- */

static json_t *read_dhat(void)
{
    json_error_t error;
    json_t *dhat = json_load_file("d", JSON_REJECT_DUPLICATES, &error);

    cr_assert(dhat != NULL, "line %d: %s", error.line, error.text);
    return dhat;
}

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    cr_assert(value && json_typeof(value) == JSON_INTEGER, "%s", key);
    return json_integer_value(value);
}

/* A site as a line: its numbers, then its functions. */
static void write_site(FILE *to, const json_t *dhat, const json_t *site)
{
    static const char *const keys[] = { "tb", "tbk", "mb", "mbk", "gb", "gbk", "eb", "ebk" };
    const json_t *frames = json_object_get(site, "fs"), *table = json_object_get(dhat, "ftbl");
    size_t i;

    for (i = 0; i < sizeof keys / sizeof *keys; i++)
        fprintf(to, "%s %lld ", keys[i], (long long)number(site, keys[i]));
    for (i = 0; i < json_array_size(frames); i++) {
        const char *text = json_string_value(
            json_array_get(table, (size_t)json_integer_value(json_array_get(frames, i))));
        const char *colon = text ? strstr(text, ": ") : NULL;
        const char *name = colon ? colon + 2 : "?";

        fprintf(to, "%.*s;", (int)strcspn(name, " "), name);
    }
    fputc('\n', to);
}

static void expect_sites(const char *want)
{
    json_t *dhat = read_dhat();
    const json_t *sites = json_object_get(dhat, "pps");
    char *text = NULL;
    size_t size, i;
    FILE *to = open_memstream(&text, &size);

    for (i = 0; i < json_array_size(sites); i++)
        write_site(to, dhat, json_array_get(sites, i));
    fclose(to);
    run_expect_text("sites", text, want);
    free(text);
    json_decref(dhat);
}

/* Two threads are one site. What one site had most is in the events alone. */
Test(report_formats_heap, dhat_has_each_stack)
{
    json_t *dhat;

    made_heap_write(&known, "exit");
    report("--dhat d");
    expect_sites("tb 6700 tbk 19 mb 6000 mbk 15 gb 6000 gbk 15 eb 1600 ebk 13 "
                 "report_inner;report_outer;report_outer;\n"
                 "tb 8192 tbk 2 mb 8192 mbk 2 gb 8192 gbk 2 eb 4096 ebk 1 report_outer;\n");
    dhat = read_dhat();
    cr_expect(eq(i64, number(dhat, "dhatFileVersion"), 2));
    cr_expect(eq(i64, number(dhat, "pid"), 101));
    cr_expect(eq(i64, number(dhat, "te"), 2500000));
    cr_expect(eq(i64, number(dhat, "tg"), 300000));
    /* 10 * 2.4 s + 5 * 0.7 s + 3 * 1.0 s; 2.3 s and 0.3 s */
    cr_expect(eq(i64, number(json_array_get(json_object_get(dhat, "pps"), 0), "tl"), 30500000));
    cr_expect(eq(i64, number(json_array_get(json_object_get(dhat, "pps"), 1), "tl"), 2600000));
    json_decref(dhat);
}

Test(report_formats_heap, dhat_of_sums_has_what_they_say)
{
    made_heap_write(&aggregate, "exit");
    report("--dhat d");
    expect_sites("tb 6700 tbk 19 mb 6000 mbk 15 gb 6000 gbk 15 eb 1600 ebk 13 "
                 "report_inner;report_outer;report_outer;\n"
                 "tb 8192 tbk 2 mb 8192 mbk 2 gb 8192 gbk 2 eb 4096 ebk 1 report_outer;\n");
}

/* A live table knows nothing else: what lives stands for it, so that no share is above 100 %. */
Test(report_formats_heap, a_dump_has_what_lives)
{
    const struct sfb_recording_heap_totals totals = { .site = 1,
                                                      .time = made_start.monotonic + 1,
                                                      .live = { 3, 300, 3, 0, 0 } };
    struct run run;

    made_begin();
    made_own_modules();
    made_heap_begin(SFB_HEAP_LIVE, 0);
    made_heap_site(1, 1, made_stack(made_inside(report_outer), NULL, 0, false));
    cr_assert(eq(int, sfb_recording_put_heap_totals(made_writer, &totals), SFB_OK));
    made_end("dump");
    report("--dhat d --gperftools g");
    expect_sites("tb 300 tbk 3 mb 300 mbk 3 gb 300 gbk 3 eb 300 ebk 3 report_outer;\n");
    run = run_line("sed -n 's/0x[0-9a-f]*/A/g; 1,2p' g");
    run_expect_text("gperftools", run.out,
                    "heap profile:      3:      300 [     3:      300] @ heapprofile\n"
                    "     3:      300 [     3:      300] @ A\n");
    run_free(&run);
    made_expect(2, "--heaptrack h", "", "the recording has sums and no events");
}

/* The keys of what valgrind writes, and those of its sites. */
Test(report_formats_heap, dhat_has_the_keys_of_valgrind)
{
    json_t *ours, *theirs, *first, *own_first;
    json_error_t error;
    struct run run;

    if (!is_here("valgrind"))
        cr_skip_test("no valgrind (./dev setup installs it)");
    made_heap_write(&known, "exit");
    report("--dhat d");
    run = run_line("valgrind --tool=dhat --dhat-out-file=theirs ls / 2>&1");
    cr_assert(eq(int, run.status, 0), "%s", run.out);
    run_free(&run);
    ours = read_dhat();
    theirs = json_load_file("theirs", 0, &error);
    cr_assert(theirs != NULL, "%s", error.text);
    for (void *at = json_object_iter(theirs); at; at = json_object_iter_next(theirs, at)) {
        const char *key = json_object_iter_key(at);
        const json_t *own = json_object_get(ours, key);

        cr_expect(own != NULL, "%s", key);
        cr_expect(strcmp(key, "bkacc") == 0 ||
                      json_typeof(own) == json_typeof(json_object_iter_value(at)),
                  "%s", key);
    }
    cr_expect(eq(sz, json_object_size(ours), json_object_size(theirs)));
    first = json_array_get(json_object_get(theirs, "pps"), 0);
    own_first = json_array_get(json_object_get(ours, "pps"), 0);
    for (void *at = json_object_iter(first); at; at = json_object_iter_next(first, at)) {
        const char *key = json_object_iter_key(at);

        /* Of accesses, which bkacc says that there are none of, are acc, rb and wb. */
        if (!strstr("acc rb wb", key))
            cr_expect(json_object_get(own_first, key) != NULL, "%s", key);
    }
    json_decref(ours);
    json_decref(theirs);
}

/* --- What is refused ----------------------------------------------------------------------------- */

Test(report_formats_heap, says_what_a_format_cannot_have)
{
    made_heap_write(&aggregate, "exit");
    made_expect(2, "--heaptrack h", "", "the recording has sums and no events");
    made_heap_write(&sampled, "exit");
    made_expect(2, "--heaptrack h", "", "its readers count every block");
    made_expect(2, "--dhat d --time 1..2", "", "it shows whole runs");
    made_all("exit");
    made_expect(2, "--dhat d", "",
                "the recording is of CPU time: sfb record --heap records a heap");
    made_expect(2, "--heaptrack d", "", "the recording is of CPU time");
    made_expect(2, "--gperftools d", "", "the recording is of CPU time");
}

/* --- heaptrack ----------------------------------------------------------------------------------- */

static const char heaptrack[] = "v 10400 2\n"
                                "X ./program\n"
                                "I 1000 0\n"
                                "a 0 0\n"
                                "c 64\n"
                                "s PROGRAM\n"
                                "s report_outer\n"
                                "s MADE\n"
                                "i ADDRESS 1 2 3 LINE\n"
                                "t 1 0\n"
                                "t 1 1\n"
                                "s report_inner\n"
                                "i ADDRESS 1 4 3 LINE\n"
                                "t 2 2\n"
                                "a 64 3\n";

/* The beginning, with what depends on the build taken out; then counts. */
Test(report_formats_heap, heaptrack_has_every_event)
{
    struct run run;

    made_heap_write(&known, "exit");
    report("--heaptrack h");
    run =
        run_line("sed -e 's|^X [^ ]*.*|X ./program|; s|^s /.*made.c|s MADE|; s|^s /.*|s PROGRAM|; "
                 "s|^i [0-9a-f]* \\(1 [24] 3\\) .*|i ADDRESS \\1 LINE|' h | grep -v ^R | sed 15q");
    run_expect_text("heaptrack", run.out, heaptrack);
    run_free(&run);
    run = run_line("grep -c '^+' h; grep -c '^-' h; grep '^[cR]' h | tr '\\n' ' '");
    run_expect_text("events", run.out,
                    "21\n7\n"
                    "c 64 R 119 c c8 R 132 c 12c R 14b c 1f4 R 17d c 3e8 R 1fa c 4b0 R 22c c 5dc "
                    "c 9c4 R 371 ");
    run_free(&run);
}

Test(report_formats_heap, heaptrack_is_packed_if_its_name_says_so)
{
    struct run run;

    made_heap_write(&known, "exit");
    report("--heaptrack h --pprof h.gz"); /* pprof is packed by itself, and not twice */
    report("--heaptrack h.txt.gz");
    run = run_line("gzip -dc h.txt.gz | cmp - h && gzip -dc h.gz | head -c 1 | od -An -tx1");
    cr_expect(eq(int, run.status, 0), "%s%s", run.out, run.err);
    run_expect_text("pprof", run.out, " 0a\n"); /* the first field is no gzip */
    run_free(&run);
}

/* Its reader has the numbers of the run, which this test counted. */
Test(report_formats_heap, heaptrack_print_agrees)
{
    struct heap_truth truth;
    struct run run;
    char want[300];

    if (!is_here("heaptrack_print"))
        cr_skip_test("no heaptrack_print (./dev setup installs it)");
    heap_run_write(7, &truth);
    report("--heaptrack h");
    run = run_line(
        "LC_ALL=C heaptrack_print -f h -p 0 -a 0 -T 0 | sed -n 's/ (.*//; "
        "s/^\\(calls to allocation functions\\|temporary memory allocations\\): /\\1 /p' && "
        "for cost in allocations temporary leaked peak; do LC_ALL=C heaptrack_print -f h -p 0 "
        "-a 0 -T 0 --flamegraph-cost-type $cost -F flames >/dev/null && awk '{ n += $NF } "
        "END { print \"'$cost'\", n }' flames; done");
    snprintf(want, sizeof want,
             "calls to allocation functions %lu\ntemporary memory allocations %lu\n"
             "allocations %lu\ntemporary %lu\nleaked %lu\npeak %lu\n",
             truth.allocations, truth.temporary, truth.allocations, truth.temporary,
             truth.live_bytes, truth.peak_bytes);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    run_expect_text("heaptrack_print", run.out, want);
    run_free(&run);
}

/* --- gperftools ---------------------------------------------------------------------------------- */

Test(report_formats_heap, gperftools_has_live_and_allocated)
{
    struct run run;

    made_heap_write(&known, "exit");
    report("--gperftools g");
    run = run_line("sed -n 's/0x[0-9a-f]*/A/g; 1,/^$/p' g; grep -c ' r-xp .* /' g");
    run_expect_text("gperftools", run.out,
                    "heap profile:     14:     5696 [    21:    14892] @ heapprofile\n"
                    "    13:     1600 [    19:     6700] @ A A A\n"
                    "     1:     4096 [     2:     8192] @ A\n"
                    "\n1\n");
    run_free(&run);
}

/* Its reader, which looks for the names by itself. */
static void expect_reader(const char *reader, const char *option, const char *want)
{
    struct run run =
        run_line("LC_ALL=C %s --text --show_bytes %s \"$(readlink -f '%s/tests/"
                 "test-report_formats-heap')\" g 2>/dev/null | sed 's/  */ /g; s/^ //'",
                 reader, option, SFB_BINARY_DIR);

    cr_expect(eq(int, run.status, 0), "%s", run.err);
    run_expect_text(option, run.out, want);
    run_free(&run);
}

Test(report_formats_heap, googles_pprof_agrees)
{
    if (!is_here("google-pprof"))
        cr_skip_test("no google-pprof (package google-perftools: ./dev setup installs it)");
    made_heap_write(&known, "exit");
    report("--gperftools g");
    expect_reader("google-pprof", "--inuse_space",
                  "Total: 5696 B\n4096 71.9% 71.9% 5696 100.0% report_outer\n"
                  "1600 28.1% 100.0% 1600 28.1% report_inner\n");
    expect_reader("google-pprof", "--alloc_space",
                  "Total: 14892 B\n8192 55.0% 55.0% 14892 100.0% report_outer\n"
                  "6700 45.0% 100.0% 6700 45.0% report_inner\n");
}
