/*
 * Cores of both machines, whichever this one is: of a program that crashed four calls below its entry point, with all of its
 * memory. They are the fuzzer's seeds, and no file of this machine has a part in them.
 */
#include <string.h>

#include "sfb/remote.h"
#include "support/test.h"

enum { FRAMES = 7 };

static const struct {
    const char *name;
    uint64_t frame[FRAMES];
} cores[] = {
    { "x86_64-whole", { 0x400188, 0x4001cc, 0x4001ae, 0x4001ae, 0x4001ae, 0x4001dc, 0x400181 } },
    { "x86_64-link_map", { 0x400188, 0x4001cc, 0x4001ae, 0x4001ae, 0x4001ae, 0x4001dc, 0x400181 } },
    { "x86_64-zstd", { 0x400188, 0x4001cc, 0x4001ae, 0x4001ae, 0x4001ae, 0x4001dc, 0x400181 } },
    { "aarch64-link_map",
      { 0x400190, 0x4001e0, 0x4001c0, 0x4001c0, 0x4001c0, 0x4001f4, 0x400180 } },
    { "aarch64-pn_xnum", { 0x400190, 0x4001e0, 0x4001c0, 0x4001c0, 0x4001c0, 0x4001f4, 0x400180 } },
};

static size_t asked;

static void *find_nothing(void *user, const struct sfb_remote_module *module, size_t *size)
{
    (void)user;
    (void)module;
    *size = 0;
    asked++;
    return NULL;
}

static struct sfb_remote *open_core(const char *name)
{
    static const struct sfb_remote_files files = { find_nothing, NULL };
    const struct sfb_remote_core_options how = { .size = sizeof how, .files = &files };
    struct sfb_remote_fault fault = { .why = "" };
    struct sfb_remote *remote;
    char path[512];

    snprintf(path, sizeof path, SFB_SOURCE_DIR "/remote/tests/fuzz/corpus/core/%s", name);
    remote = sfb_remote_open_core(path, &how, &fault);
    cr_assert(remote != NULL, "%s: %s", name, fault.why);
    return remote;
}

static void expect_frames(size_t i)
{
    struct sfb_remote *remote = open_core(cores[i].name);
    const struct sfb_remote_core *core = sfb_remote_core_of(remote);
    const struct sfb_remote_thread *threads;
    struct sfb_remote_fault fault;
    size_t count;

    cr_assert(sfb_remote_read(remote, NULL, &fault));
    threads = sfb_remote_threads(remote, &count);
    cr_assert(eq(sz, count, 1), "%s", cores[i].name);
    cr_expect(eq(int, core->signal, 11), "%s", cores[i].name);
    cr_expect(eq(int, core->pid, threads[0].tid), "%s", cores[i].name);
    cr_expect(eq(int, (int)threads[0].end, (int)SFB_END), "%s", cores[i].name);
    cr_assert(eq(sz, threads[0].frame_count, FRAMES), "%s", cores[i].name);
    for (size_t k = 0; k < FRAMES; k++) {
        cr_expect(eq(u64, threads[0].frames[k].address, cores[i].frame[k]), "%s: %zu",
                  cores[i].name, k);
        cr_expect(eq(int, threads[0].frames[k].kind, k > 0 ? SFB_FRAME_RA : SFB_FRAME_PC));
        if (k > 0)
            cr_expect(eq(int, threads[0].frames[k].source, SFB_SOURCE_EH_FRAME), "%s: %zu",
                      cores[i].name, k);
    }
    sfb_remote_close(remote);
}

Test(cores, of_both_machines_have_their_frames)
{
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        expect_frames(i);
}

Test(cores, one_of_two_machines_is_foreign)
{
    struct sfb_remote *one = open_core("x86_64-whole"), *other = open_core("aarch64-link_map");

    cr_expect(sfb_remote_core_of(one)->foreign != sfb_remote_core_of(other)->foreign);
    sfb_remote_close(one);
    sfb_remote_close(other);
}

Test(cores, ask_for_files_of_modules_and_never_for_the_vdso)
{
    struct sfb_remote *remote = open_core("x86_64-whole");
    struct sfb_remote_fault fault;
    const struct sfb_remote_module *modules;
    size_t count, vdso = 0;

    cr_assert(sfb_remote_read(remote, NULL, &fault));
    cr_expect(eq(sz, asked, 1));
    modules = sfb_remote_modules(remote, &count);
    for (size_t i = 0; i < count; i++)
        if (modules[i].image) {
            cr_expect(eq(sz, modules[i].image_size, modules[i].end - modules[i].start));
            cr_expect(memcmp(modules[i].image, "\177ELF", 4) == 0);
            vdso++;
        }
    cr_expect(eq(sz, vdso, 1));
    sfb_remote_close(remote);
}

Test(cores, have_threads_by_number_and_a_limit_of_frames)
{
    struct sfb_remote *remote = open_core("aarch64-link_map");
    struct sfb_remote_options options = { .size = sizeof options, .max_frames = 3, .tid = 1 };
    struct sfb_remote_fault fault;
    const struct sfb_remote_thread *threads;
    size_t count;

    cr_expect(sfb_remote_read(remote, &options, &fault) == false);
    cr_expect(strcmp(fault.why, "it has no such thread") == 0);
    options.tid = sfb_remote_core_of(remote)->pid;
    cr_assert(sfb_remote_read(remote, &options, &fault));
    threads = sfb_remote_threads(remote, &count);
    cr_assert(eq(sz, threads[0].frame_count, 3));
    cr_expect(eq(int, (int)threads[0].end, (int)SFB_FRAME_LIMIT));
    sfb_remote_close(remote);
}
