#include "profiler/collector/outside/wait_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/collector/outside/kernel_names.h"
#include "util/array.h"
#include "util/index.h"
#include "util/strings.h"

enum function_kind { OTHER, CALL, DISK, FAULT, STOP, TRACED, INTERRUPT };

/* An address that was seen, and its function. */
struct seen {
    enum function_kind kind;
    uint32_t call; /* string */
};

struct wait_kernel {
    struct kernel_names *names;
    bool named;
    struct report_index addresses;
    REPORT_ARRAY(struct seen) seen;
    struct report_strings calls;
};

static const struct {
    const char *start; /* of the name */
    enum function_kind kind;
} functions[] = {
    { "__x64_sys_", CALL },
    { "__arm64_sys_", CALL },
    { "ksys_", CALL },
    { "io_schedule", DISK },
    { "exc_page_fault", FAULT },
    { "asm_exc_page_fault", FAULT },
    { "do_mem_abort", FAULT },
    { "do_signal_stop", STOP },
    { "ptrace_stop", TRACED },
    { "asm_sysvec_", INTERRUPT },
    { "asm_common_interrupt", INTERRUPT },
    { "sysvec_", INTERRUPT },
    { "common_interrupt", INTERRUPT },
    { "el1_interrupt", INTERRUPT },
    { "el0_interrupt", INTERRUPT },
    { "run_ksoftirqd", INTERRUPT },
};

struct wait_kernel *wait_kernel_open(void)
{
    struct wait_kernel *k = calloc(1, sizeof *k);

    if (k)
        k->names = kernel_names_open(0);
    if (k && !k->names) {
        free(k);
        k = NULL;
    }
    if (k) /* it takes 50 ms, in which rings would overflow later */
        kernel_names_of(k->names, 0);
    return k;
}

void wait_kernel_close(struct wait_kernel *k)
{
    if (!k)
        return;
    kernel_names_close(k->names);
    report_index_free(&k->addresses);
    report_strings_free(&k->calls);
    free(k->seen.at);
    free(k);
}

static struct seen describe(struct wait_kernel *k, const char *name)
{
    struct seen seen = { .kind = OTHER };

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const size_t size = strlen(functions[i].start);

        if (strncmp(name, functions[i].start, size) != 0)
            continue;
        seen.kind = functions[i].kind;
        if (seen.kind == CALL && !report_strings_add(&k->calls, name + size, &seen.call))
            seen.kind = OTHER;
        break;
    }
    return seen;
}

static const struct seen *find(struct wait_kernel *k, uint64_t address)
{
    static const struct seen other;
    struct seen *seen;
    uint32_t at;
    bool known;

    if (!report_index_find(&k->addresses, address, 0, (uint32_t)k->seen.count, &at, &known))
        return &other;
    if (known)
        return at < k->seen.count ? &k->seen.at[at] : &other;
    seen = REPORT_NEXT(k->seen);
    if (!seen)
        return &other;
    *seen = describe(k, kernel_names_of(k->names, address));
    return seen;
}

static void add(struct wait_kernel *k, const struct seen *seen, struct wait_chain *out)
{
    switch (seen->kind) {
    case CALL: out->call = k->calls.all.at[seen->call]; break;
    case DISK: out->disk = true; break;
    case FAULT: out->fault = true; break;
    case STOP: out->stopped = true; break;
    case TRACED: out->traced = true; break;
    case INTERRUPT: out->interrupt = true; break;
    case OTHER: break;
    }
}

void wait_kernel_look(struct wait_kernel *k, const struct perf_sample *s, struct wait_chain *out)
{
    *out = (struct wait_chain){ .call = "" };
    for (size_t i = 0; i < s->chain_count; i++) {
        const uint64_t address = perf_chain_at(s, i);

        if (address < (uint64_t)PERF_CONTEXT_MAX)
            add(k, find(k, address), out);
    }
    out->named = kernel_names_known(k->names);
}
