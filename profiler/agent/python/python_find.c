#include "profiler/agent/python/python_find.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "profiler/agent/modules.h"
#include "unwind/process/image_list.h"
#include "unwind/process/live_memory.h"

/* CPython's. Defined where a program or one of its libraries exports them. */
extern char PyCode_Type[] __attribute__((weak));
extern char Py_Version[] __attribute__((weak));

uint32_t sfb_python_opened;

enum {
    PATH = 512,
    TAGS_MAX = 256,
    CHAIN_MAX = 4096 /* symbols of a bucket: a damaged table may have no end */
};

enum { LINKED = 1 }; /* the number of an interpreter that the program is linked with */

/* Changed only while sfb_python_opened is 0. */
static struct sfb_cpython_place opened;
static uint32_t last = LINKED; /* number that was given */
static uint32_t looking;

/* --- Its symbols ---------------------------------------------------------------------------------- */

/* What a module exports. */
struct exports {
    struct sfb_memory memory;
    uint64_t base, symbols, strings, hash;
};

static bool read32(struct exports *e, uint64_t address, uint32_t *out)
{
    return sfb_memory_copy(&e->memory, address, out, sizeof *out);
}

/* The loader writes addresses over the offsets of most modules. */
static uint64_t place_of(const struct exports *e, uint64_t value)
{
    return value < e->base ? value + e->base : value;
}

static bool read_dynamic(struct exports *e, uint64_t link_map)
{
    uint64_t at, tag, value;

    if (!sfb_memory_read(&e->memory, link_map + offsetof(struct link_map, l_addr), &e->base) ||
        !sfb_memory_read(&e->memory, link_map + offsetof(struct link_map, l_ld), &at))
        return false;
    for (unsigned i = 0; i < TAGS_MAX; i++, at += sizeof(ElfW(Dyn))) {
        if (!sfb_memory_read(&e->memory, at, &tag) ||
            !sfb_memory_read(&e->memory, at + sizeof tag, &value))
            return false;
        if (tag == DT_NULL)
            break;
        if (tag == DT_SYMTAB)
            e->symbols = place_of(e, value);
        else if (tag == DT_STRTAB)
            e->strings = place_of(e, value);
        else if (tag == DT_GNU_HASH)
            e->hash = place_of(e, value);
    }
    return e->symbols != 0 && e->strings != 0 && e->hash != 0;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;

    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

/* @return the address of a symbol, if it has the name; 0 */
static uint64_t symbol_at(struct exports *e, uint32_t number, const char *name)
{
    char found[32];
    const size_t size = strlen(name) + 1;
    ElfW(Sym) symbol;

    if (!sfb_memory_copy(&e->memory, e->symbols + number * sizeof symbol, &symbol, sizeof symbol) ||
        symbol.st_shndx == SHN_UNDEF || size > sizeof found ||
        !sfb_memory_copy(&e->memory, e->strings + symbol.st_name, found, size) ||
        memcmp(found, name, size) != 0)
        return 0;
    return e->base + symbol.st_value;
}

/* DT_GNU_HASH: four numbers, a filter of words, buckets, and hashes from the first symbol on, of which the lowest bit ends a bucket. */
static uint64_t find(struct exports *e, const char *name)
{
    const uint32_t hash = hash_of(name);
    uint32_t head[4], number, other;
    uint64_t buckets, hashes, found;

    if (!sfb_memory_copy(&e->memory, e->hash, head, sizeof head) || head[0] == 0)
        return 0;
    buckets = e->hash + sizeof head + (uint64_t)head[2] * sizeof(ElfW(Addr));
    hashes = buckets + (uint64_t)head[0] * sizeof number;
    if (!read32(e, buckets + hash % head[0] * sizeof number, &number) || number < head[1])
        return 0;
    for (unsigned i = 0; i < CHAIN_MAX; i++, number++) {
        if (!read32(e, hashes + (uint64_t)(number - head[1]) * sizeof other, &other))
            return 0;
        found = (other | 1) == (hash | 1) ? symbol_at(e, number, name) : 0;
        if (found != 0 || (other & 1))
            return found;
    }
    return 0;
}

static bool find_place(struct sfb_cpython_place *out, uint64_t link_map)
{
    struct exports e = { .base = 0 };

    sfb_memory_doubted(&e.memory);
    if (!read_dynamic(&e, link_map))
        return false;
    out->runtime = find(&e, "_PyRuntime");
    out->code_type = find(&e, "PyCode_Type");
    out->version = find(&e, "Py_Version");
    return out->runtime != 0 && out->code_type != 0 && out->version != 0;
}

/* --- The modules ---------------------------------------------------------------------------------- */

/* @param place  all zero: no interpreter was found */
static void note(const struct sfb_cpython_place *place)
{
    if (memcmp(place, &opened, sizeof opened) == 0)
        return;
    __atomic_store_n(&sfb_python_opened, 0, __ATOMIC_RELEASE);
    opened = *place;
    if (place->runtime != 0)
        __atomic_store_n(&sfb_python_opened, ++last, __ATOMIC_RELEASE);
}

static bool is_libpython(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strstr(slash ? slash : path, "libpython") != NULL;
}

static void look_for(void)
{
    struct sfb_cpython_place place = { .runtime = 0 };
    struct sfb_listed_image listed;
    struct sfb_image_list list;
    char path[PATH];

    if (__atomic_exchange_n(&looking, 1, __ATOMIC_ACQUIRE) != 0)
        return;
    sfb_image_list_begin(&list);
    while (place.runtime == 0 && sfb_image_list_next(&list, &listed))
        if (listed.link_map != 0 &&
            sfb_image_list_path(&list, &listed, path, sizeof path) < sizeof path &&
            is_libpython(path) && !find_place(&place, listed.link_map))
            place = (struct sfb_cpython_place){ .runtime = 0 };
    note(&place);
    __atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
}

void sfb_python_look_for(void)
{
    if (_PyRuntime || !sfb_modules_read_begin())
        return;
    look_for();
    sfb_modules_read_end();
}

void sfb_python_continue_in_child(void)
{
    __atomic_store_n(&looking, 0, __ATOMIC_RELAXED);
}

uint32_t sfb_python_where(struct sfb_cpython_place *out)
{
    const uint32_t number = __atomic_load_n(&sfb_python_opened, __ATOMIC_ACQUIRE);

    if (_PyRuntime) {
        *out = (struct sfb_cpython_place){ .runtime = (uintptr_t)_PyRuntime,
                                           .code_type = (uintptr_t)PyCode_Type,
                                           .version = (uintptr_t)Py_Version };
        return PyCode_Type && Py_Version ? LINKED : 0;
    }
    *out = opened;
    return number;
}
