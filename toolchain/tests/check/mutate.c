/*
 * Damaged sections: does `sfb check` find what `sfb dump` shows?
 *
 *     test-check-mutate COUNT SEED FILE...
 *
 * The .sframe of each file is good at first. COUNT times a random byte or field of a file is
 * changed. Nothing may crash or hang. If `sfb dump` then prints another text, some level must
 * report an error or a warning. Findings of levels 1 to 3 alone are counted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/tests/check/subject.h"

enum { FILES_MAX = 32, HEADER = SUBJECT_HEADER, SHOWN_MAX = 20, CHANGE_MAX = 8 };

struct change {
    size_t at, size; /* from the start of the section */
    uint8_t before[CHANGE_MAX], after[CHANGE_MAX];
    const char *what;
};

static struct {
    uint64_t mutations, differ, structural, by_cfi, missed;
    double slowest;
} count;

static uint64_t state;

static uint64_t rnd(void)
{
    return subject_random(&state);
}

/* ---- changes ---- */

static uint64_t load(const struct subject *s, size_t at, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)s->section[at + (s->big ? size - 1 - i : i)] << 8 * i;
    return value;
}

static void store(const struct subject *s, uint8_t *to, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        to[s->big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static void change_byte(struct subject *s, struct change *c)
{
    c->what = "byte";
    c->at = rnd() % s->size;
    c->size = 1;
    c->after[0] = (uint8_t)rnd();
    if (rnd() % 2 == 0)
        c->after[0] = (uint8_t)(s->section[c->at] ^ 1u << rnd() % 8);
}

/* Changes a field of the header, or of an entry; often to a plausible value. */
static void change_field(struct subject *s, struct change *c)
{
    static const struct {
        const char *name;
        size_t at, size;
    } header[] = { { "magic", 0, 2 },    { "version", 2, 1 },  { "flags", 3, 1 },
                   { "abi", 4, 1 },      { "fp", 5, 1 },       { "ra", 6, 1 },
                   { "aux", 7, 1 },      { "num_fdes", 8, 4 }, { "num_fres", 12, 4 },
                   { "fre_len", 16, 4 }, { "fdeoff", 20, 4 },  { "freoff", 24, 4 } },
      entry[] = { { "start", 0, 4 },
                  { "size", 4, 4 },
                  { "fre_off", 8, 4 },
                  { "num_fres", 12, 4 },
                  { "info", 16, 1 } };
    const bool of_entry = s->count > 0 && rnd() % 8 != 0;
    const size_t which =
        rnd() % (of_entry ? sizeof entry / sizeof *entry : sizeof header / sizeof *header);
    const size_t base = of_entry ? HEADER + rnd() % s->count * s->entry_size : 0;
    uint64_t value;

    c->what = of_entry ? entry[which].name : header[which].name;
    c->at = base + (of_entry ? entry[which].at : header[which].at);
    c->size = of_entry ? entry[which].size : header[which].size;
    value = load(s, c->at, c->size);
    switch (rnd() % 6) {
    case 0: value += 1 + rnd() % 16; break;
    case 1: value -= 1 + rnd() % 16; break;
    case 2: value = rnd(); break;
    case 3: value = rnd() % 4 == 0 ? UINT64_MAX : 0; break;
    case 4: value ^= UINT64_C(1) << rnd() % (8 * c->size); break;
    default: /* another entry's */
        if (of_entry)
            value = load(s, HEADER + rnd() % s->count * s->entry_size + entry[which].at, c->size);
        break;
    }
    store(s, c->after, c->size, value);
}

static void show(const struct subject *s, const struct change *c, const char *text)
{
    if (count.missed > SHOWN_MAX)
        return;
    printf("%s: .sframe+0x%zx (%s): ", s->input.name, c->at, c->what);
    for (size_t i = 0; i < c->size; i++)
        printf("%02x", c->before[i]);
    printf(" -> ");
    for (size_t i = 0; i < c->size; i++)
        printf("%02x", c->after[i]);
    printf(": not found\n");
    subject_show(s, text);
}

static void mutate(struct subject *s)
{
    struct change c = { .at = 0 };
    char *text;

    if (rnd() % 2 == 0)
        change_byte(s, &c);
    else
        change_field(s, &c);
    memcpy(c.before, s->section + c.at, c.size);
    if (memcmp(c.before, c.after, c.size) == 0)
        return;
    subject_put(s, c.at, c.after, c.size);
    count.mutations++;
    text = subject_dump(s);
    if (strcmp(text, s->good) == 0) {
        subject_is_found(s, SUBJECT_ALL, &count.slowest); /* it must end, with any result */
    } else {
        count.differ++;
        if (subject_is_found(s, SUBJECT_STRUCTURE, &count.slowest)) {
            count.structural++;
        } else if (subject_is_found(s, SUBJECT_ALL, &count.slowest)) {
            count.by_cfi++;
        } else {
            count.missed++;
            show(s, &c, text);
        }
    }
    free(text);
    subject_put(s, c.at, c.before, c.size);
}

int main(int argc, char **argv)
{
    const size_t files = argc > 3 ? (size_t)argc - 3 : 0;
    const uint64_t wanted = argc > 3 ? strtoull(argv[1], NULL, 10) : 0;
    static struct subject subjects[FILES_MAX];

    if (wanted == 0 || files > FILES_MAX) {
        fprintf(stderr, "usage: %s COUNT SEED FILE...\n", argv[0]);
        return 2;
    }
    state = strtoull(argv[2], NULL, 10) * 2 + 1;
    for (size_t i = 0; i < files; i++)
        if (!subject_open(&subjects[i], argv[i + 3], false))
            return 2;
    while (count.mutations < wanted)
        mutate(&subjects[rnd() % files]);
    printf("%" PRIu64 " mutations of %zu sections: dump's text differs after %" PRIu64
           "; reported %" PRIu64 " (%.2f %%), missed %" PRIu64 "\n",
           count.mutations, files, count.differ, count.structural + count.by_cfi,
           count.differ ? 100.0 * (double)(count.structural + count.by_cfi) / (double)count.differ
                        : 0.0,
           count.missed);
    printf("levels 1 to 3 alone: %.1f %%; slowest check: %.0f ms\n",
           count.differ ? 100.0 * (double)count.structural / (double)count.differ : 0.0,
           1000 * count.slowest);
    for (size_t i = 0; i < files; i++)
        subject_close(&subjects[i]);
    return count.missed > 0 || count.differ == 0;
}
