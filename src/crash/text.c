#include "crash/text.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "crash/grammar.h"
#include "crash/kernel.h"

void sfb_text_begin(struct sfb_text *out, int fd, bool waits, bool is_terminal)
{
    out->fd = fd;
    out->waits = waits;
    out->is_terminal = is_terminal;
    out->failed = false;
    out->last = '\n';
    out->waited_ms = 0;
    out->used = 0;
}

/*
 * Waits until the descriptor takes a buffer without blocking, as far as that can be known.
 *
 * In steps: the kernel does not report how long a call has waited. If a filter refuses ppoll(), the
 * descriptor counts as ready.
 */
static bool wait_for_room(struct sfb_text *text)
{
    enum { STEP_MS = 50 };
    const int64_t step[2] = { 0, STEP_MS * 1000000L };

    for (; text->waited_ms < SFB_TEXT_WAIT_MS; text->waited_ms += STEP_MS) {
        struct pollfd fd = { .fd = text->fd, .events = POLLOUT };

        /* The kernel writes back what is left of the time. */
        int64_t left[2] = { step[0], step[1] };
        long ready = sfb_kernel(SYS_ppoll, (uintptr_t)&fd, 1, (uintptr_t)left, 0);

        if (ready != 0 && ready != -EINTR)
            return true;
    }
    return false;
}

/*
 * Takes back SIGPIPE or SIGXFSZ: the pipe has no reader, or the file has reached its limit. The program did
 * not write, so it must not get the signal. (It is blocked here.)
 */
static void take_back(int number)
{
    const uint64_t set = sfb_kernel_sigbit(number);
    const int64_t now[2] = { 0, 0 };

    sfb_kernel(SYS_rt_sigtimedwait, (uintptr_t)&set, 0, (uintptr_t)now, SFB_KERNEL_SIGSET_SIZE);
}

/*
 * Bytes to write at a time to a descriptor that blocks. A terminal is ready as soon as it has any room,
 * and a larger write() waits for the rest, perhaps for ever: so it gets single bytes, 1 us each. (A
 * newline may become two bytes there. With room for one only, that write still waits.) A pipe that is
 * ready has room for a page.
 */
static size_t piece(const struct sfb_text *text, size_t size)
{
    return text->is_terminal && size > 1 ? 1 : size;
}

/* @return bytes written, 0 to try again, or negative for good */
static long write_some(struct sfb_text *text, const char *bytes, size_t size)
{
    enum { STEP_MS = 10 };
    long done;

    if (text->waits && !wait_for_room(text))
        return -1;
    done = sfb_kernel(SYS_write, (uint64_t)text->fd, (uintptr_t)bytes, piece(text, size), 0);
    /* A few signals are not blocked. A filter of system calls may answer EINTR for ever. */
    if (done == -EINTR && text->waited_ms < SFB_TEXT_WAIT_MS) {
        text->waited_ms++;
        return 0;
    }
    if (done == -EAGAIN && text->waited_ms < SFB_TEXT_WAIT_MS) {
        sfb_kernel_sleep_ms(STEP_MS);
        text->waited_ms += STEP_MS;
        return 0;
    }
    if (done == -EPIPE)
        take_back(SIGPIPE);
    if (done == -EFBIG)
        take_back(SIGXFSZ);
    return done > 0 ? done : -1;
}

void sfb_text_flush(struct sfb_text *text)
{
    size_t done = 0;

    while (done < text->used && !text->failed) {
        long n = write_some(text, text->bytes + done, text->used - done);

        if (n < 0)
            text->failed = true;
        else
            done += (size_t)n;
    }
    text->used = 0;
}

void sfb_text_char(struct sfb_text *text, char c)
{
    if (text->used >= sizeof text->bytes)
        sfb_text_flush(text);
    text->bytes[text->used++] = c;
    text->last = c;
}

void sfb_text_string(struct sfb_text *text, const char *string)
{
    while (*string)
        sfb_text_char(text, *string++);
}

void sfb_text_decimal(struct sfb_text *text, int64_t value)
{
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    char digits[20];
    size_t n = 0;

    do {
        digits[n++] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0)
        sfb_text_char(text, '-');
    while (n > 0)
        sfb_text_char(text, digits[--n]);
}

static char hex_digit(uint64_t value)
{
    return "0123456789abcdef"[value & 15];
}

void sfb_text_bytes(struct sfb_text *text, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        sfb_text_char(text, hex_digit(bytes[i] >> 4));
        sfb_text_char(text, hex_digit(bytes[i]));
    }
}

void sfb_text_hex(struct sfb_text *text, uint64_t value)
{
    unsigned shift = 60;

    sfb_text_string(text, SFB_CRASH_HEX);
    while (shift > 0 && value >> shift == 0)
        shift -= 4;
    for (;; shift -= 4) {
        sfb_text_char(text, hex_digit(value >> shift));
        if (shift == 0)
            break;
    }
}

void sfb_text_foreign(struct sfb_text *text, char c, char quote)
{
    uint8_t byte = (uint8_t)c;

    if (byte >= 0x20 && byte != 0x7f && c != '\\' && c != quote) {
        sfb_text_char(text, c);
        return;
    }
    sfb_text_char(text, '\\');
    sfb_text_char(text, (char)('0' + (byte >> 6)));
    sfb_text_char(text, (char)('0' + (byte >> 3 & 7)));
    sfb_text_char(text, (char)('0' + (byte & 7)));
}
