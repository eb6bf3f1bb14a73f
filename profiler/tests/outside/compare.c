/*
 * Walks the stacks of a file of `perf record --call-graph dwarf`, and compares them frame by frame with what perf script
 * makes of the same file: compare FILE. Prints a line of sums; exit status 1 if a stack of ours is shorter than perf's
 * though it is not cut there, or frames differ.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/collector/outside/perf_import.h"
#include "sfb/cbf.h"
#include "sfb/image_map.h"
#include "util/array.h"
#include "util/input.h"

enum { FRAMES = 4096, MODULES = 4096, TEXT = 1 << 20 };

struct module {
    uint64_t base, end;
};

/* The modules of a process, as its last list has them. */
struct list {
    struct module modules[MODULES];
    size_t count;
};

struct stack {
    uint64_t at[FRAMES];
    size_t count;
};

static struct {
    REPORT_ARRAY(struct list *) lists;   /* by process */
    REPORT_ARRAY(uint32_t) processes;    /* of threads */
    REPORT_ARRAY(struct stack *) stacks; /* by id */
    REPORT_ARRAY(uint32_t) owners;       /* of stacks */
} all;

static struct {
    uint64_t samples, frames, equal, longer, gaps, shorter, different, incomplete;
} sums;

static void fail(const char *what)
{
    fprintf(stderr, "compare: %s\n", what);
    exit(2);
}

#define AT(array, index)                                                                           \
    (__extension__({                                                                               \
        while ((array).count <= (index))                                                           \
            if (!REPORT_NEXT(array))                                                               \
                fail("no memory");                                                                 \
        &(array).at[index];                                                                        \
    }))

/* --- What we found --------------------------------------------------------------------------------- */

static void keep_modules(const struct sfb_recording_modules *event)
{
    static char text[TEXT];
    static struct sfb_image_map_prefix prefixes[MODULES];
    const struct sfb_image_map_room room = { text, sizeof text, prefixes, MODULES };
    struct list **list = AT(all.lists, event->process);
    struct sfb_image_map_decoder decoder;
    struct sfb_image image;

    if (!*list)
        *list = calloc(1, sizeof **list);
    (*list)->count = 0;
    if (sfb_image_map_decoder_init(&decoder, event->map, event->size, &room, NULL) != SFB_OK)
        fail("a list of modules cannot be read");
    while (sfb_image_map_decoder_next(&decoder, &image, NULL) == SFB_OK && (*list)->count < MODULES)
        (*list)->modules[(*list)->count++] = (struct module){ image.base, image.end_of_text };
}

static void keep_stack(const struct sfb_recording_stack *event)
{
    const struct sfb_cbf_decoder_options how = { .size = sizeof how, .flags = SFB_CBF_EXPAND };
    struct stack *stack = calloc(1, sizeof *stack);
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;

    if (!stack || sfb_cbf_decoder_init(&decoder, event->cbf, event->size, &how, NULL) != SFB_OK)
        fail("a stack cannot be read");
    while (sfb_cbf_decoder_next(&decoder, &item, NULL) == SFB_OK && stack->count < FRAMES)
        stack->at[stack->count++] = item.value - (item.kind == SFB_FRAME_RA);
    *AT(all.stacks, event->id) = stack;
    *AT(all.owners, event->id) = event->process;
}

/* Address and offset in its module: perf prints one or the other. */
static bool is_same(const struct list *list, uint64_t ours, uint64_t perfs)
{
    /* Behind a signal handler the address is a pc: perf looks one byte before all the same, or does not. */
    if (ours - perfs + 1 <= 2)
        return true;
    for (size_t i = 0; list && i < list->count; i++)
        if (ours >= list->modules[i].base && ours < list->modules[i].end &&
            ours - list->modules[i].base - perfs + 1 <= 2)
            return true;
    return false;
}

static void print_both(const struct list *list, const struct stack *ours, const struct stack *perfs)
{
    for (size_t i = 0; i < ours->count || i < perfs->count; i++) {
        uint64_t offset = i < ours->count ? ours->at[i] : 0;

        for (size_t k = 0; list && k < list->count; k++)
            if (offset >= list->modules[k].base && offset < list->modules[k].end) {
                offset -= list->modules[k].base;
                break;
            }
        printf("  %zu ours %" PRIx64 " (%" PRIx64 ") perf %" PRIx64 "\n", i,
               i < ours->count ? ours->at[i] : 0, offset, i < perfs->count ? perfs->at[i] : 0);
    }
}

/* Whether perf has left out frames of ours, and has no other ones. */
static bool has_gaps(const struct list *list, const struct stack *ours, const struct stack *perfs)
{
    size_t at = 0;

    for (size_t i = 0; i < ours->count && at < perfs->count; i++)
        at += is_same(list, ours->at[i], perfs->at[at]);
    return at == perfs->count;
}

