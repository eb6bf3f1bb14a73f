#include "profiler/collector/outside/outside_write.h"

#include <string.h>

#include "profiler/collector/outside/outside_pause.h"
#include "profiler/collector/processes/perf_map.h"
#include "sfb/image_map.h"
#include "util/grow.h"

enum { ARGUMENTS = 4096, MAP_FIRST = 64 << 10, MAP_ROOM = 16 << 20 };

/* @return whether it was written, or will be in no recording for a reason of its own */
bool outside_put(struct outside *o, enum sfb_status status)
{
    o->failed |= status != SFB_OK;
    return status == SFB_OK;
}

/* --- In the recording: only what has samples --------------------------------------------------------- */

static uint32_t parent_of(struct outside *o, const struct outside_process *p)
{
    const struct outside_process *parent = outside_tasks_process(&o->tasks, p->parent_pid, false);

    if (parent && parent != p && parent->id != 0)
        return parent->id;
    return o->how.elsewhere ? o->how.elsewhere(o->how.user, p->parent_pid) : 0;
}

bool outside_begin_process(struct outside *o, struct outside_process *p)
{
    char arguments[ARGUMENTS];
    struct sfb_recording_process event = {
        .id = o->ids->process + 1,
        .parent = parent_of(o, p),
        .pid = p->pid,
        .parent_pid = p->parent_pid,
        .how = p->how,
        .time = p->time,
        .cpu_ns = p->cpu,
        .program = p->program ? p->program : p->name,
        .arguments = p->name,
        .arguments_size = strlen(p->name) + 1,
    };
    size_t size;

    if (p->id != 0)
        return true;
    size =
        o->how.arguments ? o->how.arguments(o->how.user, p->pid, arguments, sizeof arguments) : 0;
    if (size > 0) {
        event.arguments = arguments;
        event.arguments_size = size;
    }
    if (!outside_put(o, sfb_recording_put_process(o->how.writer, &event)))
        return false;
    p->id = ++o->ids->process;
    p->owner = o->how.owner ? o->how.owner(o->how.user, p->pid) : UINT32_MAX;
    o->totals.processes++;
    return true;
}

bool outside_begin_thread(struct outside *o, struct outside_thread *t,
                          const struct outside_process *p, uint64_t time)
{
    const struct sfb_recording_thread event = {
        .id = t->id != 0 ? t->id : o->ids->thread + 1,
        .process = p->id,
        .tid = t->tid,
        .engine = o->how.engine,
        .time = time,
        .name = t->name[0] ? t->name : p->name,
    };

    if (t->id != 0 && t->named)
        return true;
    if (!outside_put(o, sfb_recording_put_thread(o->how.writer, &event)))
        return false;
    if (t->id == 0) {
        t->id = ++o->ids->thread;
        o->totals.threads++;
    }
    t->named = true;
    return true;
}

struct map_of {
    struct sfb_image_map_encoder encoder;
    bool full;
    uint64_t last;
};

static bool add_module(void *user, const struct sfb_copied_module *module)
{
    struct map_of *map = user;
    const struct sfb_image image = {
        .base = module->base,
        .end_of_text = module->end,
        .build_id = module->build_id_size > 0 ? module->build_id : NULL,
        .build_id_size = module->build_id_size,
        .path = module->path,
        .path_size = strlen(module->path),
    };

    if (module->end <= module->base || image.path_size > SFB_IMAGE_PATH_MAX)
        return true;
    map->full = sfb_image_map_encoder_put(&map->encoder, &image) == SFB_BUFFER_FULL;
    return !map->full;
}

/* @return bytes of the map; 0: no memory */
static size_t encode_modules(struct outside *o, const struct outside_process *p)
{
    struct sfb_image_map_prefix prefixes[SFB_IMAGE_MAP_PREFIXES];
    struct map_of map;

    for (size_t wanted = o->map_room > 0 ? o->map_room : MAP_FIRST; wanted <= MAP_ROOM;
         wanted *= 2) {
        if (!array_make_room_for(&o->map, &o->map_room, wanted))
            return 0;
        map = (struct map_of){ .full = false };
        if (sfb_image_map_encoder_init(&map.encoder, o->map, o->map_room, 64, "Linux", prefixes,
                                       SFB_IMAGE_MAP_PREFIXES) != SFB_OK)
            return 0;
        sfb_copied_space_modules(p->space, add_module, &map);
        if (!map.full)
            return sfb_image_map_encoder_end(&map.encoder);
    }
    return 0;
}

/* The same addresses may be other code by now. */
bool outside_list_modules(struct outside *o, struct outside_process *p, uint64_t time)
{
    struct sfb_recording_modules event = { .process = p->id, .time = time };

    if (p->listed)
        return true;
    sfb_recording_forget_stacks(o->how.writer, p->id);
    event.size = encode_modules(o, p);
    event.map = o->map;
    p->listed = true;
    return event.size == 0 || outside_put(o, sfb_recording_put_modules(o->how.writer, &event));
}

uint64_t outside_cpu_of(struct outside *o, uint32_t pid)
{
    return o->how.cpu ? o->how.cpu(o->how.user, pid) : 0;
}

void outside_end_entry(struct outside *o, const struct outside_process *p, uint64_t time,
                       uint32_t how)
{
    const uint64_t cpu = outside_cpu_of(o, p->pid), paused = outside_paused_of(o, p, cpu);
    struct sfb_recording_process_end event = { .id = p->id, .end = how, .time = time };

    if (p->used > 0)
        event.cpu_ns = p->used;
    else if (cpu > p->cpu)
        event.cpu_ns = cpu - p->cpu;
    event.cpu_ns -= paused < event.cpu_ns ? paused : event.cpu_ns;
    /* It may be gone, and nothing says any more what it had: what its samples have is the least. */
    if ((p->missed > 0 || (cpu == 0 && p->used == 0)) && event.cpu_ns < p->weight + p->missed)
        event.cpu_ns = p->weight + p->missed;
    event.unsampled_ns = event.cpu_ns > p->weight ? event.cpu_ns - p->weight : 0;
    if (p->id != 0) {
        o->totals.cpu += event.cpu_ns;
        o->totals.unsampled += event.unsampled_ns;
        if (p->owner != UINT32_MAX)
            sfb_recorder_perf_map_take(o->how.writer, p->id, (pid_t)p->pid, p->owner);
        outside_put(o, sfb_recording_put_process_end(o->how.writer, &event));
        sfb_recording_forget_stacks(o->how.writer, p->id);
    }
}

void outside_end_process(struct outside *o, struct outside_process *p, uint64_t time, uint32_t how)
{
    outside_end_entry(o, p, time, how);
    outside_tasks_forget_process(&o->tasks, p);
}
