/*
 * The benchmark: sframe-backtrace and its peers on the same stacks, in one process, in one table.
 *
 *     bench [--quick | --smoke | --walks fp|nofp COUNT] [STACKS.txt ...]
 *
 * Exit status: 0 measured, whatever the figures are; 1 a peer saw other frames than the reference
 * or something is missing; 2 usage.
 */
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "table.h"

static int usage(void)
{
    fprintf(stderr, "usage: bench [--quick | --smoke | --walks fp|nofp COUNT] [STACKS.txt ...]\n");
    return 2;
}

static struct measurement measurement;

static int read_stacks(char **paths)
{
    for (; *paths != NULL; paths++) {
        if (measurement.encoded_count == MEASURE_ENCODED_MAX) {
            fprintf(stderr, "bench: more than %d files of stacks\n", MEASURE_ENCODED_MAX);
            return -1;
        }
        if (stacks_read(&measurement.encoded[measurement.encoded_count++], *paths) != 0) {
            return -1;
        }
    }
    return 0;
}

static int walks(const char *build, const char *count)
{
    if (strcmp(build, "fp") != 0 && strcmp(build, "nofp") != 0) {
        return usage();
    }
    if (measure_prepare(&measurement) != 0) {
        return 1;
    }
    measure_walks(strcmp(build, "fp") == 0 ? CHAIN_FP : CHAIN_NOFP,
                  (unsigned)strtoul(count, NULL, 10));
    return 0;
}

static int smoke(void)
{
    if (measure_prepare(&measurement) != 0 || measure_verify(&measurement) != 0) {
        return 1;
    }
    peers_describe(stdout);
    printf("every walk sees the frames of the reference, at every depth\n");
    return 0;
}

static int measure(void)
{
    if (measure_prepare(&measurement) != 0) {
        return 1;
    }
    machine_describe(stdout);
    if (measure_verify(&measurement) != 0) {
        return 1;
    }
    printf("\n");
    fflush(stdout);
    measure_run(&measurement);
    if (measure_verify(&measurement) != 0) {
        return 1;
    }
    table_print(&measurement);
    table_targets(&measurement);
    return 0;
}

int main(int argc, char **argv)
{
    char **rest = argv + 1;
    bool only_smoke = false;

    (void)argc;
    measurement.samples = 61;
    measurement.batch_ns = 1000000;
    if (*rest != NULL && strcmp(*rest, "--walks") == 0) {
        return rest[1] == NULL || rest[2] == NULL || rest[3] != NULL ? usage()
                                                                     : walks(rest[1], rest[2]);
    }
    if (*rest != NULL && strcmp(*rest, "--quick") == 0) {
        measurement.samples = 15;
        measurement.batch_ns = 200000;
        rest++;
    } else if (*rest != NULL && strcmp(*rest, "--smoke") == 0) {
        only_smoke = true;
        rest++;
    }
    if (*rest != NULL && **rest == '-') {
        return usage();
    }
    machine_pin();
    if (read_stacks(rest) != 0) {
        return 1;
    }
    return only_smoke ? smoke() : measure();
}
