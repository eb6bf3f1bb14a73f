/* Several recordings: merged, compared, two builds of a program; and that figures add up in all views. */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/tests/report/made.h"
#include "sfb/image_map.h"
#include "support/run.h"
#include "support/test.h"

enum { ALL_NS = 16000000 };

/* Nothing changed, in all places. */
Test(several, diff_of_the_same_is_zero)
{
    struct run run;
    double old, new, self, self_percent, total, total_percent;
    size_t rows = 0;

    made_all("the program ended");
    run = run_line("'%s' report --diff --top=0 --unit ns %s %s", SFB_TOOL, made_path, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    for (const char *at = strchr(run.out, '\n'); at[1]; at = strchr(at + 1, '\n'), rows++) {
        cr_assert(eq(int,
                     sscanf(at + 1, "%lf %lf %lf %lf %lf %lf", &old, &new, &self, &self_percent,
                            &total, &total_percent),
                     6),
                  "%s", at + 1);
        cr_expect(old == new &&self == 0 && self_percent == 0 && total == 0 && total_percent == 0,
                  "%s", at + 1);
    }
    cr_expect(eq(sz, rows, 5));
    run_free(&run);
    unlink(made_path);
}

Test(several, diff)
{
    char old[64];
    struct run run;

    made_all("the program ended");
    strcpy(old, made_path);
    made_begin();
    made_own_modules();
    made_sample(1, made_stack(made_inside(report_inner), NULL, 0, false), 1500000000, 7000000,
                SFB_END);
    made_end("the program ended");
    run = run_line("'%s' report --diff --top %s %s", SFB_TOOL, old, made_path);
    run_expect_text(
        "diff", run.out,
        "  old (ms)    new (ms)   self (ms)   self %  total (ms)  total %  function (module)\n"
        "    10.000       7.000      -3.000   -18.75      -3.000   -18.75  report_inner "
        "(test-report-several)\n"
        "     2.500       0.000      -2.500   -15.62      -2.500   -15.62  [no stack]\n"
        "     2.000       0.000      -2.000   -12.50     -12.000   -75.00  report_outer "
        "(test-report-several)\n"
        "     1.500       0.000      -1.500    -9.38      -1.500    -9.38  [unsampled]\n"
        "     0.000       0.000      +0.000    +0.00      -2.000   -12.50  [truncated]\n");
    run_free(&run);
    run = run_line("'%s' report --diff --by process %s %s", SFB_TOOL, old, made_path);
    run_expect_text("diff", run.out,
                    "   old (ms)     new (ms)  change (ms) change %  process (pid)\n"
                    "     16.000        7.000       -9.000   -56.25  program\n");
    run_free(&run);
    run = run_line("TZ=UTC '%s' report --diff %s %s", SFB_TOOL, old, made_path);
    cr_expect(strstr(run.out, "\n  CPU time 0.007 s, was 0.016 s: -0.009 s (-56.25 %); in ") !=
                  NULL,
              "%s", run.out);
    run_free(&run);
    unlink(old);
    unlink(made_path);
}

static int find_base(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(uint64_t *)user = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

/* Records report_inner() of a copy of this program. */
static void make_copy(const char *folder, uint64_t base, uint64_t weight)
{
    char program[128];
    uint8_t map[256];
    struct sfb_image_map_encoder encoder;
    struct sfb_image image = { .base = base, .end_of_text = base + (1 << 24), .path = program };
    uint64_t bias = 0;

    dl_iterate_phdr(find_base, &bias);
    image.path_size = (size_t)snprintf(program, sizeof program, "%s/program", folder);
    made_begin();
    cr_assert(eq(int, sfb_image_map_encoder_init(&encoder, map, sizeof map, 64, "Linux", NULL, 0),
                 SFB_OK));
    cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &image), SFB_OK));
    made_modules(made_start.monotonic, map, sfb_image_map_encoder_end(&encoder));
    made_sample(1, made_stack(made_inside(report_inner) - bias + base, NULL, 0, false), 1500000000,
                weight, SFB_END);
    made_end("the program ended");
}

