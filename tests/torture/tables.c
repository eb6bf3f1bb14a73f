/*
 * Corrupt tables: bytes of the .sframe, .eh_frame_hdr and .eh_frame of loaded modules are replaced,
 * at random and on purpose, and the stack that goes through these modules is walked.
 *
 *     torture-tables [--seed N] [--first N] [--inject WHAT] [TRIALS]
 *
 * Two libraries without a build-id, whose rules therefore are never remembered, one of them without
 * .sframe; and this program, with an empty rule cache. Every walk comes back, with a whole CBF. (A
 * table may say that a function is the outermost, and then no walker can know better: such ends are
 * counted, and are no failure.)
 */
/* Before <elf.h>, whose macros are some of its names. */
#include "support/machine.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "sfb/walk.h"
#include "sframe/format.h"
#include "support/compiler.h"
#include "support/trace.h"
#include "trials.h"
#include "unwind/process/module_cache.h"

enum { ALTERNATE = 1 << 20, TABLES_MAX = 8, ENTRIES_MAX = 256, UNDO_MAX = 4096, PAGE = 4096 };

static struct trials *trials;

enum table_kind { SFRAME, EH_FRAME_HDR, EH_FRAME };

/* A table of a module, where it lies. */
struct table {
    enum table_kind kind;
    bool own; /* this program's */
    uint8_t *at;
    size_t size;
    uint64_t module_start, module_size;
    size_t entry[ENTRIES_MAX]; /* of .eh_frame: where entries begin */
    size_t entry_count;
};

static struct table tables[TABLES_MAX];
static size_t table_count;

static ucontext_t good_context;
static struct sfb_regs good_regs;
static uint64_t outermost;

enum tally { ENDS, OTHER_ENDS, OTHER_PCS };

/* --- Tables ----------------------------------------------------------------------------------- */

static uint32_t load_u32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static void make_writable(const uint8_t *at, size_t size)
{
    uintptr_t first = (uintptr_t)at & ~(uintptr_t)(PAGE - 1);

    if (mprotect((void *)first, (uintptr_t)at + size - first, PROT_READ | PROT_WRITE) != 0) {
        perror("mprotect");
        _exit(2);
    }
}

static struct table *add_table(const struct table *like, enum table_kind kind, uint64_t address,
                               size_t size)
{
    struct table *t = &tables[table_count];

    if (table_count == TABLES_MAX || size == 0)
        return NULL;
    *t = *like;
    t->kind = kind;
    t->at = (uint8_t *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
    t->size = size;
    table_count++;
    return t;
}

/* .eh_frame up to its terminator, which the header leads to by a signed distance of 32 bits. */
static void add_eh_frame(const struct table *hdr)
{
    uint64_t address = (uintptr_t)hdr->at + 4 + (uint64_t)(int64_t)(int32_t)load_u32(hdr->at + 4);
    const uint8_t *at = (const uint8_t *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
    struct table t = *hdr;
    size_t size = 0;

    t.entry_count = 0;
    while (load_u32(at + size) != 0 && t.entry_count < ENTRIES_MAX) {
        t.entry[t.entry_count++] = size;
        size += 4 + load_u32(at + size);
    }
    add_table(&t, EH_FRAME, address, size);
}

static int add_tables(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct table like = { .own = info->dlpi_name[0] == '\0' };
    uint64_t lo = ~0ull, hi = 0;

    (void)size;
    (void)arg;
    if (!like.own && !strstr(info->dlpi_name, "torture"))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && p->p_vaddr < lo)
            lo = p->p_vaddr;
        if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > hi)
            hi = p->p_vaddr + p->p_memsz;
    }
    like.module_start = info->dlpi_addr + lo;
    like.module_size = hi - lo;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t at = info->dlpi_addr + p->p_vaddr;

        if (p->p_type == SFB_PT_GNU_SFRAME)
            add_table(&like, SFRAME, at, p->p_memsz);
        if (p->p_type == PT_GNU_EH_FRAME) {
            struct table *hdr = add_table(&like, EH_FRAME_HDR, at, p->p_memsz);

            if (hdr)
                add_eh_frame(hdr);
        }
    }
    return 0;
}

/* --- Damage ----------------------------------------------------------------------------------- */

