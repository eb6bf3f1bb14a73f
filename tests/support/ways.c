#include "support/ways.h"

#include <string.h>

#include "base/memory.h"
#include "sfb/walk.h"
#include "unwind/capture/stack_hash.h"
#include "unwind/process/pages.h"

enum { MEMO_FRAMES = 600, SMALL_FRAMES = 3, PART = 3 };

static uint64_t large[SFRAME_BACKTRACE_MEMO_SIZE(MEMO_FRAMES) / 8];
static uint64_t small[SFRAME_BACKTRACE_MEMO_SIZE(SMALL_FRAMES) / 8];
static uint64_t in_parts[SFRAME_BACKTRACE_MEMO_SIZE(MEMO_FRAMES) / 8];
static uint64_t hashed[SFRAME_BACKTRACE_HASHED_MEMO_SIZE(MEMO_FRAMES) / 8];
static uint64_t small_hashed[SFRAME_BACKTRACE_HASHED_MEMO_SIZE(SMALL_FRAMES) / 8];

static void *addresses[TRACE_MAX];
static uint8_t bytes[2][TRACE_MAX * 9 + 2];
static struct trace parts;

static void reference(struct trace *out, struct sfb_context *start, enum sfb_frame_kind kind)
{
    struct sfb_walker_options options = { .size = sizeof options, .flags = SFB_WALKER_NO_CACHE };
    struct sfb_walker walker;
    struct sfb_frame frame;
    enum sfb_status status = sfb_walker_init(&walker, start, kind, &options);

    out->count = 0;
    out->error = SFB_OK;
    while (status == SFB_OK && (status = sfb_walker_next(&walker, &frame)) == SFB_OK &&
           out->count < TRACE_MAX) {
        out->address[out->count] = frame.address;
        out->source[out->count] = (uint8_t)frame.source;
        out->kind[out->count++] = (uint8_t)frame.kind;
    }
    out->count -= status != SFB_OK && sfb_walker_is_spurious(&walker);
    out->end = status == SFB_END;
    out->stop = status;
}

static bool same_addresses(const struct trace *theirs, ssize_t count, size_t from, int end)
{
    if (count < 0 || (size_t)count + from != theirs->count || end != theirs->end)
        return false;
    for (size_t i = 0; i < (size_t)count; i++)
        if ((uintptr_t)addresses[i] != theirs->address[from + i])
            return false;
    return true;
}

/* Where they differ it is the addresses that are shown. */
static const char *failed(const char *way, ssize_t count, enum sfb_status end, struct trace *ours)
{
    ours->count = count > 0 ? (size_t)count : 0;
    ours->end = end == SFB_END;
    ours->stop = count < 0 ? (enum sfb_status) - count : end;
    for (size_t i = 0; i < ours->count; i++) {
        ours->address[i] = (uintptr_t)addresses[i];
        ours->kind[i] = SFB_FRAME_RA;
    }
    return way;
}

/* Takes the stack in parts of three frames, from ways_differ() on. @return addresses, or -sfb_status */
static __attribute__((noinline)) ssize_t addresses_in_parts(struct sframe_backtrace_options options,
                                                            struct sframe_backtrace_info *info)
{
    struct sframe_backtrace_resume resume = { { 0 } };
    ssize_t count = 0, part;

    options.skip = options.context ? 0 : 2;
    options.resume = &resume;
    do {
        const size_t room = (size_t)(TRACE_MAX - count);

        part = sframe_backtrace_addresses(addresses + count, room < PART ? room : PART, &options,
                                          info);
        if (part < 0)
            return part;
        count += part;
    } while (info->end == SFB_FRAME_LIMIT && count < TRACE_MAX);
    return count;
}

