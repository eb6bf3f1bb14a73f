/* Copied stacks: what is mapped where, and stacks that are walked without their process. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/cbf.h"
#include "sfb/copied.h"
#include "sfb/walk.h"
#include "support/test.h"

enum { MODULES = 8 };

struct seen {
    struct sfb_copied_module at[MODULES];
    size_t count;
};

static bool see(void *user, const struct sfb_copied_module *module)
{
    struct seen *seen = user;

    cr_assert_lt(seen->count, MODULES);
    seen->at[seen->count++] = *module;
    return true;
}

static struct sfb_copied_mapping file_at(const char *path, uint64_t start, uint64_t end)
{
    return (
        struct sfb_copied_mapping){ .start = start, .end = end, .executable = true, .path = path };
}

static void expect_modules(struct sfb_copied_space *space, const char *want)
{
    struct seen seen = { .count = 0 };
    char text[256] = "";

    sfb_copied_space_modules(space, see, &seen);
    for (size_t i = 0; i < seen.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %lx-%lx", i ? ", " : "",
                 seen.at[i].path, (unsigned long)seen.at[i].base, (unsigned long)seen.at[i].end);
    cr_expect_str_eq(text, want);
}

/* Files that do not exist: their bases are where their first byte would be. */
Test(copied, a_later_mapping_replaces_what_it_overlaps)
{
    static const struct {
        const char *path;
        uint64_t start, end;
        const char *want;
    } steps[] = {
        { "/no/a", 0x10000, 0x50000, "/no/a 10000-50000" },
        { "/no/b", 0x60000, 0x70000, "/no/a 10000-50000, /no/b 60000-70000" },
        { "/no/c", 0x20000, 0x30000,
          "/no/a 10000-20000, /no/c 20000-30000, /no/a 10000-50000, /no/b 60000-70000" },
        { NULL, 0x48000, 0x68000,
          "/no/a 10000-20000, /no/c 20000-30000, /no/a 10000-48000, /no/b 60000-70000" },
        { "/no/d", 0, 0x100000, "/no/d 0-100000" },
    };
    struct sfb_copied_files *files = sfb_copied_files_open();
    struct sfb_copied_space *space = sfb_copied_space_open(files, NULL), *child;

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct sfb_copied_mapping m = file_at(steps[i].path, steps[i].start, steps[i].end);

        m.offset = i == 3 ? 0 : m.offset;
        cr_assert_eq(sfb_copied_space_map(space, &m), SFB_OK);
        expect_modules(space, steps[i].want);
    }
    child = sfb_copied_space_open(files, space);
    sfb_copied_space_clear(space);
    expect_modules(space, "");
    expect_modules(child, "/no/d 0-100000");
    sfb_copied_space_close(child);
    sfb_copied_space_close(space);
    sfb_copied_files_close(files);
}

Test(copied, refuses_what_is_no_mapping_and_no_stack)
{
    struct sfb_copied_files *files = sfb_copied_files_open();
    struct sfb_copied_space *space = sfb_copied_space_open(files, NULL);
    struct sfb_copied_mapping empty = file_at("/no/a", 0x1000, 0x1000),
                              long_id = file_at("/no/a", 0x1000, 0x2000);
    const struct sfb_copied_stack none = { .size = 0 };
    struct sfb_copied_backtrace found;
    uint8_t cbf[64];

    long_id.build_id = cbf;
    long_id.build_id_size = sizeof cbf + 1;
    cr_expect_eq(sfb_copied_space_map(space, &empty), SFB_BAD_ARGUMENT);
    cr_expect_eq(sfb_copied_space_map(space, &long_id), SFB_BAD_ARGUMENT);
    cr_expect_eq(sfb_copied_walk(space, &none, &found, cbf, sizeof cbf), SFB_BAD_ARGUMENT);
    sfb_copied_space_close(space);
    sfb_copied_files_close(files);
}

/* --- Walks of this process's own stack -------------------------------------------------------------- */

static void map_own_files(struct sfb_copied_space *space)
{
    char line[PATH_MAX + 128], path[PATH_MAX], rights[5];
    FILE *maps = fopen("/proc/self/maps", "re");

    cr_assert(maps != NULL);
    while (fgets(line, sizeof line, maps)) {
        struct sfb_copied_mapping m = { .path = path };

        if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4095s", &m.start, &m.end, rights, &m.offset,
                   path) != 5)
            continue;
        m.executable = rights[2] == 'x';
        cr_assert_eq(sfb_copied_space_map(space, &m), SFB_OK);
    }
    fclose(maps);
}

static struct sfb_copied_backtrace walk_own(struct sfb_copied_space *space, size_t size,
                                            const uint64_t *before, size_t before_count,
                                            uint8_t *cbf, size_t room)
{
    static uint8_t bytes[1 << 16];
    struct sfb_copied_stack stack = {
        .bytes = bytes, .size = size, .before = before, .before_count = before_count
    };
    struct sfb_copied_backtrace found;

    sfb_context_capture(&stack.registers);
    stack.address = stack.registers.reg[SFB_CONTEXT_X86_64 ? 7 : 31];
    memcpy(bytes, (const void *)(uintptr_t)stack.address, size); /* NOLINT */
    cr_assert_eq(sfb_copied_walk(space, &stack, &found, cbf, room), SFB_OK);
    return found;
}

/* A copy of 64 bytes ends within this function's frame, or the next. */
Test(copied, a_short_copy_ends_in_trunc_with_its_reason)
{
    struct sfb_copied_files *files = sfb_copied_files_open();
    struct sfb_copied_space *space = sfb_copied_space_open(files, NULL);
    const uint64_t kernel[] = { 0xffffffff81000010, 0xffffffff81000020 };
    struct sfb_copied_backtrace whole, cut, full;
    uint8_t cbf[4096];

    map_own_files(space);
    cut = walk_own(space, 64, NULL, 0, cbf, sizeof cbf);
    cr_expect_eq(cut.end, SFB_STACK_CUT, "%s", sfb_status_str(cut.end));
    cr_expect_eq(cbf[cut.size - 1], 0x01, "trunc");
    whole = walk_own(space, 4096, kernel, 2, cbf, sizeof cbf);
    cr_expect_gt(whole.frames, cut.frames + 2);
    full = walk_own(space, 4096, kernel, 2, cbf, 12);
    cr_expect_eq(full.end, SFB_BUFFER_FULL, "%s", sfb_status_str(full.end));
    sfb_copied_space_close(space);
    sfb_copied_files_close(files);
}
