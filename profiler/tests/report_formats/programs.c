/*
 * A C, a C++ and a Rust program are recorded as they are, and each file of sfb report says the same as its table: all
 * totals, and the functions at the top. Their functions are inlined and recursive, names have ; and , and a thread has one
 * that is no ASCII. (./dev readers asks other people's readers.)
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/folder.h"
#include "support/pprof_read.h"
#include "support/run.h"
#include "support/test.h"

enum { NAMES = 512, DEPTH = 256, TOP = 20 };

struct entry {
    char *name;
    uint64_t self, total;
    unsigned lines; /* of the table */
};

struct table {
    struct entry entries[NAMES];
    size_t count;
    uint64_t all;
};

static struct entry *entry_of(struct table *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->entries[i].name, name) == 0)
            return &t->entries[i];
    cr_assert(lt(sz, t->count, NAMES));
    t->entries[t->count] = (struct entry){ .name = strdup(name) };
    return &t->entries[t->count++];
}

/* A stack, leaf first. A function counts once, however often it calls itself. */
static void add(struct table *t, const char *const *names, size_t count, uint64_t weight)
{
    t->all += weight;
    for (size_t i = 0; i < count; i++) {
        struct entry *e = entry_of(t, names[i]);
        bool first = true;

        for (size_t k = 0; k < i; k++)
            first &= strcmp(names[k], names[i]) != 0;
        e->total += first ? weight : 0;
        e->self += i == 0 ? weight : 0;
    }
}

static void free_table(struct table *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->entries[i].name);
    t->count = 0;
}

/* --- What the files have ----------------------------------------------------------------------- */

static void read_pprof(struct table *out)
{
    static char packed[1 << 20];
    struct pprof_file f;
    FILE *from = fopen("p", "rb");

    cr_assert(from != NULL);
    cr_assert(pprof_read(&f, packed, fread(packed, 1, sizeof packed, from)), "%s", f.fault);
    fclose(from);
    for (size_t i = 0; i < f.sample_count; i++) {
        const char *names[DEPTH];
        size_t count = 0;

        for (size_t k = 0; k < f.samples[i].count; k++) {
            const struct pprof_location *l = &f.locations[f.stack[f.samples[i].at + k] - 1];

            for (size_t n = 0; n < l->count && count < DEPTH; n++)
                names[count++] = f.functions[f.lines[l->at + n].function - 1].name;
        }
        add(out, names, count, (uint64_t)f.samples[i].values[1]);
    }
    pprof_free(&f);
}

/* A sample of speedscope's: the outermost frame comes first. */
static void add_sample(struct table *out, const json_t *frames, const json_t *sample,
                       const json_t *weight)
{
    const char *names[DEPTH];
    const size_t count = json_array_size(sample);

    cr_assert(lt(sz, count, DEPTH));
    for (size_t n = 0; n < count; n++) {
        const size_t frame = (size_t)json_integer_value(json_array_get(sample, count - 1 - n));

        names[n] = json_string_value(json_object_get(json_array_get(frames, frame), "name"));
    }
    add(out, names, count, (uint64_t)json_integer_value(weight));
}

static void read_speedscope(struct table *out)
{
    json_t *json = json_load_file("s", 0, NULL);
    const json_t *frames = json_object_get(json_object_get(json, "shared"), "frames");
    const json_t *profiles = json_object_get(json, "profiles");

    cr_assert(json != NULL);
    for (size_t i = 0; i < json_array_size(profiles); i++) {
        const json_t *samples = json_object_get(json_array_get(profiles, i), "samples");
        const json_t *weights = json_object_get(json_array_get(profiles, i), "weights");

        if (strcmp(json_string_value(json_object_get(json_array_get(profiles, i), "name")),
                   "all threads") == 0)
            continue; /* once more */

        for (size_t k = 0; k < json_array_size(samples); k++)
            add_sample(out, frames, json_array_get(samples, k), json_array_get(weights, k));
    }
    json_decref(json);
}

