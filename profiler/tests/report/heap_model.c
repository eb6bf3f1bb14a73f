/* What lives of a heap, was allocated, was the peak: of the whole run, of a part of it, of what was cut off. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/report/model/make.h"
#include "profiler/tests/report/made_heap.h"
#include "support/test.h"

static struct report_data data;
static struct report_model model;

/* Nobody has names here. */
static bool use(void *user, const struct report_data *of, uint32_t process, uint32_t list)
{
    (void)user, (void)of, (void)process, (void)list;
    return true;
}

static void place(void *user, uint64_t lookup, struct report_place *out)
{
    (void)user, (void)lookup;
    *out = (struct report_place){ .kind = REPORT_NO_MODULE };
}

static void find(void *user, uint64_t lookup, void (*visit)(void *, const struct report_named *),
                 void *visit_user)
{
    const struct report_named named = { .start = lookup };

    (void)user;
    visit(visit_user, &named);
}

static void make(const struct report_choice *choice)
{
    static struct report_source source;
    struct sfb_error error;

    source = (struct report_source){ .data = &data,
                                     .namer = { .use = use, .place = place, .find = find } };
    cr_assert(eq(int, report_data_read(&data, made_path, &error), SFB_OK));
    cr_assert(report_model_make(&model, &source, 1, choice));
}

static void end(void)
{
    report_model_free(&model);
    report_data_free(&data);
}

/* Sites of the recording come in this order as rows. */
static void expect(const char *what, enum report_heap_type type, uint64_t first, uint64_t second,
                   uint64_t third)
{
    cr_assert(eq(sz, model.rows.count, 3), "%s", what);
    cr_expect(eq(u64, model.rows.at[0].values[type], first), "%s", what);
    cr_expect(eq(u64, model.rows.at[1].values[type], second), "%s", what);
    cr_expect(eq(u64, model.rows.at[2].values[type], third), "%s", what);
    cr_expect(eq(u64, model.totals[type], first + second + third), "%s", what);
}

Test(heap_model, has_the_sums_of_the_file)
{
    made_heap_write(&(struct made_heap){ .events = true, .totals = true }, "the program ended");
    make(NULL);
    cr_expect(model.heap);
    cr_expect(not(model.estimated));
    cr_expect(eq(sz, model.type_count, REPORT_VALUES));
    cr_expect(eq(sz, model.main, REPORT_INUSE_SPACE));
    cr_expect(strcmp(model.types[REPORT_PEAK_SPACE].type, "peak_space") == 0);
    expect("allocated", REPORT_ALLOC_OBJECTS, 14, 2, 5);
    expect("allocated", REPORT_ALLOC_SPACE, 1700, 8192, 5000);
    expect("live", REPORT_INUSE_OBJECTS, 13, 1, 0);
    expect("live", REPORT_INUSE_SPACE, 1600, 4096, 0);
    expect("peak", REPORT_PEAK_OBJECTS, 10, 2, 5);
    expect("peak", REPORT_PEAK_SPACE, 1000, 8192, 5000);
    expect("temporary", REPORT_TEMPORARY_OBJECTS, 1, 0, 0);
    expect("temporary", REPORT_TEMPORARY_SPACE, 100, 0, 0);
    cr_assert(eq(sz, model.sites.count, 3));
    cr_expect(eq(u64, model.sites.at[2].totals->freed_elsewhere, 5));
    cr_expect(not(data.heap.heaps.at[0].computed));
    end();
    unlink(made_path);
}

