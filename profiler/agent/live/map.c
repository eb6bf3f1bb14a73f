#include "profiler/agent/live/map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/live/leftovers.h"
#include "profiler/agent/machine.h"
#include "util/proc_stat.h"
#include "util/read_all.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { BUFFER = 4096 };

static char path[512]; /* "": no file */
static bool reserved;  /* no MADV_POPULATE_WRITE here: files were allocated as a whole */
static bool locked;    /* the file is locked, for as long as it is mapped */

/* After a refusal. Each malloc() would make a system call otherwise. */
#define REFUSED_NS ((uint64_t)1000000000)

static uint64_t refused_until; /* 0: not refused */

static struct sfb_live *mine; /* NULL: no map, or given up */
static uint64_t mine_size;

const char *sfb_live_map_path(void)
{
    return path;
}

/* --- the process ---------------------------------------------------------------------------------- */

static ssize_t read_file(const char *name, char *out, size_t size)
{
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    size_t n;

    if (fd < 0)
        return -1;
    n = sfb_read_all(fd, out, size);
    close(fd);
    return (ssize_t)n;
}

/* @return the process's start in clock ticks; 0: unknown */
static uint64_t start_ticks(void)
{
    char text[BUFFER];
    const ssize_t size = read_file("/proc/self/stat", text, sizeof text - 1);
    const char *at;

    if (size <= 0)
        return 0;
    text[size] = '\0';
    at = sfb_proc_stat_word(text, 22);
    return at ? strtoull(at, NULL, 10) : 0;
}

static void describe(struct sfb_live *map)
{
    ssize_t size = readlink("/proc/self/exe", map->text, SFB_LIVE_TEXT / 2);
    ssize_t more;

    if (size < 0)
        size = 0;
    map->text[size++] = '\0';
    more = read_file("/proc/self/cmdline", map->text + size, (size_t)(SFB_LIVE_TEXT - size - 1));
    if (more > 0) {
        size += more;
        map->text[size++] = '\0'; /* the arguments may be cut off here */
    }
    map->text_size = (uint32_t)size;
}

/* --- layout --------------------------------------------------------------------------------------- */

/*
 * A quarter is for stacks: a 32nd of all for buckets, two for each stack, a 16th for stacks, and five 32nds for their CBF,
 * 70 bytes for each. Compilers have stacks of 200 bytes: 40,960 of them in 64 MiB.
 */
static void lay_out(struct sfb_live *map, uint64_t size, uint32_t freed)
{
    uint64_t stacks = 512, at = SFB_LIVE_PAGE;

    while (2 * stacks * sizeof(struct sfb_live_stack) <= size / 16)
        stacks *= 2;
    map->size = size;
    map->buckets_at = at;
    map->bucket_count = (uint32_t)(2 * stacks);
    at += map->bucket_count * sizeof(uint64_t);
    map->stacks_at = at;
    map->stack_room = (uint32_t)stacks;
    at += stacks * sizeof(struct sfb_live_stack);
    map->marks_at = at;
    at += sfb_live_pages_up(stacks / 8);
    map->pieces_at = at;
    map->piece_room = (uint32_t)(size / 32 * 5 / sizeof(struct sfb_live_piece));
    at += sfb_live_pages_up((uint64_t)map->piece_room * sizeof(struct sfb_live_piece));
    map->beside_at = at;
    map->beside_count = map->bucket_count;
    at += map->beside_count * sizeof(uint64_t);
    map->lists_at = at;
    map->lists_size = (uint32_t)(size / 64 < 1 << 20 ? sfb_live_pages_up(size / 64) : 1 << 20);
    at += map->lists_size;
    map->freed_at = at;
    map->freed_room = freed;
    at += sfb_live_pages_up((uint64_t)freed * sizeof(struct sfb_live_freed));
    map->slots_at = at;
    map->slot_room = (uint32_t)((size - at) / sizeof(struct sfb_live_slot));
}

/* --- file ----------------------------------------------------------------------------------------- */

