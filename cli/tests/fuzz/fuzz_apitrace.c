/*
 * Bytes from anywhere as a trace of apitrace: as the file, and as what its chunks have packed. Whatever they are, calls name
 * frames and functions that are there, and a fault is said.
 */
#include "fuzz/fuzz.h"

#include <snappy-c.h>
#include <string.h>

#include "contrib/apitrace/apitrace.h"

struct sums {
    uint64_t calls, frames;
};

static bool visit(void *user, const struct apitrace *trace, const struct apitrace_call *call)
{
    struct sums *sums = user;

    FUZZ_CHECK(call->number == sums->calls);
    FUZZ_CHECK(call->function < trace->functions.count);
    FUZZ_CHECK(apitrace_text(trace, trace->functions.at[call->function]) != NULL);
    for (size_t i = 0; i < call->count; i++) {
        FUZZ_CHECK(call->frames[i] < trace->frames.count);
        FUZZ_CHECK(apitrace_text(trace, trace->frames.at[call->frames[i]].function) != NULL);
    }
    sums->calls++;
    sums->frames += call->count;
    return true;
}

static void check(const uint8_t *file, size_t size)
{
    struct sums sums = { .calls = 0 };
    struct apitrace trace;

    apitrace_read(&trace, file, size, visit, &sums);
    FUZZ_CHECK(trace.chunk <= size);
    FUZZ_CHECK(!trace.why || trace.why[0] != '\0');
    apitrace_free(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t packed = snappy_max_compressed_length(size);
    uint8_t *file;

    if (apitrace_is(data, size))
        check(data, size);
    file = malloc(packed + 6);
    FUZZ_CHECK(file != NULL);
    FUZZ_CHECK(snappy_compress((const char *)data, size, (char *)file + 6, &packed) == SNAPPY_OK);
    memcpy(file, "at", 2);
    for (unsigned i = 0; i < 4; i++)
        file[2 + i] = (uint8_t)(packed >> 8 * i);
    check(file, 6 + packed);
    free(file);
    return 0;
}
