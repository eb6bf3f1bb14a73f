/*
 * `sfb symbolize --debuginfod`: against Debian's own server on the loopback, and against one that
 * never answers.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

static bool made;

/* A stripped program, a library that is gone, and what only the server has: server/. */
#define MAKE                                                                                       \
    "printf 'int f(int x) { return x + 1; }\\n' >a.c && mkdir server && for i in here gone; do "   \
    "gcc -g -O1 -shared -nostdlib -fPIC -Wl,--build-id=sha1 -Wl,-soname,$i a.c -o $i.so && "       \
    "objcopy --only-keep-debug $i.so server/$i.debug || exit 1; done && strip here.so && cp "      \
    "gone.so "                                                                                     \
    "server && { echo 'sframe-backtrace: crash: SIGSEGV (11)'; A=$(nm gone.so | sed -n 's/ T "     \
    "f//p'); "                                                                                     \
    "printf 'cbf '; printf 'pc 0x%%x\\npc 0x%%x\\n' $((0x100000 + 0x$A)) $((0x200000 + 0x$A)) | "  \
    "'%s' encode --hex; N=1; for i in here gone; do echo module 0x${N}00000-0x${N}10000 build-id " \
    "$(readelf -n $i.so | sed -n 's/.*Build ID: //p') $PWD/$i.so; N=2; done; echo end; } >report " \
    "&& rm gone.so"

#define NAMED                                                                                      \
    "SIGSEGV (11)\n#0 0x101000 f+0x0 (a.c:1) in here.so\n#1 0x201000 f+0x0 (a.c:1) in gone.so\n"
#define UNNAMED " ? in gone.so\n"

static void make_files(void)
{
    struct run run;

    folder_enter();
    run = run_line(MAKE, SFB_TOOL);
    made = run.status == 0;
    run_free(&run);
    setenv("DEBUGINFOD_CACHE_PATH", "cache", 1);
}

TestSuite(tool_debuginfod, .init = make_files, .fini = folder_remove);

static bool has_client(void)
{
    void *library = dlopen("libdebuginfod.so.1", RTLD_LAZY);

    if (library)
        dlclose(library);
    return library != NULL;
}

/* Until the server has looked at both of its files: what it does not know yet, the cache would keep. */
Test(tool_debuginfod, gives_what_only_the_server_has)
{
    struct run run = run_line("command -v debuginfod");

    if (run.status != 0 || !has_client())
        cr_skip_test("debuginfod is not installed");
    if (!made || SFB_EMULATED)
        cr_skip_test("no gcc that makes programs of this machine");
    run_free(&run);
    run =
        run_line("SFB='%s'; PORT=%d; debuginfod -d :memory: -F server -p $PORT >server.log 2>&1 & "
                 "P=$!; trap 'kill -9 $P' EXIT; "
                 "export DEBUGINFOD_URLS=http://127.0.0.1:$PORT/; "
                 "until rm -rf cache; $SFB symbolize --debuginfod report >out 2>err; "
                 "test $(grep -c 'a.c:1' out) = 2; do kill -0 $P || break; sleep 0.1; done; "
                 "cat out; cat err >&2; $SFB symbolize --debuginfod --why gone.so report; "
                 "kill -9 $P; wait $P 2>/dev/null; echo; $SFB symbolize --debuginfod report; "
                 "echo; $SFB symbolize report",
                 SFB_TOOL, 20000 + (int)getpid() % 20000);
    cr_expect(eq(int, strncmp(run.out, NAMED, strlen(NAMED)), 0), "%s%s", run.out, run.err);
    cr_expect(ne(ptr, strstr(run.out, "  file   cache/"), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, "/executable: used\n"), NULL), "%s", run.out);
    /* From the cache, with the server gone; and nobody is asked without the option. */
    cr_expect(ne(ptr, strstr(run.out, "\n\n" NAMED "\n"), NULL), "%s", run.out);
    cr_expect(ne(ptr, strstr(run.out, UNNAMED), NULL), "%s", run.out);
    cr_expect(eq(int, run.status, 1), "%s", run.err);
    run_free(&run);
}

/* @return its port; it takes connections and says nothing */
static int listen_only(int *fd)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;

    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    cr_assert(eq(int, bind(*fd, (struct sockaddr *)&address, sizeof address), 0));
    cr_assert(eq(int, listen(*fd, 16), 0));
    cr_assert(eq(int, getsockname(*fd, (struct sockaddr *)&address, &size), 0));
    return ntohs(address.sin_port);
}

/* One question waits as long as the user says; the next modules do not ask again. */
Test(tool_debuginfod, gives_up_a_server_that_hangs)
{
    struct run run;
    int fd, port, questions = 0;

    if (!has_client())
        cr_skip_test("libdebuginfod is not installed");
    if (!made || SFB_EMULATED)
        cr_skip_test("no gcc that makes programs of this machine");
    port = listen_only(&fd);
    run =
        run_line("export DEBUGINFOD_URLS=http://127.0.0.1:%d/ DEBUGINFOD_TIMEOUT=2; '%s' symbolize "
                 "--debuginfod report",
                 port, SFB_TOOL);
    while (accept(fd, NULL, NULL) >= 0)
        questions++;
    /* The library asks three times for each of four files. */
    cr_expect(questions >= 1 && questions <= 3, "%d questions", questions);
    cr_expect(ne(ptr, strstr(run.out, UNNAMED), NULL), "%s%s", run.out, run.err);
    close(fd);
    run_free(&run);
}

Test(tool_debuginfod, needs_a_server_to_be_named)
{
    struct run run =
        run_line("unset DEBUGINFOD_URLS; '%s' symbolize --debuginfod report", SFB_TOOL);

    cr_expect(eq(int, run.status, 2));
    run_expect_text(
        "stderr", run.err,
        "sfb: symbolize: --debuginfod: DEBUGINFOD_URLS names no server; see 'sfb symbolize "
        "--help'\n");
    run_free(&run);
}