/* A file of the same name is left over from before an exec, which keeps pid and start time: it is replaced. */
static int open_file(const char *folder, uint64_t ticks)
{
    if (!folder || folder[0] != '/' ||
        snprintf(path, sizeof path, "%s/" SFB_LIVE_FILE "%ld-%llu" SFB_LIVE_SUFFIX, folder,
                 (long)getpid(), (unsigned long long)ticks) >= (int)sizeof path)
        return -1;
    for (int i = 0; i < 2; i++) {
        const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

        if (fd >= 0 || errno != EEXIST || unlink(path) != 0)
            return fd;
    }
    return -1;
}

/*
 * The lock shows other processes that the table is in use. It belongs to the open file description (Linux 3.15), which
 * the mapping keeps open. So it needs no descriptor. It ends with the last mapping: at munmap(), exec, exit or SIGKILL. A
 * pid alone is weaker: another pid namespace counts anew, and pids are reused. Where a file system has no locks, the pid
 * has to do. Considered and dropped:
 * - a robust mutex ends with its thread, not with the process
 * - flock() lives as long, but can be queried only by taking it: a second reader then sees a wrong owner, or none
 * - a lease is broken by any process that opens the file
 */
static bool lock_file(int fd)
{
    struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fcntl(fd, F_OFD_SETLK, &all) == 0;
}

/* Whether memory can be populated before a write (Linux 5.14). If not, the whole file is allocated now. */
static bool can_have_memory(void *at, int fd, uint64_t size)
{
    if (madvise(at, SFB_LIVE_PAGE, MADV_POPULATE_WRITE) == 0)
        return true;
    if (errno != EINVAL)
        return false;
    if (posix_fallocate(fd, 0, (off_t)size) != 0)
        return false;
    __atomic_store_n(&reserved, true, __ATOMIC_RELAXED);
    return true;
}

/* A file cannot grow beyond ulimit -f: the attempt raises SIGXFSZ. */
static bool may_be_large(uint64_t size)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           limit.rlim_cur >= size;
}

static struct sfb_live *map_file(const char *folder, uint64_t ticks, uint64_t size)
{
    const int fd = may_be_large(size) ? open_file(folder, ticks) : -1;
    void *at = MAP_FAILED;

    locked = false;
    if (fd >= 0) {
        locked = lock_file(fd);
        if (ftruncate(fd, (off_t)size) == 0)
            at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED && !can_have_memory(at, fd, size)) {
            munmap(at, size);
            at = MAP_FAILED;
        }
        if (at == MAP_FAILED)
            unlink(path);
        close(fd);
    }
    if (at == MAP_FAILED)
        path[0] = '\0';
    return at == MAP_FAILED ? NULL : at;
}

static void begin(struct sfb_live *map, uint64_t size, uint32_t freed, uint64_t ticks,
                  uint32_t flags)
{
    map->flags = flags;
    map->version = SFB_LIVE_VERSION;
    map->abi = (uint32_t)sfb_machine_abi;
    map->pid = (uint32_t)getpid();
    map->ticks = ticks;
    map->monotonic = sfb_now();
    map->realtime = sfb_clock(CLOCK_REALTIME);
    lay_out(map, size, freed);
    describe(map);
}

/*
 * $XDG_RUNTIME_DIR, as it was at the first table. A child begins its own in any malloc(), where the program may be about
 * to replace its environment. A set-user-ID program has its environment from its caller, and makes no file where that says.
 */
static const char *folder(void)
{
    static char kept[PATH_MAX];
    static bool asked;
    const char *now;

    if (!asked) {
        asked = true;
        now = secure_getenv("XDG_RUNTIME_DIR");
        snprintf(kept, sizeof kept, "%s", now ? now : "");
    }
    return kept[0] ? kept : NULL;
}

/* At the first table, and in one of 16 children: thousands of children would each look at the files of all. */
static void tidy(void)
{
    enum { CHILDREN = 16 };
    static bool done;

    if (!done || getpid() % CHILDREN == 0)
        sfb_live_leftovers_remove(path);
    done = true;
}

