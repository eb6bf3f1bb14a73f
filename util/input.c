#include "util/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/hex.h"

/* Pipes and /proc files are read in steps that double from here. */
#define STREAM_STEP ((size_t)64 << 10)

static ssize_t read_retrying(int fd, uint8_t *to, size_t n)
{
    ssize_t got;

    do
        got = read(fd, to, n);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Makes data exactly n bytes; a zero size keeps one byte, because realloc(p, 0) may free. */
static bool resize(struct input *input, size_t n)
{
    uint8_t *data = realloc(input->data, n ? n : 1);

    if (!data)
        return false;
    input->data = data;
    return true;
}

/* @return NULL, or the cause */
static const char *read_all(struct input *input, int fd)
{
    size_t limit = INPUT_STREAM_SIZE_MAX, capacity = STREAM_STEP;
    struct stat status;

    if (fstat(fd, &status) != 0)
        return strerror(errno);
    if (S_ISREG(status.st_mode) && status.st_size > 0) {
        limit = INPUT_FILE_SIZE_MAX;
        if ((uint64_t)status.st_size > limit)
            return "larger than 4 GiB";
        capacity = (size_t)status.st_size + 1; /* the last read then sees the end of the file */
    }
    for (;;) {
        ssize_t got;

        if (!resize(input, capacity))
            return strerror(ENOMEM);
        got = read_retrying(fd, input->data + input->size, capacity - input->size);
        if (got < 0)
            return strerror(errno);
        if (got == 0)
            return resize(input, input->size) ? NULL : strerror(ENOMEM);
        input->size += (size_t)got;
        if (input->size > limit)
            return "too large: more than 4 GiB, or than 256 MiB from a pipe";
        if (input->size == capacity)
            capacity *= 2;
    }
}

const char *input_open(struct input *out, const char *path)
{
    struct input input = { path, NULL, 0 };
    int fd = STDIN_FILENO;
    const char *cause;

    if (strcmp(path, "-") == 0)
        input.name = "standard input";
    else
        fd = open(path, O_RDONLY | O_CLOEXEC);
    cause = fd < 0 ? strerror(errno) : read_all(&input, fd);
    if (fd > STDIN_FILENO)
        close(fd);
    if (cause)
        input_free(&input);
    *out = input;
    return cause;
}

const char *input_from_hex(struct input *input, size_t *offset)
{
    const char *cause = hex_bytes(input->data, &input->size, offset);

    if (cause || resize(input, input->size))
        return cause;
    *offset = 0;
    return strerror(ENOMEM);
}

void input_free(struct input *input)
{
    free(input->data);
    input->data = NULL;
    input->size = 0;
}
