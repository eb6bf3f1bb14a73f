#include "profiler/format/bodies_get.h"

#include "base/leb128.h"
#include "profiler/format/body_parts.h"
#include "profiler/format/heap_bodies_get.h"

/* Texts of an event. They move while their buffer grows, so pointers to them are made at the end. */
struct texts {
    struct sfb_bytes *bytes;
    struct {
        const char **out;
        size_t at;
    } places[5];
    size_t count;
};

static size_t add(struct texts *t, struct sfb_reader *body, const char **out)
{
    size_t size;
    const void *from = sfb_body_bytes(body, &size);

    t->places[t->count].out = out;
    t->places[t->count++].at = t->bytes->size;
    sfb_bytes_put(t->bytes, from, size);
    sfb_bytes_put_u8(t->bytes, 0);
    return size;
}

/* What a recording of an earlier version does not have. */
static size_t add_nothing(struct texts *t, const char **out)
{
    t->places[t->count].out = out;
    t->places[t->count++].at = t->bytes->size;
    sfb_bytes_put_u8(t->bytes, 0);
    return 0;
}

static void point(const struct texts *t)
{
    for (size_t i = 0; i < t->count; i++)
        *t->places[i].out = (const char *)t->bytes->at + t->places[i].at;
}

static void read_start(struct sfb_recording_start *e, struct sfb_reader *body, struct texts *texts)
{
    e->monotonic = sfb_reader_uleb(body);
    e->realtime = sfb_reader_uleb(body);
    e->tick_ns = sfb_reader_uleb(body);
    e->rate_hz = sfb_body_u32(body);
    e->engine = sfb_body_u32(body);
    e->recorder_pid = sfb_body_u32(body);
    e->abi = sfb_body_u32(body);
    add(texts, body, &e->engine_text);
    add(texts, body, &e->version);
    add(texts, body, &e->host);
    e->command_size = add(texts, body, &e->command);
    e->labels_size = body->left > 0 ? add(texts, body, &e->labels) : add_nothing(texts, &e->labels);
}

static void read_process(struct sfb_recording_process *e, struct sfb_reader *body,
                         struct texts *texts)
{
    e->id = sfb_body_u32(body);
    e->parent = sfb_body_u32(body);
    e->pid = sfb_body_u32(body);
    e->parent_pid = sfb_body_u32(body);
    e->how = sfb_body_u32(body);
    e->time = sfb_reader_uleb(body);
    e->cpu_ns = sfb_reader_uleb(body);
    add(texts, body, &e->program);
    e->arguments_size = add(texts, body, &e->arguments);
}

static void read_process_end(struct sfb_recording_process_end *e, struct sfb_reader *body)
{
    e->id = sfb_body_u32(body);
    e->end = sfb_body_u32(body);
    e->status = sfb_body_u32(body);
    e->time = sfb_reader_uleb(body);
    e->cpu_ns = sfb_reader_uleb(body);
    e->unsampled_ns = sfb_reader_uleb(body);
}

static void read_thread(struct sfb_recording_thread *e, struct sfb_reader *body,
                        struct texts *texts)
{
    e->id = sfb_body_u32(body);
    e->process = sfb_body_u32(body);
    e->tid = sfb_body_u32(body);
    e->engine = sfb_body_u32(body);
    e->time = sfb_reader_uleb(body);
    add(texts, body, &e->name);
    e->idle = body->left > 0 ? sfb_body_u32(body) : 0;
}

static void read_thread_end(struct sfb_recording_thread_end *e, struct sfb_reader *body)
{
    e->id = sfb_body_u32(body);
    e->time = sfb_reader_uleb(body);
    e->cpu_ns = sfb_reader_uleb(body);
    e->unsampled_ns = sfb_reader_uleb(body);
}

static void read_modules(struct sfb_recording_modules *e, struct sfb_reader *body)
{
    e->process = sfb_body_u32(body);
    e->time = sfb_reader_uleb(body);
    e->map = sfb_body_bytes(body, &e->size);
}

static void read_awaited_part(struct sfb_recording_wait *e, struct sfb_reader *body)
{
    if (body->left == 0) {
        e->awaited = e->holder = e->holder_stack = 0;
        e->since = 0;
        return;
    }
    e->awaited = sfb_body_u32(body);
    e->since = sfb_reader_uleb(body);
    e->holder = sfb_body_u32(body);
    e->holder_stack = sfb_body_u32(body);
}

static void read_waker(struct sfb_recording_wait *e, struct sfb_reader *body, struct texts *texts)
{
    if (body->left == 0) {
        e->waker = e->waker_stack = 0;
        add_nothing(texts, &e->waker_name);
        return;
    }
    e->waker = sfb_body_u32(body);
    e->waker_stack = sfb_body_u32(body);
    add(texts, body, &e->waker_name);
}

static void read_wait(struct sfb_recording_wait *e, struct sfb_reader *body, struct texts *texts)
{
    e->thread = sfb_body_u32(body);
    e->stack = sfb_body_u32(body);
    e->time = sfb_reader_uleb(body);
    e->weight = sfb_reader_uleb(body);
    e->state = sfb_body_u32(body);
    e->end = sfb_body_u32(body);
    add(texts, body, &e->call);
    read_awaited_part(e, body);
    read_waker(e, body, texts);
}

