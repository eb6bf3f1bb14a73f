/* The stacks of the live table: freed when no block names them, and never taken for another. */
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/agent/live/cells.h"
#include "profiler/agent/live/live_stacks.h"
#include "profiler/agent/live/reclaim.h"
#include "profiler/tests/live_heap/blocks.h"
#include "profiler/tests/live_heap/named.h"

#define MIB ((uint64_t)1 << 20)

enum { BLOCKS = 500, STACKS = 200000 };

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

static struct named_tally check_now(void)
{
    const struct sfb_live_view view = view_now();
    struct sfb_live_sum sum = sum_now();
    const struct named_tally tally = named_check(&view, &sum);

    cr_expect_eq(sum.bad, 0);
    cr_expect_eq(sum.changed, 0);
    sum_free(&sum);
    return tally;
}

static uint32_t stacks_left(void)
{
    const struct sfb_live_area stacks = sfb_live_stacks_of(&sfb_live_table);

    return sfb_live_cells_left(&stacks);
}

static uint32_t pieces_left(void)
{
    const struct sfb_live_area pieces = sfb_live_pieces_of(&sfb_live_table);

    return sfb_live_cells_left(&pieces);
}

Test(stacks, of_blocks_that_were_freed_make_room_for_others)
{
    void *block[BLOCKS] = { NULL };
    uint64_t seed = 88172645463325252U;
    struct named_tally tally;

    table_begin(2 * MIB);
    cr_assert(sfb_live_table.map->stack_room < STACKS / 10);
    for (uint32_t i = 0; i < STACKS; i++) {
        void **at = &block[draw(&seed) % BLOCKS];

        if (*at)
            block_free(*at);
        *at = named_new(i % NAMED_SIZES, i / NAMED_SIZES);
    }
    cr_expect_eq(sfb_live_table.map->counts.no_stack, 0);
    tally = check_now();
    cr_expect_eq(tally.blocks, BLOCKS);
    cr_expect_eq(tally.unnamed, 0);
    cr_expect_eq(tally.wrong, 0);
    for (int i = 0; i < BLOCKS; i++)
        block_free(block[i]);
    sfb_live_stop();
}

/* Blocks beyond have none, for that time; a quarter is in use when the walk begins. */
Test(stacks, that_fill_the_table_keep_their_blocks)
{
    struct sfb_live *map;
    struct named_tally tally;
    uint32_t room, count;
    void **block;

    table_begin(2 * MIB);
    map = sfb_live_table.map;
    room = map->stack_room;
    count = 2 * room;
    block = calloc(count, sizeof *block);
    cr_assert(block);
    for (uint32_t i = 0; i < count; i++)
        block[i] = named_new(i % NAMED_SIZES, i / NAMED_SIZES);
    tally = check_now();
    cr_expect_eq(tally.blocks, count);
    cr_expect_eq(tally.wrong, 0);
    cr_expect_eq(tally.unnamed, map->counts.no_stack);
    cr_expect(tally.unnamed >= count - room && tally.unnamed < count - room + room / 20, "%zu",
              (size_t)tally.unnamed);
    for (uint32_t i = 0; i < count; i++)
        block_free(block[i]);
    for (uint32_t i = 0; i < count; i++) /* now there is room again, after two walks */
        block_free(named_new(i % NAMED_SIZES, 1000 + i / NAMED_SIZES));
    cr_expect(map->counts.no_stack < tally.unnamed + count / 10, "%zu",
              (size_t)map->counts.no_stack);
    free(block);
    sfb_live_stop();
}

Test(stacks, without_a_bucket_take_no_room)
{
    static const uint8_t cbf[] = { 0x02, 0x00 };
    uint32_t before, added = 0;

    table_begin(2 * MIB);
    cr_assert(block_new(10));
    sfb_live_table.map->buckets_ready = UINT64_MAX;
    /* All of them lie in one window: its buckets are as many as it has. */
    for (uint64_t hash = 1; added < SFB_LIVE_WINDOW; hash++)
        if (sfb_live_window(&sfb_live_table, hash << 40) == 0)
            added += sfb_live_stack_add(&sfb_live_table, hash << 40, 0, cbf, sizeof cbf).id != 0;
    before = stacks_left();
    for (uint64_t hash = 1 << 20; hash < 2 << 20; hash++)
        if (sfb_live_window(&sfb_live_table, hash << 40) == 0)
            cr_assert_eq(sfb_live_stack_add(&sfb_live_table, hash << 40, 0, cbf, sizeof cbf).id, 0);
    cr_expect_eq(stacks_left(), before);
    sfb_live_stop();
}

