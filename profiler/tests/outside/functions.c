/* Functions of Python, seen from outside: a process that makes new ones without end fills no memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/collector/outside/outside_python.h"
#include "sfb/cbf.h"
#include "support/test.h"

enum { FUNCTIONS = 500, NAME = 1000, STACKS = 150, BYTES_MAX = 64 << 20 };

static struct outside outside;

static void begin(void)
{
    const struct sfb_recording_start start = {
        .engine_text = "", .version = "", .host = "", .command = ""
    };
    const struct sfb_recording_process process = {
        .id = 1, .pid = 7, .program = "x", .arguments = ""
    };
    const int fd = memfd_create("functions", MFD_CLOEXEC);

    cr_assert_eq(sfb_recording_writer_open(&outside.how.writer, fd, &start, NULL), SFB_OK);
    cr_assert_eq(sfb_recording_put_process(outside.how.writer, &process), SFB_OK);
}

/* A stack whose innermost C frame runs as many functions, each with a name that no other stack has. */
static void put_stack(unsigned number)
{
    static struct outside_python python = { .sp = { 50, 200 } };
    struct remote_python_stack read = { .count = FUNCTIONS };
    struct sfb_cbf_encoder encoder;
    uint8_t cbf[16];
    uint32_t id;

    read.frames = calloc(FUNCTIONS, sizeof *read.frames);
    read.texts = calloc(FUNCTIONS, NAME);
    cr_assert(read.frames && read.texts);
    read.text_size = FUNCTIONS * NAME;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        read.frames[i] = (struct remote_python_frame){ .anchor = 100, .file = 0 };
        read.frames[i].name = i * NAME;
        snprintf(read.texts + i * NAME, NAME, "%0*zu", NAME - 1, number * (size_t)FUNCTIONS + i);
    }
    read.frames[0].file = NAME - 1; /* "" */
    sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 8 * sizeof(void *));
    sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, 0x1000);
    sfb_cbf_encoder_put(&encoder, SFB_FRAME_RA, 0x2000);
    outside.cbf = cbf;
    python.read = &read;
    cr_assert(
        outside_python_put(&outside, 1, &python, sfb_cbf_encoder_end(&encoder, false), 2, &id));
    remote_python_free(&read);
}

Test(functions, without_end_are_not_kept)
{
    size_t before;

    begin();
    for (unsigned i = 0; i < STACKS; i++)
        put_stack(i);
    before = outside.codes.all.count;
    cr_expect(all(ge(sz, before, 10000), le(sz, before, STACKS * FUNCTIONS - FUNCTIONS)));
    cr_expect(
        all(ge(sz, outside.code_bytes, BYTES_MAX / 2), le(sz, outside.code_bytes, BYTES_MAX)));
    put_stack(0);
    put_stack(STACKS);
    cr_expect(eq(sz, outside.codes.all.count, before));
    cr_expect_eq(sfb_recording_writer_close(outside.how.writer, 1, "test"), SFB_OK);
    report_strings_free(&outside.codes);
}
