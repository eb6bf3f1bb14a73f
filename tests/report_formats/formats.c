/* The files that sfb report writes for other tools, of recordings that are written here: each figure is known. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sfb/abi.h"
#include "sfb/cbf.h"
#include "sfb/recording.h"
#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/folder.h"
#include "support/pprof_read.h"
#include "support/run.h"
#include "support/test.h"

static volatile int sink;

/* Functions that stacks are made of; nobody calls them. */
NOINLINE int formats_inner(int x);
NOINLINE int formats_outer(int x);

NOINLINE int formats_inner(int x)
{
    return sink += x;
}

NOINLINE int formats_outer(int x)
{
    sink++;
    return formats_inner(x) + 1;
}

static uint64_t inside(int (*function)(int))
{
    return (uintptr_t)function + 1;
}

TestSuite(report_formats, .init = folder_enter, .fini = folder_remove);

/* --- Recordings -------------------------------------------------------------------------------- */

#define HOSTILE       "\xff</script>\"\\\x1b[2J;\xe2\x80\xae"
#define HOSTILE_SHOWN "\\377</script>\"\\134\\033[2J;\\342\\200\\256"

static struct sfb_recording_writer *writer;

static const struct sfb_recording_start start = { .monotonic = 1000000000,
                                                  .realtime = 1700000000123000000,
                                                  .rate_hz = 997,
                                                  .engine = SFB_ENGINE_TIMER,
                                                  .abi = SFB_ABI_AMD64_LE,
                                                  .engine_text = "perf: refused",
                                                  .version = "test",
                                                  .host = "Linux machine 6.1",
                                                  .command = "./pro\xffgram\0a\nb",
                                                  .command_size = 15 };

static int begin(const char *name)
{
    const struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

    cr_assert(fd >= 0);
    cr_assert(eq(int, sfb_recording_writer_open(&writer, fd, &start, &options), SFB_OK));
    return fd;
}

static void end(int fd)
{
    cr_assert(eq(int, sfb_recording_writer_close(writer, 3500000000, "the program ended"), SFB_OK));
    close(fd);
}

static void put_process(uint32_t id, const char *program)
{
    const struct sfb_recording_process process = {
        .id = id, .pid = 100 + id, .time = start.monotonic, .program = program, .arguments = ""
    };

    cr_assert(eq(int, sfb_recording_put_process(writer, &process), SFB_OK));
}

static void put_thread(uint32_t id, uint32_t process, const char *name)
{
    const struct sfb_recording_thread thread = { .id = id,
                                                 .process = process,
                                                 .tid = 200 + id,
                                                 .engine = SFB_ENGINE_TIMER,
                                                 .time = start.monotonic,
                                                 .name = name };

    cr_assert(eq(int, sfb_recording_put_thread(writer, &thread), SFB_OK));
}

static void put_own_modules(uint32_t process)
{
    static uint8_t map[1 << 16];
    const ssize_t size = sframe_backtrace_image_map(map, sizeof map, NULL);
    const struct sfb_recording_modules modules = { process, start.monotonic, map, (size_t)size };

    cr_assert(lt(i64, 0, size));
    cr_assert(eq(int, sfb_recording_put_modules(writer, &modules), SFB_OK));
}

static uint32_t put_stack(uint32_t process, uint64_t pc, const uint64_t *callers, size_t count,
                          bool truncated)
{
    uint8_t cbf[256];
    struct sfb_cbf_encoder encoder;
    uint32_t id;

    cr_assert(eq(int, sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 64), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, pc), SFB_OK));
    for (size_t i = 0; i < count; i++)
        cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, callers[i]), SFB_OK));
    cr_assert(eq(int,
                 sfb_recording_put_stack(writer, &id, process, cbf,
                                         sfb_cbf_encoder_end(&encoder, truncated)),
                 SFB_OK));
    return id;
}

