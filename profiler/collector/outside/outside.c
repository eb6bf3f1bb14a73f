#include "profiler/collector/outside/outside.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/collector/outside/kernel_names.h"
#include "profiler/collector/outside/outside_tasks.h"
#include "profiler/collector/outside/perf_registers.h"
#include "sfb/image_map.h"
#include "util/grow.h"

enum {
    CBF_ROOM = 64 << 10, /* of one stack: 7,000 frames at least */
    KERNEL_FRAMES = 128, /* kernel.perf_event_max_stack is 127 */
    ARGUMENTS = 4096,
    MAP_ROOM = 16 << 20
};

struct outside {
    struct outside_options how;
    struct outside_tasks tasks;
    struct outside_totals totals;
    struct kernel_names *kernel; /* NULL: not wanted, or no memory */
    uint32_t next_process, next_thread;
    uint8_t *cbf;
    uint8_t *map; /* of modules */
    size_t map_room;
    bool failed;
};

struct outside *outside_open(const struct outside_options *options)
{
    struct outside *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    o->how = *options;
    o->cbf = malloc(CBF_ROOM);
    o->tasks.files = sfb_copied_files_open();
    o->kernel = options->kernel ? kernel_names_open(options->kernel_text) : NULL;
    if (o->cbf && o->tasks.files)
        return o;
    outside_tasks_free(&o->tasks);
    kernel_names_close(o->kernel);
    free(o->cbf);
    free(o);
    return NULL;
}

const struct outside_totals *outside_totals(const struct outside *o)
{
    return &o->totals;
}

void outside_damaged(struct outside *o)
{
    o->totals.unreadable++;
}

/* @return whether it was written, or will be in no recording for a reason of its own */
static bool put(struct outside *o, enum sfb_status status)
{
    o->failed |= status != SFB_OK;
    return status == SFB_OK;
}

/* --- In the recording: only what has samples --------------------------------------------------------- */

static uint32_t parent_of(struct outside *o, const struct outside_process *p)
{
    const struct outside_process *parent = outside_tasks_process(&o->tasks, p->parent_pid, false);

    return parent && parent != p ? parent->id : 0;
}

static bool begin_process(struct outside *o, struct outside_process *p)
{
    char arguments[ARGUMENTS];
    struct sfb_recording_process event = {
        .id = o->next_process + 1,
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
    const size_t size =
        o->how.arguments ? o->how.arguments(o->how.user, p->pid, arguments, sizeof arguments) : 0;

    if (p->id != 0)
        return true;
    if (size > 0) {
        event.arguments = arguments;
        event.arguments_size = size;
    }
    if (!put(o, sfb_recording_put_process(o->how.writer, &event)))
        return false;
    p->id = ++o->next_process;
    o->totals.processes++;
    return true;
}

static bool begin_thread(struct outside *o, struct outside_thread *t,
                         const struct outside_process *p, uint64_t time)
{
    const struct sfb_recording_thread event = {
        .id = t->id != 0 ? t->id : o->next_thread + 1,
        .process = p->id,
        .tid = t->tid,
        .engine = o->how.engine,
        .time = time,
        .name = t->name[0] ? t->name : p->name,
    };

    if (t->id != 0 && t->named)
        return true;
    if (!put(o, sfb_recording_put_thread(o->how.writer, &event)))
        return false;
    if (t->id == 0) {
        t->id = ++o->next_thread;
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

    for (size_t wanted = o->map_room > 0 ? o->map_room : CBF_ROOM; wanted <= MAP_ROOM;
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
static bool list_modules(struct outside *o, struct outside_process *p, uint64_t time)
{
    struct sfb_recording_modules event = { .process = p->id, .time = time };

    if (p->listed)
        return true;
    sfb_recording_forget_stacks(o->how.writer, p->id);
    event.size = encode_modules(o, p);
    event.map = o->map;
    p->listed = true;
    return event.size == 0 || put(o, sfb_recording_put_modules(o->how.writer, &event));
}

static uint64_t cpu_of(struct outside *o, uint32_t pid)
{
    return o->how.cpu ? o->how.cpu(o->how.user, pid) : 0;
}

static void end_process(struct outside *o, struct outside_process *p, uint64_t time, uint32_t how)
{
    const uint64_t cpu = cpu_of(o, p->pid);
    struct sfb_recording_process_end event = { .id = p->id, .end = how, .time = time };

    if (cpu > p->cpu) {
        event.cpu_ns = cpu - p->cpu;
        event.unsampled_ns = event.cpu_ns > p->weight ? event.cpu_ns - p->weight : 0;
    }
    if (p->id != 0) {
        o->totals.cpu += event.cpu_ns;
        o->totals.unsampled += event.unsampled_ns;
        kernel_names_write(o->kernel, o->how.writer, p->id);
        put(o, sfb_recording_put_process_end(o->how.writer, &event));
        sfb_recording_forget_stacks(o->how.writer, p->id);
    }
    outside_tasks_forget_process(&o->tasks, p);
}

/* --- Tasks ------------------------------------------------------------------------------------------ */

static void set_name(char out[16], const char *name)
{
    size_t size = strlen(name);

    size = size < 15 ? size : 15;
    memcpy(out, name, size);
    out[size] = '\0';
}

void outside_program(struct outside *o, uint32_t pid, uint32_t parent, uint64_t time,
                     const char *name)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, true);

    if (!p)
        return;
    p->parent_pid = parent;
    p->time = time;
    p->cpu = cpu_of(o, pid);
    set_name(p->name, name);
}

void outside_thread(struct outside *o, uint32_t pid, uint32_t tid, const char *name)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);
    struct outside_thread *t = p ? outside_tasks_thread(&o->tasks, tid, p) : NULL;

    if (t)
        set_name(t->name, name);
}

