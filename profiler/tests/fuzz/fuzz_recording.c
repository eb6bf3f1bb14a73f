/*
 * Bytes from anywhere as a recording. They are read as they are, and once more with sums that are right: no mutation
 * hits a CRC, and all that lies behind one has to be reached.
 *
 * What is given holds what the header promises: ids that were introduced, stacks that are CBF, texts that end.
 */
#include "fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>

#include "fuzz/seal.h"
#include "sfb/cbf.h"
#include "sfb/recording.h"

enum { IDS = 65536 };

static uint8_t processes[IDS / 8], threads[IDS / 8], stacks[IDS / 8], sites[IDS / 8],
    codes[IDS / 8], awaited[IDS / 8];

static void introduce(uint8_t *ids, uint32_t id)
{
    FUZZ_CHECK(id > 0);
    if (id < IDS)
        ids[id / 8] |= (uint8_t)(1u << id % 8);
}

static void check_known(const uint8_t *ids, uint32_t id)
{
    FUZZ_CHECK(id > 0 && (id >= IDS || (ids[id / 8] & 1u << id % 8)));
}

static void check_none_or_known(const uint8_t *ids, uint32_t id)
{
    if (id != 0)
        check_known(ids, id);
}

/* Reads each byte, so that a sanitizer sees it. */
static void check_bytes(const void *bytes, size_t size)
{
    volatile uint8_t seen = 0;

    for (size_t i = 0; i < size; i++)
        seen = (uint8_t)(seen ^ ((const uint8_t *)bytes)[i]);
}

static void check_text(const char *text)
{
    check_bytes(text, strlen(text) + 1);
}

static void check_stack(const struct sfb_recording_stack *stack)
{
    static const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                            .flags = SFB_CBF_REQUIRE_END };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status;

    check_known(processes, stack->process);
    introduce(stacks, stack->id);
    FUZZ_CHECK(sfb_cbf_decoder_init(&decoder, stack->cbf, stack->size, &options, NULL) == SFB_OK);
    while ((status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK)
        continue;
    FUZZ_CHECK(status == SFB_END);
}

static void check_start(const struct sfb_recording_start *start)
{
    check_text(start->engine_text);
    check_text(start->version);
    check_text(start->host);
    check_bytes(start->command, start->command_size);
}

static void check_process(const struct sfb_recording_process *process)
{
    check_none_or_known(processes, process->parent);
    introduce(processes, process->id);
    check_text(process->program);
    check_bytes(process->arguments, process->arguments_size);
}

static void check_thread(const struct sfb_recording_thread *thread)
{
    check_known(processes, thread->process);
    introduce(threads, thread->id);
    check_text(thread->name);
}

static void check_site(const struct sfb_recording_heap_site *site)
{
    check_known(threads, site->thread);
    check_none_or_known(stacks, site->stack);
    introduce(sites, site->id);
}

static void check_code_frames(const struct sfb_recording_code_frames *calls)
{
    check_known(stacks, calls->stack);
    FUZZ_CHECK(calls->count <= SFB_RECORDING_CODE_FRAMES_MAX);
    for (size_t i = 0; i < calls->count; i++) {
        check_none_or_known(codes, calls->frames[i].code);
        FUZZ_CHECK(i == 0 || calls->frames[i].frame >= calls->frames[i - 1].frame);
    }
}