static void put_sample(uint32_t thread, uint32_t stack, uint64_t time, uint64_t weight)
{
    const struct sfb_recording_sample sample = { thread,           stack,  time, weight,
                                                 SFB_ENGINE_TIMER, SFB_END };

    cr_assert(eq(int, sfb_recording_put_sample(writer, &sample), SFB_OK));
}

static char *own_path(void)
{
    static char path[4096];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);

    cr_assert(lt(i64, 0, size));
    path[size] = '\0';
    return path;
}

/*
 * 16 ms: of thread 201 10 ms with a whole stack (4, then 6), of 202 2 ms with one that is cut off, 2.5 ms without a stack
 * and 1 ms never sampled, of the process 0.5 ms never sampled. Samples stand in the file by thread, not by time.
 */
static void write_known(const char *name, uint64_t more)
{
    const uint64_t callers[] = { inside(formats_outer) + 1, inside(formats_outer) + 1 };
    const struct sfb_recording_thread_end gone = { 2, 3000000000, 5000000, 1000000 };
    const struct sfb_recording_process_end left = { 1,          SFB_PROCESS_EXITED, 0,
                                                    3000000000, 20000000,           500000 };
    const int fd = begin(name);
    uint32_t whole, cut;

    put_process(1, own_path());
    put_thread(1, 1, "main");
    put_own_modules(1);
    put_thread(2, 1,
               "f\xc3\xa4"
               "den");
    whole = put_stack(1, inside(formats_inner), callers, 2, false);
    cut = put_stack(1, inside(formats_outer), NULL, 0, true);
    put_sample(1, whole, 1600000000, 4000000 + more);
    put_sample(1, whole, 1500000000, 6000000);
    put_sample(2, 0, 1800000000, 2500000);
    put_sample(2, cut, 1700000000, 2000000);
    cr_assert(eq(int, sfb_recording_put_thread_end(writer, &gone), SFB_OK));
    cr_assert(eq(int, sfb_recording_put_process_end(writer, &left), SFB_OK));
    end(fd);
}

/* Names of a process, a thread and of code that nobody wants in a file. */
static void write_hostile(const char *name)
{
    static char text[20100];
    const struct sfb_recording_file file = { 1, "perf-101.map", text, sizeof text - 1 };
    const int fd = begin(name);

    memset(text, 'x', sizeof text - 1);
    memcpy(text, "7000 100 " HOSTILE "\n8000 100 ", sizeof "7000 100 " HOSTILE "\n8000 100 " - 1);
    memcpy(text + 10100, "\n9000 100 ", 10);
    put_process(1, "/bin/" HOSTILE);
    put_process(2, "/bin/other");
    put_thread(1, 1, HOSTILE);
    put_thread(2, 2, "");
    for (uint64_t at = 0x7010; at < 0xa000; at += 0x1000)
        put_sample(1, put_stack(1, at, NULL, 0, false), 1500000000, 1000000);
    put_sample(2, put_stack(2, UINT64_MAX - 5, NULL, 0, false), 1500000000, UINT32_MAX);
    cr_assert(eq(int, sfb_recording_put_file(writer, &file), SFB_OK));
    end(fd);
}

static void report(const char *options)
{
    struct run run = run_line("'%s' report %s", SFB_TOOL, options);

    cr_assert(eq(int, run.status, 0), "%s: %s", options, run.err);
    run_expect_text(options, run.err, "");
    run_free(&run);
}

static void expect_text(const char *got, const char *want)
{
    cr_expect(got && strcmp(got, want) == 0, "'%s', not '%s'", got, want);
}

/* --- pprof ------------------------------------------------------------------------------------- */

static struct pprof_file read_pprof(const char *name)
{
    static char packed[1 << 20];
    struct pprof_file file;
    FILE *from = fopen(name, "rb");
    size_t size;

    cr_assert(from != NULL, "%s", name);
    size = fread(packed, 1, sizeof packed, from);
    fclose(from);
    cr_assert(pprof_read(&file, packed, size), "%s: %s", name, file.fault);
    return file;
}