/* What the kernel calls memory that is no file, or is no code. */
static bool is_file(const char *path)
{
    static const char *const others[] = { "//anon", "/memfd:", "/anon_hugepage",
                                          "/dev/",  "/SYSV",   "/[aio]" };

    for (size_t i = 0; path && i < sizeof others / sizeof *others; i++)
        if (strncmp(path, others[i], strlen(others[i])) == 0)
            return false;
    return path != NULL;
}

void outside_map(struct outside *o, uint32_t pid, const struct sfb_copied_mapping *mapping)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);
    struct sfb_copied_mapping m = *mapping;

    if (!p)
        return;
    if (!is_file(m.path))
        m.path = NULL;
    if (!p->program && m.executable && m.path && m.path[0] == '/')
        p->program = strdup(m.path);
    p->listed &= !m.executable;
    if (sfb_copied_space_map(p->space, &m) != SFB_OK)
        outside_damaged(o);
}

/* Whether all that a record can say of a process was found out after it. */
static bool is_old(struct outside *o, uint32_t pid, uint64_t time)
{
    const struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);

    return p && time != 0 && time < p->time;
}

/* Another program in the process: its threads are gone but for the one that goes on as the first. */
static bool execute(struct outside *o, uint32_t pid, uint64_t time)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, pid, false);
    const uint32_t parent = p ? p->parent_pid : 0;
    const bool begun = p && p->weight > 0;

    /* Without samples it is as if it had not been there. */
    if (p)
        end_process(o, p, time, SFB_PROCESS_REPLACED);
    p = outside_tasks_process(&o->tasks, pid, true);
    if (!p)
        return false;
    p->parent_pid = parent;
    p->time = time;
    p->cpu = cpu_of(o, pid);
    p->how = parent != 0 || begun ? SFB_PROCESS_EXECUTED : SFB_PROCESS_STARTED;
    return true;
}

static bool take_comm(struct outside *o, const struct perf_record *record, uint64_t time)
{
    struct outside_process *p;
    struct outside_thread *t;
    struct perf_comm comm;

    if (!perf_comm_read(&comm, record)) {
        outside_damaged(o);
        return true;
    }
    if (is_old(o, comm.pid, time))
        return true;
    if (comm.exec && !execute(o, comm.pid, time))
        return false;
    p = outside_tasks_process(&o->tasks, comm.pid, true);
    t = p ? outside_tasks_thread(&o->tasks, comm.tid, p) : NULL;
    if (!t)
        return false;
    if (comm.pid == comm.tid)
        set_name(p->name, comm.name);
    set_name(t->name, comm.name);
    t->named = false;
    return true;
}

