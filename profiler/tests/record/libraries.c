/* Libraries that come and go while a program is recorded: each sample is read with the list that held. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "profiler/tests/record/expect.h"
#include "sfb/image_map.h"

/* Whether a list of modules has a path that ends so; with its base. */
static bool has(const struct recorded_list *list, const char *end, uint64_t *base)
{
    static char text[1 << 20];
    static struct sfb_image_map_prefix prefixes[4096];
    const struct sfb_image_map_room room = { text, sizeof text, prefixes, 4096 };
    struct sfb_image_map_decoder decoder;
    struct sfb_image image;
    enum sfb_status status;

    cr_assert_eq(sfb_image_map_decoder_init(&decoder, list->map, list->size, &room, NULL), SFB_OK);
    while ((status = sfb_image_map_decoder_next(&decoder, &image, NULL)) == SFB_OK) {
        size_t size = strlen(end);

        cr_expect_gt(image.build_id_size + (image.path_size > 0), 0);
        if (image.path_size >= size &&
            memcmp(image.path + image.path_size - size, end, size) == 0) {
            *base = image.base;
            return true;
        }
    }
    cr_assert_eq(status, SFB_END);
    return false;
}

/* The list that a sample of that time is read with. */
static const struct recorded_list *list_at(const struct recorded_process *p, uint64_t time)
{
    uint32_t i = 0;

    while (i + 1 < p->list_count && p->list[i + 1].time <= time)
        i++;
    return &p->list[i];
}

/* What the program wrote: in the middle of each span its library is listed, and the other one is not. */
static void expect_lists(const struct recorded *r, unsigned spans)
{
    uint64_t base, start, end, listed = 0;
    const char *at = r->out;
    unsigned seen = 0;
    char name = 0;
    int size;

    for (; sscanf(at, "%c %" SCNx64 " %" SCNu64 " %" SCNu64 "\n%n", &name, &base, &start, &end,
                  &size) == 4;
         at += size) {
        const struct recorded_list *list = list_at(&r->process[0], start / 2 + end / 2);

        cr_expect(has(list, name == 'a' ? "librecord-a.so" : "librecord-b.so", &listed), "span %u",
                  seen);
        cr_expect_eq(listed, base, "span %u", seen);
        cr_expect_not(has(list, name == 'a' ? "librecord-b.so" : "librecord-a.so", &listed),
                      "span %u", seen);
        seen++;
    }
    cr_expect_eq(seen, spans);
}

Test(record_libraries, two_in_turn_at_one_address_are_told_apart)
{
    struct recorded *r = record(NULL, "swap 10 20");

    expect_status(r, 0);
    expect_no_loss(r);
    expect_sampled(r, 0, 200, 1);
    expect_lists(r, 10);
    recorded_free(r);
}

Test(record_libraries, a_runpath_is_that_of_the_program)
{
    struct recorded *r = record(NULL, "runpath 100");

    expect_status(r, 0);
    expect_no_loss(r);
    expect_lists(r, 2);
    recorded_free(r);
}

Test(record_libraries, a_cancelled_thread_comes_to_the_end_of_its_work)
{
    struct recorded *r = record(NULL, "cancelled 2");

    expect_status(r, 0);
    recorded_free(r);
}

/* Constructors of linked libraries run before the agent's. */
Test(record_libraries, threads_of_constructors_are_sampled)
{
    struct record_how how = { .preload_behind = SFB_RECORD_EARLY };
    struct recorded *r;

#ifdef SFB_EMULATED
    cr_skip_test("the emulator's own thread is there before the agent, too");
#endif
    r = record(&how, "burn 300");
    expect_status(r, 0);
    expect_sampled(r, 0, 300, 2);
    cr_expect_gt(r->thread[1].samples, 0);
    recorded_free(r);
}

/* Whether a list that is not the first has a module with this in its path. */
static bool knows(const struct recorded *r, const char *name)
{
    for (uint32_t i = 1; i < r->process[0].list_count; i++)
        if (memmem(r->process[0].list[i].map, r->process[0].list[i].size, name, strlen(name)))
            return true;
    return false;
}

Test(record_libraries, what_is_loaded_without_dlopen_is_found)
{
    struct recorded *r = record(NULL, "dlmopen");

    expect_status(r, 0);
    cr_expect(knows(r, "record-a.so"));
    recorded_free(r);
    r = record(NULL, "converts");
    if (WIFEXITED(r->status) && WEXITSTATUS(r->status) == 77)
        cr_skip_test("iconv_open() has no converter from EUC-JP here");
    expect_status(r, 0);
    cr_expect(knows(r, "EUC-JP.so"));
    recorded_free(r);
}

Test(record_libraries, errors_are_those_of_the_loader)
{
    struct recorded *r = record(NULL, "dl_errors");

    expect_status(r, 0);
    recorded_free(r);
}
