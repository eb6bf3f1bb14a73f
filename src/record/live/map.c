#include "record/live/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/clocks.h"
#include "record/machine.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { BUFFER = 4096 };

static char path[512]; /* "": no file */
static bool reserved;  /* the system cannot populate, ever: all of a file has its memory already */
static bool locked;    /* the file, for as long as it is mapped */

static struct sfb_live *mine; /* NULL: none, or it was given up */
static uint64_t mine_size;

const char *sfb_live_map_path(void)
{
    return path;
}

/* --- what the process is -------------------------------------------------------------------------- */

static ssize_t read_file(const char *name, char *out, size_t size)
{
    const int fd = open(name, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    ssize_t got = 0;

    if (fd < 0)
        return -1;
    while (n < size && ((got = read(fd, out + n, size - n)) > 0 || (got < 0 && errno == EINTR)))
        n += got > 0 ? (size_t)got : 0;
    close(fd);
    return (ssize_t)n;
}

/* The 22nd word of /proc/self/stat: behind the name, which may have any bytes, the 20th. 0: not known. */
static uint64_t start_ticks(void)
{
    char text[BUFFER];
    const ssize_t size = read_file("/proc/self/stat", text, sizeof text - 1);
    char *at;

    if (size <= 0)
        return 0;
    text[size] = '\0';
    at = strrchr(text, ')');
    for (int i = 0; at && i < 20; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
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
        map->text[size++] = '\0'; /* where they were cut off */
    }
    map->text_size = (uint32_t)size;
}

/* --- layout --------------------------------------------------------------------------------------- */

static void lay_out(struct sfb_live *map, uint64_t size)
{
    uint64_t buckets = 512, at = SFB_LIVE_PAGE;

    while (2 * buckets * sizeof(uint64_t) <= size / 64)
        buckets *= 2;
    map->size = size;
    map->buckets_at = at;
    map->bucket_count = (uint32_t)buckets;
    at += buckets * sizeof(uint64_t);
    map->lists_at = at;
    map->lists_size = (uint32_t)(size / 64 < 1 << 20 ? sfb_live_pages_up(size / 64) : 1 << 20);
    at += map->lists_size;
    map->stacks_at = at;
    map->stack_units = (uint32_t)(sfb_live_pages_up(size / 8) / SFB_LIVE_UNIT);
    if (map->stack_units > SFB_LIVE_STACK_MAX)
        map->stack_units = SFB_LIVE_STACK_MAX;
    at += (uint64_t)map->stack_units * SFB_LIVE_UNIT;
    map->slots_at = at;
    map->slot_room = (uint32_t)((size - at) / sizeof(struct sfb_live_slot));
}

/* --- file ----------------------------------------------------------------------------------------- */

/* A number of the process may have left one behind: by exec, which keeps both number and start. */
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
 * By this lock others see that the table lives. It is the open file's own (Linux 3.15), and a mapping keeps that open: so the
 * lock needs no descriptor, and goes when the last mapping does, by munmap(), exec, exit or SIGKILL. A number of a process
 * would say less: another namespace counts anew, and numbers are used again. What was considered besides: a robust mutex
 * dies with a thread, not with the process; flock() of the same life can be asked about only by taking it, which makes
 * the table look free, or not its own, to a second one who asks; a lease would be broken by who opens the file.
 * Where a file system has no locks, the process's number has to do.
 */
static bool lock_file(int fd)
{
    struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fcntl(fd, F_OFD_SETLK, &all) == 0;
}

/* Whether a write can be asked for beforehand: Linux 5.14. Else all of the file takes its memory now. */
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

/* Beyond ulimit -f a file cannot grow, and who tries gets SIGXFSZ. */
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

/* @return whether what is written from the beginning has memory */
static bool begin(struct sfb_live *map, uint64_t size, uint64_t ticks, uint32_t flags)
{
    map->flags = flags;
    map->version = SFB_LIVE_VERSION;
    map->abi = (uint32_t)sfb_machine_abi;
    map->pid = (uint32_t)getpid();
    map->ticks = ticks;
    map->monotonic = sfb_now();
    map->realtime = sfb_clock(CLOCK_REALTIME);
    lay_out(map, size);
    describe(map);
    return sfb_live_map_populate(map, map->buckets_at, map->bucket_count * sizeof(uint64_t));
}

struct sfb_live *sfb_live_map_make(uint64_t size, bool file)
{
    const uint64_t ticks = start_ticks();
    struct sfb_live *map = NULL;

    size = sfb_live_pages_up(size);
    path[0] = '\0';
    sfb_live_map_leave(); /* a parent's: the child was made without fork()'s handlers */
    if (file) {
        /* A set-user-ID program has its environment from its caller, and makes no file where that says. */
        map = map_file(secure_getenv("XDG_RUNTIME_DIR"), ticks, size);
        if (!map)
            map = map_file(SFB_LIVE_FOLDER, ticks, size);
    }
    if (map &&
        !begin(map, size, ticks, locked ? SFB_LIVE_LOCKED : 0)) { /* the file system is full */
        sfb_live_map_unlink();
        munmap(map, size);
        map = NULL;
    }
    if (!map) {
        void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (at == MAP_FAILED)
            return NULL;
        map = at;
        begin(map, size, ticks, SFB_LIVE_PRIVATE);
    }
    madvise(map, size, MADV_DONTDUMP); /* all of it would be in a core dump */
    memcpy(map->magic, SFB_LIVE_MAGIC, sizeof map->magic);
    mine = map;
    mine_size = size;
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
     * A race that is meant: a thread that is late finds the old page, or zeros, in each word, and judges both. The kernel
     * leaves no moment without a mapping between the two. The raw call, for the thread sanitizer's mmap() is a write.
     * Where that is refused the old memory stays.
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

bool sfb_live_map_populate(struct sfb_live *map, uint64_t at, uint64_t size)
{
    const uint64_t from = at & ~(uint64_t)(SFB_LIVE_PAGE - 1);
    const int saved = errno;
    bool good = (__atomic_load_n(&map->flags, __ATOMIC_RELAXED) & SFB_LIVE_PRIVATE) ||
                __atomic_load_n(&reserved, __ATOMIC_RELAXED);

    while (!good) {
        good = madvise((uint8_t *)map + from, sfb_live_pages_up(at + size - from),
                       MADV_POPULATE_WRITE) == 0;
        if (!good && errno != EINTR && errno != EAGAIN)
            break;
    }
    errno = saved;
    return good;
}