static bool fork_process(struct outside *o, const struct perf_task *task, uint64_t time)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, task->pid, false), *parent;
    struct sfb_copied_space *space;

    /* Its number has come again, and its end was not seen. */
    if (p)
        end_process(o, p, time, SFB_PROCESS_GONE);
    p = outside_tasks_process(&o->tasks, task->pid, true);
    if (!p)
        return false;
    parent = outside_tasks_process(&o->tasks, task->parent_pid, false);
    p->parent_pid = task->parent_pid;
    p->time = time;
    p->how = SFB_PROCESS_FORKED;
    if (!parent || parent == p)
        return true;
    memcpy(p->name, parent->name, sizeof p->name);
    p->program = parent->program ? strdup(parent->program) : NULL;
    space = sfb_copied_space_open(o->tasks.files, parent->space);
    if (!space)
        return false;
    sfb_copied_space_close(p->space);
    p->space = space;
    return true;
}

static bool take_fork(struct outside *o, const struct perf_record *record, uint64_t time)
{
    const struct outside_thread *parent;
    struct outside_process *p;
    struct outside_thread *t;
    struct perf_task task;
    char name[16] = "";

    if (!perf_task_read(&task, record)) {
        outside_damaged(o);
        return true;
    }
    if (is_old(o, task.pid, time))
        return true;
    if (task.pid != task.parent_pid && task.pid == task.tid && !fork_process(o, &task, time))
        return false;
    parent = outside_tasks_known(&o->tasks, task.parent_tid);
    if (parent)
        memcpy(name, parent->name, sizeof name);
    p = outside_tasks_process(&o->tasks, task.pid, true);
    t = p ? outside_tasks_thread(&o->tasks, task.tid, p) : NULL;
    if (t && t->id == 0)
        memcpy(t->name, name, sizeof name);
    return t != NULL;
}

static bool take_exit(struct outside *o, const struct perf_record *record, uint64_t time)
{
    struct outside_process *p;
    struct outside_thread *t;
    struct perf_task task;

    if (!perf_task_read(&task, record)) {
        outside_damaged(o);
        return true;
    }
    p = outside_tasks_process(&o->tasks, task.pid, false);
    t = outside_tasks_known(&o->tasks, task.tid);
    if (t && t->id != 0) {
        const struct sfb_recording_thread_end event = { .id = t->id, .time = time };

        put(o, sfb_recording_put_thread_end(o->how.writer, &event));
    }
    if (t)
        outside_tasks_forget_thread(&o->tasks, t);
    /* Others may outlive the first thread. */
    if (p && p->alive == 0)
        end_process(o, p, time, SFB_PROCESS_GONE);
    return !o->failed;
}

static bool take_mmap(struct outside *o, const struct perf_record *record, uint64_t time)
{
    struct sfb_copied_mapping mapping = { .start = 0 };
    struct perf_mmap m;

    if (!perf_mmap_read(&m, record)) {
        outside_damaged(o);
        return true;
    }
    if (m.pid == UINT32_MAX || m.size == 0 || m.size > UINT64_MAX - m.start)
        return true; /* the kernel's */
    if (is_old(o, m.pid, time))
        return true;
    if (!outside_tasks_process(&o->tasks, m.pid, true))
        return false;
    mapping.start = m.start;
    mapping.end = m.start + m.size;
    mapping.offset = m.offset;
    mapping.executable = m.executable;
    mapping.path = m.path;
    mapping.build_id = m.build_id;
    mapping.build_id_size = m.build_id_size;
    if (o->how.describe)
        o->how.describe(o->how.user, &mapping, m.pid, &m);
    outside_map(o, m.pid, &mapping);
    return true;
}

bool outside_take(struct outside *o, const struct perf_record *record, const struct perf_ids *ids)
{
    uint64_t lost;

    switch (record->type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2: return take_mmap(o, record, ids->time);
    case PERF_RECORD_COMM: return take_comm(o, record, ids->time);
    case PERF_RECORD_FORK: return take_fork(o, record, ids->time);
    case PERF_RECORD_EXIT: return take_exit(o, record, ids->time);
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        if (perf_lost_read(&lost, record))
            o->totals.lost += lost;
        return true;
    default: return true;
    }
}

