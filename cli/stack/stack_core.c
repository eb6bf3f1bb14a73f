#include "cli/stack/stack_core.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stack/stack_cbf.h"
#include "cli/stack/stack_json.h"
#include "cli/stack/stack_text.h"
#include "cli/tool_reporter.h"

/* A core, and the symbols that find its files: walks and names take the same ones. */
struct core {
    const struct stack_request *request;
    struct reporter reporter;
    struct symbols *symbols;
    struct sfb_remote *remote;
    struct loaded_module *modules;
};

static struct loaded_module loaded(const struct core *core, const struct sfb_remote_module *m)
{
    struct loaded_module out = { .start = m->start,
                                 .end = m->end,
                                 .path = (char *)(uintptr_t)m->path, /* not written to */
                                 .name = m->name,
                                 .root = core->request->root,
                                 .gone = m->gone,
                                 .image = m->image,
                                 .image_size = m->image_size };

    if (m->build_id_size <= sizeof out.build_id) {
        out.size = m->build_id_size;
        if (out.size > 0)
            memcpy(out.build_id, m->build_id, out.size);
    }
    return out;
}

static void *find_file(void *user, const struct sfb_remote_module *module, size_t *size)
{
    struct core *core = user;
    const struct loaded_module as_loaded = loaded(core, module);
    const struct object_module facts = loaded_module_facts(&as_loaded);
    const struct module_file *file = symbols_module_file(core->symbols, &facts);

    if (!file || !file->files.file.elf)
        return NULL;
    if (facts.id.size == 0)
        reporter_say(&core->reporter, REPORTED_NOTE,
                     "%s: found by its path: the core has no build-id of it to compare",
                     module->path);
    return elf_rawfile(file->files.file.elf, size);
}

/* @return false: no memory */
static bool use_modules(struct core *core)
{
    size_t count;
    const struct sfb_remote_module *modules = sfb_remote_modules(core->remote, &count);

    core->modules = calloc(count + 1, sizeof *core->modules);
    if (!core->modules)
        return false;
    for (size_t i = 0; i < count; i++)
        core->modules[i] = loaded(core, &modules[i]);
    return symbols_use_modules(core->symbols, core->modules, count);
}

/* @return false: no memory */
static bool print(const struct core *core)
{
    const struct stack_request *r = core->request;
    struct stack_text text = { .remote = core->remote,
                               .name = sfb_remote_core_of(core->remote)->name,
                               .symbols = core->symbols,
                               .names = r->names,
                               .languages = r->languages };
    size_t count;
    const struct sfb_remote_thread *threads = sfb_remote_threads(core->remote, &count);

    switch (r->format) {
    case STACK_CBF: return stack_cbf_print(threads, count);
    case STACK_JSON: stack_json_print(&text); return true;
    case STACK_TEXT: return stack_text_print(&text);
    }
    return false;
}

/* @return NULL after a complaint */
static struct sfb_remote *open_remote(struct core *core, const struct sfb_remote_files *files)
{
    const struct stack_request *r = core->request;
    const struct sfb_remote_core_options how = {
        .size = sizeof how, .root = r->root, .max_unpacked = r->max_core, .files = files
    };
    const struct sfb_remote_options options = { .size = sizeof options,
                                                .max_frames = r->max_frames,
                                                .tid = r->tid };
    struct sfb_remote_fault fault;
    struct sfb_remote *remote = sfb_remote_open_core(r->core, &how, &fault);

    if (remote && sfb_remote_read(remote, &options, &fault))
        return remote;
    reporter_say(&core->reporter, REPORTED_UNREADABLE, "%s: %s", r->core, fault.why);
    sfb_remote_close(remote);
    return NULL;
}

static bool show(struct core *core)
{
    const uint64_t lost = sfb_remote_core_of(core->remote)->lost;

    if (lost > 0)
        reporter_say(&core->reporter, REPORTED_BAD_DATA,
                     "%s: it is cut off: %" PRIu64 " bytes of it are missing", core->request->core,
                     lost);
    return use_modules(core) && print(core);
}

enum tool_exit stack_core_read(const struct stack_request *request)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct core core = { .request = request, .reporter = tool_reporter(&exit_status) };
    const struct sfb_remote_files files = { find_file, &core };
    bool good = true;

    core.symbols = symbols_open(&request->places.object, &core.reporter);
    core.remote = core.symbols ? open_remote(&core, &files) : NULL;
    if (core.remote)
        good = show(&core);
    if (!core.symbols || !good)
        exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    symbols_close(core.symbols);
    sfb_remote_close(core.remote);
    free(core.modules);
    return exit_status;
}
