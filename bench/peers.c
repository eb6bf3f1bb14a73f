#include "peers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PEER(id, title, leaf, ...)                                                                 \
    [PEER_##id] = { PEER_##id,          title,      leaf_##leaf, once_##leaf, __start_code_##leaf, \
                    __stop_code_##leaf, __VA_ARGS__ },
const struct peer peers[PEER_COUNT] = { PEERS(PEER) };

static bool have_libunwind;
static int (*set_caching_policy)(void *space, int policy);
static void **local_addr_space;

/* ISO C has no conversion from what dlsym() gives to a function pointer; POSIX says it may be
 * copied. */
static bool load(void *library, const char *name, void *function)
{
    void *symbol = library == NULL ? NULL : dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

int peers_load(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *libunwind = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    struct leaf_imports *i = &leaf_imports;

    /* Those of the shared library: this program has the static one, too, for what lies behind it. */
    if (!load(RTLD_NEXT, "sframe_backtrace_cbf", &i->cbf) ||
        !load(RTLD_NEXT, "sframe_backtrace_addresses", &i->options) ||
        !load(RTLD_NEXT, "sframe_backtrace", &i->addresses)) {
        fprintf(stderr, "bench: the shared library not found\n");
        return -1;
    }
    if (!load(libc, "backtrace", &i->glibc_backtrace)) {
        fprintf(stderr, "bench: glibc's backtrace() not found\n");
        return -1;
    }
    have_libunwind = load(libunwind, "unw_backtrace", &i->unw_backtrace) &&
                     load(libunwind, "_Ux86_64_getcontext", &i->unw_getcontext) &&
                     load(libunwind, "_ULx86_64_init_local2", &i->unw_init_local2) &&
                     load(libunwind, "_ULx86_64_step", &i->unw_step) &&
                     load(libunwind, "_ULx86_64_get_reg", &i->unw_get_reg) &&
                     load(libunwind, "_ULx86_64_set_caching_policy", &set_caching_policy) &&
                     load(libunwind, "_ULx86_64_local_addr_space", &local_addr_space);
    return 0;
}

bool peers_libunwind(void)
{
    return have_libunwind;
}

void peers_libunwind_cache(bool begin)
{
    enum { NONE = 0, GLOBAL = 1 }; /* unw_caching_policy_t; the default is GLOBAL */

    set_caching_policy(*local_addr_space, begin ? NONE : GLOBAL);
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

bool peer_works(const struct peer *peer, enum chain_set set)
{
    return (chain_loaded(set)->frame_pointers || !peer->needs_fp) &&
           (have_libunwind || !peer->needs_libunwind);
}

/* The stack of the calling thread. */
static void find_stack(struct batch *out)
{
    static _Thread_local uintptr_t known_start, known_end;
    pthread_attr_t attributes;
    void *start = NULL;
    size_t size = 0;

    if (known_end == 0 && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &start, &size);
        pthread_attr_destroy(&attributes);
        known_start = (uintptr_t)start;
        known_end = known_start + size;
    }
    out->stack_start = known_start;
    out->stack_end = known_end;
}

/* Each kind of walk has its own, and room for the frames around the chain's. */
enum memo { MEMO_ADDRESSES, MEMO_CBF, MEMO_HASHED, MEMOS };
enum { MEMO_SIZE = SFRAME_BACKTRACE_HASHED_MEMO_SIZE(CHAIN_FUNCTIONS + 64) };

void peer_batch(struct batch *out, const struct peer *peer, int depth, unsigned warm,
                unsigned count)
{
    out->depth = depth;
    out->warm = warm;
    out->count = count;
    out->before = NULL;
    out->inner = peer->leaf;
    out->takes_context = peer->takes_context;
    out->context = NULL;
    out->walker_flags = peer->walker_flags;
    find_stack(out);
    out->options = (struct sframe_backtrace_options){
        .size = sizeof out->options,
        .flags = peer->flags,
        .skip = peer->skip,
        .max_frames = (uint32_t)depth,
        .hash = peer->hashes ? &out->hash : NULL,
    };
    out->skip = peer->skip;
    out->lends_stack = peer->lends_stack;
    if (peer->lends_memo) {
        static _Thread_local uint64_t memos[MEMOS][MEMO_SIZE / 8];

        out->options.memo = memos[peer->hashes ? MEMO_HASHED
                                  : peer->cbf  ? MEMO_CBF
                                               : MEMO_ADDRESSES];
        out->options.memo_size = sizeof memos[0];
    }
    out->info = NULL;
    out->result = 0;
}
