/*
 * Runs Lua scripts in several threads at once, each in a lua_State of its own:
 *
 *     host THREADS SECONDS SCRIPT...
 *
 * Thread i begins with script i and takes the next one until all have run in it. Scripts see a
 * table `host` with one function, qsort(list, less): libc's qsort_r() with a Lua comparator, so
 * that libc lies in the middle of the stack.
 *
 * Besides, a timer interrupts every thread with SIGUSR2, whose handler computes for a while; in
 * every second thread it does so on an alternate signal stack. The sampler's samples that fall into
 * it have to go through the signal's frame to an instruction that was interrupted anywhere.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

#include "threads.h"

enum {
    THREADS_MAX = 32,
    LIST_MAX = 1000,
    BUSY_ROUNDS = 5000,
    BUSY_NS = 1000000,
    SIGNAL_STACK = 128 << 10
};

struct job {
    pthread_t thread;
    int number;
    int script_count;
    char **scripts;
    const char *seconds;
};

static atomic_int failures;
static atomic_uint sink;

/* ---- the signal ----------------------------------------------------------------------------- */

/* Not a tail call and not inlined: each level is to be a frame. */
__attribute__((noinline)) static unsigned busy(unsigned depth, unsigned seed)
{
    unsigned sum = seed;

    if (depth > 0)
        return busy(depth - 1, seed * 2654435761U) + 1;
    for (unsigned i = 0; i < BUSY_ROUNDS; i++)
        sum = sum * 1664525U + 1013904223U;
    atomic_store(&sink, sum);
    return sum;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* By the clock, not by rounds: an emulator may need longer for them than until the next signal. */
static void on_usr2(int signo)
{
    int saved_errno = errno;
    uint64_t start = now_ns();

    do
        busy(5, (unsigned)signo);
    while (now_ns() - start < BUSY_NS);
    errno = saved_errno;
}

static timer_t start_timer(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2 };
    struct itimerspec every = { .it_interval.tv_nsec = 13000000, .it_value.tv_nsec = 7000000 };
    timer_t timer;

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &every, NULL) != 0) {
        perror("host: timer");
        exit(2);
    }
    return timer;
}

/* ---- qsort for Lua -------------------------------------------------------------------------- */

/* Elements are indices of the list, which lies at stack index 1; the comparator lies at 2. */
static int compare(const void *a, const void *b, void *user)
{
    lua_State *lua = user;
    int less, greater;

    lua_pushvalue(lua, 2);
    lua_rawgeti(lua, 1, *(const int *)a);
    lua_rawgeti(lua, 1, *(const int *)b);
    lua_call(lua, 2, 1);
    less = lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    if (less)
        return -1;
    lua_pushvalue(lua, 2);
    lua_rawgeti(lua, 1, *(const int *)b);
    lua_rawgeti(lua, 1, *(const int *)a);
    lua_call(lua, 2, 1);
    greater = lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    return greater;
}

static int host_qsort(lua_State *lua)
{
    int indices[LIST_MAX];
    lua_Unsigned n = lua_rawlen(lua, 1);

    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_checktype(lua, 2, LUA_TFUNCTION);
    luaL_argcheck(lua, n <= LIST_MAX, 1, "list too long");
    for (lua_Unsigned i = 0; i < n; i++)
        indices[i] = (int)i + 1;
    qsort_r(indices, (size_t)n, sizeof *indices, compare, lua);
    lua_createtable(lua, (int)n, 0);
    for (lua_Unsigned i = 0; i < n; i++) {
        lua_rawgeti(lua, 1, indices[i]);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* ---- threads -------------------------------------------------------------------------------- */

static void run_script(const char *path, const char *seconds)
{
    static const luaL_Reg functions[] = { { "qsort", host_qsort }, { NULL, NULL } };
    lua_State *lua = luaL_newstate();

    if (!lua)
        exit(2);
    luaL_openlibs(lua);
    luaL_newlib(lua, functions);
    lua_setglobal(lua, "host");
    if (luaL_loadfile(lua, path) != LUA_OK ||
        (lua_pushstring(lua, seconds), lua_pcall(lua, 1, 0, 0)) != LUA_OK) {
        fprintf(stderr, "host: %s: %s\n", path, lua_tostring(lua, -1));
        atomic_fetch_add(&failures, 1);
    }
    lua_close(lua);
}

static void *run_thread(void *argument)
{
    const struct job *job = argument;
    stack_t alternate = { .ss_size = SIGNAL_STACK };
    timer_t timer;

    if (job->number % 2) {
        alternate.ss_sp = malloc(SIGNAL_STACK);
        if (!alternate.ss_sp || sigaltstack(&alternate, NULL) != 0)
            exit(2);
    }
    if (sfb_sampler_thread_start)
        sfb_sampler_thread_start();
    timer = start_timer();
    for (int i = 0; i < job->script_count; i++)
        run_script(job->scripts[(job->number + i) % job->script_count], job->seconds);
    timer_delete(timer);
    if (sfb_sampler_thread_stop)
        sfb_sampler_thread_stop();
    if (alternate.ss_sp) {
        alternate.ss_flags = SS_DISABLE;
        sigaltstack(&alternate, NULL);
        free(alternate.ss_sp);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_handler = on_usr2, .sa_flags = SA_RESTART | SA_ONSTACK };
    static struct job jobs[THREADS_MAX];
    long threads = argc > 3 ? strtol(argv[1], NULL, 10) : 0;

    if (threads < 0 || threads > THREADS_MAX || argc < 4) {
        fprintf(stderr, "usage: host THREADS SECONDS SCRIPT...\n");
        return 2;
    }
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < threads; i++) {
        jobs[i] = (struct job){
            .number = i, .script_count = argc - 3, .scripts = argv + 3, .seconds = argv[2]
        };
        if (pthread_create(&jobs[i].thread, NULL, run_thread, &jobs[i]) != 0)
            return 2;
    }
    for (int i = 0; i < threads; i++)
        pthread_join(jobs[i].thread, NULL);
    if (threads == 0) {
        for (int i = 3; i < argc; i++)
            run_script(argv[i], argv[2]);
    }
    return atomic_load(&failures) ? 1 : 0;
}