/* The same as CBF, by max_frames or by a buffer that has room for about two frames. */
static __attribute__((noinline)) void cbf_in_parts(struct trace *out,
                                                   struct sframe_backtrace_options options,
                                                   bool full)
{
    struct sframe_backtrace_info info = { .size = sizeof info };
    struct sframe_backtrace_resume resume = { { 0 } };
    uint8_t part[PART * 9 + 2];
    const size_t room = full ? 20 : sizeof part;
    struct trace *decoded = &parts;
    size_t kept;

    options.max_frames = full ? 0 : PART;
    options.skip = options.context ? 0 : 2;
    options.resume = &resume;
    out->count = 0;
    do {
        trace_decode(decoded, part, sframe_backtrace_cbf(part, room, &options, &info));
        out->error = decoded->error;
        out->end = decoded->end;
        out->stop = info.end;
        if (decoded->error != SFB_OK)
            return;
        kept = TRACE_MAX - out->count;
        if (kept < decoded->count)
            out->end = 0;
        else
            kept = decoded->count;
        memcpy(out->address + out->count, decoded->address, kept * sizeof *out->address);
        memcpy(out->kind + out->count, decoded->kind, kept);
        out->count += kept;
    } while ((info.end == SFB_FRAME_LIMIT || info.end == SFB_BUFFER_FULL) &&
             out->count < TRACE_MAX);
}

/* As a caller reads this process: the walk may go to words that are not mapped. */
SFB_NO_SANITIZE static bool read_own(void *calls, uint64_t address, uint64_t *word)
{
    ++*(unsigned *)calls;
    if (!sfb_page_probe(address))
        return false;
    *word = sfb_load(address);
    return true;
}

static __attribute__((noinline)) const char *parts_differ(const void *ucontext,
                                                          const struct trace *theirs,
                                                          struct trace *ours)
{
    static const struct {
        const char *name, *cbf_name;
        void *memo;
        size_t size;
        bool full;
        bool (*read)(void *, uint64_t, uint64_t *);
    } ways[] = {
        { "addresses in parts", "cbf in parts", NULL, 0, false, NULL },
        { "addresses in parts with a memo", "cbf in parts with a memo", in_parts, sizeof in_parts,
          false, NULL },
        { "addresses in parts with a memo, again", "cbf in small buffers", in_parts,
          sizeof in_parts, true, NULL },
        { "addresses in parts by a reader", "cbf in parts by a reader", NULL, 0, false, read_own },
    };
    unsigned calls = 0;

    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct sframe_backtrace_options options = { .size = sizeof options,
                                                    .context = ucontext,
                                                    .memo = ways[i].memo,
                                                    .memo_size = ways[i].size,
                                                    .read = ways[i].read,
                                                    .read_user = &calls };
        struct sframe_backtrace_info info = { .size = sizeof info };
        const size_t own = ucontext ? 0 : 1;
        ssize_t count = addresses_in_parts(options, &info);

        if (!ucontext && count > 0)
            addresses[0] = (void *)(uintptr_t)theirs->address[0];
        if (!same_addresses(theirs, count, 0, info.end == SFB_END))
            return failed(ways[i].name, count, info.end, ours);
        cbf_in_parts(ours, options, ways[i].full);
        if (ours->error != SFB_OK || ours->end != theirs->end ||
            trace_differs(ours, own, theirs, own) != SIZE_MAX)
            return ways[i].cbf_name;
    }
    return NULL;
}

/* The memo is offered, and must stay as it is. */
static __attribute__((noinline)) const char *reader_differs(const void *ucontext,
                                                            const struct trace *theirs,
                                                            struct trace *ours)
{
    const uint32_t own = ucontext ? 0 : 1; /* this function */
    unsigned calls = 0;
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .context = ucontext,
                                                .skip = own,
                                                .memo = large,
                                                .memo_size = sizeof large,
                                                .read = read_own,
                                                .read_user = &calls };
    struct sframe_backtrace_info info = { .size = sizeof info };
    ssize_t count = sframe_backtrace_addresses(addresses, TRACE_MAX, &options, &info);

    if (!ucontext && count > 0)
        addresses[0] = (void *)(uintptr_t)theirs->address[0];
    if (!same_addresses(theirs, count, 0, info.end == SFB_END) || info.memo_used ||
        (count > 1 && calls == 0))
        return failed("addresses by a reader", count, info.end, ours);
    options.skip = 2 * own;
    trace_decode(ours, bytes[0], sframe_backtrace_cbf(bytes[0], sizeof bytes[0], &options, &info));
    ours->stop = info.end;
    if (ours->error != SFB_OK || ours->end != theirs->end ||
        trace_differs(ours, 0, theirs, own) != SIZE_MAX)
        return "cbf by a reader";
    return NULL;
}

