/* The pprof files of sfb report, of recordings with known figures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/tests/report_formats/recordings.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(report_pprof, .init = folder_enter, .fini = folder_remove);

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
            if (strcmp(s->labels[k].key, "program") == 0 ||
                strcmp(s->labels[k].key, "service") == 0 || strcmp(s->labels[k].key, "way") == 0)
                continue;
            else if (s->labels[k].text)
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

/* Of each sample: files of several hosts are merged. */
Test(report_pprof, has_labels)
{
    struct pprof_file f;

    recordings_known("r", 0);
    recordings_report("--pprof p --label service=checkout,version=1.2 --label tid=5,version=1.3 r");
    f = recordings_pprof("p");
    for (size_t i = 0; i < f.sample_count; i++) {
        const struct pprof_sample *s = &f.samples[i];
        const char *service = "", *version = "", *way = "";

        for (size_t k = 0; k < s->label_count; k++)
            if (strcmp(s->labels[k].key, "service") == 0)
                service = s->labels[k].text;
            else if (strcmp(s->labels[k].key, "version") == 0)
                version = s->labels[k].text;
            else if (strcmp(s->labels[k].key, "way") == 0)
                way = s->labels[k].text;
            else if (strcmp(s->labels[k].key, "tid") == 0)
                cr_expect(s->labels[k].text == NULL);
        recordings_expect_text(service, "checkout");
        recordings_expect_text(version, "1.3");
        recordings_expect_text(way, "agent");
    }
    cr_expect(eq(sz, f.sample_count, 5));
    pprof_free(&f);
}

Test(report_pprof, has_all_of_it)
{
    struct pprof_file f;

    recordings_known("r", 0);
    recordings_report("--pprof p r");
    f = recordings_pprof("p");
    expect_samples(&f, "2 10000000 thread=main tid=201 formats_inner;formats_outer;formats_outer;\n"
                       "1 2500000 thread=f\xc3\xa4"
                       "den tid=202 [no stack];\n"
                       "1 2000000 thread=f\xc3\xa4"
                       "den tid=202 formats_outer;[truncated];\n"
                       "0 1000000 thread=f\xc3\xa4"
                       "den tid=202 [unsampled];\n"
                       "0 500000 thread=[no thread] [unsampled];\n");
    cr_expect(eq(sz, f.type_count, 2));
    recordings_expect_text(f.types[0][0], "samples");
    recordings_expect_text(f.types[0][1], "count");
    recordings_expect_text(f.types[1][0], "cpu");
    recordings_expect_text(f.types[1][1], "nanoseconds");
    recordings_expect_text(f.default_type, "cpu");
    recordings_expect_text(f.period_type[0], "cpu");
    cr_expect(eq(i64, f.period, 1000000000 / 997));
    cr_expect(eq(i64, f.time, 1700000000123000000));
    cr_expect(eq(i64, f.duration, 2500000000));
    cr_expect(lt(sz, 2, f.comment_count));
    cr_assert(lt(sz, 0, f.mapping_count));
    recordings_expect_text(f.mappings[0].file, recordings_program());
    cr_expect(f.mappings[0].has_functions && f.mappings[0].has_lines);
    cr_expect(
        eq(sz, strspn(f.mappings[0].build_id, "0123456789abcdef"), strlen(f.mappings[0].build_id)));
    recordings_expect_text(f.functions[0].system_name, "formats_inner");
    cr_expect(strstr(f.functions[0].file, "recordings.c") != NULL, "%s", f.functions[0].file);
    pprof_free(&f);
}

/* Where this process has it: as /proc/self/maps says. */
static bool is_mapped(const struct pprof_mapping *m)
{
    unsigned long from, to, offset;
    char rights[5], line[4200];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");

    cr_assert(maps != NULL);
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %4s %lx", &from, &to, rights, &offset) == 4 && rights[2] == 'x')
            found |= from == m->start && to == m->limit && offset == m->offset;
    fclose(maps);
    return found;
}

/* Others look for the names: addresses are those of the calls, mappings those of the code. */
Test(report_pprof, without_symbols_has_addresses)
{
    const uint64_t want[] = { recordings_inside(formats_inner), recordings_inside(formats_outer),
                              recordings_inside(formats_outer) };
    struct pprof_file f;

    recordings_known("r", 0);
    recordings_report("--symbols=none --pprof p r");
    f = recordings_pprof("p");
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

Test(report_pprof, is_read_by_gzip_and_is_the_same_again)
{
    struct run run;

    recordings_known("r", 0);
    recordings_report("--pprof p r");
    recordings_report("--pprof again r");
    run = run_line("cmp p again && gzip -t < p");
    cr_expect(eq(int, run.status, 0), "%s%s", run.out, run.err);
    run_free(&run);
}

Test(report_pprof, is_read_by_protoc)
{
    struct run run = run_line("command -v protoc");
    const bool is_here = run.status == 0;

    run_free(&run);
    if (!is_here)
        cr_skip_test("no protoc (./dev setup installs it)");
    recordings_known("r", 0);
    recordings_report("--pprof p r");
    run = run_line("gzip -dc < p | protoc --decode_raw | grep -c '^2 {'");
    run_expect_text("samples", run.out, "5\n");
    run_free(&run);
}

Test(report_pprof, compares)
{
    struct pprof_file f;

    recordings_known("old", 0);
    recordings_known("new", 3000000);
    recordings_report("--diff --pprof p old new");
    f = recordings_pprof("p");
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
Test(report_pprof, names_are_text)
{
    struct pprof_file f;

    recordings_hostile("r");
    recordings_report("--pprof p r");
    f = recordings_pprof("p");
    cr_assert(eq(sz, f.sample_count, 4));
    recordings_expect_text(pprof_label_of(&f.samples[0], "thread")->text, HOSTILE_SHOWN);
    recordings_expect_text(pprof_label_of(&f.samples[0], "process")->text,
                           "script>\"\\134\\033[2J;\\342\\200\\217");
    cr_expect(eq(i64, pprof_label_of(&f.samples[3], "pid")->number, 102));
    recordings_expect_text(f.functions[0].name, HOSTILE_SHOWN);
    cr_expect(lt(sz, 10000, strlen(f.functions[1].name)));
    cr_expect(eq(i64, f.samples[3].values[1], UINT32_MAX));
    pprof_free(&f);
}
