/* Functions of an interpreter in long runs: where the tables of stacks and of functions are full. */
#include <stdlib.h>
#include <string.h>

#include "profiler/agent/agent.h"
#include "profiler/agent/known.h"
#include "profiler/collector/rings/codes.h"
#include "support/test.h"

enum {
    FUNCTIONS = 256,
    STACKS = 16 * SFB_SHARED_KNOWN,
    CODES_MAX = 131072,
    ALL_MAX = 524288,
    PROCESSES = 6
};

static uint64_t hash_of(uint64_t number)
{
    number *= UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return number ^ number >> 27;
}

/* A function that comes late is known behind its first sample: a few may take each other's entry. */
Test(functions, are_known_behind_many_stacks)
{
    struct sfb_shared_process *process = calloc(1, sizeof *process);
    unsigned known = 0;

    cr_assert(process != NULL);
    sfb_agent.process = process;
    for (uint64_t i = 1; i <= STACKS; i++)
        sfb_known_add(hash_of(i));
    for (uint64_t i = 1; i <= FUNCTIONS; i++)
        sfb_known_keep(hash_of(STACKS + i));
    for (uint64_t i = 1; i <= FUNCTIONS; i++)
        known += sfb_known_has(hash_of(STACKS + i));
    cr_expect(ge(u32, known, FUNCTIONS - FUNCTIONS / 16));
    free(process);
}

/* @return how many were added */
static uint32_t add_functions(struct sfb_recorder_codes *codes,
                              struct sfb_recorder_codes_kept *kept, uint32_t count, uint32_t lines)
{
    static const uint8_t table[SFB_SHARED_CODE_LINES];
    static const struct sfb_recorder_code_text text = { .lines = table };
    struct sfb_shared_code code = { .first_line = 1, .lines_size = lines };
    uint32_t added = 0;

    while (added < count && sfb_recorder_codes_have_room(codes, kept)) {
        code.code = hash_of(++added);
        cr_assert(sfb_recorder_codes_add(codes, kept, &code, &text, added));
    }
    return added;
}

static bool is_waited_for(const struct sfb_recorder_codes *codes)
{
    const struct sfb_shared_call call = { .code = hash_of(CODES_MAX + 2) };
    struct sfb_recording_code_frame frame;
    bool missing = false;

    cr_assert(sfb_recorder_codes_frames(&frame, codes, (const uint8_t *)&call, 1, &missing) ==
              NULL);
    cr_expect(eq(u32, frame.code, 0));
    return missing;
}

/* One that finds no room never comes: its stacks do not wait for it. */
Test(functions, without_room_are_not_waited_for)
{
    struct sfb_recorder_codes codes = { .count = 0 };
    struct sfb_recorder_codes_kept kept = { 0, 0 };

    add_functions(&codes, &kept, 1, 0);
    cr_expect(is_waited_for(&codes));
    cr_expect(eq(u32, add_functions(&codes, &kept, CODES_MAX + 1, 0), CODES_MAX - 1));
    cr_expect(not(is_waited_for(&codes)));
    sfb_recorder_codes_free(&codes, &kept);
}

/* A program forks at will: what its processes have together is bounded, and comes back with their ends. */
Test(functions, of_many_processes_have_one_limit)
{
    static struct sfb_recorder_codes codes[PROCESSES];
    struct sfb_recorder_codes_kept kept = { 0, 0 };
    size_t count = 0;

    for (unsigned i = 0; i < PROCESSES; i++)
        count += add_functions(&codes[i], &kept, CODES_MAX, 0);
    cr_expect(eq(sz, count, ALL_MAX));
    cr_expect(not(is_waited_for(&codes[PROCESSES - 1])));
    sfb_recorder_codes_free(&codes[0], &kept);
    cr_expect(eq(u32, add_functions(&codes[0], &kept, 1, 0), 1));
    for (unsigned i = 0; i < PROCESSES; i++)
        sfb_recorder_codes_free(&codes[i], &kept);
    cr_expect(all(eq(sz, kept.count, 0), eq(sz, kept.bytes, 0)));
}

/* The same of their tables of lines: a function without one stays. */
Test(functions, of_many_processes_share_the_room_for_lines)
{
    enum { TABLES = (64 << 20) / SFB_SHARED_CODE_LINES };
    static struct sfb_recorder_codes codes[PROCESSES];
    struct sfb_recorder_codes_kept kept = { 0, 0 };
    size_t bytes = 0;

    for (unsigned i = 0; i < PROCESSES; i++) {
        cr_expect(eq(u32, add_functions(&codes[i], &kept, TABLES + 1, SFB_SHARED_CODE_LINES),
                     TABLES + 1));
        bytes += codes[i].bytes;
    }
    cr_expect(eq(sz, bytes, 256 << 20));
    cr_expect(eq(sz, kept.bytes, bytes));
    for (unsigned i = 0; i < PROCESSES; i++)
        sfb_recorder_codes_free(&codes[i], &kept);
    cr_expect(all(eq(sz, kept.count, 0), eq(sz, kept.bytes, 0)));
}
