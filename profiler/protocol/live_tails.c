#include "profiler/protocol/live_tails.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { GAP_MAX = 2048, TRIES = 3 };

/* "/proc/PID/mem", without stdio, which is not async-signal-safe. */
static void path_of(char out[32], pid_t pid)
{
    char digits[12];
    size_t n = 0, at = 0;

    for (const char *c = "/proc/"; *c; c++)
        out[at++] = *c;
    do
        digits[n++] = (char)('0' + pid % 10);
    while ((pid /= 10) > 0);
    while (n > 0)
        out[at++] = digits[--n];
    for (const char *c = "/mem"; *c; c++)
        out[at++] = *c;
    out[at] = '\0';
}

void sfb_live_tails_begin(struct sfb_live_tails *out, pid_t pid)
{
    out->pid = pid;
    out->memory = -1;
    out->checked = out->overruns = out->unseen = out->unknown = out->unreadable = 0;
    out->bypassed = out->gone = false;
    out->count = out->spans = 0;
    out->bytes = 0;
}

/* @return bytes read, from the first span on */
static size_t read_spans(struct sfb_live_tails *t, const struct iovec *spans, uint32_t count,
                         void *out, size_t size)
{
    const struct iovec into = { out, size };
    ssize_t got = -1;

    if (t->memory < 0) {
        got = syscall(SYS_process_vm_readv, t->pid, &into, 1UL, spans, (unsigned long)count, 0UL);
        if (got < 0 && (errno == EPERM || errno == ENOSYS)) {
            char path[32];

            path_of(path, t->pid);
            t->memory = open(path, O_RDONLY | O_CLOEXEC);
        }
        if (got < 0 && (errno == ESRCH || errno == ENOENT))
            t->gone = true;
    }
    if (t->memory >= 0) {
        size_t at = 0;

        for (uint32_t i = 0; i < count; i++) {
            const size_t wanted = spans[i].iov_len;
            const ssize_t n =
                pread(t->memory, (uint8_t *)out + at, wanted, (off_t)(uintptr_t)spans[i].iov_base);

            t->gone = n == 0; /* its memory is gone; else EIO */
            if (n != (ssize_t)wanted)
                return at;
            at += wanted;
        }
        return at;
    }
    return got < 0 ? 0 : (size_t)got;
}

static bool is_same(const struct sfb_live_slot *a, const struct sfb_live_slot *b)
{
    return a->block == b->block && a->what == b->what;
}

/* While its tail is read, a block may be freed and its address reused. */
static void look_again(struct sfb_live_tails *t, uint32_t index, struct sfb_live_slot slot)
{
    const struct iovec span = { (void *)(uintptr_t)sfb_live_tail_at(slot.block, slot.what),
                                SFB_LIVE_TAIL };
    bool was_read = false;
    uint32_t tail = 0;

    for (int i = 0; i < TRIES; i++) {
        struct sfb_live_slot now;

        if (!t->again(t->user, index, &now) || !is_same(&now, &slot))
            return;
        was_read = read_spans(t, &span, 1, &tail, sizeof tail) == sizeof tail;
        if (was_read && tail == index)
            break;
        if (!t->again(t->user, index, &now) || !is_same(&now, &slot))
            return;
    }
    if (!was_read) {
        t->unreadable++;
        return;
    }
    t->checked++;
    if (tail == index)
        return;
    if (t->bypassed)
        t->unseen++;
    else
        t->overruns++;
    t->overrun(t->user, index, slot, tail);
}

static void look(struct sfb_live_tails *t)
{
    const size_t got = t->gone ? 0 : read_spans(t, t->span, t->spans, t->bytes_read, t->bytes);

    if (t->gone)
        t->unreadable += t->count;
    for (uint32_t i = 0; i < t->count && !t->gone; i++) {
        uint32_t tail;

        if ((size_t)t->wanted[i].at + sizeof tail <= got) {
            memcpy(&tail, t->bytes_read + t->wanted[i].at, sizeof tail);
            if (tail == t->wanted[i].index) {
                t->checked++;
                continue;
            }
        }
        look_again(t, t->wanted[i].index, t->wanted[i].slot);
    }
    t->count = t->spans = 0;
    t->bytes = 0;
}

void sfb_live_tails_add(struct sfb_live_tails *t, uint32_t index, struct sfb_live_slot slot)
{
    const uint64_t at = sfb_live_tail_at(slot.block, slot.what);
    struct iovec *last = t->spans > 0 ? &t->span[t->spans - 1] : NULL;
    uint64_t end, more;

    if (sfb_live_is_beside(slot.block))
        return;
    if (at == 0 || at >> (SFB_LIVE_BLOCK_BITS - 1) != 0) {
        t->unknown++;
        return;
    }
    if (t->count == SFB_LIVE_TAILS_AT_ONCE || t->bytes + GAP_MAX > sizeof t->bytes_read) {
        look(t);
        last = NULL;
    }
    /* Neighbouring tails are read in one piece: the kernel looks a page up once. */
    end = last ? (uint64_t)(uintptr_t)last->iov_base + last->iov_len : 0;
    more = at + SFB_LIVE_TAIL - end;
    if (last && at >= end && more <= GAP_MAX) {
        last->iov_len += more;
    } else {
        more = SFB_LIVE_TAIL;
        t->span[t->spans++] = (struct iovec){ (void *)(uintptr_t)at, more };
    }
    t->bytes += more;
    t->wanted[t->count].slot = slot;
    t->wanted[t->count].index = index;
    t->wanted[t->count].at = (uint32_t)(t->bytes - SFB_LIVE_TAIL);
    t->count++;
}

void sfb_live_tails_end(struct sfb_live_tails *t)
{
    if (t->count > 0)
        look(t);
    if (t->memory >= 0)
        close(t->memory);
    t->memory = -1;
}
