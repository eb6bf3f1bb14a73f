/* Memory maps of processes, and maps of code made at run time: symbols/process_maps.h, perf_map.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "symbols/perf_map.h"
#include "symbols/process_maps.h"

static const char *read_maps(struct object_maps *out, const char *text, size_t *line)
{
    return object_maps_read(out, text, strlen(text), line);
}

#define PROGRAM                                                                                    \
    "55d000000000-55d000001000 r--p 00000000 08:01 100                        /usr/bin/prog\n"     \
    "55d000001000-55d000003000 r-xp 00001000 08:01 100                        /usr/bin/prog\n"     \
    "55d000003000-55d000004000 rw-p 00003000 08:01 100                        /usr/bin/prog\n"     \
    "55d000010000-55d000020000 rw-p 00000000 00:00 0                          [heap]\n"
#define LIBRARIES                                                                                  \
    "7f0000000000-7f0000001000 r-xp 00000000 08:01 7                          /lib/a b.so "        \
    "(deleted)\n"                                                                                  \
    "7f0000002000-7f0000003000 rw-p 00000000 08:01 7                          /lib/a b.so "        \
    "(deleted)\n"                                                                                  \
    "7f0000003000-7f0000004000 r-xp 00000000 00:2d 8                          /n\\012l.so\n"       \
    "7f0000004000-7f0000005000 r-xp 00000000 00:01 9                          /memfd:jit "         \
    "(deleted)\n"                                                                                  \
    "7f0000005000-7f0000006000 r-xp 00000000 00:00 0 \n"                                           \
    "7ffe00000000-7ffe00002000 r-xp 00000000 00:00 0                          [vdso]\n"            \
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"

Test(object_maps, are_read_as_files_and_mappings)
{
    static const struct {
        uint64_t address;
        const char *path; /* NULL: none */
        uint64_t offset;  /* of the mapping */
    } cases[] = {
        { 0x55d000000000, "/usr/bin/prog", 0 },
        { 0x55d000001fff, "/usr/bin/prog", 0x1000 },
        { 0x55d000003fff, "/usr/bin/prog", 0x3000 },
        { 0x55d000004000, NULL, 0 },
        { 0x55d000010000, NULL, 0 },
        { 0x54d000000000, NULL, 0 },
        { 0x7f0000000000, "/lib/a b.so", 0 },
        { 0x7f0000001000, NULL, 0 },
        { 0x7f0000002000, "/lib/a b.so", 0 },
        { 0x7f0000003000, "/n\nl.so", 0 },
        { 0x7f0000004000, "/memfd:jit", 0 },
        { 0x7f0000005000, NULL, 0 },
        { 0x7ffe00001fff, "[vdso]", 0 },
        { 0x7ffe00002000, NULL, 0 },
        { 0xffffffffff600000, NULL, 0 },
        { UINT64_MAX, NULL, 0 },
    };
    struct object_maps maps;
    size_t line;

    cr_assert(read_maps(&maps, PROGRAM LIBRARIES, &line) == NULL);
    cr_expect(eq(sz, maps.module_count, 5));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct object_mapping *m = object_maps_find(&maps, cases[i].address);

        cr_expect(eq(int, m != NULL, cases[i].path != NULL), "0x%lx", cases[i].address);
        if (m && cases[i].path) {
            cr_expect(strcmp(maps.modules[m->module].path, cases[i].path) == 0, "0x%lx: %s",
                      cases[i].address, maps.modules[m->module].path);
            cr_expect(eq(u64, m->offset, cases[i].offset));
        }
    }
    cr_expect(eq(int, maps.modules[0].deleted, 0));
    cr_expect(eq(int, maps.modules[1].deleted, 1));
    cr_expect(eq(u64, maps.modules[2].device, 0x2d));
    cr_expect(eq(u64, maps.modules[0].inode, 100));
    object_maps_free(&maps);
}

Test(object_maps, know_what_lies_between_two_mappings_of_a_file)
{
    struct object_maps maps;
    size_t line;

    cr_assert(read_maps(&maps, PROGRAM LIBRARIES, &line) == NULL);
    cr_expect(object_maps_between(&maps, 0x7f0000001000) == &maps.mappings[3]);
    cr_expect(object_maps_between(&maps, 0x7f0000000000) == NULL); /* in one */
    cr_expect(object_maps_between(&maps, 0x55d000010000) == NULL); /* other files */
    cr_expect(object_maps_between(&maps, 0) == NULL);
    cr_expect(object_maps_between(&maps, UINT64_MAX) == NULL);
    object_maps_free(&maps);
}

