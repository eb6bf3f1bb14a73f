/*
 * Traces of apitrace: `sfb report --apitrace`, and `--apitrace-calls` read back. Where Debian's `apitrace` is, it reads both,
 * and has the same calls and stacks.
 */
#include <snappy-c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/compiler.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(tool_apitrace, .init = folder_enter, .fini = folder_remove);

/* --- A trace in the making ----------------------------------------------------------------------- */

struct bytes {
    uint8_t at[1 << 16];
    size_t size;
};

static void put(struct bytes *b, const void *bytes, size_t size)
{
    cr_assert(b->size + size <= sizeof b->at);
    memcpy(b->at + b->size, bytes, size);
    b->size += size;
}

static void byte(struct bytes *b, unsigned value)
{
    const uint8_t one = (uint8_t)value;

    put(b, &one, 1);
}

static void number(struct bytes *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        byte(b, (unsigned)(value & 0x7f) | 0x80);
    byte(b, (unsigned)value);
}

static void text(struct bytes *b, const char *string)
{
    number(b, strlen(string));
    put(b, string, strlen(string));
}

static void head(struct bytes *b)
{
    number(b, 6); /* version */
    number(b, 5);
    text(b, "process.name");
    text(b, "/bin/prog");
    text(b, "os");
    text(b, "Linux");
    text(b, "");
}

static void enter(struct bytes *b, unsigned thread, unsigned function, const char *name,
                  unsigned arguments)
{
    byte(b, 0);
    number(b, thread);
    number(b, function);
    if (!name)
        return;
    text(b, name);
    number(b, arguments);
    for (unsigned i = 0; i < arguments; i++)
        text(b, "argument");
}

static void frame(struct bytes *b, unsigned id, const char *module, const char *function,
                  const char *file, unsigned line)
{
    number(b, id);
    byte(b, 1), text(b, module);
    if (function)
        byte(b, 2), text(b, function);
    if (file) {
        byte(b, 3), text(b, file);
        byte(b, 4), number(b, line);
    }
    byte(b, 5), number(b, 0x1234);
    byte(b, 0);
}

/* Its end, and the call's return. */
static void leave(struct bytes *b, unsigned call)
{
    byte(b, 0);
    byte(b, 1), number(b, call);
    byte(b, 2), byte(b, 2); /* it returned true */
    byte(b, 0);
}

/* Each kind of value, and declarations that are used again. */
static void put_values(struct bytes *b)
{
    byte(b, 1), number(b, 0);           /* argument 0 */
    byte(b, 0xb), number(b, 11);        /* an array of 11 */
    byte(b, 0), byte(b, 1);             /* null, false */
    byte(b, 3), number(b, 300);         /* -300 */
    byte(b, 5), put(b, "\0\0\x80?", 4); /* 1.0 */
    byte(b, 6), put(b, "\0\0\0\0\0\0\xf0?", 8);
    byte(b, 7), text(b, "a string");
    byte(b, 8), number(b, 3), put(b, "\1\2\3", 3);
    byte(b, 0xf), number(b, 2), number(b, 0x1f600), number(b, 65);
    byte(b, 0xd), number(b, UINT64_MAX);
    byte(b, 0xe), byte(b, 7), text(b, "for people"), byte(b, 4), number(b, 1);
    byte(b, 0xb), number(b, 0); /* an empty array */
    for (int twice = 0; twice < 2; twice++) {
        byte(b, 1), number(b, 1);
        byte(b, 0xc), number(b, 7); /* structure 7, within it an enum and a mask */
        if (twice == 0)
            text(b, "struct"), number(b, 2), text(b, "one"), text(b, "two");
        byte(b, 9), number(b, 1000000);
        if (twice == 0) {
            number(b, 2);
            text(b, "GL_NONE"), byte(b, 4), number(b, 0);
            text(b, "GL_LESS"), byte(b, 3), number(b, 1);
        }
        byte(b, 4), number(b, 0);
        byte(b, 0xa), number(b, 3);
        if (twice == 0)
            number(b, 1), text(b, "BIT"), number(b, 1);
        number(b, 1);
    }
}