static void read_rows(struct table *out)
{
    FILE *from = fopen("n", "r");
    char *line = NULL;
    size_t size = 0;

    cr_assert(from != NULL);
    while (getline(&line, &size, from) > 0) {
        json_t *row = json_loads(line, 0, NULL);
        const json_t *stack = json_object_get(row, "stack");
        const char *names[DEPTH];

        cr_assert(row != NULL && json_array_size(stack) < DEPTH, "%s", line);
        for (size_t i = 0; i < json_array_size(stack); i++)
            names[i] = json_string_value(json_array_get(stack, i));
        add(out, names, json_array_size(stack),
            (uint64_t)json_integer_value(json_object_get(row, "value")));
        json_decref(row);
    }
    free(line);
    fclose(from);
}

/* --- Our table --------------------------------------------------------------------------------- */

/* "self share total share name (module)"; what has no module is a mark. */
static bool read_line(char *line, struct entry *out)
{
    char *module;
    int at = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, " %" SCNu64 " %*f %" SCNu64 " %*f %n", &out->self, &out->total, &at) != 2 ||
        at == 0)
        return false;
    out->name = line + at;
    module = strrchr(out->name, '(');
    if (module && module > out->name && module[-1] == ' ' && line[strlen(line) - 1] == ')')
        module[-1] = '\0';
    return true;
}

/*
 * The table at the top. Two functions of one name, in two modules, are one to other readers: it has a line of both, whose
 * total is what they say, and at most the sum, for one may call the other.
 */
static void read_top(struct table *out)
{
    FILE *from = fopen("top", "r");
    char *line = NULL;
    size_t size = 0;

    cr_assert(from != NULL);
    while (getline(&line, &size, from) > 0) {
        struct entry read, *e;

        if (!read_line(line, &read))
            continue;
        e = entry_of(out, read.name);
        e->lines++;
        e->self += read.self;
        e->total += read.total;
        out->all += read.self;
    }
    free(line);
    fclose(from);
}

static void compare(const char *what, void (*read)(struct table *))
{
    static struct table t, top;

    t = top = (struct table){ .count = 0 };
    read(&t);
    read_top(&top);
    for (size_t i = 0; i < top.count && i < TOP; i++) {
        const struct entry *want = &top.entries[i], *got = entry_of(&t, want->name);

        cr_expect(eq(u64, got->self, want->self), "%s: %s", what, want->name);
        cr_expect(got->total <= want->total && (want->lines > 1 || got->total == want->total),
                  "%s: %s: %" PRIu64 ", and not %" PRIu64, what, want->name, got->total,
                  want->total);
    }
    cr_expect(lt(sz, 5, top.count), "%s", what);
    cr_expect(eq(u64, t.all, top.all), "%s", what);
    free_table(&t);
    free_table(&top);
}

static void expect_done(const char *line)
{
    struct run run = run_line("export SFB='%s'; %s", SFB_TOOL, line);

    cr_assert(eq(int, run.status, 0), "%s: %s%s", line, run.out, run.err);
    run_free(&run);
}

#define SOURCES SFB_SOURCE_DIR "/profiler/tests/report_formats/programs/"

static void record(const char *compiler, const char *build)
{
    struct run run = run_line("command -v %s", compiler);
    const bool is_here = run.status == 0;

    run_free(&run);
    if (!is_here)
        cr_skip_test("no %s", compiler);
    folder_enter();
    expect_done(build);
    expect_done("$SFB record -o r -- ./program 400");
    expect_done(
        "$SFB report --pprof p --speedscope s --rows=n --folded=f --folded-ns=g r && $SFB report "
        "--top=0 --unit ns r >top");
    compare("pprof", read_pprof);
    compare("speedscope", read_speedscope);
    compare("rows", read_rows);
    expect_done("T=$(awk '{ t += $NF } END { printf \"%d\", t }' g); test $T = $(awk '$1 ~ "
                "/^[0-9]+$/ { t += $1 } "
                "END { printf \"%d\", t }' top)");
    expect_done("grep -q 'f\xc3\xa4"
                "den' f && grep -q 'f\xc3\xa4"
                "den' n && grep -q 'f\xc3\xa4"
                "den' s");
    folder_remove();
}

Test(report_programs, c)
{
    record("gcc", "gcc -g -O2 -o program " SOURCES "work.c -pthread");
}

Test(report_programs, cpp)
{
    record("g++", "g++ -g -O2 -o program " SOURCES "work.cc -pthread");
}

Test(report_programs, rust)
{
    record("rustc", "rustc -g -O -C symbol-mangling-version=v0 -o program " SOURCES "work.rs");
}
