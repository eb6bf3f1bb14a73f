#include "profiler/collector/session/beacon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/protocol/beacon_hold.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

static int make_file(const char *name)
{
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    /* Without the flag, kernels from 6.3 on warn, and may refuse. */
    int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);

    return fd >= 0 || errno != EINVAL ? fd : memfd_create(name, flags);
}

/* RLIMIT_FSIZE also limits this file, which is on no disk. The soft limit is raised meanwhile. */
static bool resize(int fd, size_t size)
{
    struct rlimit before = { RLIM_INFINITY, RLIM_INFINITY }, most;
    void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
    bool good;
    int cause;

    getrlimit(RLIMIT_FSIZE, &before);
    most = before;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_FSIZE, &most);
    good = ftruncate(fd, (off_t)size) == 0;
    cause = errno;
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    errno = cause;
    return good;
}

static void *map(int *fd, const char *name, size_t size, const char **what)
{
    void *at;

    *fd = make_file(name);
    *what = "memfd_create";
    if (*fd < 0)
        return NULL;
    *what = "ftruncate";
    if (!resize(*fd, size)) {
        if (errno == EFBIG)
            *what = "the memory that is shared is larger than files may be (ulimit -f)";
        return NULL;
    }
    *what = "mmap";
    at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, size, MADV_DONTDUMP); /* a core dump would allocate all of it */
    return at;
}

static bool seal(int fd, int seals, const char **what)
{
    *what = "F_ADD_SEALS";
    return fcntl(fd, F_ADD_SEALS, seals) == 0;
}

void *sfb_beacon_memory(int *fd, const char *name, size_t size, const char **what)
{
    void *at = map(fd, name, size, what);

    return at && seal(*fd, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, what) ? at : NULL;
}

struct sfb_shared_beacon *sfb_beacon_light(int *fd, int memory, const uint8_t key[16],
                                           const char **what)
{
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    struct sfb_shared_beacon *beacon = map(fd, "sfb-beacon", SFB_SHARED_PAGE, what);
    struct stat file;

    if (!beacon)
        return NULL;
    *what = "fstat";
    if (fstat(memory, &file) != 0)
        return NULL;
    memcpy(beacon->magic, SFB_SHARED_MAGIC, sizeof beacon->magic);
    memcpy(beacon->key, key, sizeof beacon->key);
    beacon->version = SFB_SHARED_VERSION;
    beacon->memory_inode = file.st_ino;
    *what = "a robust lock";
    if (!sfb_beacon_hold(beacon))
        return NULL;
    /* Not for children: one that dies between fork() and exec() must not hold it. */
    madvise(beacon, SFB_SHARED_PAGE, MADV_DONTFORK);
    /*
     * Linux before 5.1 lacks this seal. There a recorded process could light the beacon again, but the inode is still the
     * recorder's.
     */
    if (fcntl(*fd, F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE) != 0 && !seal(*fd, seals, what))
        return NULL;
    return beacon;
}