/* --- Samples ---------------------------------------------------------------------------------------- */

/* The kernel's part of the chain, innermost first. */
static size_t kernel_frames(uint64_t *out, const struct perf_sample *s)
{
    bool kernel = false;
    size_t count = 0;

    for (size_t i = 0; i < s->chain_count && count < KERNEL_FRAMES; i++) {
        const uint64_t address = perf_chain_at(s, i);

        if (address >= (uint64_t)PERF_CONTEXT_MAX)
            kernel = address == (uint64_t)PERF_CONTEXT_KERNEL;
        else if (kernel)
            out[count++] = address;
    }
    return count;
}

/* Addresses of the upper half are the kernel's, on both machines. */
static bool is_kernel(uint64_t address)
{
    return address >> 63;
}

/* @return whether there is a stack to walk, or frames of the kernel */
static bool walk(struct outside *o, const struct outside_process *p,
                 const struct perf_layout *layout, const struct perf_sample *s,
                 struct sfb_copied_backtrace *out)
{
    uint64_t before[KERNEL_FRAMES];
    struct sfb_copied_stack stack = { .before = before };
    bool good;

    if (o->how.kernel) {
        stack.before_count = kernel_frames(before, s);
        if (stack.before_count == 0 && is_kernel(s->ip))
            before[stack.before_count++] = s->ip;
        for (size_t i = 0; i < stack.before_count; i++)
            kernel_names_note(o->kernel, p->id, before[i]);
    }
    if (s->abi == PERF_REGISTERS_64 && s->registers) {
        perf_registers_read(&stack.registers, layout->registers, s->registers);
        stack.address = stack.registers.reg[perf_register_sp];
        stack.bytes = s->stack;
        stack.size = s->stack_size;
        stack.whole = s->stack_size < s->stack_room;
    } else if (stack.before_count == 0) {
        o->totals.no_stack++;
        return false;
    }
    good = sfb_copied_walk(p->space, &stack, out, o->cbf, CBF_ROOM) == SFB_OK;
    o->totals.no_stack += !good;
    o->totals.copied += stack.size;
    o->totals.cut += good && out->end == SFB_STACK_CUT;
    o->totals.complete += good && (out->end == SFB_END || out->end == SFB_UNPROVEN_END);
    return good;
}

bool outside_take_sample(struct outside *o, const struct perf_layout *layout,
                         const struct perf_sample *s, uint64_t weight, struct outside_sample *out)
{
    struct outside_process *p = outside_tasks_process(&o->tasks, s->ids.pid, true);
    struct outside_thread *t = p ? outside_tasks_thread(&o->tasks, s->ids.tid, p) : NULL;
    struct sfb_copied_backtrace found = { .end = SFB_UNREADABLE };
    struct sfb_recording_sample event = { .time = s->ids.time,
                                          .weight = weight,
                                          .engine = o->how.engine };

    if (!t)
        return false;
    if (p->time == 0)
        p->time = s->ids.time;
    if (!begin_process(o, p) || !begin_thread(o, t, p, s->ids.time) ||
        !list_modules(o, p, s->ids.time))
        return false;
    if (walk(o, p, layout, s, &found) &&
        !put(o, sfb_recording_put_stack(o->how.writer, &event.stack, p->id, o->cbf, found.size)))
        return false;
    event.thread = t->id;
    event.end = found.end;
    p->weight += weight;
    o->totals.samples++;
    o->totals.weight += weight;
    if (out)
        *out = (struct outside_sample){ found.end, (uint32_t)(t - o->tasks.threads.at) };
    return put(o, sfb_recording_put_sample(o->how.writer, &event));
}

bool outside_end(struct outside *o, uint64_t time)
{
    for (size_t i = 0; i < o->tasks.processes.count; i++)
        if (o->tasks.processes.at[i].space)
            end_process(o, &o->tasks.processes.at[i], time, SFB_PROCESS_LEFT);
    return !o->failed;
}

void outside_close(struct outside *o)
{
    outside_tasks_free(&o->tasks);
    kernel_names_close(o->kernel);
    free(o->cbf);
    free(o->map);
    free(o);
}
