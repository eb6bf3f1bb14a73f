#include "util/read_all.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "support/test.h"

enum { SIZE = 1 << 16, SIGNALS_FIRST = 20, PIECE = 1000 };

static struct {
    int to;
    const uint8_t *bytes;
    size_t size;
    unsigned signals;
} given;

/* One piece a signal, and the end behind the last one. */
static void give_a_piece(int signal)
{
    const size_t left = SIZE - given.size, n = left < PIECE ? left : PIECE;

    (void)signal;
    if (++given.signals <= SIGNALS_FIRST || given.to < 0)
        return;
    if (n > 0 && write(given.to, given.bytes + given.size, n) == (ssize_t)n)
        given.size += n;
    else if (n == 0) {
        close(given.to);
        given.to = -1;
    }
}

static uint8_t *some_bytes(void)
{
    uint8_t *bytes = malloc(SIZE);

    cr_assert_not_null(bytes);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    return bytes;
}

/* The pipe is empty: the first signals end a read() that has given nothing. Each later one gives a piece. */
Test(read_all, goes_on_behind_signals)
{
    const struct sigaction action = { .sa_handler = give_a_piece }; /* without SA_RESTART */
    const struct itimerval every = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
    uint8_t *bytes = some_bytes(), *out = malloc(SIZE + 1);
    int ends[2];

    cr_assert(out && pipe(ends) == 0);
    given.to = ends[1];
    given.bytes = bytes;
    cr_assert(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &every, NULL) == 0);
    cr_expect_eq(sfb_read_all(ends[0], out, SIZE + 1), SIZE);
    cr_expect_eq(errno, 0, "the end");
    cr_assert_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
    cr_expect(given.signals > SIGNALS_FIRST);
    cr_expect_eq(memcmp(out, bytes, SIZE), 0);
    close(ends[0]);
    free(bytes);
    free(out);
}

Test(read_all, reads_from_an_offset)
{
    uint8_t *bytes = some_bytes(), out[100];
    const int fd = memfd_create("read_all", MFD_CLOEXEC);

    cr_assert(fd >= 0 && write(fd, bytes, SIZE) == SIZE);
    cr_expect_eq(sfb_read_all_at(fd, out, sizeof out, 777), sizeof out);
    cr_expect_eq(memcmp(out, bytes + 777, sizeof out), 0);
    cr_expect_eq(lseek(fd, 0, SEEK_CUR), SIZE);
    cr_expect_eq(sfb_read_all_at(fd, out, sizeof out, SIZE - 40), 40);
    cr_expect_eq(errno, 0, "the end");
    cr_expect_eq(memcmp(out, bytes + SIZE - 40, 40), 0);
    close(fd);
    cr_expect_eq(sfb_read_all_at(fd, out, sizeof out, 0), 0);
    cr_expect_eq(errno, EBADF);
    cr_expect_eq(sfb_read_all(fd, out, sizeof out), 0);
    cr_expect_eq(errno, EBADF);
    free(bytes);
}