Test(stacks, of_which_a_block_was_overrun_are_kept)
{
    struct named_tally tally;
    uint32_t pieces;
    char *p;

    table_begin(2 * MIB);
    p = named_new(40, 3);
    memset(p, 'x', malloc_usable_size(p));
    block_free(p);
    cr_assert_eq(sfb_live_table.map->counts.overruns, 1);
    for (uint32_t i = 0; i < STACKS / 4; i++)
        block_free(named_new(i % NAMED_SIZES, 10 + i / NAMED_SIZES));
    cr_expect(sfb_live_table.map->reclaim.freed > 0);
    tally = check_now();
    cr_expect_eq(tally.stacks, 1);
    cr_expect_eq(tally.blocks, 0);
    pieces = pieces_left();
    cr_expect(pieces > sfb_live_table.map->piece_room / 2, "%u", pieces);
    sfb_live_stop();
}

/* --- a thread that is late ------------------------------------------------------------------------ */

static struct sfb_live_name add(uint64_t hash)
{
    static const uint8_t cbf[] = { 0x02, 0x00 };

    return sfb_live_stack_add(&sfb_live_table, hash, 0, cbf, sizeof cbf);
}

static uint32_t state_of(struct sfb_live_name name)
{
    return sfb_live_table.stacks[name.id].state;
}

Test(stacks, that_are_doomed_are_taken_back_by_who_names_them)
{
    struct sfb_live_name name;

    table_begin(2 * MIB);
    block_free(block_new(10));
    sfb_live_table.map->buckets_ready = UINT64_MAX;
    name = add(77);
    cr_assert(name.id);
    sfb_live_table.stacks[name.id].state = (name.state & ~3U) | SFB_LIVE_DOOMED;
    cr_expect(sfb_live_stack_keep(&sfb_live_table, name));
    cr_expect_eq(state_of(name), name.state);
    cr_expect_not(
        sfb_live_stack_free(&sfb_live_table, name.id, (name.state & ~3U) | SFB_LIVE_DOOMED),
        "what was doomed is in use again");
    sfb_live_stop();
}

Test(stacks, that_were_freed_are_not_kept_by_their_old_name)
{
    struct sfb_live_name name, next;

    table_begin(2 * MIB);
    block_free(block_new(10));
    sfb_live_table.map->buckets_ready = UINT64_MAX;
    name = add(77);
    cr_assert(sfb_live_stack_free(&sfb_live_table, name.id, name.state));
    cr_expect_not(sfb_live_stack_keep(&sfb_live_table, name));
    cr_expect_eq(sfb_live_stack_find(&sfb_live_table, 77).id, 0);
    next = add(78);
    cr_expect_eq(next.id, name.id, "its place is used again");
    cr_expect_not(sfb_live_stack_keep(&sfb_live_table, name));
    cr_expect(sfb_live_stack_keep(&sfb_live_table, next));
    cr_expect_neq(sfb_live_name_bits(name), sfb_live_name_bits(next));
    sfb_live_stop();
}

/* What a reader has summed for a stack that is gone is nobody's. */
Test(stacks, of_another_generation_are_none_of_a_sum)
{
    struct sfb_live_amount of[4] = { { 0 } };
    struct sfb_live_sum sum = { .of = of, .stacks = 4 };
    const uint32_t first = 5 << 2 | SFB_LIVE_STACK;
    struct sfb_live_stack stacks[4] = { { 0 }, { 0 }, { .state = first }, { 0 } };

    sfb_live_sum_begin(&sum, stacks, 4);
    sfb_live_sum_add(&sum, (struct sfb_live_slot){ 64, sfb_live_what(2 << 3 | 5, 0, 0, 100) });
    cr_expect(sfb_live_sum_is_of(&of[2], first));
    cr_expect(sfb_live_sum_is_of(&of[2], 5 << 2 | SFB_LIVE_DOOMED));
    cr_expect_not(sfb_live_sum_is_of(&of[2], 5 << 2 | SFB_LIVE_NO_STACK));
    cr_expect_not(sfb_live_sum_is_of(&of[2], 6 << 2 | SFB_LIVE_STACK));
    cr_expect_not(sfb_live_sum_is_of(&of[2], 13 << 2 | SFB_LIVE_STACK), "the same last bits");
    /* A later generation: the blocks of the one before are gone. */
    sfb_live_sum_add(&sum, (struct sfb_live_slot){ 96, sfb_live_what(2 << 3 | 6, 0, 0, 7) });
    cr_expect_eq(of[2].samples, 1);
    cr_expect_eq(of[2].bytes, 7);
    cr_expect_eq(sum.changed, 1);
    cr_expect(sfb_live_sum_is_of(&of[2], 6 << 2 | SFB_LIVE_STACK));
    sfb_live_sum_end(&sum, 4);
    cr_expect_eq(sum.all.samples, 1);
    cr_expect_eq(sum.all.bytes, 7);
}
