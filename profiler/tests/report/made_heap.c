#include "profiler/tests/report/made_heap.h"

#include "support/test.h"

enum { END = 2500 }; /* ms */

static uint64_t at_ms(uint64_t ms)
{
    return made_start.monotonic + ms * 1000000;
}

void made_heap_begin(uint32_t flags, uint64_t rate)
{
    const struct sfb_recording_heap heap = { 1, flags, made_start.monotonic, rate };

    cr_assert(eq(int, sfb_recording_put_heap(made_writer, &heap), SFB_OK));
}

void made_heap_site(uint32_t id, uint32_t thread, uint32_t stack)
{
    const struct sfb_recording_heap_site site = { id, thread, stack, SFB_HEAP_MALLOC };

    cr_assert(eq(int, sfb_recording_put_heap_site(made_writer, &site), SFB_OK));
}

void made_heap_events(uint32_t site, uint64_t ms, uint64_t size, size_t count, bool freed)
{
    const struct sfb_recording_heap_event event = { 1, site, at_ms(ms), size, freed };

    for (size_t i = 0; i < count; i++)
        cr_assert(eq(int, sfb_recording_put_heap_event(made_writer, &event), SFB_OK));
}

static struct sfb_recording_heap_amount amount(uint64_t blocks, uint64_t bytes)
{
    return (
        struct sfb_recording_heap_amount){ .blocks = blocks, .bytes = bytes, .samples = blocks };
}

static void put_totals(const struct sfb_recording_heap_totals *totals)
{
    cr_assert(eq(int, sfb_recording_put_heap_totals(made_writer, totals), SFB_OK));
}

static bool allocator;

static void put_state(uint64_t ms, struct sfb_recording_heap_sum live,
                      struct sfb_recording_heap_sum allocated)
{
    const bool peak = ms >= 300;
    const struct sfb_recording_heap_state state = {
        .process = 1,
        .time = at_ms(ms),
        .live = live,
        .allocated = allocated,
        .peak = peak ? (struct sfb_recording_heap_sum){ 17, 14192 } : live,
        .peak_time = at_ms(peak ? 300 : ms),
        .resident = 1048576 + ms * 1024,
        .unknown_frees = 2,
        .allocator_used = allocator ? UINT64_C(1048576) : 0,
        .allocator_held = !allocator  ? 0
                          : ms < 2500 ? UINT64_C(4194304)
                                      : UINT64_C(2097152),
    };

    cr_assert(eq(int, sfb_recording_put_heap_state(made_writer, &state), SFB_OK));
}

/* At 0.4 s, as a snapshot has them; and at the end. */
static void put_snapshot(void)
{
    put_totals(&(struct sfb_recording_heap_totals){ .site = 1,
                                                    .time = at_ms(400),
                                                    .allocated = amount(10, 1000),
                                                    .live = amount(10, 1000),
                                                    .peak = amount(10, 1000) });
    put_totals(&(struct sfb_recording_heap_totals){ .site = 2,
                                                    .time = at_ms(400),
                                                    .allocated = amount(2, 8192),
                                                    .live = amount(2, 8192),
                                                    .peak = amount(2, 8192) });
    put_totals(&(struct sfb_recording_heap_totals){ .site = 3,
                                                    .time = at_ms(400),
                                                    .allocated = amount(5, 5000),
                                                    .live = amount(5, 5000),
                                                    .peak = amount(5, 5000) });
}

