/* Any bytes as a baseline of `sfb check`: entries are sorted, and not more than lines. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "toolchain/check/baseline.h"

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
