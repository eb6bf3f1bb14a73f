#include "contrib/apitrace/apitrace_recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/abi.h"
#include "sfb/cbf.h"
#include "util/grow.h"
#include "util/index.h"

enum { THREADS_MOST = 1 << 16, PROCESS = 1 };

/* Addresses of frames are even, and of called functions odd; 0 is not used. */
enum { FRAME_FIRST = 2, FUNCTION_FIRST = 3, STRIDE = 2 };

/* --- The recording ------------------------------------------------------------------------------- */

struct recording {
    struct sfb_recording_writer *writer;
    struct apitrace_totals *totals;
    struct report_index threads; /* by their numbers in the trace: ids less 1 */
    bool begun;                  /* it has its process */
    uint64_t end;
    uint8_t *cbf;
    size_t room;
    const char *why; /* it ended; NULL: it did not */
};

static bool fail(struct recording *r, const char *why)
{
    if (!r->why)
        r->why = why;
    return false;
}

static bool put(struct recording *r, enum sfb_status status)
{
    const int error = status != SFB_OK && r->writer ? sfb_recording_writer_errno(r->writer) : 0;

    return status == SFB_OK || fail(r, error ? strerror(error) : sfb_status_str(status));
}

static bool put_process(struct recording *r, const struct apitrace *trace)
{
    const struct sfb_recording_process process = { .id = PROCESS,
                                                   .program = trace->program ? trace->program : "",
                                                   .arguments = "" };

    if (r->begun)
        return true;
    r->begun = true;
    return put(r, sfb_recording_put_process(r->writer, &process));
}

/* @return the id; 0: a fault */
static uint32_t thread_of(struct recording *r, const struct apitrace_call *call)
{
    const uint32_t next = (uint32_t)r->threads.count;
    struct sfb_recording_thread thread = { .process = PROCESS,
                                           .tid = (uint32_t)call->thread,
                                           .engine = SFB_ENGINE_CALLS,
                                           .time = call->number };
    char name[40];
    uint32_t number;
    bool found;

    if (!report_index_find(&r->threads, call->thread, 0, next, &number, &found)) {
        fail(r, strerror(ENOMEM));
        return 0;
    }
    if (found)
        return number + 1;
    if (number == THREADS_MOST) {
        fail(r, "more than 65536 threads");
        return 0;
    }
    snprintf(name, sizeof name, "thread %" PRIu64, call->thread);
    thread.id = number + 1;
    thread.name = name;
    return put(r, sfb_recording_put_thread(r->writer, &thread)) ? thread.id : 0;
}

static bool put_stack(struct recording *r, const struct apitrace_call *call, uint32_t *out)
{
    const size_t most = SFB_CBF_SIZE_MIN + (call->count + 1) * SFB_CBF_FRAME_SIZE_MAX;
    struct sfb_cbf_encoder encoder;

    if (!array_make_room_for(&r->cbf, &r->room, most))
        return fail(r, strerror(ENOMEM));
    sfb_cbf_encoder_init(&encoder, r->cbf, most, 64);
    sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, FUNCTION_FIRST + (uint64_t)STRIDE * call->function);
    for (size_t i = 0; i < call->count; i++)
        sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC,
                            FRAME_FIRST + (uint64_t)STRIDE * call->frames[i]);
    return put(r, sfb_recording_put_stack(r->writer, out, PROCESS, r->cbf,
                                          sfb_cbf_encoder_end(&encoder, false)));
}

static bool put_call(void *user, const struct apitrace *trace, const struct apitrace_call *call)
{
    struct recording *r = user;
    struct sfb_recording_sample sample = {
        .time = call->number, .weight = 1, .engine = SFB_ENGINE_CALLS, .end = SFB_END
    };

    r->end = call->number;
    if (call->fake)
        return true;
    if (!put_process(r, trace) || (sample.thread = thread_of(r, call)) == 0 ||
        !put_stack(r, call, &sample.stack) || !put(r, sfb_recording_put_sample(r->writer, &sample)))
        return false;
    r->totals->calls++;
    r->totals->bare += call->count == 0;
    return true;
}

