#define UNW_LOCAL_ONLY
#include "support/oracle.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <stdio.h>

#include "sfb/cbf.h"

__attribute__((noinline)) void oracle_walk(struct trace *out, void *ucontext)
{
    unw_context_t here;
    unw_cursor_t cursor;
    unw_word_t pc;
    int result = 1;

    out->count = 0;
    out->omitted = 0;
    out->error = SFB_OK;
    /* Its cache is not told of dlclose() and goes on with the rules of a library that is gone. */
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
    if (ucontext) {
        unw_init_local2(&cursor, ucontext, UNW_INIT_SIGNAL_FRAME);
    } else {
        unw_getcontext(&here);
        unw_init_local(&cursor, &here);
        result = unw_step(&cursor); /* out of this function */
    }
    for (; result > 0 && out->count < ORACLE_MAX; result = unw_step(&cursor)) {
        unw_get_reg(&cursor, UNW_REG_IP, &pc);
        out->kind[out->count] = SFB_FRAME_RA;
        out->address[out->count++] = pc;
    }
    out->end = result == 0;
}

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
    out->error = size < 0 ? (enum sfb_status) - size
                          : sfb_cbf_decoder_init(&d, data, (size_t)size, &options, NULL);
    if (out->error != SFB_OK)
        return;
    while ((out->error = sfb_cbf_decoder_next(&d, &item, NULL)) == SFB_OK) {
        if (item.kind == SFB_FRAME_OMIT) {
            out->omitted += item.value;
            out->omit_at = out->count;
        } else if (out->count < ORACLE_MAX) {
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

void trace_print(const char *title, const struct trace *ours, const struct trace *theirs)
{
    static const char *const kinds[] = { "pc", "ra", "async", "omit" };

    fprintf(stderr, "--- %s: ours (%zu frames, %s)\n", title, ours->count,
            ours->end ? "end" : "truncated");
    for (size_t i = 0; i < ours->count; i++) {
        fprintf(stderr, "  %s", kinds[ours->kind[i] & 3]);
        print_address(ours->address[i]);
        fputc('\n', stderr);
    }
    fprintf(stderr, "--- theirs (%zu frames, %s)\n", theirs->count,
            theirs->end ? "end" : "truncated");
    for (size_t i = 0; i < theirs->count; i++) {
        fputs("    ", stderr);
        print_address(theirs->address[i]);
        fputc('\n', stderr);
    }
}