/* What was there before, last first. */
static struct {
    uint8_t *at;
    uint8_t was;
} undo[UNDO_MAX];
static size_t undo_count;

static void mend(void)
{
    while (undo_count > 0) {
        undo_count--;
        *undo[undo_count].at = undo[undo_count].was;
    }
}

static void put(const struct table *t, size_t offset, const void *data, size_t size)
{
    for (size_t i = 0; i < size && offset + i < t->size && undo_count < UNDO_MAX; i++) {
        undo[undo_count].at = t->at + offset + i;
        undo[undo_count++].was = t->at[offset + i];
        t->at[offset + i] = ((const uint8_t *)data)[i];
    }
}

static uint64_t odd_number(struct random *r, const struct table *t)
{
    static const uint64_t odd[] = { 0,          1,          2,          0x7f,       0x80,
                                    0xff,       0xffff,     0x7fffffff, 0x80000000, 0xfffffff0,
                                    0xffffffff, 0xfffffffc, 0xfffffffe, 17,         20 };

    switch (random_below(r, 5)) {
    case 0: return odd[random_below(r, sizeof odd / sizeof *odd)];
    case 1: return t->size + random_below(r, 64) - 32;
    case 2: return random_below(r, t->size + 1);
    case 3: return 0 - random_below(r, t->size + 1);
    default: return random_next(r);
    }
}

static void put_number(const struct table *t, struct random *r, size_t offset, size_t size)
{
    uint64_t value = odd_number(r, t);

    if (random_below(r, 4) == 0 && offset + size <= t->size) { /* a little off */
        value = 0;
        memcpy(&value, t->at + offset, size);
        value += random_below(r, 65) - 32;
    }
    put(t, offset, &value, size);
}

static void damage_anything(const struct table *t, struct random *r)
{
    uint8_t bytes[64];
    size_t at = random_below(r, t->size), size = 1 + random_below(r, sizeof bytes - 1);

    switch (random_below(r, 5)) {
    case 0:
        for (uint64_t n = 1 + random_below(r, 16); n > 0; n--)
            put_number(t, r, random_below(r, t->size), 1);
        break;
    case 1: put_number(t, r, at & ~(size_t)3, 4); break;
    case 2: /* zeros, ones, numbers in LEB128 without end */
        memset(bytes, random_below(r, 3) == 0 ? 0 : random_below(r, 2) ? 0x80 : 0xff, size);
        put(t, at, bytes, size);
        break;
    case 3: { /* from elsewhere */
        size_t from = random_below(r, t->size);

        if (size > t->size - from)
            size = t->size - from;
        memcpy(bytes, t->at + from, size);
        put(t, at, bytes, size);
        break;
    }
    default: put_number(t, r, at, 2); break;
    }
}

static void swap(const struct table *t, size_t a, size_t b, size_t size)
{
    uint8_t first[32], second[32];

    if (a + size > t->size || b + size > t->size || size > sizeof first)
        return;
    memcpy(first, t->at + a, size);
    memcpy(second, t->at + b, size);
    put(t, a, second, size);
    put(t, b, first, size);
}

static void damage_sframe(const struct table *t, struct random *r)
{
    static const struct {
        uint8_t at, size;
    } header[] = { { SFB_SFP_MAGIC, 2 },
                   { SFB_SFP_VERSION, 1 },
                   { SFB_SFP_FLAGS, 1 },
                   { SFB_SFH_ABI_ARCH, 1 },
                   { SFB_SFH_CFA_FIXED_FP_OFFSET, 1 },
                   { SFB_SFH_CFA_FIXED_RA_OFFSET, 1 },
                   { SFB_SFH_AUXHDR_LEN, 1 },
                   { SFB_SFH_NUM_FDES, 4 },
                   { SFB_SFH_NUM_FRES, 4 },
                   { SFB_SFH_FRE_LEN, 4 },
                   { SFB_SFH_FDEOFF, 4 },
                   { SFB_SFH_FREOFF, 4 } };
    /* As version 1 has it, which is what the binutils of the day write. */
    enum { ENTRY_SIZE = 17 };
    static const uint8_t fde[][2] = { { 0, 4 }, { 4, 4 }, { 8, 4 }, { 12, 4 }, { 16, 1 } };
    size_t count = load_u32(t->at + SFB_SFH_NUM_FDES), which, at;

    if (random_below(r, 4) == 0 || count == 0 || count > 10000) {
        which = random_below(r, sizeof header / sizeof *header);
        put_number(t, r, header[which].at, header[which].size);
        return;
    }
    at = SFB_HEADER_SIZE + random_below(r, count) * ENTRY_SIZE;
    if (random_below(r, 4) == 0) {
        swap(t, at, SFB_HEADER_SIZE + random_below(r, count) * ENTRY_SIZE, ENTRY_SIZE);
    } else if (random_below(r, 3) == 0) { /* rows */
        at = SFB_HEADER_SIZE + count * ENTRY_SIZE;
        if (at < t->size)
            put_number(t, r, at + random_below(r, t->size - at), 1 + random_below(r, 4));
    } else {
        which = random_below(r, sizeof fde / sizeof *fde);
        put_number(t, r, at + fde[which][0], fde[which][1]);
    }
}