/* A program that was built again is another module, and has the same functions. */
Test(several, two_builds_of_a_function_are_one)
{
    char folder[] = "/tmp/sfb-report-builds-XXXXXX", old[64], build[64];
    struct run run;

    cr_assert(mkdtemp(folder) != NULL);
    run = run_line("cd %s && mkdir a b && cp /proc/%d/exe a/program && cp a/program b", folder,
                   (int)getpid());
    cr_assert(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
    snprintf(build, sizeof build, "%s/a", folder);
    make_copy(build, 0x7000000, 4000000);
    snprintf(old, sizeof old, "%s", made_path);
    snprintf(build, sizeof build, "%s/b", folder);
    make_copy(build, 0x9000000, 1000000);
    run = run_line("'%s' report --top %s %s", SFB_TOOL, old, made_path);
    run_expect_text("merged", run.out,
                    " self (ms)   self %  total (ms)  total %  function (module)\n"
                    "     5.000   100.00       5.000   100.00  report_inner (program)\n");
    run_free(&run);
    run = run_line("'%s' report --diff --top %s %s", SFB_TOOL, old, made_path);
    run_expect_text(
        "diff", run.out,
        "  old (ms)    new (ms)   self (ms)   self %  total (ms)  total %  function (module)\n"
        "     4.000       1.000      -3.000   -75.00      -3.000   -75.00  report_inner "
        "(program)\n");
    run_free(&run);
    run = run_line("'%s' report --by module %s %s | wc -l; rm -r %s", SFB_TOOL, old, made_path,
                   folder);
    run_expect_text("modules", run.out, "3\n");
    run_free(&run);
    unlink(old);
    unlink(made_path);
}

/* The first column of a table: all of it. */
static uint64_t sum_of(const char *table, size_t skipped)
{
    uint64_t sum = 0;

    for (const char *at = table; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
        if (skipped > 0)
            skipped--;
        else
            sum += strtoull(at, NULL, 10);
    return sum;
}

/* Whatever is shown, and however much is left out, it is all CPU time. N recordings are N times that. */
Test(several, add_up)
{
    static const char *const views[] = { "--top=0",           "--top=1",      "--top --min=70",
                                         "--by file",         "--by line",    "--by module",
                                         "--by thread",       "--by process", "--threads",
                                         "--threads --min=10" };

    made_all("the program ended");
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        for (unsigned count = 1; count <= 3; count++) {
            struct run run =
                run_line("'%s' report --unit ns %s %s %s %s", SFB_TOOL, views[i], made_path,
                         count > 1 ? made_path : "", count > 2 ? made_path : "");

            cr_expect(eq(int, run.status, 0), "%s", run.err);
            cr_expect(eq(u64, sum_of(run.out, 1), (uint64_t)count * ALL_NS), "%s: %s", views[i],
                      run.out);
            run_free(&run);
        }
    unlink(made_path);
}

/* The parts of a recording are all of it; what was never sampled has no time. */
Test(several, parts_add_up)
{
    static const char *const parts[2][3] = {
        { "--thread=main", "--thread=202", NULL },
        { "--time=..0.6", "--time=0.6..700ms", "--time=0.7.." },
    };
    const uint64_t missing[] = { 500000, 1500000 };

    made_all("the program ended");
    for (size_t i = 0; i < 2; i++) {
        uint64_t sum = missing[i];

        for (size_t k = 0; k < 3 && parts[i][k]; k++) {
            struct run run =
                run_line("'%s' report --unit ns --top=0 %s %s", SFB_TOOL, parts[i][k], made_path);

            sum += sum_of(run.out, 1);
            run_free(&run);
        }
        cr_expect(eq(u64, sum, ALL_NS));
    }
    unlink(made_path);
}

Test(several, says_which_part_it_is_of)
{
    struct run run;

    made_all("the program ended");
    run = run_line("'%s' report --thread main --process program --time 0.1..2 --filter inner %s",
                   SFB_TOOL, made_path);
    cr_expect(strstr(run.out, "\n  only process program, thread main, from 0.100 s to 2.000 s, "
                              "stacks with a function that --filter finds\n") != NULL,
              "%s", run.out);
    run_free(&run);
    unlink(made_path);
}