static void put_end(uint64_t large)
{
    put_totals(&(struct sfb_recording_heap_totals){ .site = 1,
                                                    .time = at_ms(END),
                                                    .allocated = amount(14, 1700),
                                                    .live = amount(13, 1600),
                                                    .peak = amount(10, 1000),
                                                    .temporary = amount(1, 100),
                                                    .reallocated = 3,
                                                    .longest_chain = 2,
                                                    .slack_bytes = 140,
                                                    .live_slack_bytes = 120,
                                                    .sizes = { [7] = 11, [8] = 3 },
                                                    .lifetimes = { [10] = 1 } });
    put_totals(&(struct sfb_recording_heap_totals){ .site = 2,
                                                    .time = at_ms(END),
                                                    .allocated = amount(2, 2 * large),
                                                    .live = amount(1, large),
                                                    .peak = amount(2, 2 * large),
                                                    .slack_bytes = 16,
                                                    .live_slack_bytes = 8,
                                                    .sizes = { [13] = 2 },
                                                    .lifetimes = { [29] = 1 } });
    put_totals(&(struct sfb_recording_heap_totals){ .site = 3,
                                                    .time = at_ms(END),
                                                    .allocated = amount(5, 5000),
                                                    .live = amount(0, 0),
                                                    .peak = amount(5, 5000),
                                                    .freed_elsewhere = 5,
                                                    .sizes = { [10] = 5 },
                                                    .lifetimes = { [30] = 5 } });
}

static void put_events(uint64_t large)
{
    made_heap_events(1, 100, 100, 10, false);
    made_heap_events(2, 200, large, 2, false);
    made_heap_events(3, 300, 1000, 5, false);
    made_heap_events(2, 500, large, 1, true);
    made_heap_events(3, 1000, 1000, 5, true);
    made_heap_events(1, 1200, 100, 1, false);
    made_heap_events(1, 1200, 100, 1, true);
    made_heap_events(1, 1500, 200, 3, false);
}

static void put_states(void)
{
    put_state(100, (struct sfb_recording_heap_sum){ 10, 1000 },
              (struct sfb_recording_heap_sum){ 10, 1000 });
    put_state(200, (struct sfb_recording_heap_sum){ 12, 9192 },
              (struct sfb_recording_heap_sum){ 12, 9192 });
    put_state(300, (struct sfb_recording_heap_sum){ 17, 14192 },
              (struct sfb_recording_heap_sum){ 17, 14192 });
    put_state(500, (struct sfb_recording_heap_sum){ 16, 10096 },
              (struct sfb_recording_heap_sum){ 17, 14192 });
    put_state(1000, (struct sfb_recording_heap_sum){ 11, 5096 },
              (struct sfb_recording_heap_sum){ 17, 14192 });
}

void made_heap_write(const struct made_heap *how, const char *reason)
{
    const uint64_t callers[] = { made_inside(report_outer) + 1, made_inside(report_outer) + 1 };
    const struct sfb_recording_process_end exited = { 1, SFB_PROCESS_EXITED, 0, at_ms(END), 0, 0 };
    const struct sfb_recording_losses lost = { SFB_LOSS_HEAP_EVENTS, 1, 1, 7, "" };
    const struct sfb_recording_pause pauses[] = { { at_ms(1600), 1, 0 }, { at_ms(1700), 0, 0 } };
    const uint64_t large = how->grown ? 8192 : 4096;

    allocator = how->allocator;
    made_begin();
    made_own_modules();
    made_thread(2, 1, "worker");
    made_heap_begin(how->flags, how->rate);
    const uint32_t inner = made_stack(made_inside(report_inner), callers, 2, false);

    made_heap_site(1, 1, inner);
    made_heap_site(2, 1, made_stack(made_inside(report_outer), NULL, 0, false));
    made_heap_site(3, 2, inner);
    put_states();
    if (how->lost)
        cr_assert(eq(int, sfb_recording_put_losses(made_writer, &lost), SFB_OK));
    put_state(1200, (struct sfb_recording_heap_sum){ 11, 5096 },
              (struct sfb_recording_heap_sum){ 18, 14292 });
    if (how->events)
        put_events(large);
    if (how->paused)
        for (unsigned i = 0; i < 2; i++)
            cr_assert(eq(int, sfb_recording_put_pause(made_writer, &pauses[i]), SFB_OK));
    if (how->flags & SFB_HEAP_AGGREGATE)
        put_snapshot();
    if (how->totals)
        put_end(large);
    if (reason) {
        put_state(END, (struct sfb_recording_heap_sum){ 14, 5696 },
                  (struct sfb_recording_heap_sum){ 21, 14892 });
        cr_assert(eq(int, sfb_recording_put_process_end(made_writer, &exited), SFB_OK));
    }
    made_end(reason);
}
