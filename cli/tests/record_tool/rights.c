/* sfb record where little is allowed: containers, no capability, no /proc, a root that cannot be written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/tests/record_tool/recorded.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_rights, .init = folder_enter, .fini = folder_remove);

static void expect_samples(const struct recorded *r, const char *where)
{
    cr_expect_eq(r->run.status, 0, "%s: %d: %s", where, r->run.status, r->run.err);
    cr_expect_gt(r->contents->samples, 10, "%s: %s", where, r->run.err);
    cr_expect(r->contents->complete * 10 > r->contents->samples * 9, "%s", where);
}

static bool can_mount(void)
{
    if (geteuid() == 0 && system("unshare -m true 2>/dev/null") == 0)
        return true;
    SAY_SKIPPED("record_rights: no mounts can be made here");
    return false;
}

/* Whether another user can open the files of this build. (setpriv itself may go where that user may not.) */
static bool can_others_read(void)
{
    if (system("setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "
               "'test -x \"$0\" && test -r \"$1\"' '" SFB_TOOL "' '" SFB_RECORD_PROGRAM "'") == 0)
        return true;
    SAY_SKIPPED("record_rights: this build cannot be read by other users");
    return false;
}

/* Docker's default filter. */
Test(record_rights, without_perf)
{
    struct recorded r = recorded_by("'" SFB_RECORD_DENIED "'", "$P burn 300");

    expect_samples(&r, "seccomp");
    cr_expect_eq(r.contents->engine, SFB_ENGINE_TIMER);
    cr_expect(strstr(r.contents->engine_text, "Operation not permitted") != NULL, "%s",
              r.contents->engine_text);
    recorded_free(&r);
    r.run = run_line("'%s' '%s' record --engine perf -o x '%s' print HOME", SFB_RECORD_DENIED,
                     SFB_TOOL, SFB_RECORD_PROGRAM);
    cr_expect_eq(r.run.status, 125);
    cr_expect(strstr(r.run.err, "Operation not permitted") != NULL, "%s", r.run.err);
    cr_expect_eq(r.run.out_size, 0);
    run_free(&r.run);
}

Test(record_rights, without_any_capability)
{
    struct recorded r;

    if (geteuid() != 0 || system("command -v setpriv >/dev/null") != 0) {
        SAY_SKIPPED("record_rights: no capability can be given up here");
        return;
    }
    chmod(folder_path(), 0777);
    if (!can_others_read())
        return;
    r = recorded_by("setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all "
                    "--inh-caps -all --no-new-privs",
                    "$P burn 300");
    expect_samples(&r, "no capability");
    recorded_free(&r);
}

Test(record_rights, without_proc)
{
    struct recorded r;

    if (!can_mount())
        return;
    r = recorded_by("unshare -m sh -c 'umount -l /proc && exec \"$@\"' sh", "$P burn 300");
    expect_samples(&r, "no /proc");
    cr_expect_eq(r.contents->engine, SFB_ENGINE_TIMER);
    cr_expect(strstr(r.contents->engine_text, "/proc") != NULL, "%s", r.contents->engine_text);
    recorded_free(&r);
}

Test(record_rights, without_a_root_that_can_be_written)
{
    struct recorded r;

    if (!can_mount())
        return;
    r = recorded_by("unshare -m sh -c 'mount -t tmpfs none . && cd \"$PWD\" && "
                    "mount -o remount,bind,ro / && \"$@\"; s=$?; cat it.sfbr >&3; exit $s' sh",
                    "$P burn 300 3>it.sfbr");
    expect_samples(&r, "a read-only root");
    recorded_free(&r);
}

/* The memory is handed out by the socket to who may not look into the recorder. */
Test(record_rights, of_a_program_that_gives_up_its_user)
{
    struct recorded r;

    if (geteuid() != 0 || system("command -v setpriv >/dev/null") != 0) {
        SAY_SKIPPED("record_rights: no user can be given up here");
        return;
    }
    if (!can_others_read())
        return;
    r = recorded("setpriv --reuid 65534 --regid 65534 --clear-groups $P burn 300");
    expect_samples(&r, "another user");
    recorded_free(&r);
}

/* @return false: no rights can be gained here */
static bool make_raised(void)
{
    if (geteuid() != 0 || system("command -v setpriv >/dev/null") != 0) {
        SAY_SKIPPED("record_rights: no rights can be gained here");
        return false;
    }
    chmod(folder_path(), 0755);
    cr_assert_eq(
        system("cp '" SFB_RECORD_PROGRAM "' raised && chown 65533 raised && chmod 4755 raised"), 0);
    return true;
}

/*
 * It runs as if there was no recorder, and the recording of agents says why it is not in it. It sleeps: the recorder looks
 * each second for what it has seen before.
 */
Test(record_rights, of_a_program_that_gains_rights)
{
    struct recorded r;

    if (!make_raised())
        return;
    r = recorded("--engine timer setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "
                 "'./raised sleep 4000; exit $?'");
    cr_expect_eq(r.run.status, 0, "%d: %s", r.run.status, r.run.err);
    cr_expect(strstr(r.run.out, "cpu ") != NULL, "it did not run: %s", r.run.err);
    cr_expect_eq(r.contents->lost[SFB_LOSS_NOT_FOLLOWED], 1, "%s", r.contents->texts);
    cr_expect(strstr(r.contents->texts, "(raised): a setuid program") != NULL, "%s",
              r.contents->texts);
    cr_expect_lt(r.contents->weight, 200000000);
    recorded_free(&r);
}

/* The kernel has ended its events at the exec, and root opens others: what came between is not seen. */
Test(record_rights, of_a_program_that_gains_rights_from_outside)
{
    struct recorded r;

    if (!make_raised())
        return;
    r = recorded("setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "
                 "'./raised burn 2000; exit $?'");
    cr_expect_eq(r.run.status, 0, "%d: %s", r.run.status, r.run.err);
    if (r.contents->engine == SFB_ENGINE_TIMER) {
        SAY_SKIPPED("record_rights: perf is refused here");
    } else {
        cr_expect_eq(r.contents->lost[SFB_LOSS_NOT_FOLLOWED], 0, "%s", r.contents->texts);
        cr_expect_gt(r.contents->weight, 500000000, "%s", r.run.err);
    }
    recorded_free(&r);
}

Test(record_rights, in_a_pid_namespace)
{
    struct recorded r;

    if (!can_mount())
        return;
    r = recorded("unshare --pid --fork $P burn 300");
    expect_samples(&r, "another PID namespace");
    recorded_free(&r);
}

/* No pid of ours and no name of ours means anything there: the socket in the file system does. */
Test(record_rights, in_namespaces_of_its_own)
{
    static const char *const where[] = {
        "unshare --pid --net --fork --mount-proc",
        "unshare -pnf --mount-proc setpriv --reuid 65534 --regid 65534 --clear-groups",
        "unshare --user --net",
        "unshare --user --pid --net --fork --map-root-user --mount-proc",
    };
    struct recorded r;
    char line[256];

    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        snprintf(line, sizeof line, "%s test -x '%s' 2>/dev/null", where[i], SFB_RECORD_PROGRAM);
        if (system(line) != 0) {
            SAY_SKIPPED("record_rights: '%s' is refused here", where[i]);
            continue;
        }
        r = recorded("%s $P burn 300", where[i]);
        expect_samples(&r, where[i]);
        recorded_free(&r);
    }
}
