#include "profiler/collector/outside/outside_python.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/collector/outside/outside_write.h"
#include "remote/python_place.h"

/* Functions of a recording, and bytes of their names: a process may make new ones without end. */
enum { CODES_MAX = 1 << 19, BYTES_MAX = 64 << 20 };

/* Said once. @return false: the recording cannot be written */
static bool tell_full(struct outside *o, uint32_t process)
{
    const struct sfb_recording_losses event = {
        .reason = SFB_LOSS_PYTHON_FUNCTIONS, .process = process, .count = 1, .text = ""
    };
    const bool told = o->codes_full;

    o->codes_full = true;
    return told || outside_put(o, sfb_recording_put_losses(o->how.writer, &event));
}

/*
 * Finds or writes a function: one of a name and file is one function of its process.
 *
 * @param id  written; 0: there are too many
 * @return false: the recording cannot be written, or no memory
 */
static bool put_code(struct outside *o, uint32_t process, const struct sfb_remote_python *f,
                     uint32_t *id)
{
    const size_t known = o->codes.all.count;
    uint32_t number;
    size_t size;
    char *key;
    bool good, full;

    if (asprintf(&key, "%" PRIu32 " %zu %s%s", process, strlen(f->name), f->name, f->file) < 0)
        return false;
    *id = 0;
    size = strlen(key) + 1;
    full = known == CODES_MAX || size > BYTES_MAX - o->code_bytes;
    good = full ? report_strings_find(&o->codes, key, &number)
                : report_strings_add(&o->codes, key, &number);
    free(key);
    if (!good)
        return full && tell_full(o, process);
    *id = number + 1; /* numbers ascend from 0 */
    if (number == known)
        o->code_bytes += size;
    const struct sfb_recording_code code = {
        .id = *id, .process = process, .name = f->name, .file = f->file
    };

    return number < known || outside_put(o, sfb_recording_put_code(o->how.writer, &code));
}

static bool put_calls(struct outside *o, uint32_t process, const struct sfb_remote_thread *t,
                      size_t size, uint32_t gil, uint32_t *id)
{
    const size_t count = t->python_count < SFB_RECORDING_CODE_FRAMES_MAX
                             ? t->python_count
                             : SFB_RECORDING_CODE_FRAMES_MAX;
    struct sfb_recording_code_frame *calls = calloc(count + 1, sizeof *calls);
    bool good = calls != NULL;

    for (size_t i = 0; good && i < count; i++) {
        calls[i].frame = (uint32_t)t->python[i].frame;
        calls[i].line = t->python[i].line;
        good = !t->python[i].name || put_code(o, process, &t->python[i], &calls[i].code);
    }
    const struct sfb_recording_code_frames code = { .frames = calls, .count = count, .gil = gil };

    good = good && outside_put(o, sfb_recording_put_stack_of_code(o->how.writer, id, process,
                                                                  o->cbf, size, &code));
    free(calls);
    return good;
}

bool outside_python_put(struct outside *o, uint32_t process, const struct outside_python *python,
                        size_t size, uint32_t frames, uint32_t *id)
{
    const size_t count = frames < OUTSIDE_PYTHON_FRAMES ? frames : OUTSIDE_PYTHON_FRAMES;
    struct sfb_remote_thread thread = { .frames = calloc(count + 1, sizeof *thread.frames),
                                        .frame_count = count };
    bool good = thread.frames != NULL;

    for (size_t i = 0; good && i < count; i++)
        thread.frames[i].sp = python->sp[i];
    if (good)
        remote_python_place(&thread, python->read);
    good = good && put_calls(o, process, &thread, size, python->read->gil, id);
    free(thread.frames);
    free(thread.python);
    return good;
}

void outside_python_find(char *out, size_t room, pid_t pid)
{
    struct remote_python python = { .tasks = -1 };

    snprintf(out, room, "%s",
             remote_python_find_in(&python, pid, -1) && python.fits ? python.what : "");
    remote_python_close(&python);
}
