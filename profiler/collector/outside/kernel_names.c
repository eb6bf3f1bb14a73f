#include "profiler/collector/outside/kernel_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/index.h"

struct function {
    uint64_t start;
    char *name; /* with its module, as the kernel writes it */
};

/* A frame: at first by its address, in the end by its function. */
struct noted {
    uint32_t process, function;
    uint64_t address;
};

enum {
    NOTED_MOST = 1 << 20, /* frames of later ones stay without names */
    READ_BY = 64 << 10
};

struct kernel_names {
    uint64_t text;                           /* where the kernel's code began; 0: of this boot */
    REPORT_ARRAY(struct function) functions; /* by address */
    REPORT_ARRAY(struct noted) noted;
    struct report_index seen; /* of them */
    bool loaded;
};

/* "ffffffff81000000 T name\t[module]" */
static bool parse(char *line, struct function *out)
{
    char *at, *tab;

    out->start = strtoull(line, &at, 16);
    if (out->start == 0 || at[0] != ' ' || !strchr("tTwW", at[1]) || at[2] != ' ')
        return false;
    at += 3;
    at[strcspn(at, "\n")] = '\0';
    tab = strchr(at, '\t');
    if (tab)
        *tab = ' ';
    out->name = at;
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct function *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static void read_all(struct kernel_names *names, FILE *from)
{
    char *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, from) > 0) {
        struct function function, *next;

        if (!parse(line, &function))
            continue;
        function.name = strdup(function.name);
        next = function.name ? REPORT_NEXT(names->functions) : NULL;
        if (!next) {
            free(function.name);
            break;
        }
        *next = function;
    }
    free(line);
    if (names->functions.count > 0)
        qsort(names->functions.at, names->functions.count, sizeof *names->functions.at, by_start);
}

/* @return index of the function with an address; REPORT_NONE: below all of them */
static uint32_t find(const struct kernel_names *names, uint64_t address)
{
    size_t low = 0, high = names->functions.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (names->functions.at[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? (uint32_t)low - 1 : REPORT_NONE;
}

/* Whether code of the kernel begins there. */
static bool has_text(const struct kernel_names *names, uint64_t text)
{
    const uint32_t at = find(names, text);

    for (size_t i = at; at != REPORT_NONE; i--) {
        const struct function *f = &names->functions.at[i];

        if (f->start != text)
            return false;
        if (strcmp(f->name, "_text") == 0 || strcmp(f->name, "_stext") == 0)
            return true;
        if (i == 0)
            break;
    }
    return false;
}

struct kernel_names *kernel_names_open(uint64_t text)
{
    struct kernel_names *names = calloc(1, sizeof *names);

    if (names)
        names->text = text;
    return names;
}

static void forget(struct kernel_names *names)
{
    for (size_t i = 0; i < names->functions.count; i++)
        free(names->functions.at[i].name);
    names->functions.count = 0;
}

/* The list is long, and takes 50 ms to read, in which rings would overflow: it is read in the end. */
static void load(struct kernel_names *names)
{
    FILE *from = fopen("/proc/kallsyms", "re");
    char *buffer = malloc(READ_BY);

    names->loaded = true;
    if (from && buffer)
        setvbuf(from, buffer, _IOFBF, READ_BY); /* else 5,000 system calls */
    if (from) {
        read_all(names, from);
        fclose(from);
    }
    free(buffer);
    if (names->text != 0 && !has_text(names, names->text))
        forget(names);
}

const char *kernel_names_of(struct kernel_names *names, uint64_t address)
{
    uint32_t at;

    if (!names->loaded)
        load(names);
    at = find(names, address);
    return at == REPORT_NONE ? "" : names->functions.at[at].name;
}

bool kernel_names_known(const struct kernel_names *names)
{
    return names->functions.count > 0;
}

void kernel_names_note(struct kernel_names *names, uint32_t process, uint64_t address)
{
    struct noted *next;
    uint32_t at;
    bool known;

    if (!names || names->noted.count >= NOTED_MOST ||
        !report_index_find(&names->seen, process, address, (uint32_t)names->noted.count, &at,
                           &known) ||
        known)
        return;
    next = REPORT_NEXT(names->noted);
    if (next)
        *next = (struct noted){ .process = process, .address = address };
}

static int by_function(const void *a, const void *b)
{
    const struct noted *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static void find_functions(struct kernel_names *names)
{
    for (size_t i = 0; i < names->noted.count; i++)
        names->noted.at[i].function = find(names, names->noted.at[i].address);
    qsort(names->noted.at, names->noted.count, sizeof *names->noted.at, by_function);
}

static uint64_t end_of(const struct kernel_names *names, uint32_t function)
{
    const uint64_t start = names->functions.at[function].start;

    for (size_t i = function; i < names->functions.count; i++)
        if (names->functions.at[i].start > start)
            return names->functions.at[i].start;
    return start + 1;
}

/* @return the first one of another process */
static size_t write_process(const struct kernel_names *names, struct sfb_recording_writer *writer,
                            size_t from)
{
    const uint32_t process = names->noted.at[from].process;
    uint32_t last = REPORT_NONE;
    char *text = NULL;
    size_t size = 0, i;
    FILE *to = open_memstream(&text, &size);

    for (i = from; i < names->noted.count && names->noted.at[i].process == process; i++) {
        const uint32_t function = names->noted.at[i].function;

        if (!to || function == REPORT_NONE || function == last)
            continue;
        fprintf(to, "%" PRIx64 " %" PRIx64 " %s\n", names->functions.at[function].start,
                end_of(names, function) - names->functions.at[function].start,
                names->functions.at[function].name);
        last = function;
    }
    if (to && fclose(to) == 0 && size > 0) {
        const struct sfb_recording_file file = {
            .process = process, .name = "/proc/kallsyms", .bytes = text, .size = size
        };

        sfb_recording_put_file(writer, &file);
    }
    free(text);
    return i;
}

void kernel_names_write(struct kernel_names *names, struct sfb_recording_writer *writer)
{
    if (!names || names->noted.count == 0)
        return;
    if (!names->loaded)
        load(names);
    find_functions(names);
    for (size_t i = 0; i < names->noted.count;)
        i = write_process(names, writer, i);
}

void kernel_names_close(struct kernel_names *names)
{
    if (!names)
        return;
    forget(names);
    free(names->functions.at);
    free(names->noted.at);
    report_index_free(&names->seen);
    free(names);
}