struct sfb_live *sfb_live_map_make(uint64_t size, uint32_t freed, bool file)
{
    const uint64_t ticks = start_ticks();
    struct sfb_live *map = NULL;

    size = sfb_live_pages_up(size);
    path[0] = '\0';
    sfb_live_map_leave(); /* gives up a parent's map: the child was made without fork()'s handlers */
    if (file) {
        map = map_file(folder(), ticks, size);
        if (!map)
            map = map_file(SFB_LIVE_FOLDER, ticks, size);
    }
    if (map) {
        begin(map, size, freed, ticks, locked ? SFB_LIVE_LOCKED : 0);
    } else {
        void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (at == MAP_FAILED)
            return NULL;
        map = at;
        begin(map, size, freed, ticks, SFB_LIVE_PRIVATE);
    }
    madvise(map, size, MADV_DONTDUMP); /* else a core dump would hold all of it */
    memcpy(map->magic, SFB_LIVE_MAGIC, sizeof map->magic);
    mine = map;
    mine_size = size;
    if (freed > 0 &&
        !sfb_live_map_populate(map, map->freed_at, freed * sizeof(struct sfb_live_freed)))
        map->freed_room = 0;
    if (path[0] != '\0')
        tidy();
    return map;
}

void sfb_live_map_unlink(void)
{
    if (path[0] != '\0')
        unlink(path);
    path[0] = '\0';
}

void sfb_live_map_leave(void)
{
    /*
     * An intended race: a late thread finds the old page or zeros in each word, and handles both. The kernel replaces the
     * mapping without a gap. The raw call, because the thread sanitizer treats mmap() as a write. If the call fails, the
     * old memory stays.
     */
    if (mine)
        syscall(SYS_mmap, mine, mine_size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0L);
    mine = NULL;
}

void sfb_live_map_drop(void)
{
    sfb_live_map_unlink();
    sfb_live_map_leave();
}

static bool is_refused(void)
{
    const uint64_t until = __atomic_load_n(&refused_until, __ATOMIC_RELAXED);

    return until != 0 && sfb_now() < until;
}

/* @return whether bytes from a page on have memory now */
static bool ask_for(uint8_t *from, uint64_t size)
{
    while (madvise(from, size, MADV_POPULATE_WRITE) != 0)
        if (errno != EINTR && errno != EAGAIN) {
            __atomic_store_n(&refused_until, sfb_now() + REFUSED_NS, __ATOMIC_RELAXED);
            return false;
        }
    return true;
}

bool sfb_live_map_populate(struct sfb_live *map, uint64_t at, uint64_t size)
{
    const uint64_t from = at & ~(uint64_t)(SFB_LIVE_PAGE - 1);
    const int saved = errno;
    const bool good =
        (__atomic_load_n(&map->flags, __ATOMIC_RELAXED) & SFB_LIVE_PRIVATE) ||
        __atomic_load_n(&reserved, __ATOMIC_RELAXED) ||
        (!is_refused() && ask_for((uint8_t *)map + from, sfb_live_pages_up(at + size - from)));

    errno = saved;
    return good;
}

/* A part doubles, so that a small table stays small. */
static uint32_t at_once(const struct sfb_live_part *part, uint32_t ready)
{
    enum { LEAST = 16 << 10, MOST = 256 << 10 };
    const uint64_t size = (uint64_t)ready * part->each, more = size < LEAST  ? LEAST
                                                               : size < MOST ? size
                                                                             : MOST;

    return (uint32_t)(more / part->each);
}

bool sfb_live_map_grow(struct sfb_live *map, const struct sfb_live_part *part, uint32_t *ready,
                       uint32_t end)
{
    uint32_t now = __atomic_load_n(ready, __ATOMIC_ACQUIRE);

    while (now < end) {
        const uint32_t left = part->room - now, once = at_once(part, now),
                       more = left < once ? left : once;

        if (!sfb_live_map_populate(map, part->at + (uint64_t)now * part->each,
                                   (uint64_t)more * part->each))
            return false;
        if (__atomic_compare_exchange_n(ready, &now, now + more, false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE))
            now += more;
    }
    return true;
}
