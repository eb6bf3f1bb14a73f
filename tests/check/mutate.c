/*
 * Damaged sections: does `sfb check` find what `sfb dump` shows?
 *
 *     test-check-mutate COUNT SEED FILE...
 *
 * The .sframe of each file is good to begin with. COUNT times a byte or a field of one of them is
 * changed at random. Nothing may crash or hang, and if the text of `sfb dump` is another one
 * afterwards, some level has to report an error or a warning. What levels 1 to 3 find alone is
 * counted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "check/check.h"
#include "input.h"
#include "object/sframe.h"
#include "tool.h"

enum { FILES_MAX = 32, HEADER = 28, SHOWN_MAX = 20, CHANGE_MAX = 8 };

struct subject {
    struct input input;
    uint8_t *section; /* in the input */
    size_t size;
    size_t entry_size, count;
    bool big;
    int fd;        /* a copy of the file that dump reads */
    char path[32]; /* of it */
    char *good;    /* what dump says */
};

struct change {
    size_t at, size; /* from the start of the section */
    uint8_t before[CHANGE_MAX], after[CHANGE_MAX];
    const char *what;
};

static struct {
    uint64_t mutations, differ, structural, by_cfi, missed;
    double slowest;
} count;

static uint64_t state;

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1du >> 16;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- what dump and check say ---- */

/* stdout and stderr of `sfb dump`, and its exit status. */
static char *dump_text(struct subject *s)
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

static bool is_found(struct subject *s, bool no_cfi)
{
    const struct check_options options = { .no_cfi = no_cfi, .limit = 1 };
    struct check_result result;
    const double start = seconds();
    bool bad;

    check_image(&result, s->path, s->input.data, s->input.size, &options);
    bad = findings_bad(&result.findings) || result.fault.cause;
    check_result_free(&result);
    if (seconds() - start > count.slowest)
        count.slowest = seconds() - start;
    return bad;
}

/* ---- changes ---- */

static uint64_t load(const struct subject *s, size_t at, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)s->section[at + (s->big ? size - 1 - i : i)] << 8 * i;
    return value;
}

