#include "peers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/cbf.h"

#define PEER(leaf, title, ...)                                                                     \
    {                                                                                              \
        title, leaf_##leaf, __start_code_##leaf, __stop_code_##leaf, __VA_ARGS__                   \
    }

const struct peer peers[PEER_COUNT] = {
    [PEER_CBF] = PEER(cbf, "sframe_backtrace_cbf()", .cbf = true),
    [PEER_ADDRESSES] = PEER(addresses, "sframe_backtrace()", .cbf = false),
    [PEER_UNCACHED] = PEER(uncached, "the same, no rule cache", .cbf = false),
    [PEER_FP_MINIMAL] = PEER(fp_minimal, "frame pointers, minimal", .needs_fp = true),
    [PEER_FP_CHECKED] = PEER(fp_checked, "frame pointers, checked", .needs_fp = true),
    [PEER_UNW_BACKTRACE] =
        PEER(unw_backtrace, "libunwind unw_backtrace()", .needs_libunwind = true),
    [PEER_UNW_STEP] = PEER(unw_step, "libunwind unw_step() loop", .needs_libunwind = true),
    [PEER_GLIBC] = PEER(glibc, "glibc backtrace()", .cbf = false),
};

static bool have_libunwind;
static void *return_addresses[CHAIN_BUILDS][CHAIN_FUNCTIONS];

/* ISO C has no conversion from what dlsym() gives to a function pointer; POSIX says it may be
 * copied. */
static bool load(void *library, const char *name, void *function)
{
    void *symbol = library == NULL ? NULL : dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static int find_stack(void)
{
    pthread_attr_t attributes;
    void *start = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0 ||
        pthread_attr_getstack(&attributes, &start, &size) != 0) {
        fprintf(stderr, "bench: the bounds of the stack are not known\n");
        return -1;
    }
    pthread_attr_destroy(&attributes);
    leaf_stack_start = (uintptr_t)start;
    leaf_stack_end = leaf_stack_start + size;
    return 0;
}

int peers_load(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *libunwind = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    struct leaf_imports *i = &leaf_imports;

    if (!load(libc, "backtrace", &i->glibc_backtrace)) {
        fprintf(stderr, "bench: glibc's backtrace() not found\n");
        return -1;
    }
    have_libunwind = load(libunwind, "unw_backtrace", &i->unw_backtrace) &&
                     load(libunwind, "_Ux86_64_getcontext", &i->unw_getcontext) &&
                     load(libunwind, "_ULx86_64_init_local", &i->unw_init_local) &&
                     load(libunwind, "_ULx86_64_step", &i->unw_step) &&
                     load(libunwind, "_ULx86_64_get_reg", &i->unw_get_reg);
    return find_stack();
}

static const char *file_of(const void *function, char *resolved)
{
    Dl_info info;
    const char *slash;

    if (dladdr(function, &info) == 0 || realpath(info.dli_fname, resolved) == NULL) {
        return "?";
    }
    slash = strrchr(resolved, '/');
    return slash == NULL ? resolved : slash + 1;
}

void peers_describe(FILE *out)
{
    char resolved[4096];
    void *function;

    if (have_libunwind) {
        memcpy(&function, &leaf_imports.unw_backtrace, sizeof function);
        fprintf(out, "libunwind  %s, headers at build time %s\n", file_of(function, resolved),
                BENCH_LIBUNWIND_VERSION);
    } else {
        fprintf(out, "libunwind  skipped: libunwind.so.8 is not installed\n");
    }
    memcpy(&function, &leaf_imports.glibc_backtrace, sizeof function);
    fprintf(out, "backtrace  glibc's, of %s\n", file_of(function, resolved));
}

bool peer_works(const struct peer *peer, enum chain_build build)
{
    return (build == CHAIN_FP || !peer->needs_fp) && (have_libunwind || !peer->needs_libunwind);
}