static void say_fault(struct apitrace_totals *totals, const struct apitrace *trace)
{
    snprintf(totals->fault, sizeof totals->fault,
             "damaged: %s: at byte %" PRIu64 " of the trace, in the chunk at byte %zu of the file",
             trace->why, trace->byte, trace->chunk);
}

bool apitrace_record(struct apitrace *trace, struct apitrace_totals *totals, const uint8_t *file,
                     size_t size, const char *path, uint64_t written, int fd)
{
    const struct sfb_recording_start start = { .realtime = written,
                                               .engine = SFB_ENGINE_CALLS,
                                               .abi = SFB_ABI_AMD64_LE,
                                               .engine_text = "apitrace",
                                               .version = "apitrace",
                                               .host = "",
                                               .command = path,
                                               .command_size = strlen(path) + 1 };
    struct recording r = { .totals = totals };
    enum sfb_status status;
    bool good;

    *totals = (struct apitrace_totals){ .calls = 0 };
    *trace = (struct apitrace){ .program = NULL };
    good = put(&r, sfb_recording_writer_open(&r.writer, fd, &start, NULL));
    if (good) {
        apitrace_read(trace, file, size, put_call, &r);
        if (!r.why)
            put_process(&r, trace);
        status = sfb_recording_writer_close(r.writer, r.end + 1, "the program ended");
        r.writer = NULL;
        good = put(&r, status) && !r.why;
    }
    if (!good)
        snprintf(totals->fault, sizeof totals->fault, "%s", r.why);
    else if (trace->why)
        say_fault(totals, trace);
    report_index_free(&r.threads);
    free(r.cbf);
    return good;
}

/* --- Its names ----------------------------------------------------------------------------------- */

static bool use(void *user, const struct report_data *data, uint32_t process, uint32_t list)
{
    (void)user;
    (void)data;
    (void)process;
    (void)list;
    return true;
}

/* @return the frame of an address; NULL: it is of a function that was called */
static const struct apitrace_frame *frame_at(const struct apitrace *trace, uint64_t address)
{
    return address % STRIDE == FRAME_FIRST % STRIDE
               ? &trace->frames.at[(address - FRAME_FIRST) / STRIDE]
               : NULL;
}

static void place(void *user, uint64_t address, struct report_place *out)
{
    const struct apitrace *trace = user;
    const struct apitrace_frame *frame = frame_at(trace, address);

    *out = (struct report_place){ .kind = REPORT_MADE,
                                  .path = frame ? apitrace_text(trace, frame->module) : "[call]" };
}

/* @return NULL: the text is not known */
static const char *known(const struct apitrace *trace, uint32_t string)
{
    const char *text = apitrace_text(trace, string);

    return text[0] ? text : NULL;
}

static void find(void *user, uint64_t address, void (*visit)(void *, const struct report_named *),
                 void *visit_user)
{
    const struct apitrace *trace = user;
    const struct apitrace_frame *frame = frame_at(trace, address);
    struct report_named named = { .name = NULL };

    if (frame) {
        named.name = known(trace, frame->function);
        named.file = known(trace, frame->file);
        named.line = frame->line <= UINT32_MAX ? (uint32_t)frame->line : 0;
        if (!named.name && frame->offset == 0)
            named.name = "[unknown]";
        named.start = named.name ? 0 : frame->offset; /* what has no name is named by it */
    } else {
        const size_t function = (size_t)((address - FUNCTION_FIRST) / STRIDE);

        named.name = known(trace, trace->functions.at[function]);
    }
    visit(visit_user, &named);
}

struct report_namer apitrace_namer(const struct apitrace *trace)
{
    return (struct report_namer){
        .user = (void *)(uintptr_t)trace, .use = use, .place = place, .find = find
    };
}