/* Five calls of the program in two threads, and one of apitrace. */
static void put_calls(struct bytes *b)
{
    enter(b, 0, 3, "glDraw", 2);
    put_values(b);
    byte(b, 4), number(b, 2);
    frame(b, 9, "/bin/prog", "sky", "sky.c", 12);
    frame(b, 2, "/bin/prog", "main", "main.c", 7);
    leave(b, 0);
    enter(b, 0, 3, NULL, 0);
    byte(b, 4), number(b, 2), number(b, 9), number(b, 2);
    leave(b, 1);
    enter(b, 1, 0, "glFlush", 0);
    byte(b, 4), number(b, 1);
    frame(b, 70000, "/lib/libdraw.so", NULL, NULL, 0);
    leave(b, 2);
    enter(b, 1, 4, "glViewport", 0);
    byte(b, 5), number(b, 1); /* apitrace made it */
    leave(b, 3);
    enter(b, 1, 0, NULL, 0);
    leave(b, 4);
    enter(b, 0, 0, NULL, 0); /* the program ended within it */
    byte(b, 0);
}

/* In chunks of so many bytes. */
static void save(const char *path, const struct bytes *b, size_t chunk)
{
    FILE *to = fopen(path, "w");

    cr_assert(to != NULL);
    fputs("at", to);
    for (size_t at = 0; at < b->size; at += chunk) {
        const size_t part = b->size - at < chunk ? b->size - at : chunk;
        size_t size = snappy_max_compressed_length(part);
        char *packed = malloc(size);

        cr_assert(packed &&
                  snappy_compress((const char *)b->at + at, part, packed, &size) == SNAPPY_OK);
        for (unsigned i = 0; i < 4; i++)
            putc((int)(size >> 8 * i & 0xff), to);
        fwrite(packed, 1, size, to);
        free(packed);
    }
    cr_assert(fclose(to) == 0);
}

static void expect(const char *line, int status, const char *out, const char *err)
{
    struct run run = run_line("SFB='%s'; %s", SFB_TOOL, line);

    cr_expect(eq(int, run.status, status), "%s: status %d: %s", line, run.status, run.err);
    run_expect_text(line, run.out, out);
    run_expect_text(line, run.err, err);
    run_free(&run);
}

#define BARE                                                                                       \
    "sfb: t.trace: 2 calls are without a stack: APITRACE_BACKTRACE='*' apitrace trace takes "      \
    "them\n"
#define FOLDED                                                                                     \
    "thread 0;glFlush 1\n"                                                                         \
    "thread 0;main;sky;glDraw 2\n"                                                                 \
    "thread 1;[0x1234];glFlush 1\n"                                                                \
    "thread 1;glFlush 1\n"

Test(tool_apitrace, has_calls_with_their_stacks)
{
    struct bytes b = { .size = 0 };

    head(&b);
    put_calls(&b);
    for (size_t chunk = 1; chunk <= sizeof b.at; chunk *= 16) {
        save("t.trace", &b, chunk);
        expect("$SFB report --apitrace t.trace --folded | LC_ALL=C sort", 0, FOLDED, BARE);
    }
    expect("$SFB report --list sky t.trace 2>&1 | grep -c '40.00 *12'", 0, "1\n", "");
    expect("$SFB report --top t.trace 2>&1 | grep libdraw", 0,
           "            0     0.00              1    20.00  [0x1234] (libdraw.so)\n", "");
}

/* --- What is damaged ----------------------------------------------------------------------------- */

