/* The memory that is shared, and how it is handed out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "profiler/collector/session/session.h"
#include "support/test.h"

static struct sfb_recorder_session session;

static void begin(void)
{
    const struct sfb_recorder_session_options options = { .rate_hz = 997,
                                                          .engines = 1U << SFB_ENGINE_TIMER };
    const char *wrong = sfb_recorder_session_open(&session, &options);

    cr_assert(wrong == NULL, "%s", wrong);
}

/* @return whether the session answered within a second */
static bool is_answered(int fd)
{
    static const struct timeval second = { .tv_sec = 1 };
    const char *path = strrchr(session.text, ':'), *key = path - 32;
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    const int size =
        snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "%s%.32s", SFB_SHARED_SOCKET, key);
    char byte;

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    return connect(fd, (struct sockaddr *)&name,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size)) == 0 &&
           recv(fd, &byte, 1, 0) == 1;
}

/* An agent comes while no descriptor is left; the next one comes when there are some again. */
Test(record_session, goes_on_when_descriptors_are_there_again)
{
    struct rlimit limit, few;
    int first, second;

    begin();
    cr_assert(sfb_recorder_session_serve(&session) == NULL);
    first = socket(AF_UNIX, SOCK_STREAM, 0);
    second = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    few = limit;
    few.rlim_cur = (rlim_t)second + 1;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    cr_expect_not(is_answered(first));
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_expect(is_answered(second));
    sfb_recorder_session_close(&session);
    close(first);
    close(second);
}

/* It is 192 MiB, of which a dump would make memory. */
Test(record_session, is_in_no_core_dump)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    char line[512];
    bool here = false, found = false, left_out = false;

    begin();
    if (!maps) {
        SAY_SKIPPED("record_session: /proc is not there");
        return;
    }
    while (fgets(line, sizeof line, maps)) {
        if (strstr(line, "memfd:sfb-record"))
            here = found = true;
        if (here && strncmp(line, "VmFlags:", 8) == 0) {
            left_out = strstr(line, " dd") != NULL;
            here = false;
        }
    }
    fclose(maps);
    cr_expect(found && left_out);
    sfb_recorder_session_close(&session);
}
