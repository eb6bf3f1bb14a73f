/* Coroutines, and what awaits them: between the two stands "[await]", in each view and format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/tests/report/made.h"
#include "sfb/cbf.h"
#include "support/folder.h"
#include "support/pprof_read.h"
#include "support/run.h"
#include "support/test.h"

/*
 * report_inner() of report_outer(), a coroutine that two others await: report_inner(), then report_outer(). Or the first and the
 * last of them. Or those alone that await, as of a suspended task.
 */
static uint32_t awaited_stack(size_t first, size_t step)
{
    static const struct {
        enum sfb_frame_kind kind;
        int (*function)(int);
        unsigned at;
    } frames[] = { { SFB_FRAME_PC, report_inner, 1 },
                   { SFB_FRAME_RA, report_outer, 2 },
                   { SFB_FRAME_ASYNC, report_inner, 0 },
                   { SFB_FRAME_ASYNC, report_outer, 0 } };
    struct sfb_cbf_encoder encoder;
    uint8_t cbf[64];
    uint32_t id;

    cr_assert(eq(int, sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 64), SFB_OK));
    for (size_t i = first; i < sizeof frames / sizeof *frames; i += step)
        cr_assert(eq(int,
                     sfb_cbf_encoder_put(&encoder, frames[i].kind,
                                         (uintptr_t)frames[i].function + frames[i].at),
                     SFB_OK));
    cr_assert(
        eq(int,
           sfb_recording_put_stack(made_writer, &id, 1, cbf, sfb_cbf_encoder_end(&encoder, false)),
           SFB_OK));
    return id;
}

static void make_of(size_t first, size_t step)
{
    folder_enter();
    made_begin();
    made_own_modules();
    made_sample(1, awaited_stack(first, step), 1500000000, 6000000, SFB_END);
    made_end("the program ended");
}

static void make(void)
{
    make_of(0, 1);
}

static void make_two(void)
{
    make_of(0, 3);
}

static void make_suspended(void)
{
    make_of(2, 1);
}

static void leave(void)
{
    unlink(made_path);
    folder_remove();
}

TestSuite(awaits, .init = make, .fini = leave);
TestSuite(awaits_suspended, .init = make_suspended, .fini = leave);
TestSuite(awaits_two, .init = make_two, .fini = leave);

Test(awaits, are_in_folded_stacks)
{
    made_expect(0, "--folded-ns",
                "main;report_outer;report_inner;[await];report_outer;report_inner 6000000\n", NULL);
}

Test(awaits_suspended, are_behind_a_frame_only)
{
    made_expect(0, "--folded-ns", "main;report_outer;report_inner 6000000\n", NULL);
}

Test(awaits, are_in_tables)
{
    struct run run = run_line("'%s' report --top --unit ns %s", SFB_TOOL, made_path);

    cr_expect(strstr(run.out, "         0     0.00     6000000   100.00  [await]\n") != NULL, "%s",
              run.out);
    run_free(&run);
}

static void expect_lines(const char *option, const char *want)
{
    struct run run =
        run_line("'%s' report --unit ns --min 0 --no-inlines %s %s | sed 's/ (test.*//' | "
                 "sed -n '/called by/,$p' | sed 's/^ *//'",
                 SFB_TOOL, option, made_path);

    run_expect_text(option, run.out, want);
    run_free(&run);
}

/* The one that awaits called nothing: what it awaits stands behind the mark, on either side. */
Test(awaits_two, are_between_callers_and_calls)
{
    expect_lines("--callers report_inner", "total (ns)  total %  called by\n"
                                           "6000000   100.00  report_inner\n"
                                           "6000000   100.00  [await]\n"
                                           "6000000   100.00  report_outer\n"
                                           "\n"
                                           "total (ns)  total %  calls\n"
                                           "6000000   100.00  report_inner\n"
                                           "6000000   100.00  [itself]\n");
    expect_lines("--callers report_outer", "total (ns)  total %  called by\n"
                                           "6000000   100.00  report_outer\n"
                                           "\n"
                                           "total (ns)  total %  calls\n"
                                           "6000000   100.00  report_outer\n"
                                           "6000000   100.00  [await]\n"
                                           "6000000   100.00  report_inner\n");
}

/* Formats with tables of frames. */
Test(awaits_two, are_in_files_of_other_tools)
{
    static const char *const options[] = { "--perf-script",    "--firefox f",   "--cpuprofile f",
                                           "--chrome-trace f", "--callgrind f", "--otlp f" };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct run run = run_line("rm -f f; '%s' report %s %s; [ ! -e f ] || cat f", SFB_TOOL,
                                  options[i], made_path);

        cr_expect(memmem(run.out, run.out_size, "[await]", strlen("[await]")) != NULL, "%s: %s",
                  options[i], run.err);
        run_free(&run);
    }
}

/* Names of a sample's frames, leaf first. */
static void expect_names(const struct pprof_file *f, const struct pprof_sample *sample,
                         const char *want)
{
    char text[512] = "";

    for (size_t i = 0; i < sample->count; i++) {
        const struct pprof_location *l = &f->locations[f->stack[sample->at + i] - 1];

        for (size_t k = 0; k < l->count; k++) {
            strcat(text, f->functions[f->lines[l->at + k].function - 1].name);
            strcat(text, ";");
        }
    }
    run_expect_text("names", text, want);
}

Test(awaits, are_in_pprof)
{
    struct run run = run_line("'%s' report --pprof p %s", SFB_TOOL, made_path);
    static uint8_t bytes[1 << 16];
    struct pprof_file f;
    FILE *file;

    cr_assert(eq(int, run.status, 0), "%s", run.err);
    file = fopen("p", "r");
    cr_assert(file != NULL);
    cr_assert(pprof_read(&f, bytes, fread(bytes, 1, sizeof bytes, file)), "%s", f.fault);
    fclose(file);
    cr_assert(lt(sz, 0, f.sample_count));
    expect_names(&f, &f.samples[0], "report_inner;report_outer;[await];report_inner;report_outer;");
    pprof_free(&f);
    run_free(&run);
}

Test(awaits, are_in_speedscope)
{
    struct run run = run_line("'%s' report --speedscope f %s && cat f", SFB_TOOL, made_path);

    cr_assert(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "\"[await]\"") != NULL, "%s", run.out);
    run_free(&run);
}

/* Its tree is one path of four functions and the mark, behind what has no stack or no sample. */
Test(awaits, are_on_the_page)
{
    struct run run = run_line("'%s' report --html f %s && cat f", SFB_TOOL, made_path);

    cr_assert(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strstr(run.out, "\"deeper\":[0,0,0,1,1,1,1]}") != NULL);
    run_free(&run);
}
