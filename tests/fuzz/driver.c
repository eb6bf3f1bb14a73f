/*
 * Feeds inputs to a fuzz target, so that its corpus runs in every build:
 *
 *     fuzz-NAME FILE-OR-DIRECTORY...
 *
 * A file whose name ends in .pack holds many (pack.h). Each input lies in a block of its own size: a
 * sanitizer then sees the first byte that is read too far. Exit status 2: something could not be read,
 * a pack does not hold what it says, or there was no input.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "fuzz/pack.h"

static unsigned fed;

static bool complain(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    return false;
}

static bool feed_pack(const char *path, const uint8_t *bytes, size_t size)
{
    struct pack pack;
    const char *wrong = pack_open(&pack, bytes, size);
    const uint8_t *input;
    size_t input_size;
    unsigned before = fed;

    if (wrong != NULL)
        return complain(path, wrong);
    while (pack_next(&pack, &input, &input_size)) {
        uint8_t *copy = malloc(input_size > 0 ? input_size : 1);

        if (copy == NULL)
            return complain(path, strerror(errno));
        memcpy(copy, input, input_size);
        /* the name that fuzz-pack unpacks it by */
        fprintf(stderr, "%s: packed-%04u\n", path, fed - before);
        LLVMFuzzerTestOneInput(copy, input_size);
        fed++;
        free(copy);
    }
    if (fed - before != pack.count)
        return complain(path, "not all of its inputs were run");
    return true;
}

static bool feed_file(const char *path)
{
    size_t size;
    uint8_t *data = pack_read_file(path, &size);
    bool good = true;

    if (data == NULL)
        return complain(path, strerror(errno));
    if (pack_is_named(path)) {
        good = feed_pack(path, data, size);
    } else {
        /* an abort says the line, this says the input */
        fprintf(stderr, "%s\n", path);
        LLVMFuzzerTestOneInput(data, size);
        fed++;
    }
    free(data);
    return good;
}

static bool feed(const char *path);

static bool feed_directory(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    bool good = true;

    if (directory == NULL)
        return complain(path, strerror(errno));
    while ((entry = readdir(directory)) != NULL) {
        char inside[4096];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        good = feed(inside) && good;
    }
    closedir(directory);
    return good;
}

static bool feed(const char *path)
{
    struct stat found;

    if (stat(path, &found) != 0)
        return complain(path, strerror(errno));
    if (S_ISDIR(found.st_mode))
        return feed_directory(path);
    return feed_file(path);
}

int main(int argc, char **argv)
{
    bool good = argc > 1;

    for (int i = 1; i < argc; i++)
        good = feed(argv[i]) && good;
    fprintf(stderr, "%u inputs\n", fed);
    return good && fed > 0 ? 0 : 2;
}