/* What is known of the temporary is in the sums alone. */
Test(heap_model, computes_the_sums_of_what_was_cut_off)
{
    made_heap_write(&(struct made_heap){ .events = true }, NULL);
    make(NULL);
    cr_expect(data.heap.heaps.at[0].computed);
    expect("allocated", REPORT_ALLOC_OBJECTS, 14, 2, 5);
    expect("allocated", REPORT_ALLOC_SPACE, 1700, 8192, 5000);
    expect("live", REPORT_INUSE_OBJECTS, 13, 1, 0);
    expect("live", REPORT_INUSE_SPACE, 1600, 4096, 0);
    expect("peak", REPORT_PEAK_OBJECTS, 10, 2, 5);
    expect("peak", REPORT_PEAK_SPACE, 1000, 8192, 5000);
    expect("temporary", REPORT_TEMPORARY_OBJECTS, 0, 0, 0);
    cr_expect(eq(u64, model.sites.at[0].totals->sizes[7], 11));
    cr_expect(eq(u64, model.sites.at[0].totals->sizes[8], 3));
    end();
    unlink(made_path);
}

/* Clocks of events and of sums may differ a little. */
Test(heap_model, believes_sums_that_are_a_little_older_than_events)
{
    static const struct {
        uint64_t sums; /* ns */
        bool computed;
    } cases[] = { { 1499970000, false }, { 1480000000, true } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sfb_recording_heap_totals t = { .site = 1, .time = 1000000000 + cases[i].sums };

        t.allocated = t.live = (struct sfb_recording_heap_amount){ .blocks = 1, .bytes = 50 };
        made_begin();
        made_heap_begin(0, 0);
        made_heap_site(1, 1, 0);
        made_heap_events(1, 1500, 50, 1, false);
        cr_assert(eq(int, sfb_recording_put_heap_totals(made_writer, &t), SFB_OK));
        made_end("the program ended");
        make(NULL);
        cr_expect(eq(int, data.heap.heaps.at[0].computed, cases[i].computed), "%zu", i);
        cr_expect(eq(u64, model.totals[REPORT_INUSE_SPACE], 50), "%zu", i);
        end();
        unlink(made_path);
    }
}

Test(heap_model, shows_an_instant)
{
    made_heap_write(&(struct made_heap){ .events = true, .totals = true }, "the program ended");
    make(&(struct report_choice){ .at_instant = true, .to = 600000000 });
    expect("at 0.6 s", REPORT_INUSE_OBJECTS, 10, 1, 5);
    expect("at 0.6 s", REPORT_INUSE_SPACE, 1000, 4096, 5000);
    expect("at 0.6 s", REPORT_ALLOC_SPACE, 1000, 8192, 5000);
    end();
    make(&(struct report_choice){ .at_instant = true });
    expect("at 0 s", REPORT_INUSE_OBJECTS, 0, 0, 0);
    end();
    unlink(made_path);
}

/* From 0.25 s on, main frees one of 4096 and allocates three of 200; what the worker has comes and goes. */
Test(heap_model, shows_growth)
{
    made_heap_write(&(struct made_heap){ .events = true, .totals = true }, "the program ended");
    make(&(struct report_choice){ .from = 250000000 });
    expect("growth", REPORT_INUSE_OBJECTS, 3, 0, 0);
    expect("growth", REPORT_INUSE_SPACE, 600, 0, 0);
    expect("allocated in it", REPORT_ALLOC_OBJECTS, 4, 0, 5);
    cr_expect(eq(u64, model.shrunk[0], 1));
    cr_expect(eq(u64, model.shrunk[1], 4096));
    end();
    make(&(struct report_choice){ .from = 250000000, .to = 800000000 });
    expect("growth until 0.8 s", REPORT_INUSE_SPACE, 0, 0, 5000);
    end();
    unlink(made_path);
}

/* The tail is from 1.25 s on: the three of 200 are of it. The other eleven of 100 lived before, and ten through it. */
Test(heap_model, leaves_out_the_tail)
{
    made_heap_write(&(struct made_heap){ .events = true, .totals = true }, "the program ended");
    make(&(struct report_choice){ .tail_percent = 50.0 });
    expect("before the tail", REPORT_INUSE_OBJECTS, 10, 1, 0);
    expect("before the tail", REPORT_INUSE_SPACE, 1000, 4096, 0);
    expect("allocated", REPORT_ALLOC_OBJECTS, 14, 2, 5);
    end();
    make(&(struct report_choice){ .tail = 2450000000 });
    expect("nothing", REPORT_INUSE_OBJECTS, 0, 0, 0);
    end();
    unlink(made_path);
}

