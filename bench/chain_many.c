/* 500 libraries: copies of one small shared object. */
#include "chain.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Gives the copy a build id of its own, as every library has: without, a walker might take what it
 * knows of one for all. A file that has none stays as it is.
 */
static void number_build_id(uint8_t *file, size_t size, unsigned number)
{
    static const uint8_t note[] = { 4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0 };
    uint8_t *found = memmem(file, size, note, sizeof note);

    if (found != NULL && found + sizeof note + sizeof number <= file + size) {
        memcpy(found + sizeof note, &number, sizeof number);
    }
}

static int copy(const char *from, const char *to, unsigned number)
{
    static uint8_t file[1 << 18];
    FILE *in = fopen(from, "re");
    FILE *out = fopen(to, "wex");
    size_t size = 0;
    bool good = in != NULL && out != NULL;

    if (good) {
        size = fread(file, 1, sizeof file, in);
        number_build_id(file, size, number);
        good = size > 0 && size < sizeof file && fwrite(file, 1, size, out) == size;
    }
    if (in != NULL) {
        fclose(in);
    }
    if (out != NULL && fclose(out) != 0) {
        good = false;
    }
    if (!good) {
        perror(to);
    }
    return good ? 0 : -1;
}

static int load_copy(struct chain_loaded *set, const char *folder, unsigned part)
{
    char path[4096];
    void *handle;
    const struct chain_part *found = NULL;
    int status;

    snprintf(path, sizeof path, "%s/%u.so", folder, part);
    status = copy(BENCH_CHAIN_DIR "/chain-many.so", path, part);
    if (status == 0) {
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        found = handle == NULL ? NULL : dlsym(handle, "chain_part");
    }
    /* It stays mapped; the folder need not outlive a benchmark that is interrupted. */
    unlink(path);
    if (status == 0 && found == NULL) {
        fprintf(stderr, "bench: %s\n", dlerror());
    }
    if (found == NULL) {
        return -1; /* cppcheck-suppress resourceLeak; the process ends */
    }
    for (unsigned i = 0; i < CHAIN_MANY_FUNCTIONS; i++) {
        set->functions[part * CHAIN_MANY_FUNCTIONS + i] = found->functions[i];
    }
    return 0;
}

int chain_load_many(void)
{
    const char *temporary = getenv("TMPDIR");
    char folder[2048];
    int status = 0;

    snprintf(folder, sizeof folder, "%s/bench-XXXXXX", temporary == NULL ? "/tmp" : temporary);
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return -1;
    }
    for (unsigned p = 0; p < CHAIN_MANY_PARTS && status == 0; p++) {
        status = load_copy(chain_loaded(CHAIN_MANY), folder, p);
    }
    rmdir(folder);
    return status;
}
