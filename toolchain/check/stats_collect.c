#include "toolchain/check/stats_collect.h"

#include <stdlib.h>
#include <string.h>

#include "toolchain/check/where.h"

/* @return the section with a name; NULL: no memory */
static struct stats_section *section_of(struct check_stats *s, const char *name)
{
    struct stats_section *list;
    char *copy;

    for (size_t i = 0; i < s->section_count; i++)
        if (strcmp(s->sections[i].name, name) == 0)
            return &s->sections[i];
    copy = strdup(name);
    list = reallocarray(s->sections, s->section_count + 1, sizeof *list);
    if (list)
        s->sections = list;
    if (!copy || !list) {
        free(copy);
        return NULL;
    }
    list[s->section_count].name = copy;
    list[s->section_count].functions = list[s->section_count].functions_covered = 0;
    list[s->section_count].bytes = list[s->section_count].bytes_covered = 0;
    return &list[s->section_count++];
}

/* Keeps the functions with most uncovered bytes, in order. */
static void keep(struct check_stats *s, uint64_t start, uint64_t bytes, uint64_t missing)
{
    size_t i = s->uncovered_count < STATS_UNCOVERED ? s->uncovered_count++ : STATS_UNCOVERED;

    for (; i > 0 && s->uncovered[i - 1].missing < missing; i--)
        if (i < STATS_UNCOVERED)
            s->uncovered[i] = s->uncovered[i - 1];
    if (i < STATS_UNCOVERED)
        s->uncovered[i] = (struct stats_function){ NULL, start, bytes, missing };
}

void stats_note(struct check *c, uint64_t start, uint64_t end, uint64_t covered)
{
    struct check_stats *s = &c->result->stats;
    const struct where_in in = where_section(c->object, start);
    struct stats_section *section = section_of(s, in.name ? in.name : "(no section)");

    if (!section) {
        c->no_memory = true;
        return;
    }
    section->functions++;
    section->functions_covered += covered == end - start;
    section->bytes += end - start;
    section->bytes_covered += covered;
    if (covered < end - start)
        keep(s, start, end - start, end - start - covered);
}

void stats_finish(struct check *c)
{
    struct check_stats *s = &c->result->stats;

    for (size_t i = 0; i < s->uncovered_count; i++) {
        s->uncovered[i].place = where_pc(c->object, s->uncovered[i].start);
        c->no_memory |= !s->uncovered[i].place;
    }
    for (size_t i = 0; i < c->part_count; i++) {
        const struct sframe_part *p = &c->parts[i];

        s->entries_size += (uint64_t)p->fde_count * p->version->entry_size;
        s->rows_size += p->fre_size;
    }
    if (c->part_count > 0 && s->entries_size + s->rows_size <= c->size)
        s->header_size = c->size - s->entries_size - s->rows_size;
    s->done = true;
}

void stats_free(struct check_stats *stats)
{
    for (size_t i = 0; i < stats->section_count; i++)
        free(stats->sections[i].name);
    for (size_t i = 0; i < stats->uncovered_count; i++)
        free(stats->uncovered[i].place);
    free(stats->sections);
    *stats = (struct check_stats){ .done = false };
}
