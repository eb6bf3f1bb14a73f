#include "cli/stack/stack_cbf.h"

#include <sfb/cbf.h>
#include <stdio.h>
#include <stdlib.h>

/* Its largest encoding, with the info byte and a terminator. */
static size_t room_for(const struct sfb_remote_thread *thread)
{
    return SFB_CBF_SIZE_MIN + 9 * thread->frame_count;
}

static bool print(const struct sfb_remote_thread *t)
{
    struct sfb_cbf_encoder encoder;
    uint8_t *bytes = malloc(room_for(t));

    if (!bytes || sfb_cbf_encoder_init(&encoder, bytes, room_for(t), 64) != SFB_OK) {
        free(bytes);
        return false;
    }
    for (size_t i = 0; i < t->frame_count; i++)
        sfb_cbf_encoder_put(&encoder, (enum sfb_frame_kind)t->frames[i].kind, t->frames[i].address);
    fwrite(bytes, 1, sfb_cbf_encoder_end(&encoder, t->end != SFB_END), stdout);
    free(bytes);
    return true;
}

bool stack_cbf_print(const struct sfb_remote_thread *threads, size_t count)
{
    bool good = true;

    for (size_t i = 0; good && i < count; i++)
        good = threads[i].how == SFB_REMOTE_UNREAD || print(&threads[i]);
    return good;
}
