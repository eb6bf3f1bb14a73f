/* Whose live table `sfb ctl PID` believes: each owner of the file, each set of users of the process, each caller. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/collector/live/live_map.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

enum { ROOT = 0, EVE = 12345, BOB = 12346 };

static const uid_t users[] = { ROOT, EVE, BOB };

enum { USERS = sizeof users / sizeof *users };

static void enter(void)
{
    folder_enter();
    chmod(folder_path(), 0711);
    setenv("XDG_RUNTIME_DIR", folder_path(), 1);
}

TestSuite(owners, .init = enter, .fini = folder_remove);

/* --- a process of some users ------------------------------------------------------------------------ */

struct process {
    uid_t real, effective, saved, files;
    bool traceable; /* by its user */
    pid_t pid;
};

static void start(struct process *p)
{
    int ready[2];
    char byte;

    cr_assert_eq(pipe(ready), 0);
    p->pid = fork();
    cr_assert(p->pid >= 0);
    if (p->pid == 0) {
        /* A change of users makes a process untraceable; an exec makes it traceable again. */
        if (setresuid(p->real, p->effective, p->saved) != 0)
            _exit(1);
        setfsuid(p->files);
        if ((uid_t)setfsuid((uid_t)-1) != p->files ||
            prctl(PR_SET_DUMPABLE, p->traceable ? 1 : 0) != 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    cr_assert_eq(read(ready[0], &byte, 1), 1, "%u %u %u %u", p->real, p->effective, p->saved,
                 p->files);
    close(ready[0]);
}

static void stop(const struct process *p)
{
    kill(p->pid, SIGKILL);
    waitpid(p->pid, NULL, 0);
}

/* --- a planted table -------------------------------------------------------------------------------- */

/* Of a program that called _exit(). */
static void make_table(void)
{
    struct run run = run_line("SFB_HEAP_LIVE=4M '%s' blocks 10 10 exit && mv sfb-heap-* table",
                              SFB_LIVE_PROGRAM);

    cr_assert_eq(run.status, 0, "%s", run.err);
    run_free(&run);
}

/* The file says that it is of the process, and any user can read it. */
static struct live_map_file plant(const struct process *p)
{
    struct live_map_file file = { .pid = (uint64_t)p->pid,
                                  .ticks = live_process_ticks((uint64_t)p->pid) };
    struct sfb_live head;
    const int fd = open("table", O_RDWR);

    cr_assert(fd >= 0 && read(fd, &head, sizeof head) == (ssize_t)sizeof head);
    head.pid = (uint32_t)file.pid;
    head.ticks = file.ticks;
    cr_assert(pwrite(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && fchmod(fd, 0644) == 0);
    close(fd);
    snprintf(file.path, sizeof file.path, "%s/table", folder_path());
    return file;
}

static bool is_believed(const struct live_map_file *file)
{
    struct live_map map;
    const char *cause = live_map_open_found(&map, file);
    bool trusted;

    cr_assert(cause == NULL, "%s", cause);
    trusted = live_map_is_trusted(&map);
    live_map_close(&map);
    return trusted;
}

/* What `sfb ctl` of a user says. */
static bool is_believed_by(uid_t caller, const struct live_map_file *file)
{
    bool believed;

    cr_assert_eq(seteuid(caller), 0);
    prctl(PR_SET_DUMPABLE, 1); /* as in a program that this user has started */
    believed = is_believed(file);
    cr_assert_eq(seteuid(0), 0);
    return believed;
}

/* --- all of them ------------------------------------------------------------------------------------ */

static void expect_of(const struct process *p)
{
    const struct live_map_file file = plant(p);

    for (int i = 0; i < USERS; i++) {
        const uid_t owner = users[i];

        cr_assert_eq(chown("table", owner, owner), 0);
        for (int k = 0; k < USERS; k++) {
            const bool wholly = p->real == owner && p->effective == owner && p->saved == owner &&
                                p->files == owner && p->traceable;
            const bool want = owner == ROOT || owner == users[k] || wholly;

            cr_expect_eq(is_believed_by(users[k], &file), want,
                         "a file of %u, a process of %u %u %u %u, %s, asked by %u", owner, p->real,
                         p->effective, p->saved, p->files, p->traceable ? "traceable" : "kept",
                         users[k]);
        }
    }
}

Test(owners, of_a_file_are_believed_of_processes_that_are_theirs)
{
    if (geteuid() != 0)
        cr_skip_test("only root can become another user");
    make_table();
    for (int i = 0; i < 2 * USERS * USERS * USERS * USERS; i++) {
        struct process p = { .real = users[i % 3],
                             .effective = users[i / 3 % 3],
                             .saved = users[i / 9 % 3],
                             .files = users[i / 27 % 3],
                             .traceable = i / 81 == 0 };

        /* setfsuid() accepts only one of the others. */
        if (p.files != p.real && p.files != p.effective && p.files != p.saved)
            continue;
        start(&p);
        expect_of(&p);
        stop(&p);
    }
}

Test(owners, of_a_file_are_not_believed_of_a_process_that_has_ended)
{
    struct process p = { .real = EVE, .effective = EVE, .saved = EVE, .files = EVE, true, 0 };
    struct live_map_file file;

    if (geteuid() != 0)
        cr_skip_test("only root can become another user");
    make_table();
    start(&p);
    file = plant(&p);
    cr_assert_eq(chown("table", EVE, EVE), 0);
    cr_expect_eq(is_believed_by(ROOT, &file), true);
    stop(&p);
    cr_expect_eq(is_believed_by(ROOT, &file), false);
    cr_expect_eq(is_believed_by(EVE, &file), true);
}

/* There the caller, the file's owner and the process's users all have the uid that stands for unmapped ones. */
Test(owners, that_a_namespace_of_users_does_not_know_are_not_believed)
{
    struct process p = { .real = BOB, .effective = BOB, .saved = BOB, .files = BOB, true, 0 };
    struct live_map_file file;
    int status;
    pid_t pid;

    if (geteuid() != 0)
        cr_skip_test("only root can become another user");
    make_table();
    start(&p);
    file = plant(&p);
    cr_assert_eq(chown("table", EVE, EVE), 0);
    pid = fork();
    if (pid == 0)
        _exit(unshare(CLONE_NEWUSER) != 0 ? 77 : is_believed(&file) ? 1 : 0);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    stop(&p);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        cr_skip_test("no namespace of users can be made");
    cr_expect_eq(status, 0, "%x", status);
}