/* Names of a sample, leaf first, one a line. */
static void write_names(FILE *to, const struct pprof_file *f, const struct pprof_sample *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct pprof_location *l = &f->locations[f->stack[s->at + i] - 1];

        for (size_t k = 0; k < l->count; k++)
            fprintf(to, "%s;", f->functions[f->lines[l->at + k].function - 1].name);
    }
}

static void expect_samples(const struct pprof_file *f, const char *want)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    for (size_t i = 0; i < f->sample_count; i++) {
        const struct pprof_sample *s = &f->samples[i];

        fprintf(to, "%ld %ld", (long)s->values[0], (long)s->values[1]);
        for (size_t k = 0; k < s->label_count; k++)
            if (s->labels[k].text)
                fprintf(to, " %s=%s", s->labels[k].key, s->labels[k].text);
            else
                fprintf(to, " %s=%ld", s->labels[k].key, (long)s->labels[k].number);
        fputc(' ', to);
        write_names(to, f, s);
        fputc('\n', to);
    }
    fclose(to);
    run_expect_text("samples", text, want);
    free(text);
}

Test(report_formats, pprof_has_all_of_it)
{
    struct pprof_file f;

    write_known("r", 0);
    report("--pprof p r");
    f = read_pprof("p");
    expect_samples(&f, "2 10000000 thread=main tid=201 formats_inner;formats_outer;formats_outer;\n"
                       "1 2500000 thread=f\xc3\xa4"
                       "den tid=202 [no stack];\n"
                       "1 2000000 thread=f\xc3\xa4"
                       "den tid=202 formats_outer;[truncated];\n"
                       "0 1000000 thread=f\xc3\xa4"
                       "den tid=202 [unsampled];\n"
                       "0 500000 thread=[no thread] [unsampled];\n");
    cr_expect(eq(sz, f.type_count, 2));
    expect_text(f.types[0][0], "samples");
    expect_text(f.types[0][1], "count");
    expect_text(f.types[1][0], "cpu");
    expect_text(f.types[1][1], "nanoseconds");
    expect_text(f.default_type, "cpu");
    expect_text(f.period_type[0], "cpu");
    cr_expect(eq(i64, f.period, 1000000000 / 997));
    cr_expect(eq(i64, f.time, 1700000000123000000));
    cr_expect(eq(i64, f.duration, 2500000000));
    cr_expect(lt(sz, 2, f.comment_count));
    cr_assert(lt(sz, 0, f.mapping_count));
    expect_text(f.mappings[0].file, own_path());
    cr_expect(f.mappings[0].has_functions && f.mappings[0].has_lines);
    cr_expect(
        eq(sz, strspn(f.mappings[0].build_id, "0123456789abcdef"), strlen(f.mappings[0].build_id)));
    expect_text(f.functions[0].system_name, "formats_inner");
    cr_expect(strstr(f.functions[0].file, "formats.c") != NULL, "%s", f.functions[0].file);
    pprof_free(&f);
}

/* Where this process has it: as /proc/self/maps says. */
static bool is_mapped(const struct pprof_mapping *m)
{
    unsigned long from, to, offset;
    char rights[5], line[4200];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");

    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %4s %lx", &from, &to, rights, &offset) == 4 && rights[2] == 'x')
            found |= from == m->start && to == m->limit && offset == m->offset;
    fclose(maps);
    return found;
}

/* Others look for the names: addresses are those of the calls, mappings those of the code. */
Test(report_formats, pprof_without_symbols_has_addresses)
{
    const uint64_t want[] = { inside(formats_inner), inside(formats_outer), inside(formats_outer) };
    struct pprof_file f;

    write_known("r", 0);
    report("--symbols=none --pprof p r");
    f = read_pprof("p");
    cr_assert(eq(sz, f.samples[0].count, 3));
    for (size_t i = 0; i < 3; i++) {
        const struct pprof_location *l = &f.locations[f.stack[f.samples[0].at + i] - 1];

        cr_expect(eq(u64, l->address, want[i]));
        cr_expect(eq(u64, l->mapping, 1));
        cr_expect(eq(sz, l->count, 0));
    }
    cr_expect(not(f.mappings[0].has_functions));
    cr_expect(is_mapped(&f.mappings[0]), "%lx-%lx %lx", (long)f.mappings[0].start,
              (long)f.mappings[0].limit, (long)f.mappings[0].offset);
    pprof_free(&f);
}

