/*
 * Single bits of sections in files without .eh_frame: does `sfb check` find what `sfb dump` shows?
 *
 *     test-check-flips COUNT SEED LEAST FILE...
 *
 * COUNT times a random bit of the .sframe of a file is flipped. If `sfb dump` then prints another
 * text, an error or a warning is expected. Prints their share for each kind of field. Exit status
 * 1: below LEAST percent, or no file is good at first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/check/check.h"
#include "toolchain/tests/check/subject.h"

enum { FILES_MAX = 32, SHOWN_MAX = 12 };

enum kind {
    KIND_OTHER,
    KIND_HEADER,
    KIND_START,
    KIND_SIZE,
    KIND_ROW_AT,
    KIND_ROW_COUNT,
    KIND_INFO,
    KIND_REPEAT,
    KIND_ROW_START,
    KIND_ROW_INFO,
    KIND_CFA,
    KIND_SAVED,
    KIND_COUNT
};

static const char *const names[KIND_COUNT] = {
    [KIND_OTHER] = "between the tables",
    [KIND_HEADER] = "header",
    [KIND_START] = "FDE: start",
    [KIND_SIZE] = "FDE: size",
    [KIND_ROW_AT] = "FDE: where its rows are",
    [KIND_ROW_COUNT] = "FDE: number of rows",
    [KIND_INFO] = "FDE: info",
    [KIND_REPEAT] = "FDE: repeat size, padding",
    [KIND_ROW_START] = "FRE: start",
    [KIND_ROW_INFO] = "FRE: info",
    [KIND_CFA] = "FRE: offset of the CFA",
    [KIND_SAVED] = "FRE: offset of RA or FP",
};

static struct tally {
    uint64_t flips, differ, structural, by_code, missed;
} tallies[KIND_COUNT + 1]; /* the last: all of them */

/* The kind of each byte of a section. */
struct map {
    struct subject *subject;
    uint8_t *kinds;
};

/* ---- the map of a section ---- */

static void paint(struct map *m, uint64_t at, uint64_t size, enum kind kind)
{
    for (uint64_t i = at; i < at + size && i < m->subject->size; i++)
        m->kinds[i] = (uint8_t)kind;
}

static void paint_rows(struct map *m, const struct sframe_part *p, const struct sframe_entry *e)
{
    uint64_t position = sframe_first_row(p, e);
    struct sframe_row r;

    for (uint32_t i = 0; i < e->row_count; i++) {
        const uint64_t at = sframe_fre_at(p, position), start = UINT64_C(1) << (e->info & 3);

        if (sframe_row_read(&r, p, e, position) != ROW_READ)
            return;
        paint(m, at, start, KIND_ROW_START);
        paint(m, at + start, 1, KIND_ROW_INFO);
        paint(m, at + start + 1, UINT64_C(1) << r.width, KIND_CFA);
        paint(m, at + start + 1 + (UINT64_C(1) << r.width), r.size - start - 1 - (1u << r.width),
              KIND_SAVED);
        position += r.size;
    }
}

static void paint_entry(struct map *m, const struct sframe_part *p, const struct sframe_entry *e)
{
    const bool far = p->version->has_attribute;

    paint(m, sframe_field_at(p, e, FIELD_START), p->version->start_size, KIND_START);
    paint(m, sframe_field_at(p, e, FIELD_SIZE), 4, KIND_SIZE);
    paint(m, sframe_field_at(p, e, FIELD_ROW_AT), 4, KIND_ROW_AT);
    paint(m, sframe_field_at(p, e, FIELD_ROW_COUNT), far ? 2 : 4, KIND_ROW_COUNT);
    paint(m, sframe_field_at(p, e, FIELD_INFO), far ? 2 : 1, KIND_INFO);
    if (p->version->has_repeat_size)
        paint(m, sframe_field_at(p, e, FIELD_REPEAT), far ? 1 : 3, KIND_REPEAT);
    paint_rows(m, p, e);
}

