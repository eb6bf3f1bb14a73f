/* Files of `perf record`, cut anywhere and with any byte damaged: a recording that is whole, or a reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/collector/outside/perf_import.h"
#include "support/test.h"
#include "util/input.h"

#define CORPUS SFB_SOURCE_DIR "/profiler/tests/fuzz/corpus/perf/"

/* With frames of the kernel an import reads the kernel's list of functions, which takes its time: fewer of them. */
static const struct {
    const char *path;
    size_t step;
} files[] = { { CORPUS "true.data", 307 },
              { CORPUS "pipe.data", 307 },
              { CORPUS "two-events.data", 11 } };

/* @return samples; -1: refused, with a reason */
static long import(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("damaged", MFD_CLOEXEC);
    uint8_t *copy = malloc(size + 1); /* its end is the end of the memory, for sanitizers */
    struct perf_import out;
    long samples = -1;

    cr_assert(fd >= 0 && copy);
    memcpy(copy, data, size);
    if (perf_import(&out, copy, size, "damaged", fd))
        samples = (long)out.totals.samples;
    else
        cr_expect(out.why[0] != '\0');
    free(copy);
    close(fd);
    return samples;
}

Test(damaged, whole_files_have_their_samples)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct input input;

        cr_assert(input_open(&input, files[i].path) == NULL, "%s", files[i].path);
        cr_expect(import(input.data, input.size) >= 3, "%s", files[i].path);
        input_free(&input);
    }
}

Test(damaged, prefixes_have_no_more_samples)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct input input;
        long all;

        cr_assert(input_open(&input, files[i].path) == NULL, "%s", files[i].path);
        all = import(input.data, input.size);
        for (size_t size = 0; size < input.size; size += files[i].step)
            cr_expect(import(input.data, size) <= all, "%s: %zu bytes", files[i].path, size);
        input_free(&input);
    }
}

Test(damaged, bytes_of_any_value)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct input input;

        cr_assert(input_open(&input, files[i].path) == NULL, "%s", files[i].path);
        for (size_t at = 0; at < input.size; at += files[i].step) {
            const uint8_t before = input.data[at];

            input.data[at] = (uint8_t)(before ^ (at % 2 ? 0xff : 0x41));
            import(input.data, input.size);
            input.data[at] = before;
        }
        input_free(&input);
    }
}