static void check_event(const struct sfb_recording_event *event)
{
    switch ((enum sfb_recording_kind)event->kind) {
    case SFB_EVENT_START: check_start(&event->of.start); return;
    case SFB_EVENT_PROCESS: check_process(&event->of.process); return;
    case SFB_EVENT_PROCESS_END: check_known(processes, event->of.process_end.id); return;
    case SFB_EVENT_THREAD: check_thread(&event->of.thread); return;
    case SFB_EVENT_THREAD_END: check_known(threads, event->of.thread_end.id); return;
    case SFB_EVENT_MODULES:
        check_known(processes, event->of.modules.process);
        check_bytes(event->of.modules.map, event->of.modules.size);
        return;
    case SFB_EVENT_STACK: check_stack(&event->of.stack); return;
    case SFB_EVENT_SAMPLE:
        check_known(threads, event->of.sample.thread);
        check_none_or_known(stacks, event->of.sample.stack);
        return;
    case SFB_EVENT_WAIT:
        check_known(threads, event->of.wait.thread);
        check_none_or_known(stacks, event->of.wait.stack);
        check_text(event->of.wait.call);
        check_none_or_known(awaited, event->of.wait.awaited);
        check_none_or_known(threads, event->of.wait.holder);
        check_none_or_known(stacks, event->of.wait.holder_stack);
        check_none_or_known(threads, event->of.wait.waker);
        check_none_or_known(stacks, event->of.wait.waker_stack);
        check_text(event->of.wait.waker_name);
        return;
    case SFB_EVENT_MARK: check_text(event->of.mark.name); return;
    case SFB_EVENT_PAUSE:
        if (event->of.pause.paused > 1)
            abort();
        return;
    case SFB_EVENT_AWAITED:
        check_known(processes, event->of.awaited.process);
        introduce(awaited, event->of.awaited.id);
        check_text(event->of.awaited.name);
        return;
    case SFB_EVENT_LOSSES:
        check_none_or_known(processes, event->of.losses.process);
        check_none_or_known(threads, event->of.losses.thread);
        check_text(event->of.losses.text);
        return;
    case SFB_EVENT_FILE:
        check_known(processes, event->of.file.process);
        check_text(event->of.file.name);
        check_bytes(event->of.file.bytes, event->of.file.size);
        return;
    case SFB_EVENT_FINISH: check_text(event->of.finish.reason); return;
    case SFB_EVENT_HEAP: check_known(processes, event->of.heap.process); return;
    case SFB_EVENT_HEAP_SITE: check_site(&event->of.heap_site); return;
    case SFB_EVENT_HEAP_TOTALS: check_known(sites, event->of.heap_totals.site); return;
    case SFB_EVENT_HEAP_STATE: check_known(processes, event->of.heap_state.process); return;
    case SFB_EVENT_CODE:
        check_known(processes, event->of.code.process);
        introduce(codes, event->of.code.id);
        check_text(event->of.code.name);
        check_text(event->of.code.file);
        return;
    case SFB_EVENT_CODE_FRAMES: check_code_frames(&event->of.code_frames); return;
    case SFB_EVENT_HEAP_EVENT:
        check_known(processes, event->of.heap_event.process);
        check_known(sites, event->of.heap_event.site);
        return;
    }
    FUZZ_CHECK(event->kind == SFB_EVENT_FINISH); /* no other kind was left */
}

static void read_all(const uint8_t *data, size_t size)
{
    struct sfb_recording_reader *reader = NULL;
    struct sfb_recording_health health;
    struct sfb_recording_event event;
    struct sfb_error error = { SFB_OK, NULL, 0 };
    enum sfb_status status = sfb_recording_reader_open_bytes(&reader, data, size, &error);
    bool finished = false;

    if (status != SFB_OK) {
        FUZZ_CHECK(error.status == status && error.field != NULL && error.offset <= size);
        return;
    }
    memset(processes, 0, sizeof processes);
    memset(threads, 0, sizeof threads);
    memset(stacks, 0, sizeof stacks);
    memset(sites, 0, sizeof sites);
    memset(codes, 0, sizeof codes);
    memset(awaited, 0, sizeof awaited);
    while ((status = sfb_recording_reader_next(reader, &event)) == SFB_OK) {
        check_event(&event);
        finished |= event.kind == SFB_EVENT_FINISH;
    }
    FUZZ_CHECK(status == SFB_END);
    FUZZ_CHECK(sfb_recording_reader_next(reader, &event) == SFB_END);
    sfb_recording_reader_health(reader, &health);
    FUZZ_CHECK(health.finished == finished && health.size == size);
    FUZZ_CHECK(health.skipped + health.torn <= size && health.skipped_at <= size);
    sfb_recording_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *sealed = malloc(size > 0 ? size : 1);

    FUZZ_CHECK(sealed != NULL);
    read_all(data, size);
    if (size > 0)
        memcpy(sealed, data, size);
    fuzz_seal(sealed, size);
    read_all(sealed, size);
    free(sealed);
    return 0;
}
