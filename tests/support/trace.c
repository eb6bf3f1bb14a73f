#include "support/trace.h"

#include <dlfcn.h>
#include <stdio.h>

#include "sfb/cbf.h"

void trace_decode(struct trace *out, const void *data, ssize_t size)
{
    const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                     .flags =
                                                         SFB_CBF_EXPAND | SFB_CBF_REQUIRE_END };
    struct sfb_cbf_decoder d;
    struct sfb_cbf_item item;

    out->count = 0;
    out->omitted = 0;
    out->omit_at = 0;
    out->end = 0;
    out->stop = SFB_OK;
    out->error = size < 0 ? (enum sfb_status) - size
                          : sfb_cbf_decoder_init(&d, data, (size_t)size, &options, NULL);
    if (out->error != SFB_OK)
        return;
    while ((out->error = sfb_cbf_decoder_next(&d, &item, NULL)) == SFB_OK) {
        if (item.kind == SFB_FRAME_OMIT) {
            out->omitted += item.value;
            out->omit_at = out->count;
        } else if (out->count < TRACE_MAX) {
            out->kind[out->count] = (uint8_t)item.kind;
            out->address[out->count++] = item.value;
        }
    }
    if (out->error == SFB_END)
        out->error = SFB_OK;
    out->end = !sfb_cbf_decoder_truncated(&d);
}

size_t trace_differs(const struct trace *a, size_t skip_a, const struct trace *b, size_t skip_b)
{
    size_t i = 0;

    while (skip_a + i < a->count && skip_b + i < b->count) {
        if (a->address[skip_a + i] != b->address[skip_b + i])
            return i;
        i++;
    }
    return skip_a + i == a->count && skip_b + i == b->count ? SIZE_MAX : i;
}

static void print_address(uint64_t address)
{
    Dl_info info = { 0 };

    if (dladdr((void *)(uintptr_t)address, &info) && info.dli_fname)
        fprintf(stderr, " %#lx %s %s+%#lx", address, info.dli_fname,
                info.dli_sname ? info.dli_sname : "?",
                address - (uintptr_t)(info.dli_sname ? info.dli_saddr : info.dli_fbase));
    else
        fprintf(stderr, " %#lx", address);
}

static void print_title(const char *title, const struct trace *t)
{
    fprintf(stderr, "--- %s (%zu frames, %s%s%s)\n", title, t->count, t->end ? "end" : "truncated",
            t->stop ? ": " : "", t->stop ? sfb_status_str(t->stop) : "");
}

static void print_source(enum sfb_source source)
{
    if (source != SFB_SOURCE_START)
        fprintf(stderr, " (%s)", sfb_source_str(source));
}

void trace_print(const char *title, const struct trace *ours, const struct trace *theirs)
{
    static const char *const kinds[] = { "pc", "ra", "async", "omit" };

    fprintf(stderr, "%s\n", title);
    print_title("ours", ours);
    for (size_t i = 0; i < ours->count; i++) {
        fprintf(stderr, "  %s", kinds[ours->kind[i] & 3]);
        print_address(ours->address[i]);
        fputc('\n', stderr);
    }
    print_title("theirs", theirs);
    for (size_t i = 0; i < theirs->count; i++) {
        fputs("    ", stderr);
        print_address(theirs->address[i]);
        print_source((enum sfb_source)theirs->source[i]);
        fputc('\n', stderr);
    }
}
