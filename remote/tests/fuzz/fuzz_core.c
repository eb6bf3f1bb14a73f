/*
 * Any bytes as a core file, packed or not: it opens or has a fault, all walks end and are the same each time, and what is listed
 * is in order. No file of this machine is opened: a module whose path has an odd length has the input's own bytes as its file.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "sfb/remote.h"

enum { FRAMES = 256, UNPACKED = 1 << 20, READ = 4096 };

struct input {
    uint8_t *bytes;
    size_t size;
};

static void *find_file(void *user, const struct sfb_remote_module *module, size_t *size)
{
    const struct input *input = user;

    FUZZ_CHECK(module->path != NULL);
    *size = input->size;
    return strlen(module->path) % 2 ? input->bytes : NULL;
}

static void check_facts(const struct sfb_remote *remote)
{
    const struct sfb_remote_core *core = sfb_remote_core_of(remote);
    size_t count;
    const struct sfb_remote_module *modules = sfb_remote_modules(remote, &count);

    FUZZ_CHECK(core != NULL && memchr(core->name, 0, sizeof core->name) != NULL &&
               memchr(core->arguments, 0, sizeof core->arguments) != NULL);
    for (size_t i = 0; i < count; i++)
        FUZZ_CHECK(modules[i].start < modules[i].end && modules[i].build_id_size <= 64 &&
                   (i == 0 || modules[i - 1].end <= modules[i].start));
}

static void check_memory(const struct sfb_remote *remote, uint64_t address)
{
    uint8_t bytes[READ];

    FUZZ_CHECK(sfb_remote_memory_read(remote, address, bytes, sizeof bytes) <= sizeof bytes);
}

/* @return a sum over all frames */
static uint64_t check_threads(const struct sfb_remote *remote)
{
    size_t count;
    const struct sfb_remote_thread *threads = sfb_remote_threads(remote, &count);
    uint64_t sum = count;

    FUZZ_CHECK(count > 0);
    for (size_t i = 0; i < count; i++) {
        const struct sfb_remote_thread *t = &threads[i];

        FUZZ_CHECK(t->how == SFB_REMOTE_SAVED && t->frame_count <= FRAMES && t->end != SFB_OK);
        sum = sum * 31 + t->end;
        for (size_t k = 0; k < t->frame_count; k++) {
            FUZZ_CHECK(sfb_source_str((enum sfb_source)t->frames[k].source) != NULL);
            sum = sum * 31 + t->frames[k].address + t->frames[k].kind;
            check_memory(remote, t->frames[k].address);
        }
    }
    return sum;
}

static void check_core(const char *path, struct input *input)
{
    const struct sfb_remote_files files = { find_file, input };
    const struct sfb_remote_core_options how = { .size = sizeof how,
                                                 .max_unpacked = UNPACKED,
                                                 .files = &files };
    const struct sfb_remote_options options = { .size = sizeof options, .max_frames = FRAMES };
    struct sfb_remote_fault fault = { .why = "" };
    struct sfb_remote *remote = sfb_remote_open_core(path, &how, &fault);
    uint64_t sum;

    if (!remote) {
        FUZZ_CHECK(fault.why[0] != '\0');
        return;
    }
    check_facts(remote);
    FUZZ_CHECK(sfb_remote_read(remote, &options, &fault));
    sum = check_threads(remote);
    FUZZ_CHECK(sfb_remote_read(remote, &options, &fault) && check_threads(remote) == sum);
    check_memory(remote, 0);
    check_memory(remote, UINT64_MAX - 8);
    sfb_remote_close(remote);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = { malloc(size ? size : 1), size };
    const int fd = memfd_create("core", MFD_CLOEXEC);
    char path[32];

    FUZZ_CHECK(input.bytes != NULL && fd >= 0);
    if (size > 0)
        memcpy(input.bytes, data, size);
    FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    check_core(path, &input);
    FUZZ_CHECK(size == 0 || memcmp(input.bytes, data, size) == 0);
    close(fd);
    free(input.bytes);
    return 0;
}
