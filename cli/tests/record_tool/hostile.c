/* sfb record among programs and users that mean it no good. */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/tests/record_tool/recorded.h"
#include "profiler/collector/session/beacon.h"
#include "profiler/collector/session/session.h"
#include "profiler/protocol/beacon_hold.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_hostile, .init = folder_enter, .fini = folder_remove);

/* The recorder goes on, and counts what it was told. */
Test(record_hostile, processes_without_a_number)
{
    static const char *const modes[] = { "", "--heap" };

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct recorded r = recorded("%s '" SFB_RECORD_HOSTILE "' numberless", modes[i]);

        cr_expect_eq(r.run.status, 0, "%s: %d: %s", modes[i], r.run.status, r.run.err);
        cr_expect_eq(r.contents->lost[SFB_LOSS_BAD_RING], 2, "%s: %s", modes[i], r.contents->texts);
        recorded_free(&r);
    }
}

/* --- one that takes a dead recorder's place ------------------------------------------------------ */

/* What it hands out: all that a member of the session knows or has, and the rest its own. */
enum forgery { FORGED, FORGED_UNSEALED, GENUINE, GENUINE_MEMORY, FORGERIES };

struct dead {
    char text[256];
    int memory, beacon; /* descriptors that a member kept */
};

/* A session whose recorder was killed. */
static struct dead killed_recorder(void)
{
    struct dead dead;
    int ready[2], descriptors[2];
    pid_t pid;

    cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        const struct sfb_recorder_session_options options = { .rate_hz = 997,
                                                              .engines = 1U << SFB_ENGINE_TIMER };
        struct sfb_recorder_session session;

        if (sfb_recorder_session_open(&session, &options) != NULL)
            _exit(1);
        descriptors[0] = session.fd;
        descriptors[1] = session.handout.beacon;
        if (write(ready[1], session.text, sizeof session.text) < 0 ||
            write(ready[1], descriptors, sizeof descriptors) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    cr_assert_eq(read(ready[0], dead.text, sizeof dead.text), (ssize_t)sizeof dead.text);
    cr_assert_eq(read(ready[0], descriptors, sizeof descriptors), (ssize_t)sizeof descriptors);
    for (int i = 0; i < 2; i++) {
        char path[64];

        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, descriptors[i]);
        descriptors[i] = open(path, O_RDWR | O_CLOEXEC);
        cr_assert_geq(descriptors[i], 0);
    }
    dead.memory = descriptors[0];
    dead.beacon = descriptors[1];
    kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    close(ready[0]);
    close(ready[1]);
    return dead;
}

static const char *key_of(const struct dead *dead)
{
    return strrchr(dead->text, ':') - 32;
}

/* A copy of a memory file's first page, as large as that is. */
static int copy_of(int fd, bool sealed)
{
    int copy = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    char page[SFB_SHARED_PAGE];
    struct stat file;

    cr_assert(fstat(fd, &file) == 0 && pread(fd, page, sizeof page, 0) == (ssize_t)sizeof page);
    cr_assert(copy >= 0 && ftruncate(copy, file.st_size) == 0 &&
              pwrite(copy, page, sizeof page, 0) == (ssize_t)sizeof page);
    if (sealed)
        cr_assert_eq(fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    return copy;
}

/* It is lit, and names the memory that goes with it. */
static int forged_beacon(const struct dead *dead, int memory, bool sealed)
{
    int fd = copy_of(dead->beacon, false);
    struct stat file;
    struct sfb_shared_beacon *beacon =
        mmap(NULL, SFB_SHARED_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    cr_assert(beacon != MAP_FAILED && fstat(memory, &file) == 0);
    beacon->owner.holder = (uint32_t)getpid();
    beacon->memory_inode = file.st_ino;
    if (sealed)
        cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    munmap(beacon, SFB_SHARED_PAGE);
    return fd;
}

static int listen_as(const struct dead *dead)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    const int size = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "%s%.32s",
                              SFB_SHARED_SOCKET, key_of(dead));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert_eq(bind(fd, (struct sockaddr *)&name,
                      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size)),
                 0, "the name is free");
    cr_assert_eq(listen(fd, 8), 0);
    return fd;
}

static void hand_out(int listener, const int sent[2])
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = { .head = { .cmsg_len = CMSG_LEN(2 * sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS } };
    char byte = 1;
    struct iovec bytes = { &byte, 1 };
    struct msghdr message = { .msg_iov = &bytes,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = sizeof control };

    memcpy(CMSG_DATA(&control.head), sent, 2 * sizeof *sent);
    for (;;) {
        int client = accept(listener, NULL, NULL);

        sendmsg(client, &message, MSG_NOSIGNAL);
        close(client);
    }
}

/* Also in its own PID namespace, where the recorder's number and others' are not known. */
static void expect_refused(const struct dead *dead, enum forgery forgery, const char *where)
{
    const bool genuine = forgery == GENUINE || forgery == GENUINE_MEMORY;
    const int memory = genuine ? dead->memory : copy_of(dead->memory, forgery != FORGED_UNSEALED);
    const int sent[] = { memory, forgery == GENUINE
                                     ? dead->beacon
                                     : forged_beacon(dead, memory, forgery != FORGED_UNSEALED) };
    const int listener = listen_as(dead);
    struct sfb_shared_process slot;
    struct run run;
    pid_t server = fork();

    if (server == 0)
        hand_out(listener, sent);
    close(listener);
    /* Who listens has the number that the recorder had. */
    run = run_line("%s env LD_PRELOAD='" SFB_RECORD_AGENT "' " SFB_SHARED_ENVIRONMENT
                   "='%d%s' '" SFB_RECORD_PROGRAM "' print HOME",
                   where, (int)getpid(), strchr(dead->text, ':'));
    cr_expect_eq(run.status, 0, "%d of '%s': %d %s", (int)forgery, where, run.status, run.err);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    cr_assert_eq(pread(memory, &slot, sizeof slot.state, (off_t)SFB_SHARED_PROCESSES_AT),
                 (ssize_t)sizeof slot.state);
    cr_expect_eq(slot.state, SFB_SLOT_FREE, "%d of '%s': it was believed", (int)forgery, where);
    run_free(&run);
    if (!genuine)
        close(memory);
    if (forgery != GENUINE)
        close(sent[1]);
}

