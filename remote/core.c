#include "remote/core.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/core_fault.h"
#include "remote/core_unpack.h"
#include "remote/core_walk.h"
#include "sfb/context.h"

#define UNPACKED_MAX ((uint64_t)4 << 30)

static bool is_foreign(const struct remote_core_file *file)
{
    return file->machine != (SFB_CONTEXT_X86_64 ? EM_X86_64 : EM_AARCH64);
}

static bool read_core(struct remote_core *core, const struct sfb_remote_core_options *options,
                      struct sfb_remote_fault *fault)
{
    if (!remote_core_notes_read(&core->notes, &core->file, fault))
        return false;
    remote_core_notes_describe(&core->facts, &core->notes);
    core->facts.lost = core->file.lost;
    core->facts.foreign = is_foreign(&core->file);
    core->space.root = options->root;
    core->space.files = options->files;
    return remote_core_space_open(&core->space, &core->file, &core->notes) ||
           remote_core_fault(fault, "out of memory");
}

struct remote_core *remote_core_open(int fd, const struct sfb_remote_core_options *options,
                                     struct sfb_remote_fault *fault)
{
    struct remote_core *core = calloc(1, sizeof *core);
    const uint64_t max = options->max_unpacked ? options->max_unpacked : UNPACKED_MAX;

    if (!core || !remote_core_unpack(&fd, max, fault)) {
        if (!core)
            remote_core_fault(fault, "out of memory");
        close(fd);
        free(core);
        return NULL;
    }
    if (!remote_core_file_open(&core->file, fd, fault)) {
        free(core);
        return NULL;
    }
    if (read_core(core, options, fault))
        return core;
    remote_core_close(core);
    return NULL;
}

/* Why a stack ends where it does, if memory is missing. */
static const char *missing(const struct remote_core_space *space)
{
    if (space->cut != 0)
        return "the core is cut off, and its memory is behind the cut";
    if (space->left_out != 0)
        return "the core was made without that memory, and no file here has it";
    return NULL;
}

void remote_core_thread(struct sfb_remote_thread *out, struct remote_core *core, size_t index,
                        size_t max_frames)
{
    const struct remote_core_status *status = &core->notes.threads[index];
    const struct remote_core_start start = { .words = status->words,
                                             .memory = &core->space.memory,
                                             .modules = &core->space.policy,
                                             .max_frames = max_frames };

    *out = (struct sfb_remote_thread){ .tid = status->tid,
                                       .state = '?',
                                       .cpu_time = status->cpu_time,
                                       .how = SFB_REMOTE_SAVED,
                                       .signal = status->signal };
    memcpy(out->name, core->facts.name, sizeof out->name);
    core->space.cut = core->space.left_out = 0;
    if (core->facts.foreign)
        other_remote_core_walk(out, &start);
    else
        remote_core_walk(out, &start);
    if (out->end == SFB_UNREADABLE || out->end == SFB_NO_MODULE)
        out->why = missing(&core->space);
}

void remote_core_close(struct remote_core *core)
{
    if (!core)
        return;
    remote_core_space_close(&core->space);
    remote_core_notes_free(&core->notes);
    remote_core_file_close(&core->file);
    free(core);
}
