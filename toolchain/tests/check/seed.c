/*
 * Systematic faults in copies of a library, and random ones:
 *
 *     test-check-seed RANDOM all|one FILE...     FILE: a good file, in any version, with .eh_frame or without
 *
 * all: each kind in each file. one: each kind in one of them, in turn.
 *
 * Prints a table: for each kind of fault what the first finding is, how many findings there were without a
 * cause, and how many are left. Exit status 1: of the systematic faults fewer than 9 of 10 have the right
 * cause first, one kind never has it, or one of RANDOM random faults of each file has any.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/check/finding_list.h"
#include "toolchain/tests/check/seeds.h"
#include "toolchain/tests/check/subject.h"
#include "util/input.h"

struct seen {
    unsigned first; /* the code of the first finding; 0: none */
    char text[256]; /* of it */
    uint64_t grave; /* errors and warnings */
};

static void take_first(void *data, const struct check *c, const struct finding *f)
{
    struct seen *s = data;

    (void)c;
    if (s->first != 0)
        return;
    s->first = (unsigned)f->code;
    snprintf(s->text, sizeof s->text, "%s", f->text);
}

static struct seen look(uint8_t *image, size_t size, bool as_it_stands)
{
    struct seen seen = { .first = 0 };
    const struct check_options options = {
        .take = take_first, .take_data = &seen, .limit = 100, .as_it_stands = as_it_stands
    };
    struct check_result result;

    check_image(&result, "seed", image, size, &options);
    seen.grave =
        result.findings.by_severity[CHECK_ERROR] + result.findings.by_severity[CHECK_WARNING];
    check_result_free(&result);
    return seen;
}

struct tally {
    unsigned seeded, named, missed_kinds, random_causes;
};

static bool is_cause(unsigned code)
{
    return code / 100 == 7 && code != CODE_CAUSE_TABLE && code != CODE_CAUSE_NO_CFI;
}

/* One kind in one file. @return whether the cause is right */
static bool try_kind(const struct seed_kind *kind, const struct input *good, const char *name)
{
    uint8_t *copy = malloc(good->size);
    struct seed_file f;
    struct seen before, after;
    bool right;

    memcpy(copy, good->data, good->size);
    if (!seed_open(&f, copy, good->size))
        exit(2);
    kind->seed(&f);
    before = look(copy, good->size, true);
    after = look(copy, good->size, false);
    right = after.first == (unsigned)kind->cause;
    printf("| %s | %s | SF%04u | %s | %" PRIu64 " | %" PRIu64 " |\n", kind->name, name, after.first,
           right ? "yes" : "no", before.grave, after.grave);
    free(copy);
    return right;
}

/* Bytes behind the header, one or a few, as a damaged file or a bug of one function has them. */
static void try_random(struct tally *t, unsigned count, const struct input *good, const char *name)
{
    uint8_t *copy = malloc(good->size);
    uint64_t state = 4711;

    for (unsigned i = 0; i < count; i++) {
        struct seed_file f;
        struct seen seen;
        size_t at, bytes;

        memcpy(copy, good->data, good->size);
        if (!seed_open(&f, copy, good->size))
            exit(2);
        at = SUBJECT_HEADER + subject_random(&state) % (f.section_size - SUBJECT_HEADER - 4);
        bytes = 1 + subject_random(&state) % 4;
        for (size_t k = 0; k < bytes; k++)
            f.section[at + k] ^= (uint8_t)(1 + subject_random(&state) % 255);
        seen = look(copy, good->size, false);
        if (is_cause(seen.first)) {
            t->random_causes++;
            printf("random fault %u of %s, %zu bytes at .sframe+0x%zx: SF%04u: %s\n", i, name,
                   bytes, at, seen.first, seen.text);
        }
    }
    free(copy);
}

int main(int argc, char **argv)
{
    const unsigned count = argc > 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    const bool one = argc > 3 && strcmp(argv[2], "one") == 0;
    const unsigned files = argc > 3 ? (unsigned)argc - 3 : 0;
    bool *named = calloc(seed_kind_count, sizeof *named);
    bool *seeded = calloc(seed_kind_count, sizeof *seeded);
    struct tally t = { .seeded = 0 };

    printf("| fault | file | first finding | is its cause | findings without | left |\n"
           "|---|---|---|---|---|---|\n");
    for (int i = 3; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/'), *name = slash ? slash + 1 : argv[i];
        struct seed_file f;
        struct input good;

        if (input_open(&good, argv[i]) != NULL || !seed_open(&f, good.data, good.size)) {
            fprintf(stderr, "test-check-seed: %s: no file of 80 functions with .sframe\n", argv[i]);
            return 2;
        }
        for (size_t k = 0; k < seed_kind_count; k++) {
            bool right;

            if ((seed_kinds[k].versions >> f.version->number & 1) == 0 ||
                (one && (seeded[k] || ((unsigned)i + k) % 3 != 0)))
                continue;
            right = try_kind(&seed_kinds[k], &good, name);
            seeded[k] = true;
            named[k] |= right;
            t.seeded++;
            t.named += right;
        }
        try_random(&t, count, &good, name);
        input_free(&good);
    }
    for (size_t k = 0; k < seed_kind_count; k++)
        if (seeded[k] && !named[k]) {
            printf("never named: %s\n", seed_kinds[k].name);
            t.missed_kinds++;
        }
    printf("%u of %u systematic faults have their cause first; %u of %u random faults have one\n",
           t.named, t.seeded, t.random_causes, count * files);
    free(named);
    free(seeded);
    return t.named * 10 < t.seeded * 9 || t.missed_kinds > 0 || t.random_causes > 0 || files == 0;
}