Test(report_formats, pprof_is_read_by_gzip_and_protoc)
{
    struct run run;

    write_known("r", 0);
    report("--pprof p r");
    report("--pprof again r");
    run = run_line("cmp p again && gzip -t < p");
    cr_expect(eq(int, run.status, 0), "%s%s", run.out, run.err);
    run_free(&run);
    run = run_line(
        "command -v protoc || exit 77; gzip -dc < p | protoc --decode_raw | grep -c '^2 {'");
    if (run.status == 77)
        cr_log_warn("skipped: protoc is not installed");
    else
        cr_expect(strstr(run.out, "\n5\n") != NULL, "%s%s", run.out, run.err);
    run_free(&run);
}

Test(report_formats, pprof_compares)
{
    struct pprof_file f;

    write_known("old", 0);
    write_known("new", 3000000);
    report("--diff --pprof p old new");
    f = read_pprof("p");
    cr_assert(eq(sz, f.sample_count, 10));
    expect_samples(&f, "-2 -10000000 thread=main tid=201 pprof::base=true "
                       "formats_inner;formats_outer;formats_outer;\n"
                       "-1 -2500000 thread=f\xc3\xa4"
                       "den tid=202 pprof::base=true [no stack];\n"
                       "-1 -2000000 thread=f\xc3\xa4"
                       "den tid=202 pprof::base=true formats_outer;[truncated];\n"
                       "2 13000000 thread=main tid=201 formats_inner;formats_outer;formats_outer;\n"
                       "1 2500000 thread=f\xc3\xa4"
                       "den tid=202 [no stack];\n"
                       "1 2000000 thread=f\xc3\xa4"
                       "den tid=202 formats_outer;[truncated];\n"
                       "0 -1000000 thread=f\xc3\xa4"
                       "den tid=202 pprof::base=true [unsampled];\n"
                       "0 1000000 thread=f\xc3\xa4"
                       "den tid=202 [unsampled];\n"
                       "0 -500000 thread=[no thread] pprof::base=true [unsampled];\n"
                       "0 500000 thread=[no thread] [unsampled];\n");
    pprof_free(&f);
}

/* Labels say which process; the names are as `sfb report` shows them. */
Test(report_formats, pprof_names_are_text)
{
    struct pprof_file f;

    write_hostile("r");
    report("--pprof p r");
    f = read_pprof("p");
    cr_assert(eq(sz, f.sample_count, 4));
    expect_text(pprof_label_of(&f.samples[0], "thread")->text, HOSTILE_SHOWN);
    expect_text(pprof_label_of(&f.samples[0], "process")->text,
                "script>\"\\134\\033[2J;\\342\\200\\256");
    cr_expect(eq(i64, pprof_label_of(&f.samples[3], "pid")->number, 102));
    expect_text(f.functions[0].name, HOSTILE_SHOWN);
    cr_expect(lt(sz, 10000, strlen(f.functions[1].name)));
    cr_expect(eq(i64, f.samples[3].values[1], UINT32_MAX));
    pprof_free(&f);
}

/* --- speedscope -------------------------------------------------------------------------------- */

static json_t *read_json(const char *name)
{
    json_error_t error;
    json_t *json = json_load_file(name, 0, &error);

    cr_assert(json != NULL, "%s: line %d, column %d: %s", name, error.line, error.column,
              error.text);
    return json;
}

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

