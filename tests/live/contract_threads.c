/*
 * docs/SIGNALS.md says which public functions threads may call at once, and what comes of threads that
 * are cancelled meanwhile. Thread sanitizer (preset tsan) looks at the former.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "contract/thunks.h"
#include "support/compiler.h"
#include "support/contract_table.h"
#include "support/expect.h"

enum { THREADS = 4, CANCELLED = 200, DEPTH = 30, STRIDE = 64, ROUND_MS = 10 };

static struct contract_table table;
static volatile int sink;
static const struct thunk *thunk; /* that is run now */
static atomic_bool stop;

static void run_once(const struct thunk *t, struct thunk_room *room)
{
    ucontext_t *ucontext = room->ucontext;

    clear_room(room, ucontext, STRIDE);
    if (t->prepare)
        t->prepare(room);
    t->run(room);
    if (t->end)
        t->end(room);
}

/* Calls from where a walk has some frames to go. */
NOINLINE static int at_depth(int depth, void (*call)(struct thunk_room *), struct thunk_room *room)
{
    if (depth > 0) {
        at_depth(depth - 1, call, room);
    } else {
        room->ucontext = &room->own;
        getcontext(&room->own);
        call(room);
    }
    return sink;
}

static void sleep_us(long us)
{
    struct timespec time = { .tv_nsec = us * 1000 };

    nanosleep(&time, NULL);
}

/* --- All at once ------------------------------------------------------------------------------ */

static void run_until_stopped(struct thunk_room *room)
{
    do
        run_once(thunk, room);
    while (!atomic_load(&stop));
}

static void *runs_until_stopped(void *arg)
{
    at_depth(DEPTH, run_until_stopped, arg);
    return NULL;
}

