/*
 *     heap profile: BLOCKS: BYTES [BLOCKS: BYTES] @ heapprofile      live [allocated], of all
 *       BLOCKS: BYTES [BLOCKS: BYTES] @ ADDRESS...                   of each stack, the innermost first
 *
 *     MAPPED_LIBRARIES:
 *     START-END r-xp OFFSET 00:00 0  PATH                            as /proc/PID/maps
 *
 * Readers multiply what a sampled heap has ("heap_v2/RATE"). Here all values are what samples stand for, so no rate is
 * written.
 */
#include "profiler/report/formats/gperftools.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profiler/report/formats/code_span.h"
#include "profiler/report/formats/heap_groups.h"
#include "profiler/report/formats/main_module.h"
#include "util/foreign.h"

/* Where a module of the file is. Modules of several processes may have been at one place. */
struct placed {
    uint64_t low, high; /* offsets that stacks have; high 0: none */
    uint64_t shift;     /* what to add to its addresses */
};

struct profile {
    const struct report_model *model;
    FILE *to;
    struct placed *modules;
};

const char *report_gperftools_refuses(const struct report_model *model)
{
    return model->heap ? NULL : "the recording is of CPU time: sfb record --heap records a heap";
}

/* --- Modules -------------------------------------------------------------------------------------- */

static void find_extents(struct profile *p, const struct report_heap_groups *groups)
{
    const struct report_model *model = p->model;

    for (size_t i = 0; i < groups->all.count; i++) {
        const uint32_t number = groups->all.at[i].stack;
        const struct report_stack *stack = number == REPORT_NONE ? NULL : &model->stacks.at[number];

        for (uint32_t k = 0; stack && k < stack->count; k++) {
            const uint32_t frame = model->frames.at[stack->at + k];
            const struct report_location *l =
                frame < model->locations.count ? &model->locations.at[frame] : NULL;
            struct placed *placed = l ? &p->modules[l->module] : NULL;

            if (!l || l->kind != REPORT_NATIVE)
                continue;
            if (placed->high == 0 || l->offset < placed->low)
                placed->low = l->offset;
            if (l->offset >= placed->high)
                placed->high = l->offset + 1;
        }
    }
}

static bool overlap(const struct profile *p, size_t a, size_t b)
{
    const struct report_module *x = &p->model->modules.at[a], *y = &p->model->modules.at[b];
    const uint64_t x_start = x->start + p->modules[a].shift, x_end = x->end + p->modules[a].shift;

    return p->modules[a].high > 0 && x_start < y->end && y->start < x_end;
}

/* One that lies where another does goes behind all. */
static void place_modules(struct profile *p)
{
    const struct report_model *model = p->model;
    uint64_t behind = 0;

    for (size_t i = 0; i < model->modules.count; i++)
        if (p->modules[i].high > 0 && model->modules.at[i].end > behind)
            behind = model->modules.at[i].end;
    for (size_t i = 0; i < model->modules.count; i++) {
        const struct report_module *m = &model->modules.at[i];
        bool taken = false;

        for (size_t k = 0; p->modules[i].high > 0 && k < i && !taken; k++)
            taken = overlap(p, k, i);
        if (!taken || m->end < m->start || behind > (UINT64_MAX >> 1))
            continue;
        behind = (behind + 0xfffff) / 0x100000 * 0x100000;
        p->modules[i].shift = behind - m->start / 4096 * 4096;
        behind += m->end - m->start + 4096;
    }
}

static void put_module(const struct profile *p, uint32_t module)
{
    const struct placed *placed = &p->modules[module];
    const struct report_code code = report_code_of(p->model, module, placed->low, placed->high);

    fprintf(p->to,
            "%08" PRIx64 "-%08" PRIx64 " r-xp %08" PRIx64 " 00:00 0                          ",
            code.start + placed->shift, code.end + placed->shift, code.offset);
    foreign_print(p->to, report_text(p->model, p->model->modules.at[module].path));
    putc('\n', p->to);
}

static void put_modules(const struct profile *p)
{
    const uint32_t main = report_main_module(p->model);

    fputs("\nMAPPED_LIBRARIES:\n", p->to);
    if (main != REPORT_NONE && p->modules[main].high > 0)
        put_module(p, main);
    for (uint32_t i = 0; i < p->model->modules.count; i++)
        if (i != main && p->modules[i].high > 0)
            put_module(p, i);
}

/* --- Stacks --------------------------------------------------------------------------------------- */

static void put_values(FILE *to, const struct sfb_recording_heap_sum *live,
                       const struct sfb_recording_heap_sum *allocated)
{
    fprintf(to, "%6" PRIu64 ": %8" PRIu64 " [%6" PRIu64 ": %8" PRIu64 "] @", live->blocks,
            live->bytes, allocated->blocks, allocated->bytes);
}

/* Readers look a caller up at the byte before its address, and the innermost one as it is. */
static void put_stack(const struct profile *p, uint32_t number)
{
    const struct report_model *model = p->model;
    const struct report_stack *stack = number == REPORT_NONE ? NULL : &model->stacks.at[number];
    bool first = true;

    for (uint32_t i = 0; stack && i < stack->count; i++) {
        const uint32_t frame = model->frames.at[stack->at + i];
        const struct report_location *l;
        uint64_t address;

        if (frame >= model->locations.count)
            continue; /* a mark: not representable in this format */
        l = &model->locations.at[frame];
        address = l->offset;
        if (l->kind == REPORT_NATIVE)
            address += model->modules.at[l->module].start + p->modules[l->module].shift;
        fprintf(p->to, " 0x%08" PRIx64, first ? address : address + 1);
        first = false;
    }
    fputs(first ? " 0x00000000\n" : "\n", p->to);
}

static void put_all(const struct profile *p, const struct report_heap_groups *groups)
{
    const struct report_model *model = p->model;
    const struct sfb_recording_heap_sum live = { report_total(model, REPORT_INUSE_OBJECTS).value,
                                                 report_total(model, REPORT_INUSE_SPACE).value };
    const struct sfb_recording_heap_sum allocated = {
        report_total(model, REPORT_ALLOC_OBJECTS).value,
        report_total(model, REPORT_ALLOC_SPACE).value
    };

    fputs("heap profile: ", p->to);
    put_values(p->to, &live, &allocated);
    fputs(" heapprofile\n", p->to);
    for (size_t i = 0; i < groups->all.count; i++) {
        const struct report_heap_group *g = &groups->all.at[i];

        if (g->allocated.blocks == 0 && g->live.blocks == 0)
            continue;
        put_values(p->to, &g->live, &g->allocated);
        put_stack(p, g->stack);
    }
    put_modules(p);
}

bool report_gperftools_write(FILE *to, const struct report_model *model)
{
    struct report_heap_groups groups;
    struct profile p = { .model = model,
                         .to = to,
                         .modules = calloc(model->modules.count + 1, sizeof *p.modules) };
    const bool good = report_heap_groups_make(&groups, model) && p.modules;

    if (good) {
        find_extents(&p, &groups);
        place_modules(&p);
        put_all(&p, &groups);
    }
    report_heap_groups_free(&groups);
    free(p.modules);
    return good;
}
