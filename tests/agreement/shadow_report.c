/* The shadow's part of the report: totals, and one example of what differs at a place. */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "oracles/machine.h"
#include "report.h"

enum { KINDS_MAX = 256 };

static const char *truth_text(size_t i)
{
    return truth_names[i];
}

static const char *seed_text(size_t i)
{
    return seed_names[i];
}

static const char *source_name(uint8_t source)
{
    return source < SFB_SOURCE_COUNT ? sfb_source_str((enum sfb_source)source) : "nobody";
}

/* "function module+offset" */
static void print_place(FILE *f, uint64_t address)
{
    Dl_info info;
    struct link_map *map = NULL;
    char name[256];
    uint64_t offset = address;

    oracle_name(name, sizeof name, address);
    /* NOLINTNEXTLINE: an address */
    if (dladdr1((void *)(uintptr_t)address, &info, (void **)&map, RTLD_DL_LINKMAP) && map)
        offset -= map->l_addr;
    fprintf(f, "%s +%llx", name, (unsigned long long)offset);
}

static void print_frames(FILE *f, const char *who, const struct truth_example *e,
                         const uint64_t *address, uint32_t count)
{
    fprintf(f, "  %s: %u frames\n", who, count);
    for (uint32_t i = 0; i < TRUTH_FRAMES && e->from + i < count; i++) {
        fprintf(f, "    #%u%s ", e->from + i, e->from + i == e->first ? " *" : "");
        print_place(f, address[i]);
        fputc('\n', f);
    }
}

static void print_example(FILE *f, const struct truth_example *e)
{
    fprintf(f, "  pc ");
    print_place(f, e->pc);
    fprintf(f, ":");
    for (size_t i = 0; i < TRUTH_BYTES; i++)
        fprintf(f, " %02x", e->code[i]);
    fprintf(f, "\n  ours ended: %s; called in this burst: %u frames\n",
            sfb_status_str((enum sfb_status)e->status), e->certain);
    print_frames(f, "ours", e, e->ours, e->ours_count);
    print_frames(f, atomic_load(&e->truth) == TRUTH_LONGER ? "oracle" : "shadow", e, e->shadow,
                 e->shadow_count);
}

/* What examples have in common that have one cause, as far as can be told. */
static bool same_kind(const struct truth_example *a, const struct truth_example *b)
{
    return atomic_load(&a->truth) == atomic_load(&b->truth) && a->source == b->source &&
           a->status == b->status && memcmp(a->code, b->code, 4) == 0;
}

static void print_kinds(FILE *f)
{
    static struct {
        const struct truth_example *example;
        uint64_t count;
    } kinds[KINDS_MAX];
    size_t used = atomic_load(&truth_examples_used), count = 0, lost = 0;

    for (size_t i = 0; i < used && i < TRUTH_EXAMPLES; i++) {
        const struct truth_example *e = &truth_examples[i];
        size_t k = 0;

        if (!atomic_load(&e->complete))
            continue;
        while (k < count && !same_kind(kinds[k].example, e))
            k++;
        if (k == KINDS_MAX) {
            lost++;
            continue;
        }
        if (k == count)
            kinds[count++].example = e;
        kinds[k].count++;
    }
    fprintf(f, "kinds-lost %zu\n", lost);
    for (size_t k = 0; k < count; k++) {
        const struct truth_example *e = kinds[k].example;

        fprintf(f, "example %llu %s; next by %s\n", (unsigned long long)kinds[k].count,
                truth_names[atomic_load(&e->truth)], source_name(e->source));
        print_example(f, e);
    }
}

void report_truth(FILE *f)
{
    for (size_t i = 0; i < THREADS_MAX; i++)
        shadow_end(&stepper_all[i].shadow);
    fprintf(f, "samples %llu\n", report_total(offsetof(struct stepper, shadow.samples)));
    fprintf(f, "spoilt %llu\n", report_total(offsetof(struct stepper, spoilt)));
    fprintf(f, "lost %llu\n", report_total(offsetof(struct stepper, shadow.lost)));
    fprintf(f, "switched %llu\n", report_total(offsetof(struct stepper, shadow.switched)));
    fprintf(f, "shorter-than-libunwind %llu\n",
            report_total(offsetof(struct stepper, shorter_than[0])));
    fprintf(f, "shorter-than-libgcc %llu\n",
            report_total(offsetof(struct stepper, shorter_than[1])));
    report_array(f, "truth", offsetof(struct stepper, shadow.truth), TRUTHS, truth_text);
    report_array(f, "seed", offsetof(struct stepper, shadow.seed), SEEDS, seed_text);
    report_array(f, "sample-end", offsetof(struct stepper, shadow.sample_end), SHADOW_END_MAX,
                 report_status);
    print_kinds(f);
}