static void paint_all(const struct check *c, void *data)
{
    struct map *m = data;

    for (size_t i = 0; i < c->part_count; i++) {
        paint(m, c->parts[i].offset, SUBJECT_HEADER, KIND_HEADER);
        for (uint32_t k = 0; k < c->parts[i].fde_count; k++)
            paint_entry(m, &c->parts[i], &c->parts[i].entries[k]);
    }
}

static bool make_map(struct map *m, struct subject *s)
{
    const struct check_options options = { .inspect = paint_all, .inspect_data = m };
    struct check_result result;

    m->subject = s;
    m->kinds = calloc(s->size, 1);
    if (!m->kinds)
        return false;
    check_image(&result, s->path, s->input.data, s->input.size, &options);
    check_result_free(&result);
    return true;
}

/* ---- one bit ---- */

/* @param member  of a tally */
#define COUNT(kind, member) (tallies[kind].member++, tallies[KIND_COUNT].member++)

static void show(const struct subject *s, size_t at, enum kind kind, unsigned bit, const char *text)
{
    if (tallies[kind].missed >= SHOWN_MAX)
        return;
    printf("%s: .sframe+0x%zx, bit %u (%s): not found\n", s->input.name, at, bit, names[kind]);
    subject_show(s, text);
}

static void flip(struct map *m, uint64_t *state)
{
    struct subject *s = m->subject;
    const size_t at = (size_t)(subject_random(state) % s->size);
    const unsigned bit = (unsigned)(subject_random(state) % 8);
    const uint8_t before = s->section[at], after = (uint8_t)(before ^ 1u << bit);
    const enum kind kind = (enum kind)m->kinds[at];
    double ignored = 0;
    char *text;

    subject_put(s, at, &after, 1);
    COUNT(kind, flips);
    text = subject_dump(s);
    if (strcmp(text, s->good) != 0) {
        COUNT(kind, differ);
        if (subject_is_found(s, SUBJECT_NO_CODE, &ignored)) {
            COUNT(kind, structural);
        } else if (subject_is_found(s, SUBJECT_ALL, &ignored)) {
            COUNT(kind, by_code);
        } else {
            show(s, at, kind, bit, text);
            COUNT(kind, missed);
        }
    }
    free(text);
    subject_put(s, at, &before, 1);
}

/* ---- all bits ---- */

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 100.0;
}

static void print_table(void)
{
    printf("| bit of | flips | dump differs | reported by levels 1 to 3 %% | and by the code %% | "
           "missed |\n"
           "|---|---|---|---|---|---|\n");
    for (unsigned i = 0; i <= KIND_COUNT; i++) {
        const struct tally *t = &tallies[i];

        if (t->flips > 0)
            printf("| %s | %" PRIu64 " | %" PRIu64 " | %.1f | %.1f | %" PRIu64 " |\n",
                   i < KIND_COUNT ? names[i] : "all", t->flips, t->differ,
                   percent(t->structural, t->differ),
                   percent(t->structural + t->by_code, t->differ), t->missed);
    }
}

int main(int argc, char **argv)
{
    static struct subject subjects[FILES_MAX];
    static struct map maps[FILES_MAX];
    const uint64_t wanted = argc > 4 ? strtoull(argv[1], NULL, 10) : 0;
    const double least = argc > 4 ? strtod(argv[3], NULL) : 0;
    const struct tally *all = &tallies[KIND_COUNT];
    uint64_t state;
    size_t files = 0;

    if (wanted == 0 || argc - 4 > FILES_MAX) {
        fprintf(stderr, "usage: %s COUNT SEED LEAST FILE...\n", argv[0]);
        return 2;
    }
    state = strtoull(argv[2], NULL, 10) * 2 + 1;
    for (int i = 4; i < argc; i++)
        if (subject_open(&subjects[files], argv[i], true) &&
            make_map(&maps[files], &subjects[files]))
            files++;
    if (files != (size_t)argc - 4)
        return 2;
    for (uint64_t i = 0; i < wanted; i++)
        flip(&maps[subject_random(&state) % files], &state);
    print_table();
    for (size_t i = 0; i < files; i++) {
        free(maps[i].kinds);
        subject_close(&subjects[i]);
    }
    return percent(all->structural + all->by_code, all->differ) < least || all->differ == 0;
}
