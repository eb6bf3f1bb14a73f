/* The report, written at exit: totals, and every kind of difference with one example. */
#include "sampler.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "oracles/loaded.h"
#include "threads.h"

static void print_hex(FILE *f, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(f, "%02x", data[i]);
    fputc('\n', f);
}

struct kind {
    char text[768];
    uint64_t count;
    const struct difference *example;
};

static void describe(char *out, size_t size, const struct difference *d)
{
    char where[256] = "first frame", in[256] = "?";

    oracle_name(in, sizeof in, d->pc);
    if (d->parting)
        oracle_name(where, sizeof where, d->parting);
    if (d->strays > 0)
        snprintf(where + strlen(where), sizeof where - strlen(where), " and %u in no module",
                 d->strays);
    snprintf(out, size,
             "in %s; parted after %s; our next frame from: %s; longer: %s; ours ended: %s%s", in,
             where,
             d->source < SFB_SOURCE_COUNT ? sfb_source_str((enum sfb_source)d->source) : "none",
             d->our_count == d->their_count  ? "neither"
             : d->our_count > d->their_count ? "ours"
                                             : sampler_oracle->name,
             sfb_status_str((enum sfb_status)d->our_status),
             d->sp_rule ? "; libunwind passed over a rule for sp" : "");
}

static void print_differences(FILE *f)
{
    static struct kind kinds[KINDS_MAX];
    size_t count = 0;
    size_t used = atomic_load(&sampler_arena_used);
    const struct difference *d = (const struct difference *)(const void *)sampler_arena;
    char text[sizeof kinds->text];

    for (; (const uint8_t *)d < sampler_arena + used && atomic_load(&d->complete); d = d->next) {
        size_t k = 0;

        describe(text, sizeof text, d);
        while (k < count && strcmp(kinds[k].text, text) != 0)
            k++;
        if (k == KINDS_MAX) {
            atomic_fetch_add(&sampler_unrecorded, 1);
            continue;
        }
        if (k == count) {
            memcpy(kinds[k].text, text, sizeof text);
            kinds[k].example = d;
            count++;
        }
        kinds[k].count++;
    }
    for (size_t k = 0; k < count; k++) {
        d = kinds[k].example;
        fprintf(f, "difference %llu %s\n", (unsigned long long)kinds[k].count, kinds[k].text);
        fprintf(f, "example-first %u\n", d->first);
        fprintf(f, "example-ends %s / %s %d\n", sfb_status_str((enum sfb_status)d->our_status),
                sampler_oracle->name, d->their_status);
        fprintf(f, "example-missed");
        for (size_t i = 0; i < SFB_SOURCE_COUNT; i++)
            fprintf(f, " %s: %s;", sfb_source_str((enum sfb_source)i),
                    sfb_status_str((enum sfb_status)d->missed[i]));
        fprintf(f, " second walk %s\n", d->walker_agrees ? "agrees" : "DIFFERS");
        fprintf(f, "example-registers");
        for (size_t i = 0; i < SFB_CONTEXT_REGS; i++)
            fprintf(f, " %llx", (unsigned long long)d->context.reg[i]);
        fprintf(f, "\nexample-ours ");
        print_hex(f, d->cbf, d->our_size);
        fprintf(f, "example-theirs ");
        print_hex(f, d->cbf + d->our_size, d->their_size);
    }
    fprintf(f, "unrecorded %llu\n", (unsigned long long)atomic_load(&sampler_unrecorded));
}

/* Sums one total over all samplers_all. */
static unsigned long long total(size_t offset)
{
    unsigned long long sum = 0;

    for (size_t i = 0; i < SAMPLERS_MAX; i++) {
        const uint8_t *at = (const uint8_t *)&samplers_all[i] + offset;

        sum += atomic_load((const atomic_uint_least64_t *)(const void *)at);
    }
    return sum;
}

static unsigned long long deepest(void)
{
    unsigned long long frames = 0;

    for (size_t i = 0; i < SAMPLERS_MAX; i++) {
        unsigned long long n = atomic_load(&samplers_all[i].deepest);

        if (n > frames)
            frames = n;
    }
    return frames;
}

static bool copy_maps(void)
{
    char path[4096];
    char buffer[4096];
    FILE *in = fopen("/proc/self/maps", "re");
    FILE *out;
    size_t n;

    snprintf(path, sizeof path, "%s.maps", sampler_report_path);
    out = fopen(path, "we");
    if (!in || !out)
        return false;
    while ((n = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, n, out);
    fclose(in);
    return fclose(out) == 0;
}

__attribute__((destructor)) static void finish(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } totals[] = {
        { "stacks", offsetof(struct sampler, stacks) },
        { "identical", offsetof(struct sampler, identical) },
        { "sp-rule", offsetof(struct sampler, sp_rule) },
        { "stray", offsetof(struct sampler, stray) },
        { "signed", offsetof(struct sampler, link_signed) },
        { "frames", offsetof(struct sampler, frames) },
        { "bytes", offsetof(struct sampler, bytes) },
        { "failed", offsetof(struct sampler, failed) },
        { "own-ns", offsetof(struct sampler, own_ns) },
        { "oracle-ns", offsetof(struct sampler, their_ns) },
    };
    FILE *f;

    if (!samplers_all)
        return;
    sfb_sampler_thread_stop();
    f = fopen(sampler_report_path, "we");
    if (!f || !copy_maps()) {
        perror(sampler_report_path);
        _exit(2);
    }
    fprintf(f, "oracle %s\n", sampler_oracle->name);
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        fprintf(f, "%s %llu\n", totals[i].name, total(totals[i].offset));
    fprintf(f, "deepest %llu\n", deepest());
    for (size_t i = 0; i < SFB_SOURCE_COUNT; i++)
        fprintf(f, "source %s %llu\n", sfb_source_str((enum sfb_source)i),
                total(offsetof(struct sampler, by_source) + i * sizeof samplers_all->by_source[0]));
    for (size_t i = 0; i < END_MAX; i++) {
        unsigned long long n =
            total(offsetof(struct sampler, end) + i * sizeof samplers_all->end[0]);

        if (n)
            fprintf(f, "end %llu %s\n", n, sfb_status_str((enum sfb_status)i));
    }
    print_differences(f);
    fclose(f);
}
