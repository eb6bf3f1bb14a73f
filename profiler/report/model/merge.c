#include "profiler/report/model/merge.h"

#include <stdlib.h>

#include "profiler/report/model/merge_state.h"

enum sfb_status report_merge_open(struct report_merge **out, int fd,
                                  const struct report_merge_start *start)
{
    struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;
    const struct sfb_recording_start event = {
        .monotonic = start->realtime,
        .realtime = start->realtime,
        .tick_ns = start->tick_ns,
        .rate_hz = start->rate_hz,
        .engine = start->engine,
        .abi = start->abi,
        .engine_text = "merged",
        .version = SFB_VERSION,
        .host = start->host ? start->host : "",
        .command = start->command_size > 0 ? start->command : "(several commands)",
        .command_size = start->command_size > 0 ? start->command_size : sizeof "(several commands)",
        .labels = start->labels.text,
        .labels_size = start->labels.size
    };
    struct report_merge *m = calloc(1, sizeof *m);

    *out = m;
    if (!m)
        return SFB_NO_RESOURCE;
    m->realtime = m->last = start->realtime;
    m->cbf = malloc(MERGE_CBF_MOST);
    options.packer = &sfb_recording_zstd;
    m->status =
        m->cbf ? sfb_recording_writer_open(&m->writer, fd, &event, &options) : SFB_NO_RESOURCE;
    m->error = errno;
    return m->status;
}

/* Once more, with what it stands for. */
static bool put_idle(struct report_merge *m, size_t i)
{
    const struct merged_thread *t = &m->threads.at[i];
    const struct sfb_recording_thread event = { .id = (uint32_t)i + 1,
                                                .process = t->process + 1,
                                                .tid = (uint32_t)i + 1,
                                                .engine = t->engine,
                                                .time = t->time,
                                                .name = m->texts.all.at[t->name],
                                                .idle = t->idle + 1 };

    return t->idle == 0 || report_merge_check(m, sfb_recording_put_thread(m->writer, &event));
}

static void put_ends(struct report_merge *m)
{
    for (size_t i = 0; m->status == SFB_OK && i < m->threads.count; i++) {
        const struct merged_thread *t = &m->threads.at[i];
        const struct sfb_recording_thread_end event = { (uint32_t)i + 1, t->end ? t->end : m->last,
                                                        t->cpu_ns, t->unsampled_ns };

        if (put_idle(m, i))
            report_merge_check(m, sfb_recording_put_thread_end(m->writer, &event));
    }
    for (size_t i = 0; m->status == SFB_OK && i < m->processes.count; i++) {
        const struct merged_process *p = &m->processes.at[i];
        const struct sfb_recording_process_end event = { .id = (uint32_t)i + 1,
                                                         .end = p->running ? SFB_PROCESS_LEFT
                                                                           : SFB_PROCESS_GONE,
                                                         .time = p->end ? p->end : m->last,
                                                         .cpu_ns = p->cpu_ns,
                                                         .unsampled_ns = p->unsampled_ns };

        if (report_merge_check(
                m, merge_places_write(&p->places, m->writer, (uint32_t)i + 1, m->realtime)))
            report_merge_check(m, sfb_recording_put_process_end(m->writer, &event));
    }
    for (size_t i = 0; m->status == SFB_OK && i < m->losses.count; i++) {
        const struct merged_loss *l = &m->losses.at[i];
        const struct sfb_recording_losses event = { .reason = l->reason,
                                                    .count = l->count,
                                                    .text = m->texts.all.at[l->text] };

        report_merge_check(m, sfb_recording_put_losses(m->writer, &event));
    }
    if (m->status == SFB_OK)
        report_merge_check(m, merge_pauses_write(&m->pauses, m->writer, m->last));
}

enum sfb_status report_merge_close(struct report_merge *m)
{
    enum sfb_status status = m ? m->status : SFB_NO_RESOURCE;

    if (!m)
        return status;
    if (m->writer) {
        put_ends(m);
        status = sfb_recording_writer_close(m->writer, m->last, "merged");
        if (m->status == SFB_OK && status != SFB_OK)
            m->error = errno;
        status = m->status != SFB_OK ? m->status : status;
    }
    errno = m->error;
    for (size_t i = 0; i < m->processes.count; i++)
        merge_places_free(&m->processes.at[i].places);
    report_strings_free(&m->texts);
    report_index_free(&m->process_index);
    report_index_free(&m->thread_index);
    report_index_free(&m->loss_index);
    report_index_free(&m->code_index);
    report_index_free(&m->awaited_index);
    report_index_free(&m->idle_index);
    free(m->processes.at);
    free(m->threads.at);
    free(m->losses.at);
    merge_pauses_free(&m->pauses);
    free(m->cbf);
    free(m);
    return status;
}
