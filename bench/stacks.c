#include "stacks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/cbf.h"
#include "timing.h"

enum { CBF_SIZE = 65536 };
static uint8_t cbf[CBF_SIZE];

static void name_stacks(struct stacks *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dot;

    snprintf(out->name, sizeof out->name, "%s", slash == NULL ? path : slash + 1);
    dot = strchr(out->name, '.');
    if (dot != NULL) {
        *dot = '\0';
    }
}

/* Room for one more in an array that doubles at each power of two. */
static void *grow(void *array, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0) {
        return array;
    }
    array = realloc(array, (count == 0 ? 1 : 2 * count) * size);
    if (array == NULL) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    return array;
}

static void add_line(struct stacks *out, const char *line)
{
    uint32_t depth = 0;
    char *end;

    for (;; line = end, depth++) {
        uint64_t address = strtoull(line, &end, 16);

        if (end == line) {
            break;
        }
        out->addresses = grow(out->addresses, out->frame_count, sizeof *out->addresses);
        out->addresses[out->frame_count++] = address;
    }
    if (depth > 0) {
        out->depths = grow(out->depths, out->stack_count, sizeof *out->depths);
        out->depths[out->stack_count++] = depth;
    }
}

int stacks_read(struct stacks *out, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;

    if (file == NULL) {
        fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
        return -1;
    }
    *out = (struct stacks){ .innermost = SFB_FRAME_PC };
    name_stacks(out, path);
    while (getline(&line, &size, file) > 0) {
        add_line(out, line);
    }
    free(line);
    fclose(file);
    if (out->stack_count == 0) {
        fprintf(stderr, "bench: %s: no stacks\n", path);
        return -1;
    }
    return 0;
}

int stacks_copy(struct stacks *out, const char *name, void *const *addresses, size_t depth)
{
    *out = (struct stacks){ .innermost = SFB_FRAME_RA };
    snprintf(out->name, sizeof out->name, "%s", name);
    for (size_t i = 0; i < depth; i++) {
        out->addresses = grow(out->addresses, i, sizeof *out->addresses);
        out->addresses[i] = (uintptr_t)addresses[i];
    }
    out->depths = grow(NULL, 0, sizeof *out->depths);
    out->depths[0] = (uint32_t)depth;
    out->frame_count = depth;
    out->stack_count = 1;
    return 0;
}

/* @return the size of one stack's CBF, 0 if it did not fit */
static size_t encode(const uint64_t *addresses, uint32_t depth, enum sfb_frame_kind innermost)
{
    struct sfb_cbf_encoder encoder;
    enum sfb_status status = sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 64);
    enum sfb_frame_kind kind = innermost;

    for (uint32_t i = 0; i < depth && status == SFB_OK; i++, kind = SFB_FRAME_RA) {
        status = sfb_cbf_encoder_put(&encoder, kind, addresses[i]);
    }
    return status == SFB_OK ? sfb_cbf_encoder_end(&encoder, false) : 0;
}

uint64_t stacks_encode(const struct stacks *stacks, unsigned count)
{
    uint64_t start = timing_now();

    for (; count > 0; count--) {
        const uint64_t *next = stacks->addresses;

        for (size_t i = 0; i < stacks->stack_count; next += stacks->depths[i++]) {
            encode(next, stacks->depths[i], stacks->innermost);
        }
    }
    return timing_now() - start;
}

static bool decodes_to(size_t size, const uint64_t *addresses, uint32_t depth,
                       enum sfb_frame_kind innermost)
{
    static const struct sfb_cbf_decoder_options options = {
        .size = sizeof options,
        .flags = SFB_CBF_EXPAND | SFB_CBF_REQUIRE_END,
    };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_frame_kind kind = innermost;

    if (sfb_cbf_decoder_init(&decoder, cbf, size, &options, NULL) != SFB_OK) {
        return false;
    }
    for (uint32_t i = 0; i < depth; i++, kind = SFB_FRAME_RA) {
        if (sfb_cbf_decoder_next(&decoder, &item, NULL) != SFB_OK || item.kind != kind ||
            item.value != addresses[i]) {
            return false;
        }
    }
    return sfb_cbf_decoder_next(&decoder, &item, NULL) == SFB_END;
}

int stacks_verify(struct stacks *stacks)
{
    const uint64_t *next = stacks->addresses;

    stacks->cbf_size = 0;
    for (size_t i = 0; i < stacks->stack_count; next += stacks->depths[i++]) {
        size_t size = encode(next, stacks->depths[i], stacks->innermost);

        if (size == 0 || !decodes_to(size, next, stacks->depths[i], stacks->innermost)) {
            fprintf(stderr, "bench: %s: stack %zu does not survive CBF\n", stacks->name, i + 1);
            return -1;
        }
        stacks->cbf_size += size;
    }
    return 0;
}