/* Profiles in the order of the file: "name: outermost;...;leaf=WEIGHT ..." */
static void expect_profiles(const json_t *json, const char *want)
{
    const json_t *frames = json_object_get(json_object_get(json, "shared"), "frames"), *profile,
                 *sample, *frame;
    char *text = NULL;
    size_t size, i, k, n;
    FILE *to = open_memstream(&text, &size);

    json_array_foreach(json_object_get(json, "profiles"), i, profile)
    {
        const json_t *weights = json_object_get(profile, "weights");
        long long sum = 0;

        expect_text(text_of(profile, "type"), "sampled");
        expect_text(text_of(profile, "unit"), "nanoseconds");
        fprintf(to, "%s:", text_of(profile, "name"));
        json_array_foreach(json_object_get(profile, "samples"), k, sample)
        {
            const long long weight = json_integer_value(json_array_get(weights, k));

            fputc(' ', to);
            json_array_foreach(sample, n, frame)
                fprintf(to, "%s;",
                        text_of(json_array_get(frames, (size_t)json_integer_value(frame)), "name"));
            fprintf(to, "=%lld", weight);
            sum += weight;
        }
        cr_expect(
            eq(sz, json_array_size(weights), json_array_size(json_object_get(profile, "samples"))));
        cr_expect(eq(i64, number_of(profile, "endValue"), sum));
        fputc('\n', to);
    }
    fclose(to);
    run_expect_text("profiles", text, want);
    free(text);
}

Test(report_formats, speedscope_has_threads_by_time)
{
    json_t *json;

    write_known("r", 0);
    report("--speedscope s r");
    json = read_json("s");
    expect_profiles(json, "main (201): formats_outer;formats_outer;formats_inner;=10000000\n"
                          "f\xc3\xa4"
                          "den (202): [truncated];formats_outer;=2000000 [no stack];=2500000 "
                          "[unsampled];=1000000\n"
                          "[no thread]: [unsampled];=500000\n");
    expect_text(text_of(json, "name"), "./pro\\377gram");
    json_decref(json);
    write_known("new", 3000000);
    report("--diff --speedscope s r new");
    json = read_json("s");
    expect_text(text_of(json_array_get(json_object_get(json, "profiles"), 0), "name"),
                "new: main (201)");
    json_decref(json);
}

Test(report_formats, speedscope_names_are_text)
{
    json_t *json;

    write_hostile("r");
    report("--speedscope s r");
    json = read_json("s");
    expect_text(text_of(json_array_get(json_object_get(json, "profiles"), 1), "name"),
                HOSTILE_SHOWN " (201)");
    json_decref(json);
}

/* --- Rows -------------------------------------------------------------------------------------- */

static size_t read_rows(const char *name, json_t **out, size_t room)
{
    FILE *from = fopen(name, "r");
    char *line = NULL;
    size_t size = 0, count = 0;

    cr_assert(from != NULL);
    while (getline(&line, &size, from) > 0) {
        json_error_t error;

        cr_assert(lt(sz, count, room));
        out[count] = json_loads(line, 0, &error);
        cr_assert(out[count] != NULL, "%s: %s", error.text, line);
        count++;
    }
    free(line);
    fclose(from);
    return count;
}

static void free_rows(json_t **rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_decref(rows[i]);
}

Test(report_formats, rows_have_all_of_it)
{
    static const char *const lists[] = { "stack", "file", "module", "module_build_id", "offset" };
    json_t *rows[16];
    long long value = 0, samples = 0;
    size_t count;

    write_known("r", 0);
    report("--rows=n r");
    count = read_rows("n", rows, 16);
    cr_assert(eq(sz, count, 5));
    for (size_t i = 0; i < count; i++) {
        value += number_of(rows[i], "value");
        samples += number_of(rows[i], "count");
        expect_text(text_of(rows[i], "time"), "2023-11-14T22:13:20.123Z");
        expect_text(text_of(rows[i], "host"), "machine");
        expect_text(text_of(rows[i], "service"), "pro\\377gram");
        expect_text(text_of(rows[i], "kind"), "cpu");
        expect_text(text_of(rows[i], "unit"), "nanoseconds");
        cr_expect(eq(i64, number_of(rows[i], "pid"), 101));
        for (size_t k = 1; k < 5; k++)
            cr_expect(eq(sz, json_array_size(json_object_get(rows[i], lists[k])),
                         json_array_size(json_object_get(rows[i], "stack"))));
    }
    cr_expect(eq(i64, value, 16000000));
    cr_expect(eq(i64, samples, 4));
    cr_expect(eq(i64, number_of(rows[0], "value"), 10000000));
    cr_expect(eq(i64, number_of(rows[0], "tid"), 201));
    expect_text(json_string_value(json_array_get(json_object_get(rows[0], "stack"), 0)),
                "formats_inner");
    expect_text(json_string_value(json_array_get(json_object_get(rows[4], "stack"), 0)),
                "[unsampled]");
    cr_expect(eq(int, json_typeof(json_object_get(rows[4], "tid")), JSON_NULL));
    free_rows(rows, count);
}