static void damage_hdr(const struct table *t, struct random *r)
{
    enum { TABLE = 12, ENTRY = 8 };
    size_t count = (t->size - TABLE) / ENTRY;

    switch (random_below(r, 4)) {
    case 0: put_number(t, r, random_below(r, 4), 1); break;
    case 1: put_number(t, r, 4 + 4 * random_below(r, 2), 4); break;
    case 2:
        swap(t, TABLE + random_below(r, count) * ENTRY, TABLE + random_below(r, count) * ENTRY,
             ENTRY);
        break;
    default:
        put_number(t, r, TABLE + random_below(r, count) * ENTRY + 4 * random_below(r, 2), 4);
        break;
    }
}

static void damage_eh_frame(const struct table *t, struct random *r)
{
    static const uint8_t programs[][12] = {
        { 0x0f, 3, 0x2f, 0xfd, 0xff },             /* the CFA: skip back to itself */
        { 0x0f, 5, 0x30, 0x20, 0x28, 0xfb, 0xff }, /* ... if zero is not */
        { 0x0f, 4, 0x12, 0x2f, 0xfc, 0xff },       /* ... and the stack grows */
        { 0x0f, 0xff, 0xff, 0xff, 0xff, 0x0f },    /* as large as can be */
        { 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a }, /* remember */
        { 0x0b, 0x0b, 0x0b },                                                       /* restore */
        { 0x0e, 0 },                                        /* the CFA is sp */
        { 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f }, /* far away */
        { 0x12, 7, 0x7f },                                  /* below sp */
        { 0x0f, 2, 0x77, 0, 0x06 },                         /* what sp leads to */
        { 0x10, 16, 3, 0x2f, 0xfd, 0xff },                  /* the return address */
        { 0x05, 0xff, 0xff, 0xff, 0x0f, 1 },                /* a register that is none */
    };
    size_t at = t->entry[random_below(r, t->entry_count)];

    switch (random_below(r, 5)) {
    case 0: put_number(t, r, at, 4); break;     /* length */
    case 1: put_number(t, r, at + 4, 4); break; /* CIE */
    case 2: put_number(t, r, at + 8 + random_below(r, 12), 1 + random_below(r, 4)); break;
    case 3:
        put(t, at + 16 + random_below(r, 8), programs[random_below(r, 12)],
            2 + random_below(r, 11));
        break;
    default:
        for (uint64_t n = random_below(r, 8) + 1; n > 0; n--)
            put_number(t, r, at + 8 + random_below(r, 40), 1);
        break;
    }
}

static void damage(struct random *r)
{
    for (uint64_t n = 1 + random_below(r, 3); n > 0; n--) {
        const struct table *t = &tables[random_below(r, table_count)];

        if (t->own)
            memset(&sfb_live_rules, 0, sizeof sfb_live_rules);
        if (random_below(r, 3) == 0)
            damage_anything(t, r);
        else if (t->kind == SFRAME)
            damage_sframe(t, r);
        else if (t->kind == EH_FRAME_HDR)
            damage_hdr(t, r);
        else
            damage_eh_frame(t, r);
    }
}

/* --- One trial -------------------------------------------------------------------------------- */

static struct trace ours;

static enum verdict one(struct trials *t, struct random *r, uint64_t trial)
{
    static uint64_t memo[SFRAME_BACKTRACE_MEMO_SIZE(64) / 8];
    static uint8_t buffer[8192];
    ucontext_t uc = good_context;
    struct sframe_backtrace_info info = { .size = sizeof info };
    struct sframe_backtrace_options options = { .size = sizeof options, .context = &uc };
    enum verdict verdict = VERDICT_GOOD;
    ssize_t got;