Test(object_maps, say_which_line_is_wrong)
{
    static const struct {
        const char *text;
        size_t line;
    } cases[] = {
        { "", 0 },
        { "\n", 1 },
        { PROGRAM "\n", 5 },
        { PROGRAM "x", 5 },
        { PROGRAM "55d000000000-55d000001000 r--p 0 0:0 0\n", 5 }, /* back again */
        { "2000-1000 r--p 00000000 08:01 1 /x\n", 1 },
        { "1000-1000 r--p 00000000 08:01 1 /x\n", 1 },
        { "1000-2000 r--p 00000000 08:01 1/x\n", 1 },
        { "1000-2000 r--p 00000000 0801 1 /x\n", 1 },
        { "1000-2000 r--p 00000000 08:01 99999999999999999999999 /x\n", 1 },
        { "10000000000000000-20000000000000000 r--p 00000000 08:01 1 /x\n", 1 },
        { "1000-2000 r--p", 1 },
        { "1000-2000 r", 1 },
        { "1000-", 1 },
        { "-2000 r--p 00000000 08:01 1 /x\n", 1 },
        { "\177ELF\002\001\001", 1 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct object_maps maps;
        size_t line = 99;

        cr_expect(read_maps(&maps, cases[i].text, &line) != NULL, "%zu", i);
        cr_expect(eq(sz, line, cases[i].line), "%zu", i);
        object_maps_free(&maps);
    }
}

/* --- code made at run time -------------------------------------------------------------------- */

static void read_perf(struct object_perf_map *out, const char *text)
{
    char *copy = malloc(strlen(text) + 1);

    memcpy(copy, text, strlen(text));
    cr_assert(eq(int, object_perf_map_read(out, copy, strlen(text)), 1));
}

static const char *name_at(const struct object_perf_map *map, uint64_t address)
{
    const struct object_perf_symbol *s = object_perf_map_find(map, address);

    return s ? s->name : "-";
}

Test(perf_map, takes_the_last_line_of_an_address)
{
    struct object_perf_map map;

    read_perf(&map, "1000 100 old\n"
                    "1040 10 in the middle\n"
                    "2000 10 first\n"
                    "2000 10 second\n"
                    "1ff0 20 over both\n"
                    "0x3000 0x10 LazyCompile:*f /x y.js:1:2\n"
                    "10f0 20 over the end");
    cr_expect(strcmp(name_at(&map, 0xfff), "-") == 0);
    cr_expect(strcmp(name_at(&map, 0x1000), "old") == 0);
    cr_expect(strcmp(name_at(&map, 0x103f), "old") == 0);
    cr_expect(strcmp(name_at(&map, 0x1040), "in the middle") == 0);
    cr_expect(strcmp(name_at(&map, 0x1050), "old") == 0);
    cr_expect(strcmp(name_at(&map, 0x10f0), "over the end") == 0);
    cr_expect(strcmp(name_at(&map, 0x110f), "over the end") == 0);
    cr_expect(strcmp(name_at(&map, 0x1110), "-") == 0);
    cr_expect(strcmp(name_at(&map, 0x1ff0), "over both") == 0);
    cr_expect(strcmp(name_at(&map, 0x200f), "over both") == 0);
    cr_expect(strcmp(name_at(&map, 0x2010), "-") == 0);
    cr_expect(strcmp(name_at(&map, 0x300f), "LazyCompile:*f /x y.js:1:2") == 0);
    cr_expect(eq(u64, object_perf_map_find(&map, 0x1060)->start, 0x1000));
    cr_expect(eq(sz, map.bad_lines, 0));
    object_perf_map_free(&map);
}

Test(perf_map, passes_over_lines_that_say_nothing)
{
    struct object_perf_map map;

    read_perf(&map, "1000 10 good\n"
                    "\n"
                    "1000 10\n"
                    "1000 10 \n"
                    "1000 0 nothing\n"
                    "g000 10 bad\n"
                    "-1000 10 bad\n"
                    "10000000000000000 10 bad\n"
                    "ffffffffffffffff 10 bad\n"
                    "1000\t10\tbad\n"
                    "2000 10 good, too\n");
    cr_expect(eq(sz, map.bad_lines, 9));
    cr_expect(eq(sz, map.first_bad, 2));
    cr_expect(strcmp(name_at(&map, 0x1000), "good") == 0);
    cr_expect(strcmp(name_at(&map, 0x2000), "good, too") == 0);
    object_perf_map_free(&map);
    read_perf(&map, "");
    cr_expect(object_perf_map_find(&map, 0) == NULL);
    object_perf_map_free(&map);
}

/* Any numbers, the same each time. */
static int next_number(uint32_t *state, int below)
{
    *state = *state * 1664525 + 1013904223;
    return (int)((*state >> 8) % (uint32_t)below);
}

/* Against what painting each address by itself gives. */
Test(perf_map, agrees_with_painting)
{
    enum { SPAN = 300, LINES = 200, ROUNDS = 30 };
    uint32_t state = 1;

    for (int round = 0; round < ROUNDS; round++) {
        int painted[SPAN + 64] = { 0 };
        char text[LINES * 24], *at = text;
        struct object_perf_map map;

        for (int i = 1; i <= LINES; i++) {
            const int start = next_number(&state, SPAN),
                      size = 1 + next_number(&state, round < 15 ? 60 : 5);

            at += sprintf(at, "%x %x n%d\n", start, size, i);
            for (int k = start; k < start + size; k++)
                painted[k] = i;
        }
        read_perf(&map, text);
        for (int k = 0; k < SPAN + 64; k++) {
            char want[16] = "-";

            if (painted[k])
                snprintf(want, sizeof want, "n%d", painted[k]);
            cr_expect(strcmp(name_at(&map, (uint64_t)k), want) == 0, "round %d, %d: %s, not %s",
                      round, k, name_at(&map, (uint64_t)k), want);
        }
        object_perf_map_free(&map);
    }
}