static void read_awaited(struct sfb_recording_awaited *e, struct sfb_reader *body,
                         struct texts *texts)
{
    e->id = sfb_body_u32(body);
    e->process = sfb_body_u32(body);
    e->kind = sfb_body_u32(body);
    e->address = sfb_reader_uleb(body);
    e->start = sfb_reader_uleb(body);
    add(texts, body, &e->name);
}

static void read_mark(struct sfb_recording_mark *e, struct sfb_reader *body, struct texts *texts)
{
    e->time = sfb_reader_uleb(body);
    add(texts, body, &e->name);
}

static void read_pause(struct sfb_recording_pause *e, struct sfb_reader *body)
{
    e->time = sfb_reader_uleb(body);
    e->paused = sfb_body_u32(body);
    e->part = body->left > 0 ? sfb_body_u32(body) : 0;
    if (e->paused > 1)
        body->failed = true;
}

static void read_losses(struct sfb_recording_losses *e, struct sfb_reader *body,
                        struct texts *texts)
{
    e->reason = sfb_body_u32(body);
    e->process = sfb_body_u32(body);
    e->thread = sfb_body_u32(body);
    e->count = sfb_reader_uleb(body);
    add(texts, body, &e->text);
}

static void read_file(struct sfb_recording_file *e, struct sfb_reader *body, struct texts *texts)
{
    e->process = sfb_body_u32(body);
    add(texts, body, &e->name);
    e->bytes = sfb_body_bytes(body, &e->size);
}

static void read_finish(struct sfb_recording_finish *e, struct sfb_reader *body,
                        struct texts *texts)
{
    e->time = sfb_reader_uleb(body);
    e->samples = sfb_reader_uleb(body);
    e->weight = sfb_reader_uleb(body);
    add(texts, body, &e->reason);
}

static void read_code(struct sfb_recording_code *e, struct sfb_reader *body, struct texts *texts)
{
    e->id = sfb_body_u32(body);
    e->process = sfb_body_u32(body);
    e->first_line = sfb_body_u32(body);
    add(texts, body, &e->name);
    add(texts, body, &e->file);
}

/* Each frame takes three bytes at least: the count cannot ask for more memory than the body justifies. */
static void read_code_frames(struct sfb_recording_code_frames *e, struct sfb_reader *body,
                             struct sfb_bytes *text)
{
    struct sfb_recording_code_frame *frames;
    uint32_t frame = 0;

    e->stack = sfb_body_u32(body);
    e->count = sfb_body_u32(body);
    if (e->count > body->left / 3 || e->count > SFB_RECORDING_CODE_FRAMES_MAX)
        body->failed = true;
    if (body->failed)
        return;
    frames = (void *)sfb_bytes_add(text, e->count * sizeof *frames + 1);
    e->frames = frames;
    for (size_t i = 0; frames && i < e->count; i++) {
        frame += sfb_body_u32(body);
        frames[i].frame = frame;
        frames[i].code = sfb_body_u32(body);
        frames[i].line = sfb_body_u32(body);
        if (i > 0 && frame < frames[i - 1].frame)
            body->failed = true; /* a sum above 2^32 */
    }
    e->gil = body->left > 0 ? sfb_body_u32(body) : SFB_GIL_UNKNOWN;
    if (e->gil > SFB_GIL_RELEASED) /* of a later version */
        e->gil = SFB_GIL_UNKNOWN;
}

bool sfb_body_read(struct sfb_recording_event *out, uint32_t kind, struct sfb_reader *body,
                   struct sfb_bytes *text)
{
    struct texts texts = { .bytes = text };

    text->size = 0;
    out->kind = kind;
    switch (kind) {
    case SFB_EVENT_START: read_start(&out->of.start, body, &texts); break;
    case SFB_EVENT_PROCESS: read_process(&out->of.process, body, &texts); break;
    case SFB_EVENT_PROCESS_END: read_process_end(&out->of.process_end, body); break;
    case SFB_EVENT_THREAD: read_thread(&out->of.thread, body, &texts); break;
    case SFB_EVENT_THREAD_END: read_thread_end(&out->of.thread_end, body); break;
    case SFB_EVENT_MODULES: read_modules(&out->of.modules, body); break;
    case SFB_EVENT_WAIT: read_wait(&out->of.wait, body, &texts); break;
    case SFB_EVENT_LOSSES: read_losses(&out->of.losses, body, &texts); break;
    case SFB_EVENT_FILE: read_file(&out->of.file, body, &texts); break;
    case SFB_EVENT_FINISH: read_finish(&out->of.finish, body, &texts); break;
    case SFB_EVENT_CODE: read_code(&out->of.code, body, &texts); break;
    case SFB_EVENT_AWAITED: read_awaited(&out->of.awaited, body, &texts); break;
    case SFB_EVENT_MARK: read_mark(&out->of.mark, body, &texts); break;
    case SFB_EVENT_PAUSE: read_pause(&out->of.pause, body); break;
    case SFB_EVENT_CODE_FRAMES: read_code_frames(&out->of.code_frames, body, text); break;
    default:
        if (!sfb_heap_body_read(out, kind, body))
            return false;
    }
    if (body->failed || text->failed)
        return false;
    point(&texts);
    return true;
}