static void store(const struct subject *s, uint8_t *to, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        to[s->big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static void change_byte(struct subject *s, struct change *c)
{
    c->what = "byte";
    c->at = rnd() % s->size;
    c->size = 1;
    c->after[0] = (uint8_t)rnd();
    if (rnd() % 2 == 0)
        c->after[0] = (uint8_t)(s->section[c->at] ^ 1u << rnd() % 8);
}

/* A field of the header, or of an entry; often with a value that might be taken for a good one. */
static void change_field(struct subject *s, struct change *c)
{
    static const struct {
        const char *name;
        size_t at, size;
    } header[] = { { "magic", 0, 2 },    { "version", 2, 1 },  { "flags", 3, 1 },
                   { "abi", 4, 1 },      { "fp", 5, 1 },       { "ra", 6, 1 },
                   { "aux", 7, 1 },      { "num_fdes", 8, 4 }, { "num_fres", 12, 4 },
                   { "fre_len", 16, 4 }, { "fdeoff", 20, 4 },  { "freoff", 24, 4 } },
      entry[] = { { "start", 0, 4 },
                  { "size", 4, 4 },
                  { "fre_off", 8, 4 },
                  { "num_fres", 12, 4 },
                  { "info", 16, 1 } };
    const bool of_entry = s->count > 0 && rnd() % 8 != 0;
    const size_t which =
        rnd() % (of_entry ? sizeof entry / sizeof *entry : sizeof header / sizeof *header);
    const size_t base = of_entry ? HEADER + rnd() % s->count * s->entry_size : 0;
    uint64_t value;

    c->what = of_entry ? entry[which].name : header[which].name;
    c->at = base + (of_entry ? entry[which].at : header[which].at);
    c->size = of_entry ? entry[which].size : header[which].size;
    value = load(s, c->at, c->size);
    switch (rnd() % 6) {
    case 0: value += 1 + rnd() % 16; break;
    case 1: value -= 1 + rnd() % 16; break;
    case 2: value = rnd(); break;
    case 3: value = rnd() % 4 == 0 ? UINT64_MAX : 0; break;
    case 4: value ^= UINT64_C(1) << rnd() % (8 * c->size); break;
    default: /* that of another entry */
        if (of_entry)
            value = load(s, HEADER + rnd() % s->count * s->entry_size + entry[which].at, c->size);
        break;
    }
    store(s, c->after, c->size, value);
}

static void put(struct subject *s, size_t at, const uint8_t *bytes, size_t size)
{
    memcpy(s->section + at, bytes, size);
    if (pwrite(s->fd, bytes, size, (off_t)(s->section - s->input.data) + (off_t)at) !=
        (ssize_t)size)
        abort();
}

static void show(const struct subject *s, const struct change *c, const char *text)
{
    const char *a = s->good, *b = text;

    if (count.missed > SHOWN_MAX)
        return;
    printf("%s: .sframe+0x%zx (%s): ", s->input.name, c->at, c->what);
    for (size_t i = 0; i < c->size; i++)
        printf("%02x", c->before[i]);
    printf(" -> ");
    for (size_t i = 0; i < c->size; i++)
        printf("%02x", c->after[i]);
    printf(": not found\n");
    /* The first line that differs. */
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

static void mutate(struct subject *s)
{
    struct change c = { .at = 0 };
    char *text;

    if (rnd() % 2 == 0)
        change_byte(s, &c);
    else
        change_field(s, &c);
    memcpy(c.before, s->section + c.at, c.size);
    if (memcmp(c.before, c.after, c.size) == 0)
        return;
    put(s, c.at, c.after, c.size);
    count.mutations++;
    text = dump_text(s);
    if (strcmp(text, s->good) == 0) {
        is_found(s, false); /* it must end, whatever it says */
    } else {
        count.differ++;
        if (is_found(s, true)) {
            count.structural++;
        } else if (is_found(s, false)) {
            count.by_cfi++;
        } else {
            count.missed++;
            show(s, &c, text);
        }
    }
    free(text);
    put(s, c.at, c.before, c.size);
}

/* ---- files ---- */

static bool open_subject(struct subject *s, const char *path)
{
    struct object_sframe section;
    struct object_fault fault;
    struct object object;
    bool found;

    if (!input_read(&s->input, path))
        return false;
    found = object_open(&object, &fault, s->input.data, s->input.size);
    if (found) {
        found = object_find_sframe(&section, &fault, &object) == OBJECT_FOUND;
        object_close(&object);
    }
    if (!found || section.size < HEADER) {
        fprintf(stderr, "%s: no .sframe\n", path);
        return false;
    }
    s->section = s->input.data + (section.data - s->input.data);
    s->size = section.size;
    s->big = s->section[0] == 0xde;
    s->entry_size = s->section[2] == 1 ? 17 : s->section[2] == 2 ? 20 : 16;
    s->count = (size_t)load(s, 8, 4);
    s->fd = memfd_create("mutate", 0);
    snprintf(s->path, sizeof s->path, "/proc/self/fd/%d", s->fd);
    if (s->fd < 0 || write(s->fd, s->input.data, s->input.size) != (ssize_t)s->input.size)
        return false;
    s->good = dump_text(s);
    if (is_found(s, false)) {
        fprintf(stderr, "%s: not good to begin with\n", path);
        return false;
    }
    return strstr(s->good, "exit 0") != NULL;
}

int main(int argc, char **argv)
{
    const size_t files = argc > 3 ? (size_t)argc - 3 : 0;
    const uint64_t wanted = argc > 3 ? strtoull(argv[1], NULL, 10) : 0;
    static struct subject subjects[FILES_MAX];

    if (wanted == 0 || files > FILES_MAX) {
        fprintf(stderr, "usage: %s COUNT SEED FILE...\n", argv[0]);
        return 2;
    }
    state = strtoull(argv[2], NULL, 10) * 2 + 1;
    for (size_t i = 0; i < files; i++)
        if (!open_subject(&subjects[i], argv[i + 3]))
            return 2;
    while (count.mutations < wanted)
        mutate(&subjects[rnd() % files]);
    printf("%" PRIu64 " mutations of %zu sections: dump's text differs after %" PRIu64
           "; reported %" PRIu64 " (%.2f %%), missed %" PRIu64 "\n",
           count.mutations, files, count.differ, count.structural + count.by_cfi,
           count.differ ? 100.0 * (double)(count.structural + count.by_cfi) / (double)count.differ
                        : 0.0,
           count.missed);
    printf("levels 1 to 3 alone: %.1f %%; slowest check: %.0f ms\n",
           count.differ ? 100.0 * (double)count.structural / (double)count.differ : 0.0,
           1000 * count.slowest);
    for (size_t i = 0; i < files; i++) {
        close(subjects[i].fd);
        free(subjects[i].good);
        input_free(&subjects[i].input);
    }
    return count.missed > 0 || count.differ == 0;
}