    mend();
    damage(r);
    if (random_below(r, 2)) { /* anywhere in one of the modules */
        const struct table *table = &tables[random_below(r, table_count)];

        machine_set_ucontext(&uc, table->module_start + random_below(r, table->module_size),
                             good_regs.sp, good_regs.fp);
        t->tally[OTHER_PCS]++;
    }
    if (random_below(r, 4) == 0)
        options.flags = SFRAME_BACKTRACE_NO_LIBUNWIND;
    if (trial % 2) {
        options.memo = memo;
        options.memo_size = sizeof memo;
        if (random_below(r, 4))
            memset(memo, 0, sizeof memo);
    }
    errno = 4711;
    got = sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info);
    trace_decode(&ours, buffer, got);
    if (errno != 4711 || ours.error != SFB_OK || (info.end == SFB_END) != (ours.end == 1))
        verdict = VERDICT_BAD_CBF;
    else if (info.frames > 10000)
        verdict = VERDICT_TOO_LONG;
    else if (ours.end)
        t->tally[ours.address[ours.count - 1] == outermost ? ENDS : OTHER_ENDS]++;
    if (trials->inject == INJECT_END && trial == 100)
        verdict = VERDICT_FALSE_END;
    if (verdict != VERDICT_GOOD)
        trials_complain(t, trial, verdict, sfb_status_str(info.end));
    return verdict;
}

/* --- The stack -------------------------------------------------------------------------------- */

static void on_fault(int number, siginfo_t *si, void *ucontext)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .context = ucontext };
    struct sframe_backtrace_info info = { .size = sizeof info };
    void *intact[64];
    ssize_t n;

    (void)number;
    (void)si;
    memcpy(&good_context, ucontext, sizeof good_context);
    good_regs = machine_regs(&good_context);
    n = sframe_backtrace_addresses(intact, 64, &options, &info);
    if (n < 16 || info.end != SFB_END) {
        fprintf(stderr, "tables: the intact stack is not walked: %s\n", sfb_status_str(info.end));
        _exit(2);
    }
    outermost = (uintptr_t)intact[n - 1];
    for (size_t i = 0; i < table_count; i++)
        make_writable(tables[i].at, tables[i].size);
    trials_batch(trials, one);
}

static volatile int sink;

NOINLINE static int bottom(void)
{
    if (trials_fork(trials)) {
        struct sigaction action = { .sa_sigaction = on_fault,
                                    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
        void *map =
            mmap(NULL, ALTERNATE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        stack_t on = { .ss_sp = map, .ss_size = ALTERNATE };

        if (map == MAP_FAILED || sigaltstack(&on, NULL) != 0)
            _exit(2);
        sigaction(SIGILL, &action, NULL);
        __asm__ volatile(MACHINE_FAULT ::: "memory");
    }
    return sink++;
}

typedef int through_all_fn(int (*)(void));

static through_all_fn *open_library(const char *name)
{
    char path[512];
    void *library, *function;
    through_all_fn *out;

    snprintf(path, sizeof path, "%s/libtorture-frames-%s.so", SFB_TEST_LIBS, name);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    function = library ? dlsym(library, "through_all") : NULL;
    if (!function) {
        fprintf(stderr, "tables: %s\n", dlerror());
        exit(2);
    }
    *(void **)&out = function;
    return out;
}

static through_all_fn *bare;

NOINLINE static int again(void)
{
    return bare(bottom) + sink++;
}

int main(int argc, char **argv)
{
    through_all_fn *sframe;

    trials = trials_new("tables", 20000, argc, argv);
    sframe = open_library("sframe");
    bare = open_library("bare");
    dl_iterate_phdr(add_tables, NULL);
    sink += sframe(again);
    printf("tables: %zu tables; %llu walks reached the outermost frame, %llu another one that a "
           "table says is; %llu from pcs anywhere\n",
           table_count, (unsigned long long)trials->tally[ENDS],
           (unsigned long long)trials->tally[OTHER_ENDS],
           (unsigned long long)trials->tally[OTHER_PCS]);
    return trials_report(trials);
}
