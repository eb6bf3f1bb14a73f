#include "util/write_all.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "support/test.h"

enum { SIZE = 1 << 18, SIGNALS_FIRST = 20, PIECE = 4096 };

static struct {
    int from;
    uint8_t *bytes;
    size_t size;
    unsigned signals;
} taken;

static void take_a_piece(int signal)
{
    const ssize_t n =
        ++taken.signals > SIGNALS_FIRST ? read(taken.from, taken.bytes + taken.size, PIECE) : 0;

    (void)signal;
    taken.size += n > 0 ? (size_t)n : 0;
}

/* @return bytes of a pipe that has no more room */
static size_t fill(int to)
{
    const size_t room = (size_t)fcntl(to, F_GETPIPE_SZ);
    uint8_t *zeros = calloc(1, room);

    cr_assert(zeros && fcntl(to, F_SETFL, O_NONBLOCK) == 0);
    cr_assert_eq(write(to, zeros, room), (ssize_t)room);
    cr_assert_eq(fcntl(to, F_SETFL, 0), 0);
    free(zeros);
    return room;
}

/*
 * The pipe is full: the first signals end a write() that has taken nothing. Each later one makes room for a piece, and
 * ends a write() that has taken a part.
 */
Test(write_all, goes_on_behind_signals)
{
    const struct sigaction action = { .sa_handler = take_a_piece }; /* without SA_RESTART */
    const struct itimerval every = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
    uint8_t *bytes = malloc(SIZE);
    size_t before, n = 1;
    int ends[2];

    cr_assert(bytes && pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    before = fill(ends[1]);
    taken.from = ends[0];
    taken.bytes = malloc(before + SIZE + PIECE);
    cr_assert_not_null(taken.bytes);
    cr_assert(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &every, NULL) == 0);
    cr_expect_eq(sfb_write_all(ends[1], bytes, SIZE), SIZE);
    cr_assert_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
    close(ends[1]);
    cr_expect(taken.signals > SIGNALS_FIRST);
    for (; n > 0; taken.size += n)
        n = (size_t)read(ends[0], taken.bytes + taken.size, PIECE);
    cr_assert_eq(taken.size, before + SIZE);
    cr_expect_eq(memcmp(taken.bytes + before, bytes, SIZE), 0);
    close(ends[0]);
    free(bytes);
    free(taken.bytes);
}

/* A pipe that nothing reads: the second write() finds no room. */
Test(write_all, says_how_much_was_written)
{
    uint8_t *bytes = calloc(1, SIZE);
    size_t room;
    int ends[2];

    cr_assert(bytes && pipe2(ends, O_NONBLOCK) == 0);
    room = (size_t)fcntl(ends[1], F_GETPIPE_SZ);
    cr_assert(room > 0 && room < SIZE);
    cr_expect_eq(sfb_write_all(ends[1], bytes, SIZE), room);
    cr_expect_eq(errno, EAGAIN);
    cr_expect_eq(sfb_write_all(ends[1], bytes, 0), 0);
    close(ends[1]);
    cr_expect_eq(sfb_write_all(ends[1], bytes, 1), 0);
    cr_expect_eq(errno, EBADF);
    close(ends[0]);
    free(bytes);
}