Test(report_formats, rows_without_symbols_have_offsets)
{
    json_t *rows[16];
    size_t count;
    const char *id;

    write_known("r", 0);
    report("--symbols=none --rows=n r");
    count = read_rows("n", rows, 16);
    id = json_string_value(json_array_get(json_object_get(rows[0], "module_build_id"), 0));
    cr_expect(id && strcmp(id, text_of(rows[0], "build_id")) == 0, "%s", id);
    cr_expect(
        lt(i64, 0, json_integer_value(json_array_get(json_object_get(rows[0], "offset"), 0))));
    free_rows(rows, count);
}

Test(report_formats, rows_are_json_whatever_names_are)
{
    json_t *rows[16];
    size_t count;

    write_hostile("r");
    report("--rows=n r");
    count = read_rows("n", rows, 16);
    cr_assert(eq(sz, count, 4));
    expect_text(text_of(rows[0], "thread"), HOSTILE_SHOWN);
    free_rows(rows, count);
    write_known("old", 0);
    write_known("new", 0);
    report("--diff --rows=n old new");
    count = read_rows("n", rows, 16);
    cr_assert(eq(sz, count, 10));
    expect_text(text_of(rows[0], "group"), "old");
    expect_text(text_of(rows[3], "group"), "new");
    free_rows(rows, count);
}

/* --- All of them ------------------------------------------------------------------------------- */

Test(report_formats, folded_counts_samples_or_time)
{
    struct run run;

    write_known("r", 0);
    report("--folded=f --folded-ns=n r");
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
Test(report_formats, merged_recordings_add_up)
{
    struct pprof_file f;
    json_t *json, *rows[16];
    long long value = 0;
    size_t count;

    write_known("r", 0);
    report("--pprof p --speedscope s --rows=n r r r");
    f = read_pprof("p");
    cr_expect(eq(i64, f.duration, 7500000000));
    for (size_t i = 0; i < f.sample_count; i++)
        value += f.samples[i].values[1];
    cr_expect(eq(i64, value, 48000000));
    cr_expect(eq(sz, f.mapping_count, 1));
    pprof_free(&f);
    json = read_json("s");
    cr_expect(eq(sz, json_array_size(json_object_get(json, "profiles")), 7));
    json_decref(json);
    count = read_rows("n", rows, 16);
    cr_expect(eq(sz, count, 15));
    free_rows(rows, count);
}

Test(report_formats, nothing_recorded_is_a_file_too)
{
    struct pprof_file f;
    json_t *json;
    struct run run;

    end(begin("r"));
    report("--pprof p --speedscope s --rows=n --folded=f --folded-ns=g r");
    f = read_pprof("p");
    cr_expect(eq(sz, f.sample_count, 0));
    cr_expect(eq(sz, f.type_count, 2));
    pprof_free(&f);
    json = read_json("s");
    cr_expect(eq(sz, json_array_size(json_object_get(json, "profiles")), 0));
    json_decref(json);
    run = run_line("cat n f g");
    cr_expect(eq(sz, run.out_size, 0), "%s", run.out);
    run_free(&run);
}
