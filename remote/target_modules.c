#include "remote/target_modules.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/module_file.h"
#include "remote/module_tables.h"
#include "remote/segment_image.h"
#include "remote/target_memory.h"

struct remote_module {
    bool tried;
    struct object_process_module facts;
    struct object_opened file;
    void *image; /* from memory; NULL: there is a file */
    struct remote_module_tables tables;
};

static size_t read_process(void *user, uint64_t address, void *out, size_t size)
{
    const struct object_process *process = user;

    return remote_memory_read(process->pid, address, out, size);
}

/* @return its bytes; NULL: nothing is left of it */
static uint8_t *find_bytes(struct remote_module *m, struct remote_modules *all,
                           const struct object_mapping *first, size_t *size)
{
    const struct object_module *facts = &m->facts.module;
    const struct remote_reader memory = { read_process, &all->process };

    if (facts->image) { /* the vDSO */
        *size = facts->image_size;
        return facts->image;
    }
    if (remote_module_file(&m->file, facts)) {
        object_opened_keep(&m->file);
        return (uint8_t *)elf_rawfile(m->file.elf, size);
    }
    m->image = first->offset == 0
                   ? remote_segment_image(&memory, first->start, REMOTE_IMAGE_MOST, size)
                   : NULL;
    return m->image;
}

/* Opens the tables of a module, by the mapping that a pc is in. */
static void open_module(struct remote_module *m, struct remote_modules *all,
                        const struct object_mapping *mapping)
{
    const struct object_maps *maps = &all->process.maps;
    uint8_t *bytes;
    size_t size = 0;

    m->tried = true;
    m->file.fd = -1;
    object_process_module(&m->facts, &all->process, mapping->module);
    bytes = find_bytes(m, all, &maps->mappings[maps->modules[mapping->module].first], &size);
    remote_module_tables_open(&m->tables, bytes, size, mapping, &all->ids);
}

static const struct sfb_module *find(const struct sfb_modules *policy, uint64_t pc,
                                     struct sfb_module *scratch)
{
    struct remote_modules *all = policy->user;
    const struct object_mapping *mapping = object_maps_find(&all->process.maps, pc);
    struct remote_module *m;

    (void)scratch;
    if (!mapping)
        return NULL;
    m = &all->modules[mapping->module];
    if (!m->tried)
        open_module(m, all, mapping);
    return remote_module_tables_at(&m->tables, pc);
}

/* Entry points, by the kernel's words for the process. */
static void find_entries(struct sfb_entries *out, const struct remote_modules *all)
{
    Elf64_auxv_t words[64];
    uint64_t loader = 0;
    char path[32];
    Elf64_Ehdr header;
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/auxv", (int)all->process.pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, words, sizeof words);
        close(fd);
    }
    for (size_t i = 0; got > 0 && i < (size_t)got / sizeof *words; i++) {
        if (words[i].a_type == AT_ENTRY)
            out->program = words[i].a_un.a_val;
        if (words[i].a_type == AT_BASE)
            loader = words[i].a_un.a_val;
    }
    if (loader != 0 && all->process.memory >= 0 && loader <= INT64_MAX &&
        pread(all->process.memory, &header, sizeof header, (off_t)loader) == sizeof header &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0)
        out->loader = loader + header.e_entry;
}

bool remote_modules_open(struct remote_modules *out, pid_t pid, const char **cause)
{
    *out = (struct remote_modules){ .ids = 0 };
    if (!object_process_open(&out->process, pid, cause))
        return false;
    out->modules = calloc(out->process.maps.module_count + 1, sizeof *out->modules);
    out->cache = aligned_alloc(64, sizeof *out->cache);
    if (!out->modules || !out->cache) {
        *cause = "out of memory";
        remote_modules_close(out);
        return false;
    }
    memset(out->cache, 0, sizeof *out->cache);
    out->policy = (struct sfb_modules){ .find = find, .cache = out->cache, .user = out };
    find_entries(&out->policy.entries, out);
    return true;
}

static void close_module(struct remote_module *m)
{
    remote_module_tables_close(&m->tables);
    free(m->image);
    if (m->tried) {
        object_opened_close(&m->file);
        object_process_module_free(&m->facts);
    }
}

void remote_modules_close(struct remote_modules *modules)
{
    for (size_t i = 0; modules->modules && i < modules->process.maps.module_count; i++)
        close_module(&modules->modules[i]);
    free(modules->modules);
    free(modules->cache);
    object_process_close(&modules->process);
}
