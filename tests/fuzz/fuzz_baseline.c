/* Bytes from anywhere as a baseline of `sfb check`: what is read is in it, in order, and no more than there are lines. */
#include "fuzz.h"

#include <string.h>

#include "check/baseline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1);
    struct baseline baseline;
    size_t lines = 1, line;

    FUZZ_CHECK(copy);
    if (size > 0)
        memcpy(copy, data, size);
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    if (baseline_read(&baseline, copy, size, &line)) {
        FUZZ_CHECK(baseline.count <= lines);
        for (size_t i = 0; i < baseline.count; i++) {
            FUZZ_CHECK(i == 0 || baseline.list[i - 1] <= baseline.list[i]);
            FUZZ_CHECK(baseline_has(&baseline, baseline.list[i]));
        }
        baseline_free(&baseline);
    } else {
        FUZZ_CHECK(line > 0 && line <= lines && !baseline.list);
    }
    free(copy);
    return 0;
}