void peer_batch(struct batch *out, int depth, unsigned warm, unsigned count)
{
    out->warm = warm;
    out->count = count;
    out->depth = depth;
    out->options = (struct sframe_backtrace_options){
        .size = sizeof out->options,
        .max_frames = (uint32_t)depth,
    };
    out->info = NULL;
    out->result = 0;
}

int peers_learn(enum chain_build build)
{
    static struct batch batch;
    static struct chain_order order;
    const struct peer *reference = &peers[build == CHAIN_FP ? PEER_FP_MINIMAL
                                          : have_libunwind  ? PEER_UNW_STEP
                                                            : PEER_GLIBC];

    chain_order_make(&order, build, CHAIN_FUNCTIONS, 1);
    peer_batch(&batch, CHAIN_FUNCTIONS + 1, 0, 1);
    chain_enter(&order, reference->leaf, &batch);
    if (batch.result != CHAIN_FUNCTIONS + 1) {
        fprintf(stderr, "bench: %s gave %zd frames of %d\n", reference->name, batch.result,
                CHAIN_FUNCTIONS + 1);
        return -1;
    }
    for (unsigned i = 0; i < CHAIN_FUNCTIONS; i++) {
        unsigned number = order.numbers[CHAIN_FUNCTIONS - 1 - i];

        if (chain_function_at(build, batch.addresses[1 + i]) != number) {
            fprintf(stderr, "bench: %s: frame %u is not in the function that was called\n",
                    reference->name, 1 + i);
            return -1;
        }
        return_addresses[build][number] = batch.addresses[1 + i];
    }
    return 0;
}

void *peer_return_address(enum chain_build build, unsigned function)
{
    return return_addresses[build][function];
}

/* CBF to the addresses that the other peers answer in. @return the frames, or -1: it is not good */
static ssize_t decode(struct batch *batch)
{
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status;
    ssize_t frames = 0;

    if (batch->result < 0 ||
        sfb_cbf_decoder_init(&decoder, batch->cbf, (size_t)batch->result, NULL, NULL) != SFB_OK) {
        return -1;
    }
    while ((status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK) {
        if (item.kind != SFB_FRAME_RA || item.count != 1 || frames > CHAIN_FUNCTIONS) {
            return -1;
        }
        batch->addresses[frames++] = (void *)(uintptr_t)item.value;
    }
    return status == SFB_END && sfb_cbf_decoder_truncated(&decoder) ? frames : -1;
}

static int refuse(const struct peer *peer, enum chain_build build, int depth, const char *why,
                  int frame)
{
    fprintf(stderr, "bench: %s, build %s frame pointers, depth %d: %s (%d)\n", peer->name,
            build == CHAIN_FP ? "with" : "without", depth, why, frame);
    return -1;
}

int peer_verify(const struct peer *peer, enum chain_build build, struct chain_order *order,
                int depth)
{
    static struct batch batch;
    struct sframe_backtrace_info info = { .size = sizeof info };

    memset(&batch, 0xa5, sizeof batch);
    peer_batch(&batch, depth, 0, 1);
    batch.info = &info;
    chain_enter(order, peer->leaf, &batch);

    if (peer->cbf) {
        batch.result = decode(&batch);
        if (info.by_source[SFB_SOURCE_SFRAME] != (uint32_t)depth - 1) {
            return refuse(peer, build, depth, "frames found by .sframe",
                          (int)info.by_source[SFB_SOURCE_SFRAME]);
        }
    }
    if (batch.result != depth) {
        return refuse(peer, build, depth, "wrong number of frames", (int)batch.result);
    }

    const char *innermost = batch.addresses[0];

    if (innermost <= peer->leaf_start || innermost > peer->leaf_stop) {
        return refuse(peer, build, depth, "does not begin in its caller", 0);
    }
    for (int i = 1; i < depth; i++) {
        unsigned number = order->numbers[order->count - (size_t)i];

        if (batch.addresses[i] != return_addresses[build][number]) {
            return refuse(peer, build, depth, "a frame that the reference walk does not have", i);
        }
    }
    return 0;
}