Test(heap_model, takes_the_nearest_snapshot_where_there_are_no_events)
{
    made_heap_write(&(struct made_heap){ .flags = SFB_HEAP_AGGREGATE, .totals = true },
                    "the program ended");
    make(&(struct report_choice){ .at_instant = true, .to = 600000000 });
    expect("at 0.4 s", REPORT_INUSE_SPACE, 1000, 8192, 5000);
    cr_expect(eq(u64, model.nearest, 400000000));
    end();
    make(&(struct report_choice){ .from = 300000000, .to = 2400000000 });
    expect("growth", REPORT_INUSE_SPACE, 600, 0, 0);
    expect("growth", REPORT_ALLOC_SPACE, 700, 0, 0);
    cr_expect(eq(u64, model.shrunk[1], 4096 + 5000));
    end();
    make(&(struct report_choice){ .tail_percent = 50.0 });
    expect("before the tail", REPORT_INUSE_SPACE, 1000, 4096, 0);
    end();
    unlink(made_path);
}

/* The file's events are samples: a block of 1000 bytes stands for 1 / (1 - exp(-1001/4000)) of them. */
Test(heap_model, estimates_with_an_error)
{
    const double p = 1.0 - exp(-1001.0 / 4000.0), blocks = 5 / p, variance = 5 * (1 - p) / (p * p);

    made_heap_write(&(struct made_heap){ .events = true, .rate = 4000 }, NULL);
    make(NULL);
    cr_expect(model.estimated);
    cr_expect(lt(dbl, fabs((double)model.rows.at[2].values[REPORT_ALLOC_OBJECTS] - blocks), 0.51));
    cr_expect(
        lt(dbl, fabs((double)model.rows.at[2].values[REPORT_ALLOC_SPACE] - 1000 * blocks), 1.0));
    cr_expect(lt(dbl,
                 fabs(model.rows.at[2].estimates->variances[REPORT_ALLOC_SPACE] - 1e6 * variance),
                 2e3));
    cr_expect(eq(u64, model.rows.at[2].estimates->samples[REPORT_ALLOC_SPACE], 5));
    end();
    unlink(made_path);
}

Test(heap_model, notes_from_when_on_it_is_incomplete)
{
    made_heap_write(&(struct made_heap){ .events = true, .totals = true, .lost = true },
                    "the program ended");
    make(NULL);
    cr_expect(eq(u64, data.heap.heaps.at[0].incomplete, made_start.monotonic + 1000000000));
    end();
    unlink(made_path);
}

/* Sums end at the largest number there is, and no part is more than the whole. */
Test(heap_model, does_not_believe_numbers)
{
    struct sfb_recording_heap_totals t = { .site = 1, .time = 2000000000 };

    t.allocated = (struct sfb_recording_heap_amount){ 10, UINT64_MAX - 5, 1, 7, 7 };
    t.live = (struct sfb_recording_heap_amount){ 11, UINT64_MAX, 1, 7, 7 };
    made_begin();
    made_heap_begin(0, 0);
    made_heap_site(1, 1, 0);
    made_heap_site(2, 1, 0);
    cr_assert(eq(int, sfb_recording_put_heap_totals(made_writer, &t), SFB_OK));
    t.site = 2;
    cr_assert(eq(int, sfb_recording_put_heap_totals(made_writer, &t), SFB_OK));
    made_end("the program ended");
    make(NULL);
    cr_assert(eq(sz, model.rows.count, 1));
    cr_expect(eq(u64, model.totals[REPORT_INUSE_OBJECTS], 20));
    cr_expect(eq(u64, model.totals[REPORT_INUSE_SPACE], UINT64_MAX));
    cr_expect(eq(u64, data.heap.contradictions, 2));
    cr_expect(lt(dbl, fabs(model.variances[REPORT_INUSE_SPACE] - 0.0), 1e-9));
    end();
    unlink(made_path);
}