/* Whether perf's walk has not come to the outermost frame, which ours has. */
static bool is_derailed(const struct list *list, const struct stack *ours,
                        const struct stack *perfs, enum sfb_status end)
{
    return end == SFB_END && ours->count > 0 &&
           (perfs->count == 0 ||
            !is_same(list, ours->at[ours->count - 1], perfs->at[perfs->count - 1]));
}

/* Counts a sample. Only what is wrong on our side is shown: what perf has and we have not. */
static void compare(const struct list *list, const struct stack *ours, const struct stack *perfs,
                    enum sfb_status end)
{
    static unsigned shown;
    const size_t both = ours->count < perfs->count ? ours->count : perfs->count;
    size_t same = 0;

    while (same < both && is_same(list, ours->at[same], perfs->at[same]))
        same++;
    sums.samples++;
    sums.frames += same;
    sums.incomplete += end != SFB_END && end != SFB_UNPROVEN_END;
    if (same < perfs->count && (has_gaps(list, ours, perfs) || is_derailed(list, ours, perfs, end)))
        sums.gaps++, same = perfs->count;
    else if (same == ours->count && same == perfs->count)
        sums.equal++;
    else if (same == perfs->count)
        sums.longer++;
    else if (same == ours->count)
        sums.shorter++;
    else
        sums.different++;
    if (same < perfs->count && shown++ < 5) {
        printf("sample %" PRIu64 ": %s\n", sums.samples, sfb_status_str(end));
        print_both(list, ours, perfs);
    }
}

/* --- What perf found -------------------------------------------------------------------------------- */

static bool is_no_code(const char *line)
{
    return strstr(line, "([unknown])") || strstr(line, "([stack])") || strstr(line, "([heap])") ||
           strstr(line, "(//anon)");
}

/*
 * A sample of perf script: a line that begins with no blank, addresses, and an empty line. Where its walk has gone wrong there
 * is an address in no file: the frames end there.
 *
 * @return false: no more
 */
static bool read_sample(FILE *perf, struct stack *out)
{
    static char *line;
    static size_t room;
    bool begun = false, wrong = false;

    out->count = 0;
    while (getline(&line, &room, perf) > 0) {
        if (line[0] == '\n') {
            if (begun)
                return true;
        } else if (!begun) {
            begun = true;
        } else {
            wrong |= is_no_code(line);
            if (!wrong && out->count < FRAMES)
                out->at[out->count++] = strtoull(line, NULL, 16);
        }
    }
    return begun;
}

static void compare_all(const void *bytes, size_t size, FILE *perf)
{
    static const struct stack none;
    static struct stack perfs;
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;

    if (sfb_recording_reader_open_bytes(&reader, bytes, size, NULL) != SFB_OK)
        fail("the recording cannot be read");
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        const struct sfb_recording_sample *sample = &event.of.sample;

        if (event.kind == SFB_EVENT_MODULES)
            keep_modules(&event.of.modules);
        else if (event.kind == SFB_EVENT_THREAD)
            *AT(all.processes, event.of.thread.id) = event.of.thread.process;
        else if (event.kind == SFB_EVENT_STACK)
            keep_stack(&event.of.stack);
        if (event.kind != SFB_EVENT_SAMPLE)
            continue;
        if (!read_sample(perf, &perfs))
            fail("perf script has fewer samples");
        compare(*AT(all.lists, *AT(all.processes, sample->thread)),
                sample->stack != 0 ? *AT(all.stacks, sample->stack) : &none, &perfs, sample->end);
    }
    sfb_recording_reader_close(reader);
    if (read_sample(perf, &perfs))
        fail("perf script has more samples");
}

int main(int argc, char **argv)
{
    struct perf_import import;
    struct input input;
    char command[4096];
    size_t size;
    void *bytes;
    FILE *perf;
    int fd;

    if (argc != 2 || input_open(&input, argv[1]) != NULL)
        fail("one file");
    fd = memfd_create("compare", MFD_CLOEXEC);
    if (!perf_import(&import, input.data, input.size, argv[1], fd))
        fail(import.why);
    size = (size_t)lseek(fd, 0, SEEK_END);
    bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    snprintf(command, sizeof command,
             "perf script -i '%s' --no-inline --max-stack %d -F tid,time,ip,dso 2>/dev/null",
             argv[1], FRAMES);
    perf = popen(command, "r");
    if (bytes == MAP_FAILED || !perf)
        fail("no memory");
    compare_all(bytes, size, perf);
    pclose(perf);
    printf("%" PRIu64 " samples, %" PRIu64 " equal frames: %" PRIu64 " stacks equal, %" PRIu64
           " longer than perf's, %" PRIu64 " where perf goes wrong, %" PRIu64 " shorter, %" PRIu64
           " different; %" PRIu64 " incomplete, of which %" PRIu64 " cut\n",
           sums.samples, sums.frames, sums.equal, sums.longer, sums.gaps, sums.shorter,
           sums.different, sums.incomplete, import.totals.cut);
    input_free(&input);
    close(fd);
    return sums.shorter + sums.different > 0;
}
