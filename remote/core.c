#include "remote/core.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/core_fault.h"
#include "remote/core_unpack.h"
#include "remote/core_walk.h"
#include "remote/python_place.h"
#include "sfb/context.h"

#define UNPACKED_MAX ((uint64_t)4 << 30)

static bool is_foreign(const struct remote_core_file *file)
{
    return file->machine != (SFB_CONTEXT_X86_64 ? EM_X86_64 : EM_AARCH64);
}

static void *open_module(void *user, size_t module, size_t *size)
{
    return remote_core_space_file(user, module, size);
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
    if (!remote_core_space_open(&core->space, &core->file, &core->notes))
        return remote_core_fault(fault, "out of memory");
    /* The other machine's long and pointers are as wide, and CPython's structures are the same there. */
    core->python.memory = &core->space.memory;
    remote_python_find(&core->python, &core->space.maps,
                       &(struct remote_python_files){ open_module, &core->space });
    return true;
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
    if (!core->python.fits)
        return;
    /* A core's threads have the numbers of their own namespace. */
    remote_python_read(&core->frames, &core->python, status->tid);
    remote_python_place(out, &core->frames);
}

void remote_core_close(struct remote_core *core)
{
    if (!core)
        return;
    remote_python_free(&core->frames);
    remote_python_close(&core->python);
    remote_core_space_close(&core->space);
    remote_core_notes_free(&core->notes);
    remote_core_file_close(&core->file);
    free(core);
}
