/* Systematic faults: each is put into a copy of a good section. */
#ifndef CHECK_SEEDS_H
#define CHECK_SEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/object.h"
#include "toolchain/check/codes.h"
#include "toolchain/check/version.h"

/* A file of functions in one sorted table, and its section. */
struct seed_file {
    uint8_t *image, *section;
    size_t size, section_size;
    const struct sframe_version *version;
    bool big, pcrel;
    uint32_t count;
    uint64_t section_header_at; /* of .sframe, in the file */
    uint64_t fde_at, fre_at, fre_size;
};

enum { SEED_V1 = 2, SEED_V2 = 4, SEED_V3 = 8, SEED_ALL = 14 };

struct seed_kind {
    const char *name;
    unsigned versions; /* SEED_V1, ... */
    enum check_code cause;
    void (*seed)(struct seed_file *f);
};

extern const struct seed_kind seed_kinds[];
extern const size_t seed_kind_count;

/* Finds the section of an image. @return false: none, or not as needed */
bool seed_open(struct seed_file *out, uint8_t *image, size_t size);

#endif
