/*
 * The modules of this process as Compact ImageMap. The other opinion is dl_iterate_phdr()'s, which
 * takes the loader's lock and so is none of the library's sources here.
 */
#include "sfb/image_map.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/guarded.h"
#include "support/test.h"

enum { SIZE = 1 << 16, IMAGES_MAX = 256, PREFIXES = 8192 };

static uint8_t map[SIZE];
static ssize_t map_size;
static uint32_t left_out;

static struct images {
    struct sfb_image at[IMAGES_MAX];
    size_t count;
    char text[SIZE];
    struct sfb_image_map_prefix prefixes[PREFIXES];
} images;

static void decode(const uint8_t *bytes, ssize_t size)
{
    const struct sfb_image_map_room room = { images.text, SIZE, images.prefixes, PREFIXES };
    struct sfb_image_map_decoder decoder;
    enum sfb_status status;

    cr_assert(lt(i64, 0, size));
    cr_assert(
        eq(int, sfb_image_map_decoder_init(&decoder, bytes, (size_t)size, &room, NULL), SFB_OK));
    images.count = 0;
    while ((status = sfb_image_map_decoder_next(&decoder, &images.at[images.count], NULL)) ==
           SFB_OK)
        cr_assert(lt(sz, ++images.count, IMAGES_MAX));
    cr_assert(eq(int, status, SFB_END));
}

static void take(void)
{
    map_size = sframe_backtrace_image_map(map, sizeof map, &left_out);
    decode(map, map_size);
    cr_expect(eq(u32, left_out, 0));
}

static const struct sfb_image *image_at(uint64_t address)
{
    for (size_t i = 0; i < images.count; i++)
        if (address >= images.at[i].base && address < images.at[i].end_of_text)
            return &images.at[i];
    return NULL;
}

/* --- dl_iterate_phdr() ------------------------------------------------------------------------- */

struct expected {
    uint64_t base, end_of_text;
    const uint8_t *build_id;
    size_t build_id_size;
};

static void read_notes(struct expected *out, const uint8_t *at, size_t size)
{
    for (size_t i = 0; i + sizeof(ElfW(Nhdr)) <= size;) {
        const ElfW(Nhdr) *note = (const void *)(at + i);
        size_t name = i + sizeof *note, text = name + ((note->n_namesz + 3) & ~3U);

        if (note->n_type == NT_GNU_BUILD_ID && memcmp(at + name, "GNU", 4) == 0) {
            out->build_id = at + text;
            out->build_id_size = note->n_descsz;
        }
        i = text + ((note->n_descsz + 3) & ~3U);
    }
}

static int compare_module(struct dl_phdr_info *info, size_t size, void *user)
{
    struct expected e = { .base = UINT64_MAX };
    char program[4096] = { 0 };
    const struct sfb_image *image;
    const char *path = info->dlpi_name;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_NOTE && e.build_id_size == 0)
            read_notes(&e, (const void *)(uintptr_t)start, p->p_memsz);
        if (p->p_type != PT_LOAD)
            continue;
        if (start < e.base)
            e.base = start & ~(uint64_t)4095;
        if (p->p_flags & PF_X)
            e.end_of_text = start + p->p_memsz;
    }
    image = image_at(e.base);
    if (path[0] == '\0') {
        cr_assert(lt(i64, 0, readlink("/proc/self/exe", program, sizeof program - 1)));
        path = program;
    }
    cr_assert(image != NULL, "%s", path);
    cr_expect(eq(u64, image->base, e.base), "%s", path);
    cr_expect(eq(u64, image->end_of_text, e.end_of_text), "%s", path);
    cr_expect(eq(sz, image->path_size, strlen(path)), "%s", path);
    cr_expect(memcmp(image->path, path, strlen(path)) == 0, "%s", path);
    cr_assert(eq(sz, image->build_id_size, e.build_id_size), "%s", path);
    cr_expect(memcmp(image->build_id, e.build_id, e.build_id_size) == 0, "%s", path);
    ++*(size_t *)user;
    return 0;
}

