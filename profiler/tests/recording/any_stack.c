/* Recordings: whatever a CBF says, and however it says it, its bytes come back. What is no CBF is refused. */
#include "sfb/recording.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/tests/recording/made.h"
#include "profiler/tests/recording/reading.h"
#include "sfb/cbf.h"
#include "support/test.h"

enum { RANDOM = 20000, STACK_MAX = 256 };

struct stack {
    uint8_t bytes[STACK_MAX];
    size_t size;
};

static bool is_cbf(const struct stack *s)
{
    const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                     .flags = SFB_CBF_REQUIRE_END };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status = sfb_cbf_decoder_init(&decoder, s->bytes, s->size, &options, NULL);

    while (status == SFB_OK)
        status = sfb_cbf_decoder_next(&decoder, &item, NULL);
    return status == SFB_END;
}

static unsigned random_below(uint64_t *state, unsigned limit)
{
    *state = *state * 0xd1342543de82ef95u + 1;
    return (unsigned)(*state >> 33) % limit;
}

/* Instructions that are mostly right, with operands that are often longer than they have to be. */
static void make_random(struct stack *s, uint64_t *state)
{
    unsigned count = 1 + random_below(state, 12);

    s->size = 0;
    s->bytes[s->size++] = (uint8_t)random_below(state, 3);
    for (unsigned i = 0; i < count; i++) {
        static const uint8_t codes[] = {
            0x10, 0x18, 0x20, 0x20, 0x28, 0x30, 0x40, 0x60, 0x80, 0x88
        };
        const uint8_t code = i == 0 ? 0x18 : codes[random_below(state, sizeof codes)];
        unsigned operand = random_below(state, code == 0x88 ? 3 : 8);

        if (s->bytes[0] < 2)
            operand %= s->bytes[0] == 0 ? 2 : 4;
        s->bytes[s->size++] = (uint8_t)(code | operand);
        if (code == 0x40 || code == 0x80)
            continue;
        for (unsigned byte = 0; byte <= operand; byte++)
            s->bytes[s->size++] = (uint8_t)(random_below(state, 3) ? 0 : random_below(state, 256));
    }
    s->bytes[s->size++] = (uint8_t)random_below(state, 2);
}

/* @return how many were taken: those that are CBF */
static size_t check(const struct stack *stacks, size_t count,
                    const struct sfb_recording_packer *packer)
{
    uint32_t *ids = calloc(count, sizeof *ids);
    int fd;
    struct sfb_recording_writer *w = made_open(&fd, packer, 0);
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;
    struct made made;
    size_t taken = 0, next = 0;

    cr_assert_not_null(ids);
    sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 1 });
    for (size_t i = 0; i < count; i++) {
        const enum sfb_status status =
            sfb_recording_put_stack(w, &ids[i], 1, stacks[i].bytes, stacks[i].size);

        cr_assert(eq(int, status, is_cbf(&stacks[i]) ? SFB_OK : SFB_BAD_ARGUMENT), "%zu", i);
        taken += status == SFB_OK;
    }
    cr_assert(eq(int, sfb_recording_writer_close(w, 0, "x"), SFB_OK));
    made = made_read(fd);
    reader = reader_of(made.bytes, made.size);
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        if (event.kind != SFB_EVENT_STACK)
            continue;
        while (next < count && ids[next] != event.of.stack.id) /* refused, or had before */
            next++;
        cr_assert(lt(sz, next, count));
        cr_assert(event.of.stack.size == stacks[next].size &&
                      memcmp(event.of.stack.cbf, stacks[next].bytes, stacks[next].size) == 0,
                  "%zu", next);
    }
    cr_expect(health_of(reader).finished);
    cr_expect(eq(u64, health_of(reader).bad_blocks + health_of(reader).bad_records, 0));
    sfb_recording_reader_close(reader);
    free(made.bytes);
    free(ids);
    return taken;
}

Test(recording, gives_back_any_stack)
{
    struct stack *stacks = calloc(RANDOM, sizeof *stacks);
    uint64_t state = 18;

    cr_assert_not_null(stacks);
    for (size_t i = 0; i < RANDOM; i++)
        make_random(&stacks[i], &state);
    for (size_t p = 0; p < 2; p++) {
        const size_t taken = check(stacks, RANDOM, packer_of(p));

        cr_expect(lt(sz, RANDOM / 10, taken)); /* many of either kind */
        cr_expect(lt(sz, taken, RANDOM - RANDOM / 10));
    }
    free(stacks);
}

Test(recording, gives_back_what_fuzzers_met)
{
    static struct stack stacks[256];
    glob_t files;
    size_t count = 0;

    cr_assert_eq(glob(SFB_SOURCE_DIR "/tests/fuzz/corpus/cbf/*", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc && count < 256; i++) {
        FILE *file = fopen(files.gl_pathv[i], "rb");

        cr_assert_not_null(file);
        stacks[count].size = fread(stacks[count].bytes, 1, STACK_MAX, file);
        fclose(file);
        count += stacks[count].size > 0;
    }
    globfree(&files);
    for (size_t p = 0; p < 2; p++)
        cr_expect(lt(sz, 3, check(stacks, count, packer_of(p))));
}
