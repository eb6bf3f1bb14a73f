#include "profiler/format/bodies_put.h"

#include <string.h>

static void put_string(struct sfb_bytes *body, const char *text)
{
    sfb_bytes_put_text(body, text, text != NULL ? strlen(text) : 0);
}

void sfb_body_start(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_start *e = event;

    sfb_bytes_put_uleb(body, e->monotonic);
    sfb_bytes_put_uleb(body, e->realtime);
    sfb_bytes_put_uleb(body, e->tick_ns);
    sfb_bytes_put_uleb(body, e->rate_hz);
    sfb_bytes_put_uleb(body, e->engine);
    sfb_bytes_put_uleb(body, e->recorder_pid);
    sfb_bytes_put_uleb(body, e->abi);
    put_string(body, e->engine_text);
    put_string(body, e->version);
    put_string(body, e->host);
    sfb_bytes_put_text(body, e->command, e->command_size);
    sfb_bytes_put_text(body, e->labels, e->labels_size);
}

void sfb_body_process(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_process *e = event;

    sfb_bytes_put_uleb(body, e->id);
    sfb_bytes_put_uleb(body, e->parent);
    sfb_bytes_put_uleb(body, e->pid);
    sfb_bytes_put_uleb(body, e->parent_pid);
    sfb_bytes_put_uleb(body, e->how);
    sfb_bytes_put_uleb(body, e->time);
    sfb_bytes_put_uleb(body, e->cpu_ns);
    put_string(body, e->program);
    sfb_bytes_put_text(body, e->arguments, e->arguments_size);
}

void sfb_body_process_end(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_process_end *e = event;

    sfb_bytes_put_uleb(body, e->id);
    sfb_bytes_put_uleb(body, e->end);
    sfb_bytes_put_uleb(body, e->status);
    sfb_bytes_put_uleb(body, e->time);
    sfb_bytes_put_uleb(body, e->cpu_ns);
    sfb_bytes_put_uleb(body, e->unsampled_ns);
}

void sfb_body_thread(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_thread *e = event;

    sfb_bytes_put_uleb(body, e->id);
    sfb_bytes_put_uleb(body, e->process);
    sfb_bytes_put_uleb(body, e->tid);
    sfb_bytes_put_uleb(body, e->engine);
    sfb_bytes_put_uleb(body, e->time);
    put_string(body, e->name);
    if (e->idle > 0)
        sfb_bytes_put_uleb(body, e->idle);
}

void sfb_body_thread_end(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_thread_end *e = event;

    sfb_bytes_put_uleb(body, e->id);
    sfb_bytes_put_uleb(body, e->time);
    sfb_bytes_put_uleb(body, e->cpu_ns);
    sfb_bytes_put_uleb(body, e->unsampled_ns);
}

void sfb_body_modules(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_modules *e = event;

    sfb_bytes_put_uleb(body, e->process);
    sfb_bytes_put_uleb(body, e->time);
    sfb_bytes_put_text(body, e->map, e->size);
}

static bool has_waker(const struct sfb_recording_wait *e)
{
    return e->waker != 0 || (e->waker_name != NULL && e->waker_name[0] != '\0');
}

void sfb_body_wait(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_wait *e = event;

    sfb_bytes_put_uleb(body, e->thread);
    sfb_bytes_put_uleb(body, e->stack);
    sfb_bytes_put_uleb(body, e->time);
    sfb_bytes_put_uleb(body, e->weight);
    sfb_bytes_put_uleb(body, e->state);
    sfb_bytes_put_uleb(body, e->end);
    put_string(body, e->call);
    if (e->awaited == 0 && e->since == 0 && !has_waker(e))
        return;
    sfb_bytes_put_uleb(body, e->awaited);
    sfb_bytes_put_uleb(body, e->since);
    sfb_bytes_put_uleb(body, e->holder);
    sfb_bytes_put_uleb(body, e->holder_stack);
    if (!has_waker(e))
        return;
    sfb_bytes_put_uleb(body, e->waker);
    sfb_bytes_put_uleb(body, e->waker_stack);
    put_string(body, e->waker_name);
}

void sfb_body_awaited(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_awaited *e = event;

    sfb_bytes_put_uleb(body, e->id);
    sfb_bytes_put_uleb(body, e->process);
    sfb_bytes_put_uleb(body, e->kind);
    sfb_bytes_put_uleb(body, e->address);
    sfb_bytes_put_uleb(body, e->start);
    put_string(body, e->name);
}

void sfb_body_mark(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_mark *e = event;

    sfb_bytes_put_uleb(body, e->time);
    put_string(body, e->name);
}

void sfb_body_pause(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_pause *e = event;

    sfb_bytes_put_uleb(body, e->time);
    sfb_bytes_put_uleb(body, e->paused);
    if (e->part > 0)
        sfb_bytes_put_uleb(body, e->part);
}

void sfb_body_losses(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_losses *e = event;

    sfb_bytes_put_uleb(body, e->reason);
    sfb_bytes_put_uleb(body, e->process);
    sfb_bytes_put_uleb(body, e->thread);
    sfb_bytes_put_uleb(body, e->count);
    put_string(body, e->text);
}

void sfb_body_file(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_file *e = event;

    sfb_bytes_put_uleb(body, e->process);
    put_string(body, e->name);
    sfb_bytes_put_text(body, e->bytes, e->size);
}

void sfb_body_finish(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_finish *e = event;

    sfb_bytes_put_uleb(body, e->time);
    sfb_bytes_put_uleb(body, e->samples);
    sfb_bytes_put_uleb(body, e->weight);
    put_string(body, e->reason);
}

void sfb_body_code(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_code *e = event;

    sfb_bytes_put_uleb(body, e->id);
    sfb_bytes_put_uleb(body, e->process);
    sfb_bytes_put_uleb(body, e->first_line);
    put_string(body, e->name);
    put_string(body, e->file);
}

/* Frames ascend: differences. */
void sfb_body_code_frames(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_code_frames *e = event;
    uint32_t frame = 0;

    sfb_bytes_put_uleb(body, e->stack);
    sfb_bytes_put_uleb(body, e->count);
    for (size_t i = 0; i < e->count; i++) {
        sfb_bytes_put_uleb(body, e->frames[i].frame - frame);
        sfb_bytes_put_uleb(body, e->frames[i].code);
        sfb_bytes_put_uleb(body, e->frames[i].line);
        frame = e->frames[i].frame;
    }
    if (e->gil != SFB_GIL_UNKNOWN)
        sfb_bytes_put_uleb(body, e->gil);
}
