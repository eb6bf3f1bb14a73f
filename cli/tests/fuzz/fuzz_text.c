/*
 * Text from anywhere, read as a memory map, as a map of code that was made at run time, and as a log
 * with backtraces, or with notes of allocations, in it.
 */
#include "fuzz/fuzz.h"

#include <string.h>

#include "cli/log_lines.h"
#include "contrib/lws/lws_lines.h"
#include "contrib/lws/lws_note.h"
#include "symbols/perf_map.h"
#include "symbols/process_maps.h"
#include "util/base64.h"

static void read_maps(const char *text, size_t size)
{
    struct object_maps maps;
    size_t line;

    if (!object_maps_read(&maps, text, size, &line)) {
        for (size_t i = 0; i < maps.mapping_count; i++) {
            const struct object_mapping *m = &maps.mappings[i];

            FUZZ_CHECK(m->start < m->end && m->module < maps.module_count);
            FUZZ_CHECK(i == 0 || maps.mappings[i - 1].end <= m->start);
            FUZZ_CHECK(object_maps_find(&maps, m->start) == m);
            FUZZ_CHECK(object_maps_find(&maps, m->end - 1) == m);
            FUZZ_CHECK(!object_maps_between(&maps, m->start));
        }
    }
    object_maps_free(&maps);
}

static void read_perf_map(const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    struct object_perf_map map;

    if (!copy)
        return;
    memcpy(copy, text, size);
    if (object_perf_map_read(&map, copy, size)) {
        for (size_t i = 0; i < map.count; i++) {
            const struct object_perf_symbol *s = &map.symbols[i];
            const struct object_perf_symbol *found = object_perf_map_find(&map, s->start);

            /* Itself, or a later one. */
            FUZZ_CHECK(found && found >= s && found->start <= s->start);
            FUZZ_CHECK(s->start - found->start < found->size && *s->name);
        }
    }
    object_perf_map_free(&map);
}

/* What is read without a fault is what would be written, but for the numbers that a dump of the heap has behind it. */
static void check_base64(const struct log_line *line, const uint8_t *bytes, size_t size)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);

    if (!to)
        return;
    base64_print(to, bytes, size);
    fclose(to);
    FUZZ_CHECK(length <= line->size && memcmp(text, line->base64, size / 3 * 4) == 0);
    free(text);
}

static void read_log(const struct input *input)
{
    struct log_lines lines;
    struct log_line line;
    size_t last = 0;

    log_lines_begin(&lines, input);
    while (log_lines_next(&lines, &line)) {
        uint8_t *bytes;
        size_t size;
        uint64_t number = 1;

        for (size_t i = 0; i < line.offset; i++)
            number += input->data[i] == '\n';
        FUZZ_CHECK(line.number == number && line.offset >= last);
        FUZZ_CHECK(!memchr(line.before, '\n', line.before_size));
        FUZZ_CHECK(line.before_size <= LOG_LINE_BEFORE);
        last = line.offset + 3 + line.size;
        FUZZ_CHECK(last <= input->size);
        if (!log_line_decode(&line, &bytes, &size))
            check_base64(&line, bytes, size);
        free(bytes);
    }
}

/* Bytes are a note if their last two say so: each that is read has addresses that it has room for. */
static void read_note(const uint8_t *data, size_t size)
{
    const size_t used = size < 0xffff ? size : 0xffff;
    uint8_t *bytes = malloc(used + 2);
    struct lws_note note;

    if (!bytes)
        return;
    memcpy(bytes, data, used);
    bytes[used] = (uint8_t)((used + 2) >> 8);
    bytes[used + 1] = (uint8_t)(used + 2);
    for (int dialect = LWS_ANY; used + 2 <= 0xffff && dialect <= LWS_README; dialect++)
        if (!lws_note_read(&note, bytes, used + 2, (enum lws_dialect)dialect))
            FUZZ_CHECK(note.depth <= LWS_DEPTH_MAX && 8 * used >= 5 + 7 * (size_t)note.depth + 6);
    free(bytes);
}

static bool judge_note(void *user, const struct lws_note *note)
{
    FUZZ_CHECK(note->depth <= LWS_DEPTH_MAX);
    return ++*(size_t *)user < 100;
}

/* A name in the log is not judged: only that the line can be read. */
static void take_report(void *user, enum reported kind, const char *line)
{
    (void)user;
    FUZZ_CHECK(kind == REPORTED_BAD_DATA && strlen(line) < REPORTER_LINE);
}

/* The same text as a log of libwebsockets: notes behind ~m#, and lines that are nothing else. */
static void read_notes(const struct input *input)
{
    const struct reporter reporter = { .take = take_report };

    for (int dialect = LWS_ANY; dialect <= LWS_README; dialect++) {
        size_t notes = 0;

        lws_lines_each(input, (enum lws_dialect)dialect, judge_note, &notes, &reporter);
        FUZZ_CHECK(notes <= 100);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = { .name = "input", .data = malloc(size ? size : 1), .size = size };

    /* A copy of its very size. */
    if (!input.data)
        return 0;
    memcpy(input.data, data, size);
    read_maps((const char *)input.data, size);
    read_perf_map((const char *)input.data, size);
    read_log(&input);
    read_note(input.data, size);
    read_notes(&input);
    free(input.data);
    return 0;
}
