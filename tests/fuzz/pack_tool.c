/*
 * Makes packs of inputs (pack.h) and takes them apart:
 *
 *     fuzz-pack add PACK FILE...       adds the inputs that are not in it, nor in the folder of its name
 *                                      beside it (walk for walk.pack); makes it if there is none
 *     fuzz-pack unpack PACK FOLDER     writes them as FOLDER/packed-0000 and so on
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/pack.h"

struct input {
    uint8_t *bytes;
    size_t size;
};

struct inputs {
    struct input *at;
    uint32_t count;
};

static void fail(const char *path, const char *what)
{
    fprintf(stderr, "fuzz-pack: %s: %s\n", path, what);
    exit(2);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    uint8_t *bytes = pack_read_file(path, size);

    if (bytes == NULL)
        fail(path, strerror(errno));
    return bytes;
}

static bool holds(const struct inputs *inputs, const uint8_t *bytes, size_t size)
{
    for (uint32_t i = 0; i < inputs->count; i++) {
        if (inputs->at[i].size == size && memcmp(inputs->at[i].bytes, bytes, size) == 0)
            return true;
    }
    return false;
}

/* Adds a copy of the bytes. */
static void add(struct inputs *inputs, const uint8_t *bytes, size_t size)
{
    struct input *more = realloc(inputs->at, (inputs->count + 1) * sizeof *more);
    uint8_t *copy = malloc(size > 0 ? size : 1);

    if (more == NULL || copy == NULL)
        fail("memory", strerror(errno));
    memcpy(copy, bytes, size);
    more[inputs->count++] = (struct input){ .bytes = copy, .size = size };
    inputs->at = more;
}

static void release(struct inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->count; i++)
        free(inputs->at[i].bytes);
    free(inputs->at);
}

static struct inputs read_pack(const char *path)
{
    struct inputs inputs = { 0 };
    const uint8_t *input;
    struct pack pack;
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    const char *wrong = pack_open(&pack, bytes, size);

    if (wrong != NULL)
        fail(path, wrong);
    while (pack_next(&pack, &input, &size))
        add(&inputs, input, size);
    free(bytes);
    return inputs;
}

static FILE *create(const char *path)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL)
        fail(path, strerror(errno));
    return file;
}

static void put(FILE *file, const void *bytes, size_t size)
{
    fwrite(bytes, 1, size, file); /* finish() asks whether it could */
}

static void put_u32(FILE *file, size_t value)
{
    const uint8_t bytes[] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                              (uint8_t)(value >> 24) };

    put(file, bytes, sizeof bytes);
}

static void finish(FILE *file, const char *path)
{
    bool bad = ferror(file) != 0;

    if (fclose(file) != 0 || bad)
        fail(path, "could not be written");
}

static void write_pack(const char *path, const struct inputs *inputs)
{
    char made[4096];
    FILE *file;

    snprintf(made, sizeof made, "%s.new", path);
    file = create(made);
    put(file, PACK_MAGIC, strlen(PACK_MAGIC));
    put_u32(file, inputs->count);
    for (uint32_t i = 0; i < inputs->count; i++) {
        put_u32(file, inputs->at[i].size);
        put(file, inputs->at[i].bytes, inputs->at[i].size);
    }
    finish(file, made);
    if (rename(made, path) != 0)
        fail(path, strerror(errno));
}

static void add_file(struct inputs *inputs, const char *path, const struct inputs *except)
{
    size_t size;
    uint8_t *bytes = read_file(path, &size);

    if (size > UINT32_MAX)
        fail(path, "too large for a pack");
    if (!holds(inputs, bytes, size) && !holds(except, bytes, size))
        add(inputs, bytes, size);
    free(bytes);
}

/* The inputs that have names: those in the folder beside the pack, if there is one. */
static struct inputs read_named(const char *pack)
{
    struct inputs named = { 0 };
    char folder[4096], inside[sizeof folder + 300];
    struct dirent *entry;
    DIR *directory;

    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(pack) - strlen(".pack")), pack);
    directory = opendir(folder);
    if (directory == NULL)
        return named;
    while ((entry = readdir(directory)) != NULL) {
        snprintf(inside, sizeof inside, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            add_file(&named, inside, &(struct inputs){ 0 });
    }
    closedir(directory);
    return named;
}

static void add_files(const char *path, char **files, int count)
{
    struct inputs inputs = { 0 }, named = read_named(path);
    struct stat found;
    uint32_t before;

    if (stat(path, &found) == 0)
        inputs = read_pack(path);
    before = inputs.count;
    for (int i = 0; i < count; i++)
        add_file(&inputs, files[i], &named);
    write_pack(path, &inputs);
    printf("%s: %u inputs, %u of them new\n", path, inputs.count, inputs.count - before);
    release(&inputs);
    release(&named);
}

static void unpack(const char *path, const char *folder)
{
    struct inputs inputs = read_pack(path);

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        fail(folder, strerror(errno));
    for (uint32_t i = 0; i < inputs.count; i++) {
        char inside[4096];
        FILE *file;

        snprintf(inside, sizeof inside, "%s/packed-%04u", folder, i);
        file = create(inside);
        put(file, inputs.at[i].bytes, inputs.at[i].size);
        finish(file, inside);
    }
    printf("%s: %u inputs\n", folder, inputs.count);
    release(&inputs);
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "add") == 0 && pack_is_named(argv[2])) {
        add_files(argv[2], argv + 3, argc - 3);
    } else if (argc == 4 && strcmp(argv[1], "unpack") == 0) {
        unpack(argv[2], argv[3]);
    } else {
        fprintf(stderr, "usage: fuzz-pack add PACK FILE... | fuzz-pack unpack PACK FOLDER\n");
        return 2;
    }
    return 0;
}