/* Of what was given, as a walk without a memo has to compute it. */
static uint64_t hash_of_addresses(ssize_t count)
{
    uint64_t hash = SFB_STACK_HASH_START;

    for (ssize_t i = count; i > 0; i--)
        hash = sfb_stack_hash_add(hash, (uintptr_t)addresses[i - 1]);
    return sfb_stack_hash_end(hash);
}

/* @return NULL: the hash of a walk is that of its addresses, and the memo does not change these */
static const char *hash_differs(const void *ucontext, const struct trace *theirs,
                                struct trace *ours)
{
    static const struct {
        const char *name;
        void *memo;
        size_t size;
    } ways[] = {
        { "hash", NULL, 0 },
        { "hash with a memo", hashed, sizeof hashed },
        { "hash with a small memo", small_hashed, sizeof small_hashed },
        { "hash with a memo, again", hashed, sizeof hashed },
        { "hash with a memo without hashes", large, sizeof large },
    };

    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        uint64_t hash = 0;
        struct sframe_backtrace_options options = { .size = sizeof options,
                                                    .context = ucontext,
                                                    .memo = ways[i].memo,
                                                    .memo_size = ways[i].size,
                                                    .hash = &hash };
        struct sframe_backtrace_info info = { .size = sizeof info };
        ssize_t count = sframe_backtrace_addresses(addresses, TRACE_MAX, &options, &info);
        bool same = hash == hash_of_addresses(count);

        if (!ucontext && count > 0)
            addresses[0] = (void *)(uintptr_t)theirs->address[0];
        if (!same || !same_addresses(theirs, count, 0, info.end == SFB_END))
            return failed(ways[i].name, count, info.end, ours);
    }
    return NULL;
}

const char *ways_differ(const void *ucontext, struct trace *ours, struct trace *theirs)
{
    static const struct {
        const char *name, *cbf_name;
        void *memo;
        size_t size;
    } ways[] = {
        { "addresses", "cbf", NULL, 0 },
        { "addresses with a memo", "cbf with a memo", large, sizeof large },
        { "addresses with a small memo", "cbf with a small memo", small, sizeof small },
        { "addresses with a memo, again", "cbf with a memo, again", large, sizeof large },
    };
    const char *way;
    struct sfb_context start;
    ssize_t size, plain = 0;

    if (ucontext)
        sfb_context_from_ucontext(&start, ucontext);
    else
        sfb_context_capture(&start);
    reference(theirs, &start, ucontext ? SFB_FRAME_PC : SFB_FRAME_RA);

    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct sframe_backtrace_options options = { .size = sizeof options,
                                                    .context = ucontext,
                                                    .memo = ways[i].memo,
                                                    .memo_size = ways[i].size };
        struct sframe_backtrace_info info = { .size = sizeof info };
        uint8_t *to = bytes[i > 0];
        ssize_t count;

        /* The first frame of each walk from here is a call of its own. */
        count = sframe_backtrace_addresses(addresses, TRACE_MAX, &options, &info);
        if (!ucontext && count > 0)
            addresses[0] = (void *)(uintptr_t)theirs->address[0];
        if (!same_addresses(theirs, count, 0, info.end == SFB_END))
            return failed(ways[i].name, count, info.end, ours);

        options.skip = ucontext ? 0 : 1;
        size = sframe_backtrace_cbf(to, sizeof bytes[0], &options, NULL);
        trace_decode(ours, to, size);
        if (!ucontext) {
            memmove(ours->address + 1, ours->address, ours->count * sizeof *ours->address);
            memmove(ours->kind + 1, ours->kind, ours->count);
            ours->address[0] = theirs->address[0];
            ours->kind[0] = theirs->kind[0];
            ours->count++;
        }
        if (ours->error != SFB_OK || ours->end != theirs->end ||
            trace_differs(ours, 0, theirs, 0) != SIZE_MAX)
            return ways[i].cbf_name;
        if (i == 0)
            plain = size;
        else if (size != plain || memcmp(bytes[0], bytes[1], (size_t)size) != 0)
            return "other bytes with a memo";
    }
    way = parts_differ(ucontext, theirs, ours);
    if (!way)
        way = reader_differs(ucontext, theirs, ours);
    return way ? way : hash_differs(ucontext, theirs, ours);
}