static void run_at_once(const struct thunk *t, void *arg)
{
    static struct thunk_room rooms[THREADS];
    pthread_t threads[THREADS];

    (void)arg;
    if (!contract_row_of(&table, t->function)->by_threads)
        return;
    thunk = t;
    atomic_store(&stop, false);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, runs_until_stopped, &rooms[i]);
    sleep_us(ROUND_MS * 1000); /* each runs once at least, however long this is */
    atomic_store(&stop, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* --- Cancelled, when it suits them ------------------------------------------------------------ */

static atomic_bool came_back;

static void run_while_cancelled(struct thunk_room *room)
{
    pthread_cancel(pthread_self());
    run_once(thunk, room);
    atomic_store(&came_back, true);
}

static void *runs_while_cancelled(void *arg)
{
    at_depth(DEPTH, run_while_cancelled, arg);
    pthread_testcancel(); /* here, where address sanitizer watches no frame any more */
    return NULL;
}

static void run_cancelled(const struct thunk *t, void *arg)
{
    static struct thunk_room room;
    pthread_t thread;
    void *result = NULL;

    (void)arg;
    thunk = t;
    atomic_store(&came_back, false);
    pthread_create(&thread, NULL, runs_while_cancelled, &room);
    pthread_join(thread, &result);
    expect(atomic_load(&came_back), t->function, "it returns in a thread that is to end");
    expect(result == PTHREAD_CANCELED, t->function, "the thread ends then");
}

/* The crash handler, too, as one that reports a signal which another handler recovers from. */
static volatile sig_atomic_t recovered;

static void on_fpe(int number)
{
    recovered = number;
}

static void *crashes_while_cancelled(void *arg)
{
    pthread_cancel(pthread_self());
    raise(SIGFPE);
    atomic_store(&came_back, true);
    pthread_testcancel();
    return arg;
}

static void crash_cancelled(void)
{
    struct sframe_backtrace_crash_options options = { .size = sizeof options,
                                                      .fd = open("/dev/null", O_WRONLY | O_CLOEXEC),
                                                      .signals = 1u << SIGFPE };
    struct sigaction before;
    struct sigaction action = { .sa_handler = on_fpe };
    pthread_t thread;

    sigaction(SIGFPE, &action, &before);
    expect(sframe_backtrace_install_crash_handler(&options) == SFB_OK, "crash handler",
           "it is installed");
    atomic_store(&came_back, false);
    pthread_create(&thread, NULL, crashes_while_cancelled, NULL);
    pthread_join(thread, NULL);
    expect(recovered == SIGFPE && atomic_load(&came_back), "crash handler",
           "it returns in a thread that is to end");
    sframe_backtrace_uninstall_crash_handler();
    sigaction(SIGFPE, &before, NULL);
    close(options.fd);
}

/* --- Cancelled anywhere ----------------------------------------------------------------------- */

static atomic_bool running;

static void run_for_ever(struct thunk_room *room)
{
    int before;

    /* NOLINTNEXTLINE(cert-pos47-c): that is what is tested */
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    atomic_store(&running, true);
    for (;;)
        run_once(thunk, room);
}

static void *runs_for_ever(void *arg)
{
    at_depth(DEPTH, run_for_ever, arg);
    return NULL;
}

static void cancel_anywhere(unsigned number)
{
    static struct thunk_room room;
    pthread_t thread;
    void *result = NULL;

    atomic_store(&running, false);
    pthread_create(&thread, NULL, runs_for_ever, &room);
    while (!atomic_load(&running))
        sched_yield();
    sleep_us(20 + number * 7919 % 500);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    expect(result == PTHREAD_CANCELED, thunk->function, "a thread ends anywhere");
}

/*
 * A memo that such a thread had in its hands stays busy: walks do without it from then on, and are
 * right.
 */
static uint64_t memo[SFRAME_BACKTRACE_MEMO_SIZE(64) / sizeof(uint64_t)];

static void use_memo(struct thunk_room *room)
{
    room->options.memo = memo;
    room->options.memo_size = sizeof memo;
    sframe_backtrace_cbf(room->bytes, sizeof room->bytes, &room->options, &room->info);
}

static void compare_with_memo(struct thunk_room *room)
{
    static void *with[THUNK_ADDRESSES];
    ssize_t count, plain;

    clear_room(room, room->ucontext, STRIDE);
    room->options.context = room->ucontext;
    plain = sframe_backtrace_addresses(room->addresses, THUNK_ADDRESSES, &room->options, NULL);
    room->options.memo = memo;
    room->options.memo_size = sizeof memo;
    for (unsigned i = 0; i < 2; i++) {
        count = sframe_backtrace_addresses(with, THUNK_ADDRESSES, &room->options, NULL);
        expect(count == plain && memcmp(with, room->addresses, (size_t)plain * sizeof *with) == 0,
               "memo", "walks with one that a cancelled thread had are right");
    }
}

static void cancel_with_memo(void)
{
    static const struct thunk with_memo = { "a capture with a memo", NULL, use_memo, NULL };
    static struct thunk_room room;

    thunk = &with_memo;
    for (unsigned i = 0; i < CANCELLED / 4; i++) {
        memset(memo, 0, sizeof memo);
        cancel_anywhere(i);
        at_depth(DEPTH, compare_with_memo, &room);
    }
}

struct cancellable {
    const struct thunk *thunk[CONTRACT_ROWS * CONTRACT_NAMES];
    unsigned count;
};

static void add_cancellable(const struct thunk *t, void *arg)
{
    struct cancellable *all = arg;

    if (contract_row_of(&table, t->function)->cancel_any)
        all->thunk[all->count++] = t;
}

static void capture_still_works(struct thunk_room *room)
{
    clear_room(room, room->ucontext, STRIDE);
    sframe_backtrace_cbf(room->bytes, sizeof room->bytes, &room->options, &room->info);
}

static void cancel_all(void)
{
    static struct cancellable all;
    static struct thunk_room room;

    for_each_thunk(add_cancellable, &all);
    for (unsigned i = 0; all.count > 0 && i < CANCELLED; i++) {
        thunk = all.thunk[i % all.count];
        cancel_anywhere(i);
    }
    cancel_with_memo();
    at_depth(DEPTH, capture_still_works, &room);
    expect(room.info.end == SFB_END && room.info.frames > DEPTH, "capture",
           "it works after others were cancelled");
    printf("contract_threads: %u threads cancelled anywhere in %u functions\n", (unsigned)CANCELLED,
           all.count);
}

static void has_row(const struct thunk *t, void *arg)
{
    unsigned *without = arg;

    *without += !expect(contract_row_of(&table, t->function) != NULL, t->function, "it has a row");
}

int main(void)
{
    const char *wrong = contract_table_read(&table, SFB_SOURCE_DIR "/docs/SIGNALS.md");
    unsigned without = 0;

    if (!expect(wrong == NULL, "docs/SIGNALS.md", wrong) ||
        !expect(find_tables(), "tables", "they are found"))
        return 1;
    for_each_thunk(has_row, &without);
    if (without > 0)
        return 1;
    for_each_thunk(run_at_once, NULL);
    for_each_thunk(run_cancelled, NULL);
    crash_cancelled();
    if (sanitized())
        printf("skipped: live.contract_threads: threads that are cancelled anywhere: sanitizers' "
               "runtimes do not survive that\n");
    else
        cancel_all();
    return failures > 0;
}