Test(tool_apitrace, says_where_a_trace_is_damaged)
{
    struct bytes good = { .size = 0 }, b;
    char err[300];

    head(&good);
    put_calls(&good);
    b = good;
    byte(&b, 7);
    save("t.trace", &b, sizeof b.at);
    snprintf(err, sizeof err,
             "sfb: t.trace: damaged: an event of no known kind: at byte %zu of the trace, in the "
             "chunk at byte 2 of the file\n" BARE,
             b.size);
    expect("$SFB report t.trace --folded | LC_ALL=C sort", 0, FOLDED, err);
    expect("$SFB report t.trace --folded >out 2>err", 1, "", "");
    b.size = 0;
    number(&b, 7);
    save("t.trace", &b, sizeof b.at);
    expect("$SFB report t.trace --folded", 1, "",
           "sfb: t.trace: damaged: a trace of a later version: at byte 1 of the trace, in the "
           "chunk at byte 2 of the file\n");
    b = good;
    byte(&b, 0), number(&b, 0), number(&b, 0); /* glFlush */
    byte(&b, 1), number(&b, 0);
    for (int i = 0; i < 100; i++)
        byte(&b, 0xb), number(&b, 1);
    save("t.trace", &b, sizeof b.at);
    expect("$SFB report t.trace --folded 2>&1 | grep -c 'more than 64 deep'", 0, "1\n", "");
    expect("head -c 40 t.trace >cut; $SFB report cut --folded", 1, "",
           "sfb: cut: damaged: the file ends within a chunk: at byte 0 of the trace, in the chunk "
           "at byte 2 of the file\n");
    expect("printf 'at\\4\\0\\0\\0aaaaa' >t; $SFB report t --folded 2>&1 | grep -c 'chunk'", 0,
           "1\n", "");
}

/* Numbers that a file claims cost nothing until there are bytes for them. */
Test(tool_apitrace, believes_no_count)
{
    static const struct {
        const char *name;
        uint8_t kind; /* of a detail, or of a value: then with its argument */
        bool value;
    } cases[] = { { "frames", 4, false },
                  { "an array", 0xb, true },
                  { "a string", 7, true },
                  { "a wide string", 0xf, true } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b = { .size = 0 };
        struct run run;

        head(&b);
        enter(&b, 0, 0, "glFlush", 1);
        if (cases[i].value)
            byte(&b, 1), number(&b, 0);
        byte(&b, cases[i].kind), number(&b, UINT64_MAX - 1);
        save("t.trace", &b, sizeof b.at);
        /* A sanitizer reserves address space. */
        run = run_line("%sulimit -t 5; '%s' report t.trace --folded",
                       sanitized() ? "" : "ulimit -v 400000; ", SFB_TOOL);
        cr_expect(eq(int, run.status, 1), "%s: status %d: %s", cases[i].name, run.status, run.err);
        cr_expect(eq(sz, run_count_lines(run.err), 1), "%s: %s", cases[i].name, run.err);
        run_free(&run);
    }
}

/* --- What is written ----------------------------------------------------------------------------- */

Test(tool_apitrace, reads_what_it_writes)
{
    struct bytes b = { .size = 0 };
    struct run run;

    head(&b);
    put_calls(&b);
    save("t.trace", &b, sizeof b.at);
    expect("$SFB report t.trace --apitrace-calls calls.trace", 0, "", BARE);
    expect("$SFB report calls.trace --folded | LC_ALL=C sort -r", 0,
           "thread 2;glFlush;sample 1\n"
           "thread 2;[0x1234];glFlush;sample 1\n"
           "thread 1;main;sky;glDraw;sample 1\n"
           "thread 1;glFlush;sample 1\n",
           "");
    run = run_line("command -v apitrace");
    if (run.status != 0)
        fprintf(stderr, "not compared with apitrace: it is not installed (apt install apitrace)\n");
    else {
        expect("apitrace dump --color=never t.trace | grep -v ^Backt | sed -n '$p'", 0,
               "5 glFlush() // incomplete\n", "");
        expect("apitrace dump --color=never calls.trace | grep -v '^//'", 0,
               "0 sample(samples = 2, calls = 2)\nBacktrace:\n[call]: glDraw\n"
               "/bin/prog: sky: sky.c:12\n/bin/prog: main: main.c:7\n"
               "1 sample(samples = 1, calls = 1)\nBacktrace:\n[call]: glFlush\n"
               "/lib/libdraw.so: [0x1234]\n"
               "2 sample(samples = 1, calls = 1)\nBacktrace:\n[call]: glFlush\n"
               "3 sample(samples = 1, calls = 1)\nBacktrace:\n[call]: glFlush\n",
               "");
    }
    run_free(&run);
}
