/*
 * Known waits for a disk: disk_program FOLDER, as root. A file system of its own (FUSE) answers after 50 ms, each time. Threads read
 * past the page cache (O_DIRECT), write back (fsync), and touch pages of a mapped file; each logs for how long it waits.
 * The protocol is that of waits_program.c. Exit status 77: no file system can be mounted here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "known_waits.h"

enum { TURN_MS = 50, SERVERS = 4, BLOCK = 4096, STEP = 1 << 20, ROOM = 1 << 20 };

static const uint64_t file_size = (uint64_t)1 << 30, waking = (uint64_t)1 << 29;

static int device, direct, written;
static char *mapped;
static char file_path[PATH_MAX];
static _Atomic int over, begun;
static pthread_barrier_t go_on;
static volatile uint64_t sink;

/* --- The file system: one file ------------------------------------------------------------------------ */

static void answer(uint64_t unique, int error, const void *bytes, size_t size)
{
    char reply[sizeof(struct fuse_out_header) + ROOM];
    const struct fuse_out_header head = { .len = (uint32_t)(sizeof head + (error ? 0 : size)),
                                          .error = -error,
                                          .unique = unique };

    memcpy(reply, &head, sizeof head);
    if (!error && size > 0)
        memcpy(reply + sizeof head, bytes, size);
    sink += (uint64_t)write(device, reply, head.len);
}

static void answer_attributes(uint64_t unique)
{
    const struct fuse_attr_out out = { .attr_valid = 1000,
                                       .attr = { .ino = FUSE_ROOT_ID,
                                                 .size = file_size,
                                                 .mode = S_IFREG | 0644,
                                                 .nlink = 1,
                                                 .blksize = BLOCK } };

    answer(unique, 0, &out, sizeof out);
}

/*
 * The first read is interrupted by a signal, and the kernel is told that nothing can be: from then on threads wait
 * uninterruptibly, as for a disk.
 */
static void answer_read(uint64_t unique, const struct fuse_read_in *in)
{
    static const char zeros[ROOM];

    if (in->offset == waking)
        kill(getppid(), SIGUSR1);
    pause_ms(TURN_MS);
    answer(unique, 0, zeros, in->size < ROOM ? in->size : ROOM);
}

static void serve_one(const struct fuse_in_header *in, const void *body)
{
    const struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
                                        .minor = 31,
                                        .max_write = BLOCK };
    const struct fuse_open_out opened = { .fh = 1 };

    switch (in->opcode) {
    case FUSE_INIT: answer(in->unique, 0, &init, sizeof init); break;
    case FUSE_GETATTR: answer_attributes(in->unique); break;
    case FUSE_OPEN: answer(in->unique, 0, &opened, sizeof opened); break;
    case FUSE_READ: answer_read(in->unique, body); break;
    case FUSE_FSYNC:
        pause_ms(TURN_MS);
        answer(in->unique, 0, NULL, 0);
        break;
    case FUSE_FORGET: break;
    case FUSE_FLUSH:
    case FUSE_RELEASE: answer(in->unique, 0, NULL, 0); break;
    default: answer(in->unique, ENOSYS, NULL, 0); break;
    }
}

static void *serve(void *unused)
{
    _Alignas(struct fuse_in_header) char request[FUSE_MIN_READ_BUFFER + BLOCK];

    while (read(device, request, sizeof request) > 0)
        serve_one((const void *)request, request + sizeof(struct fuse_in_header));
    return unused;
}

static void be_server(void)
{
    pthread_t threads[SERVERS];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < SERVERS; i++)
        pthread_create(&threads[i], NULL, serve, NULL);
    pthread_join(threads[0], NULL);
    _exit(0);
}

/* In a mount namespace of its own: nothing is left behind. @return its server; -1: it cannot be mounted */
static pid_t mount_file(const char *folder)
{
    char options[100];
    pid_t server;

    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(file_path, sizeof file_path, "%s/slow", folder);
    snprintf(options, sizeof options, "fd=%d,rootmode=100644,user_id=0,group_id=0", device);
    if (device < 0 || !make_file(folder, "slow") || unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("slow", file_path, "fuse", MS_NOSUID | MS_NODEV, options) != 0)
        return -1;
    server = fork();
    if (server == 0)
        be_server();
    close(device); /* the server alone has it: with that the file system ends */
    return server;
}

/* --- Places ------------------------------------------------------------------------------------------- */

__attribute__((noinline)) static void place_direct(void)
{
    _Alignas(BLOCK) static char block[BLOCK];

    sink += (uint64_t)pread(direct, block, sizeof block, 0);
}

__attribute__((noinline)) static void place_fsync(void)
{
    sink += (uint64_t)fsync(written);
}

/* Each time a page that is not there yet. */
__attribute__((noinline)) static void place_fault(void)
{
    static size_t at;

    sink += (uint64_t) * (volatile char *)(mapped + at);
    at += STEP;
}

static void *run_place(void *argument)
{
    const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
    struct place *place = argument;

    pthread_setname_np(pthread_self(), place->name);
    begun++;
    pthread_barrier_wait(&go_on);
    while (!over) {
        place_wait_once(place, schedstat);
        for (unsigned i = 0; i < 200000; i++)
            sink = sink * 25214903917 + 11;
    }
    return NULL;
}

static void on_signal(int number)
{
    sink += (uint64_t)number;
}

/* @return whether all is open */
static int open_all(void)
{
    _Alignas(BLOCK) static char block[BLOCK];

    signal(SIGUSR1, on_signal);
    direct = open(file_path, O_RDONLY | O_DIRECT);
    written = open(file_path, O_RDWR);
    mapped = mmap(NULL, file_size, PROT_READ, MAP_SHARED, written, 0);
    return direct >= 0 && written >= 0 && mapped != MAP_FAILED &&
           madvise(mapped, file_size, MADV_RANDOM) == 0 &&
           pread(direct, block, sizeof block, (off_t)waking) == sizeof block;
}

int main(int argc, char **argv)
{
    static struct place places[] = { { "direct", place_direct, 0, 0, 0 },
                                     { "fsync", place_fsync, 0, 0, 0 },
                                     { "fault", place_fault, 0, 0, 0 } };
    enum { PLACES = sizeof places / sizeof *places };
    pthread_t threads[PLACES];
    pid_t server;
    FILE *log;

    if (argc != 2 || pthread_barrier_init(&go_on, NULL, PLACES + 1) != 0)
        return 2;
    server = mount_file(argv[1]);
    if (server < 0 || !open_all()) {
        fprintf(stderr, "disk_program: %s\n", strerror(errno));
        return 77;
    }
    for (int i = 0; i < PLACES; i++)
        pthread_create(&threads[i], NULL, run_place, &places[i]);
    while (begun < PLACES)
        pause_ms(1);
    if (!make_file(argv[1], "ready"))
        return 2;
    wait_for_file(argv[1], "go");
    pthread_barrier_wait(&go_on);
    wait_for_file(argv[1], "stop");
    over = 1;
    for (int i = 0; i < PLACES; i++)
        pthread_join(threads[i], NULL);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    log = open_in(argv[1], "log", "w");
    if (!log)
        return 2;
    for (int i = 0; i < PLACES; i++)
        log_place(log, &places[i]);
    return fclose(log) == 0 ? 0 : 2;
}
