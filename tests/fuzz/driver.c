/*
 * Feeds files to a fuzz target, so that its corpus runs in every build:
 *
 *     fuzz-NAME FILE-OR-DIRECTORY...
 *
 * Each file is read into a block of its own size: a sanitizer then sees the first byte that is read
 * too far.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned fed;

static bool complain(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return false;
}

static bool feed_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size > 0 ? size : 1);
    bool whole = file != NULL && data != NULL && fread(data, 1, size, file) == size;

    if (whole) {
        /* an abort says the line, this says the input */
        fprintf(stderr, "%s\n", path);
        LLVMFuzzerTestOneInput(data, size);
        fed++;
    } else {
        complain(path);
    }
    free(data);
    if (file != NULL)
        fclose(file);
    return whole;
}

static bool feed(const char *path);

static bool feed_directory(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    bool good = true;

    if (directory == NULL)
        return complain(path);
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
        return complain(path);
    if (S_ISDIR(found.st_mode))
        return feed_directory(path);
    return feed_file(path, (size_t)found.st_size);
}

int main(int argc, char **argv)
{
    bool good = argc > 1;

    for (int i = 1; i < argc; i++)
        good = feed(argv[i]) && good;
    fprintf(stderr, "%u inputs\n", fed);
    return good && fed > 0 ? 0 : 2;
}