static void compare(void)
{
    size_t count = 0;

    take();
    dl_iterate_phdr(compare_module, &count);
    cr_expect(eq(sz, images.count, count));
    cr_expect(lt(sz, 3, count), "the program, libc, the loader, the test framework");
}

Test(image_map, has_what_the_loader_says)
{
    compare();
    for (size_t i = 1; i < images.count; i++)
        cr_expect(lt(u64, images.at[i - 1].base, images.at[i].base));
}

/* --- Libraries that come and go ---------------------------------------------------------------- */

static bool has_path(const char *end)
{
    for (size_t i = 0; i < images.count; i++)
        if (images.at[i].path_size > strlen(end) &&
            memcmp(images.at[i].path + images.at[i].path_size - strlen(end), end, strlen(end)) == 0)
            return true;
    return false;
}

#define LIBRARY "libimage_map.so"

static void *open_library(bool own_namespace)
{
    const char *path = SFB_TEST_LIBS "/" LIBRARY;
    void *library = own_namespace ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW);

    cr_assert(library != NULL, "%s", dlerror());
    return library;
}

Test(image_map, knows_what_was_loaded_and_unloaded)
{
    void *library;

    take();
    cr_expect(has_path(LIBRARY) == false, "%s", LIBRARY);
    library = open_library(false);
    compare();
    cr_expect(has_path(LIBRARY), "%s", LIBRARY);
    dlclose(library);
    compare();
    cr_expect(has_path(LIBRARY) == false, "%s", LIBRARY);
}

Test(image_map, has_other_namespaces)
{
    void *library, *function;

    if (sanitized())
        cr_skip("a sanitizer's library does not work in another namespace");
    library = open_library(true);
    function = dlsym(library, "sfb_nothing");
    cr_assert(function != NULL);
    take();
    cr_assert(image_at((uintptr_t)function) != NULL);
    cr_expect(has_path(LIBRARY), "%s", LIBRARY);
}

/* --- Buffers ----------------------------------------------------------------------------------- */

/* Whatever the size: what is written is whole, and what is left out is counted. */
Test(image_map, fits_any_buffer)
{
    size_t total, most = 0;
    struct guarded g = guarded_new(SIZE);

    take();
    total = images.count;
    for (size_t size = 0; size <= (size_t)map_size + 10000; size += size < 64 ? 1 : 61) {
        uint8_t *at = g.end - size;
        ssize_t used;

        memset(g.map, 0x5a, (size_t)(g.end - g.map));
        used = sframe_backtrace_image_map(at, size, &left_out);
        if (used < 0) {
            cr_expect(lt(sz, size, 16));
            cr_expect(eq(i64, used, -SFB_BUFFER_TOO_SMALL));
        } else {
            decode(at, used);
            cr_expect(eq(sz, images.count + left_out, total), "%zu", size);
            if (images.count > most)
                most = images.count;
        }
        cr_expect(eq(int, at == g.map ? 0x5a : at[-1], 0x5a), "before the buffer");
    }
    cr_expect(eq(sz, most, total));
    guarded_free(&g);
}

Test(image_map, refuses_no_buffer)
{
    cr_expect(eq(i64, sframe_backtrace_image_map(NULL, 100, NULL), -SFB_BAD_ARGUMENT));
}

/* --- In a handler ------------------------------------------------------------------------------ */

static uint8_t in_handler[SIZE];
static ssize_t in_handler_size;
static int errno_after;

static void handle(int number)
{
    (void)number;
    errno = 4711;
    in_handler_size = sframe_backtrace_image_map(in_handler, sizeof in_handler, NULL);
    errno_after = errno;
}

static int interrupt_loader(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)info;
    (void)size;
    (void)user;
    raise(SIGUSR1);
    return 1;
}

/* Also while the loader's lock is held. */
Test(image_map, is_the_same_in_a_handler)
{
    const struct sigaction action = { .sa_handler = handle };

    sigaction(SIGUSR1, &action, NULL);
    dl_iterate_phdr(interrupt_loader, NULL);
    take();
    cr_expect(eq(int, errno_after, 4711));
    cr_assert(eq(i64, in_handler_size, map_size));
    cr_expect(memcmp(in_handler, map, (size_t)map_size) == 0);
}
