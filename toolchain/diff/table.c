#include "toolchain/diff/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/check/check.h"
#include "toolchain/check/where.h"
#include "util/grow.h"

/* A section of shared rows may have more than memory. */
enum { ROWS_MAX = 1 << 24 };

struct reading {
    struct diff_table *table;
    bool no_memory;
};

/* Of several names for one place the first of the alphabet: their order in a file says nothing. */
static const char *symbol_at(const struct object *o, uint64_t start)
{
    const struct object_label *s = object_label_before(o, start);
    const char *name = NULL;

    for (; s && s->start == start; s--) {
        if (!name || strcmp(s->name, name) < 0)
            name = s->name;
        if (s == o->labels)
            break;
    }
    return name;
}

static char *name_of(const struct object *o, uint64_t start)
{
    const char *symbol = symbol_at(o, start);
    const struct where_in in = where_section(o, start);
    char *name;

    if (symbol)
        return strdup(symbol);
    if (asprintf(&name, "%s+0x%" PRIx64, in.name ? in.name : "", in.name ? in.offset : start) < 0)
        return NULL;
    return name;
}

/* @return false: the row cannot be read, or there is no memory */
static bool add_row(struct reading *r, struct diff_function *f, const struct sframe_part *p,
                    const struct sframe_entry *e, const struct sframe_row *row)
{
    struct diff_table *t = r->table;
    struct diff_row *to;

    if (t->row_count >= ROWS_MAX ||
        !array_make_room(&t->rows, t->row_count, &t->row_capacity, sizeof *t->rows)) {
        r->no_memory = true;
        return false;
    }
    to = &t->rows[t->row_count];
    to->offset = row->start;
    if (sframe_row_rule(&to->rule, p, e, row) != NULL)
        return false;
    if (f->count > 0 && memcmp(&to[-1].rule, &to->rule, sizeof to->rule) == 0)
        return true;
    t->row_count++;
    f->count++;
    return true;
}

static void add_function(struct reading *r, const struct object *o, const struct sframe_part *p,
                         const struct sframe_entry *e)
{
    struct diff_table *t = r->table;
    struct diff_function f = {
        .start = e->start, .size = e->size, .repeat = sframe_repeat(p, e), .first = t->row_count
    };
    uint64_t position = sframe_first_row(p, e);
    bool good = !e->rows_lost;

    for (uint32_t i = 0; good && i < e->row_count; i++) {
        struct sframe_row row;

        good = sframe_row_read(&row, p, e, position) == ROW_READ && add_row(r, &f, p, e, &row);
        position += good ? row.size : 0;
    }
    if (!good) {
        t->left_out++;
        t->row_count = f.first;
        return;
    }
    f.name = name_of(o, e->start);
    if (!f.name || !array_make_room(&t->functions, t->function_count, &t->function_capacity,
                                    sizeof *t->functions)) {
        free(f.name);
        r->no_memory = true;
        return;
    }
    t->functions[t->function_count++] = f;
}

static void take_all(const struct check *c, void *data)
{
    struct reading *r = data;

    if (c->part_count > 0) {
        r->table->version = c->parts[0].version->number;
        r->table->abi = c->parts[0].abi;
        r->table->size = c->size;
    }
    for (size_t i = 0; i < c->part_count; i++)
        for (uint32_t k = 0; k < c->parts[i].fde_count && !r->no_memory; k++)
            add_function(r, c->object, &c->parts[i], &c->parts[i].entries[k]);
}

static int by_name(const void *a, const void *b)
{
    const struct diff_function *x = a, *y = b;
    const int order = strcmp(x->name, y->name);

    if (order != 0)
        return order;
    return x->start < y->start ? -1 : x->start > y->start;
}

bool diff_table_read(struct diff_table *out, struct object_fault *fault, const struct input *input)
{
    struct reading reading = { out, false };
    const struct check_options options = {
        .no_cfi = true, .as_it_stands = true, .inspect = take_all, .inspect_data = &reading
    };
    struct check_result result;

    *out = (struct diff_table){ .version = 0 };
    check_image(&result, input->name, input->data, input->size, &options);
    *fault = result.fault;
    check_result_free(&result);
    if (!fault->cause && reading.no_memory)
        *fault = (struct object_fault){ .cause = "out of memory" };
    if (fault->cause) {
        diff_table_free(out);
        return false;
    }
    if (out->function_count > 0)
        qsort(out->functions, out->function_count, sizeof *out->functions, by_name);
    return true;
}

void diff_table_free(struct diff_table *table)
{
    for (size_t i = 0; i < table->function_count; i++)
        free(table->functions[i].name);
    free(table->functions);
    free(table->rows);
    *table = (struct diff_table){ .version = 0 };
}