/* Nor does a page that was the recorder's look alive: no one else can write it. */
Test(record_hostile, nothing_is_believed_when_the_recorder_is_dead)
{
    static const char *const where[] = { "", "unshare --user",
                                         "unshare --pid --fork --mount-proc" };
    struct dead dead = killed_recorder();
    char line[128];

    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        snprintf(line, sizeof line, "%s true 2>/dev/null", where[i]);
        if (system(line) != 0) {
            SAY_SKIPPED("record_hostile: '%s' is refused here", where[i]);
            continue;
        }
        for (enum forgery f = 0; f < FORGERIES; f++)
            expect_refused(&dead, f, where[i]);
    }
    cr_expect_eq(mmap(NULL, SFB_SHARED_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, dead.beacon, 0),
                 MAP_FAILED);
    close(dead.memory);
    close(dead.beacon);
}

/* What is found is believed if the recorder lives: else the test above would say nothing. */
Test(record_hostile, the_same_is_believed_of_one_that_lives)
{
    const struct sfb_recorder_session_options options = { .rate_hz = 997,
                                                          .engines = 1U << SFB_ENGINE_TIMER };
    struct sfb_recorder_session session;
    struct sfb_shared_process *slot;
    struct run run;

    cr_assert(sfb_recorder_session_open(&session, &options) == NULL);
    cr_assert(sfb_recorder_session_serve(&session) == NULL);
    slot =
        (struct sfb_shared_process *)(void *)((uint8_t *)session.shared + SFB_SHARED_PROCESSES_AT);
    run = run_line("env LD_PRELOAD='" SFB_RECORD_AGENT "' " SFB_SHARED_ENVIRONMENT
                   "='%s' '" SFB_RECORD_PROGRAM "' print HOME",
                   session.text);
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect_neq(slot->state, SFB_SLOT_FREE);
    run_free(&run);
    sfb_recorder_session_close(&session);
}

/* --- what a recorder that lives names, but not as recorders make it -------------------------------- */

/* A page that is lit, and names a memory. */
static int lit_page(const struct sfb_shared *shared, int memory, bool sealed)
{
    struct sfb_shared_beacon *page;
    const char *what;
    struct stat file;
    int fd = -1;

    if (sealed) {
        cr_assert(sfb_beacon_light(&fd, memory, shared->key, &what) != NULL, "%s", what);
        return fd;
    }
    fd = memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    cr_assert(fd >= 0 && ftruncate(fd, SFB_SHARED_PAGE) == 0 && fstat(memory, &file) == 0);
    page = mmap(NULL, SFB_SHARED_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert(page != MAP_FAILED);
    memcpy(page->magic, SFB_SHARED_MAGIC, sizeof page->magic);
    memcpy(page->key, shared->key, sizeof page->key);
    page->version = SFB_SHARED_VERSION;
    page->memory_inode = file.st_ino;
    cr_assert(sfb_beacon_hold(page));
    return fd;
}

static bool is_believed(const char *key, int memory, int beacon)
{
    struct sfb_shared_process slot;
    struct stat file;
    struct run run;

    cr_assert_eq(fstat(beacon, &file), 0);
    run = run_line("env LD_PRELOAD='" SFB_RECORD_AGENT "' " SFB_SHARED_ENVIRONMENT
                   "='%d:%d:%d:%lx:%lx:%.32s:' '" SFB_RECORD_PROGRAM "' print HOME",
                   (int)getpid(), memory, beacon, (unsigned long)file.st_dev,
                   (unsigned long)file.st_ino, key);
    cr_expect_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    cr_assert_eq(pread(memory, &slot, sizeof slot.state, (off_t)SFB_SHARED_PROCESSES_AT),
                 (ssize_t)sizeof slot.state);
    return slot.state != SFB_SLOT_FREE;
}

Test(record_hostile, nothing_is_mapped_that_could_shrink_or_is_another)
{
    const struct sfb_recorder_session_options options = { .rate_hz = 997,
                                                          .engines = 1U << SFB_ENGINE_TIMER };
    static const struct {
        const char *name;
        bool memory_sealed, page_sealed, other, believed;
    } cases[] = {
        { "as recorders make it", true, true, false, true },
        { "the memory can shrink", false, true, false, false },
        { "the page can shrink", true, false, false, false },
        { "the page names another memory", true, true, true, false },
    };
    struct sfb_recorder_session session;

    cr_assert(sfb_recorder_session_open(&session, &options) == NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int memory = copy_of(session.fd, cases[i].memory_sealed),
                  page = lit_page(session.shared, cases[i].other ? session.fd : memory,
                                  cases[i].page_sealed);

        cr_expect_eq(is_believed(strrchr(session.text, ':') - 32, memory, page), cases[i].believed,
                     "%s", cases[i].name);
        close(memory);
        close(page);
    }
    sfb_recorder_session_close(&session);
}
