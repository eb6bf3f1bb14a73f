#include "toolchain/tests/check/subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cli/tool.h"
#include "cli/tool_files.h"
#include "symbols/sframe.h"
#include "toolchain/check/check.h"

uint64_t subject_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1du >> 16;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

char *subject_dump(struct subject *s)
{
    FILE *out = stdout, *err = stderr;
    char *text = NULL, name[] = "dump", *argv[] = { name, s->path, NULL };
    size_t size;
    enum tool_exit exit_status;

    stdout = stderr = open_memstream(&text, &size);
    optind = 0;
    exit_status = tool_dump.run(&tool_dump, 2, argv);
    fprintf(stdout, "exit %d\n", (int)exit_status);
    fclose(stdout);
    stdout = out;
    stderr = err;
    return text;
}

bool subject_is_found(struct subject *s, enum subject_levels levels, double *slowest)
{
    const struct check_options options = { .no_cfi = levels == SUBJECT_STRUCTURE,
                                           .code = levels == SUBJECT_ALL ? CHECK_CODE_WHERE_NEEDED
                                                                         : CHECK_CODE_NONE,
                                           .limit = 1 };
    struct check_result result;
    const double start = seconds();
    bool bad;

    check_image(&result, s->path, s->input.data, s->input.size, &options);
    bad = findings_bad(&result.findings) || result.fault.cause;
    check_result_free(&result);
    if (seconds() - start > *slowest)
        *slowest = seconds() - start;
    return bad;
}

void subject_put(struct subject *s, size_t at, const uint8_t *bytes, size_t size)
{
    memcpy(s->section + at, bytes, size);
    if (pwrite(s->fd, bytes, size, (off_t)(s->section - s->input.data) + (off_t)at) !=
        (ssize_t)size)
        abort();
}

void subject_show(const struct subject *s, const char *text)
{
    const char *a = s->good, *b = text;

    for (;;) {
        const size_t x = strcspn(a, "\n"), y = strcspn(b, "\n");

        if (x != y || memcmp(a, b, x) != 0) {
            printf("  was: %.*s\n  is:  %.*s\n", (int)x, a, (int)y, b);
            return;
        }
        if (a[x] == '\0' || b[y] == '\0')
            return;
        a += x + 1;
        b += y + 1;
    }
}

/* Renames the section, which hides it. */
static void hide_eh_frame(struct input *input)
{
    static const char name[] = ".eh_frame";
    uint8_t *at = input->data, *end = at + input->size;

    while ((at = memmem(at, (size_t)(end - at), name, sizeof name)) != NULL)
        at[1] = 'x';
}

static uint32_t count_of(const struct subject *s)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < 4; i++)
        count |= (uint32_t)s->section[8 + (s->big ? 3 - i : i)] << 8 * i;
    return count;
}

bool subject_open(struct subject *s, const char *path, bool bare)
{
    double ignored = 0;
    struct object_sframe section;
    struct object_fault fault;
    struct object object;
    bool found;

    if (!tool_read(&s->input, path))
        return false;
    if (bare)
        hide_eh_frame(&s->input);
    found = object_open(&object, &fault, s->input.data, s->input.size);
    if (found) {
        found = object_find_sframe(&section, &fault, &object) == OBJECT_FOUND;
        object_close(&object);
    }
    if (!found || section.size < SUBJECT_HEADER) {
        fprintf(stderr, "%s: no .sframe\n", path);
        return false;
    }
    s->section = s->input.data + (section.data - s->input.data);
    s->size = section.size;
    s->big = s->section[0] == 0xde;
    s->entry_size = s->section[2] == 1 ? 17 : s->section[2] == 2 ? 20 : 16;
    s->count = count_of(s);
    s->fd = memfd_create("mutate", 0);
    snprintf(s->path, sizeof s->path, "/proc/self/fd/%d", s->fd);
    if (s->fd < 0 || write(s->fd, s->input.data, s->input.size) != (ssize_t)s->input.size)
        return false;
    s->good = subject_dump(s);
    if (subject_is_found(s, SUBJECT_ALL, &ignored)) {
        fprintf(stderr, "%s: not good to begin with\n", path);
        return false;
    }
    return strstr(s->good, "exit 0") != NULL;
}

void subject_close(struct subject *s)
{
    close(s->fd);
    free(s->good);
    input_free(&s->input);
}
