/* The report, written at exit: totals, and every kind of difference with one example. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "oracles/machine.h"
#include "report.h"

enum { KINDS_MAX = 512 };

struct kind {
    char text[512];
    uint64_t count;
    const struct difference *example;
};

static const char *const end_names[] = {
    [END_OUTERMOST] = "outermost",
    [END_LIMIT] = "limit",
    [END_STOPPED] = "stopped",
};

static void name(char *out, size_t size, uint64_t address)
{
    if (address == 0)
        snprintf(out, size, "nothing");
    else
        oracle_name(out, size, address);
}

/* How a stack goes on where it differs, as a word. */
static const char *end_of(const struct cut *c)
{
    return c->status == ORACLE_FAULT ? "fault" : end_names[c->end];
}

/* Whether C++'s unwinder is at work in one of the frames: it goes from frame to frame its own way.
 */
static bool is_unwinding(const struct cut *c)
{
    for (size_t i = 0; i < EXAMPLE_FRAMES && c->first + i < c->count; i++) {
        Dl_info info;

        /* NOLINTNEXTLINE: an address */
        if (dladdr((void *)(uintptr_t)(c->address[i] - c->kind[i]), &info) && info.dli_fname &&
            strstr(info.dli_fname, "/libgcc_s."))
            return true;
    }
    return false;
}

/* What differences have in common that have one cause. `run` knows the causes by this text. */
static void describe(char *out, size_t size, const struct difference *d)
{
    char in[160], after[160];

    name(in, sizeof in, d->pc);
    name(after, sizeof after, d->parting);
    snprintf(out, size, "%s in %s; parted after %s; next by %s; ends %s/%s/%s%s%s%s",
             verdict_names[d->verdict], in, after,
             d->source < SFB_SOURCE_COUNT ? sfb_source_str((enum sfb_source)d->source) : "nobody",
             sfb_status_str((enum sfb_status)d->ours.status), end_of(&d->libunwind),
             end_of(&d->libgcc),
             d->ours_after || d->libunwind_after || d->libgcc_after ? "" : "; same frames",
             is_unwinding(&d->ours) ? "; unwinding" : "", d->sp_rule ? "; sp rule" : "");
}

static void print_cut(FILE *f, const char *who, const struct cut *c)
{
    size_t n = c->count > c->first ? c->count - c->first : 0;

    fprintf(f, "  %s: %u frames, %s (%d)\n", who, c->count, end_of(c), c->status);
    for (size_t i = 0; i < n && i < EXAMPLE_FRAMES; i++) {
        Dl_info info;
        struct link_map *map = NULL;
        char function[256];
        uint64_t offset = c->address[i];

        oracle_name(function, sizeof function, c->address[i] - c->kind[i]);
        /* NOLINTNEXTLINE: an address */
        if (dladdr1((void *)(uintptr_t)c->address[i], &info, (void **)&map, RTLD_DL_LINKMAP) && map)
            offset -= map->l_addr;
        fprintf(f, "    #%zu %s %s+%llx\n", c->first + i, c->kind[i] == SFB_FRAME_PC ? "pc" : "ra",
                function, (unsigned long long)offset);
    }
}

static void print_example(FILE *f, const struct difference *d)
{
    fprintf(f, "  registers (DWARF order):");
    for (size_t i = 0; i < SFB_CONTEXT_REGS; i++)
        fprintf(f, " %llx", (unsigned long long)d->context.reg[i]);
    fputc('\n', f);
    print_cut(f, "ours", &d->ours);
    print_cut(f, "libunwind", &d->libunwind);
    print_cut(f, "libgcc", &d->libgcc);
}

static void print_differences(FILE *f)
{
    static struct kind kinds[KINDS_MAX];
    size_t count = 0, used = atomic_load(&differences_used), lost = 0;
    char text[sizeof kinds->text];

    if (used > ARENA_SIZE / sizeof *differences) {
        lost = used - ARENA_SIZE / sizeof *differences;
        used -= lost;
    }
    for (size_t i = 0; i < used; i++) {
        const struct difference *d = &differences[i];
        size_t k = 0;

        if (!atomic_load(&d->complete))
            continue;
        describe(text, sizeof text, d);
        while (k < count && strcmp(kinds[k].text, text) != 0)
            k++;
        if (k == KINDS_MAX) {
            lost++;
            continue;
        }
        if (k == count) {
            memcpy(kinds[k].text, text, sizeof text);
            kinds[k].example = d;
            count++;
        }
        kinds[k].count++;
    }
    fprintf(f, "unrecorded %zu\n", lost);
    for (size_t k = 0; k < count; k++) {
        fprintf(f, "difference %llu %s\n", (unsigned long long)kinds[k].count, kinds[k].text);
        print_example(f, kinds[k].example);
    }
}

/* Sums one total over all threads. */
unsigned long long report_total(size_t offset)
{
    unsigned long long sum = 0;

    for (size_t i = 0; i < THREADS_MAX; i++) {
        const uint8_t *at = (const uint8_t *)&stepper_all[i] + offset;

        sum += atomic_load((const atomic_uint_least64_t *)(const void *)at);
    }
    return sum;
}

void report_array(FILE *f, const char *what, size_t offset, size_t count,
                  const char *(*text)(size_t))
{
    for (size_t i = 0; i < count; i++) {
        unsigned long long n = report_total(offset + i * sizeof(atomic_uint_least64_t));

        if (n > 0)
            fprintf(f, "%s %llu %s\n", what, n, text(i));
    }
}

static const char *verdict_text(size_t i)
{
    return verdict_names[i];
}

static const char *source_text(size_t i)
{
    return sfb_source_str((enum sfb_source)i);
}

const char *report_status(size_t i)
{
    return sfb_status_str((enum sfb_status)i);
}

__attribute__((destructor)) void write_report(void)
{
    static atomic_flag written = ATOMIC_FLAG_INIT;
    char path[4096];
    FILE *f;

    if (!stepper_all || report_pid != (int)getpid() || atomic_flag_test_and_set(&written))
        return;
    for (size_t i = 0; i < THREADS_MAX; i++)
        atomic_store(&stepper_all[i].on, false);
    snprintf(path, sizeof path, "%s.%d", report_path, report_pid);
    f = fopen(path, "we");
    if (!f) {
        perror(path);
        _exit(2);
    }
    fprintf(f, "stacks %llu\n", report_total(offsetof(struct stepper, stacks)));
    fprintf(f, "frames %llu\n", report_total(offsetof(struct stepper, frames)));
    fprintf(f, "failed %llu\n", report_total(offsetof(struct stepper, failed)));
    fprintf(f, "stray %llu\n", report_total(offsetof(struct stepper, stray)));
    fprintf(f, "libunwind-faults %llu\n", report_total(offsetof(struct stepper, libunwind_faults)));
    fprintf(f, "libgcc-faults %llu\n", report_total(offsetof(struct stepper, libgcc_faults)));
    report_array(f, "verdict", offsetof(struct stepper, verdict), VERDICTS, verdict_text);
    report_array(f, "source", offsetof(struct stepper, by_source), SFB_SOURCE_COUNT, source_text);
    report_array(f, "stacks-with", offsetof(struct stepper, with_source), SFB_SOURCE_COUNT,
                 source_text);
    report_array(f, "end", offsetof(struct stepper, end), END_MAX, report_status);
    if (burst_steps > 0)
        report_truth(f);
    else
        print_differences(f);
    fclose(f);
}
