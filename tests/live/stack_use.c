/*
 * How much stack a capture takes in a signal handler: on an alternate stack that was painted
 * before, net of what a call that does nothing takes there, which is the kernel's frame and the
 * handler's own.
 *
 * That frame is 2 to 4 KiB with AVX or AVX-512 and 12 with AMX; the painted stack has room for it.
 *
 * Each measurement is made in a child of its own, so that its first walk is the first one of a
 * process, with nothing remembered; a second one in the same place follows.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/machine.h"
#include "support/painted.h"
#include "support/test.h"
#include "unwind/process/module_cache.h"

int deep(int depth);      /* with .sframe */
int bare_deep(int depth); /* without, in a module that has one */

enum { DEPTH_MAX = 10000, MEMO_FRAMES = 256, OTHER_STACK = 4 << 20 };

static const int depths[] = { 1, 10, 100, 1000, DEPTH_MAX };

enum { DEPTHS = sizeof depths / sizeof *depths };

/* --- What is called --------------------------------------------------------------------------- */

struct door {
    ssize_t (*cbf)(void *, size_t, const struct sframe_backtrace_options *,
                   struct sframe_backtrace_info *);
    ssize_t (*addresses)(void **, size_t, const struct sframe_backtrace_options *,
                         struct sframe_backtrace_info *);
    int (*plain)(void **, int);
};

static ssize_t no_cbf(void *buffer, size_t size, const struct sframe_backtrace_options *options,
                      struct sframe_backtrace_info *info)
{
    (void)buffer, (void)size, (void)options, (void)info;
    return 0;
}

static ssize_t no_addresses(void **buffer, size_t size,
                            const struct sframe_backtrace_options *options,
                            struct sframe_backtrace_info *info)
{
    (void)buffer, (void)size, (void)options, (void)info;
    return 0;
}

static int no_plain(void **buffer, int size)
{
    (void)buffer, (void)size;
    return 0;
}

static const struct door nothing = { no_cbf, no_addresses, no_plain };
static const struct door capture = { sframe_backtrace_cbf, sframe_backtrace_addresses,
                                     sframe_backtrace };
static volatile struct door door;

enum kind { CBF, ADDRESSES, PLAIN };

static const struct way {
    const char *name;
    enum kind kind;
    bool here; /* from the handler itself, through the frame of the signal */
    bool memo;
    uint32_t skip, outermost, max_frames;
} ways[] = {
    { .name = "cbf", .kind = CBF },
    { .name = "cbf, outermost frames kept", .kind = CBF, .outermost = 20, .max_frames = 40 },
    { .name = "cbf, memo", .kind = CBF, .memo = true },
    { .name = "cbf, skip", .kind = CBF, .skip = 3 },
    { .name = "cbf, from the handler", .kind = CBF, .here = true },
    { .name = "addresses", .kind = ADDRESSES },
    { .name = "addresses, memo", .kind = ADDRESSES, .memo = true },
    { .name = "addresses, skip", .kind = ADDRESSES, .skip = 3 },
    { .name = "addresses, from the handler", .kind = ADDRESSES, .here = true },
    { .name = "sframe_backtrace(), from the handler", .kind = PLAIN, .here = true },
};

enum { WAYS = sizeof ways / sizeof *ways };

/* Off the stack that is measured. */
static struct sframe_backtrace_options options;
static struct sframe_backtrace_info info;
static const struct way *volatile way;
static uint8_t bytes[1 << 16];
static void *addresses[DEPTH_MAX + 100];
static uint64_t memo[SFRAME_BACKTRACE_MEMO_SIZE(MEMO_FRAMES) / sizeof(uint64_t)];

static void on_fault(int number, siginfo_t *si, void *ucontext)
{
    struct sfb_regs regs = machine_regs(ucontext);

    (void)number, (void)si;
    options.context = way->here ? NULL : ucontext;
    switch (way->kind) {
    case CBF: door.cbf(bytes, sizeof bytes, &options, &info); break;
    case ADDRESSES:
        door.addresses(addresses, sizeof addresses / sizeof *addresses, &options, &info);
        break;
    case PLAIN: door.plain(addresses, sizeof addresses / sizeof *addresses); break;
    }
    machine_set_ucontext(ucontext, regs.pc + MACHINE_FAULT_SIZE, regs.sp, regs.fp);
}

/* --- Where it is called ----------------------------------------------------------------------- */

enum place { TO_THE_END, MADE_HERE, MADE_ELSEWHERE };

static const struct situation {
    const char *name;
    size_t bound;
    const char *library; /* which has `function` */
    const char *function;
    int (*deep)(int depth);
    enum place place;
    bool libunwind; /* it has to step */
    bool full;      /* the cache of modules has no room for the library */
    bool flexible;  /* only an assembler of version 3 can say it, for x86-64 */
} situations[] = {
    { .name = ".sframe answers", .bound = MACHINE_STACK_SFRAME, .deep = deep, .place = MADE_HERE },
    { .name = ".sframe answers, on a stack that is not known",
      .bound = MACHINE_STACK_SFRAME,
      .deep = deep,
      .place = MADE_ELSEWHERE },
    { .name = ".eh_frame beside an .sframe, and of libc",
      .bound = MACHINE_STACK_EH_FRAME,
      .deep = bare_deep },
    { .name = ".eh_frame of a library that was loaded since",
      .bound = MACHINE_STACK_EH_FRAME,
      .library = "deep-bare",
      .function = "deep" },
    { .name = ".sframe of a library that was loaded since",
      .bound = MACHINE_STACK_SFRAME,
      .library = "deep-sframe" SFB_VERSION_SUFFIX,
      .function = "deep",
      .place = MADE_HERE },
    { .name = ".sframe of a library that was loaded since, .eh_frame of libc",
      .bound = MACHINE_STACK_EH_FRAME,
      .library = "deep-sframe" SFB_VERSION_SUFFIX,
      .function = "deep" },
    { .name = ".sframe of a library without a build-id",
      .bound = MACHINE_STACK_SFRAME,
      .library = "deep-unnamed" SFB_VERSION_SUFFIX,
      .function = "deep",
      .place = MADE_HERE },
    { .name = ".sframe of a library that was loaded since, the cache of modules is used up",
      .bound = MACHINE_STACK_UNCOMMON,
      .library = "deep-sframe" SFB_VERSION_SUFFIX,
      .function = "deep",
      .place = MADE_HERE,
      .full = true },
    { .name = ".sframe of version 3, the CFA is in memory",
      .bound = MACHINE_STACK_UNCOMMON,
      .library = "deep-aligned-v3",
      .function = "deep",
      .place = MADE_HERE,
      .flexible = true },
    { .name = ".sframe of version 3, the CFA is in memory, the cache of modules is used up",
      .bound = MACHINE_STACK_RARE,
      .library = "deep-aligned-v3",
      .function = "deep",
      .place = MADE_HERE,
      .full = true,
      .flexible = true },
    { .name = "the walk starts again, in the loader",
      .bound = MACHINE_STACK_EH_FRAME,
      .library = "lazy",
      .function = "call_lazily" },
    { .name = "the walk starts again, in the loader, the cache of modules is used up",
      .bound = MACHINE_STACK_AGAIN,
      .library = "lazy",
      .function = "call_lazily",
      .full = true },
#if SFB_LIBUNWIND
    { .name = "libunwind steps",
      .bound = MACHINE_STACK_LIBUNWIND,
      .library = "deep-odd",
      .function = "deep",
      .libunwind = true },
#endif
};

enum { SITUATIONS = sizeof situations / sizeof *situations };

/* What a child finds; shared with it. */
static struct found {
    size_t first, second;              /* bytes; 0: it was not called */
    struct sframe_backtrace_info info; /* of the first */
    bool good;                         /* the walk was the one that was meant */
} * found;

static uint8_t *alternate;
static int (*function)(int depth);
static const struct situation *volatile situation;
static volatile int depth;

static void handle(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    sigaction(SIGILL, &action, NULL);
}

static size_t used_once(void)
{
    paint(alternate);
    function(depth);
    return painted_used(alternate);
}

/* Whether it went as far as it should, by nothing but what it should go by. */
static bool is_good(const struct situation *s)
{
    bool libunwind = s->libunwind && way->skip == 0; /* its frame is the second, and not counted */
    uint32_t by_eh_frame = info.by_source[SFB_SOURCE_EH_FRAME];

    if (way->kind == PLAIN)
        return true;
    if (info.end != (s->place == TO_THE_END ? SFB_END : SFB_ZERO_RA))
        return false;
    return (info.by_source[SFB_SOURCE_LIBUNWIND] > 0) == libunwind &&
           (by_eh_frame > 0) == (s->place == TO_THE_END);
}

static void measure(void)
{
    handle(on_fault);
    found->first = used_once();
    found->good = is_good(situation);
    found->info = info;
    found->second = used_once();
    _exit(0);
}

/* Has the program go on in measure(), on a stack on which nobody has called it. */
static void on_move(int number, siginfo_t *si, void *ucontext)
{
    uint64_t top = machine_regs(ucontext).sp - 4096, sp;

    (void)number, (void)si;
    if (situation->place == MADE_ELSEWHERE) {
        static void *other; /* stays */

        other = mmap(NULL, OTHER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (other == MAP_FAILED)
            _exit(2);
        top = (uintptr_t)other + OTHER_STACK - 4096;
    }
    sp = (top & ~(uint64_t)15) - (SFB_ARCH_LR ? 0 : 8);
    memset((void *)(uintptr_t)sp, 0, 64); /* where the return address is, and what lies above */
    machine_set_ucontext(ucontext, (uintptr_t)measure, sp, 0);
    machine_set_lr(ucontext, 0);
}

static void find_function(const struct situation *s)
{
    static void *library; /* stays */
    char path[4096];

    function = s->deep;
    if (!s->library)
        return;
    snprintf(path, sizeof path, "%s/lib%s.so", SFB_TEST_LIBS, s->library);
    library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "stack_use: %s\n", dlerror());
        _exit(3);
    }
    *(void **)&function = dlsym(library, s->function);
    while (s->full && sfb_module_cache_take())
        ;
}

static void be_child(void)
{
    const stack_t on = { .ss_sp = alternate, .ss_size = PAINTED_SIZE };

    find_function(situation);
    sigaltstack(&on, NULL);
    if (situation->place == TO_THE_END)
        measure();
    handle(on_move);
    __asm__ volatile(MACHINE_FAULT ::: "memory");
    _exit(4);
}

static struct found in_child(const struct door *what)
{
    int status = 0;
    pid_t pid;

    *found = (struct found){ 0 };
    door = *what;
    info = (struct sframe_backtrace_info){ .size = sizeof info };
    options = (struct sframe_backtrace_options){ .size = sizeof options,
                                                 .skip = way->skip,
                                                 .outermost = way->outermost,
                                                 .max_frames = way->max_frames,
                                                 .memo = way->memo ? memo : NULL,
                                                 .memo_size = way->memo ? sizeof memo : 0 };
    fflush(NULL);
    pid = fork();
    cr_assert(ge(int, pid, 0));
    if (pid == 0)
        be_child();
    waitpid(pid, &status, 0);
    cr_assert(eq(int, status, 0), "%s, %s, depth %d", situation->name, way->name, depth);
    return *found;
}

static void measure_way(const struct situation *s, const struct way *w)
{
    /* What the kernel has a handler return to is libc's, and only .eh_frame speaks of it. */
    const size_t bound =
        w->here && s->bound < MACHINE_STACK_EH_FRAME ? (size_t)MACHINE_STACK_EH_FRAME : s->bound;
    const size_t later_bound = w->here || s->place == TO_THE_END || s->full || s->flexible
                                   ? bound
                                   : (size_t)MACHINE_STACK_SFRAME;
    size_t most = 0, later = 0;
    struct found net;

    situation = s;
    way = w;
    depth = 1;
    net = in_child(&nothing); /* the same at every depth */
    fprintf(stderr, "  %-36s", w->name);
    for (unsigned i = 0; i < DEPTHS; i++) {
        struct found with;

        depth = depths[i];
        with = in_child(&capture);
        cr_expect(with.good,
                  "%s, %s, depth %d: another walk than was meant: %u frames, %u by .eh_frame, %u "
                  "by libunwind: %s",
                  s->name, w->name, depth, with.info.frames,
                  with.info.by_source[SFB_SOURCE_EH_FRAME],
                  with.info.by_source[SFB_SOURCE_LIBUNWIND], sfb_status_str(with.info.end));
        fprintf(stderr, " %6zu", with.first - net.first);
        if (most < with.first - net.first)
            most = with.first - net.first;
        if (later < with.second - net.second)
            later = with.second - net.second;
    }
    fprintf(stderr, " %8zu %8zu %6zu\n", later, bound, later_bound);
    cr_expect(le(sz, most, bound), "%s, %s", s->name, w->name);
    cr_expect(le(sz, later, later_bound), "%s, %s, later", s->name, w->name);
}

Test(stack_use, of_a_capture_in_a_handler_has_a_bound)
{
    if (sanitized())
        cr_skip("sanitizers make frames larger");
    alternate =
        mmap(NULL, PAINTED_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fprintf(stderr, "stack_use: the kernel's frame, which is not in these figures: %ld\n",
            sysconf(_SC_MINSIGSTKSZ));
    cr_assert(lt(long, 2 * sysconf(_SC_MINSIGSTKSZ), PAINTED_SIZE), "room for the kernel's frame");
    found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(alternate != MAP_FAILED && found != MAP_FAILED);
    for (unsigned s = 0; s < SITUATIONS; s++) {
        if (situations[s].flexible && (strcmp(SFB_VERSION_SUFFIX, "-v3") != 0 || SFB_ARCH_LR))
            continue;
        fprintf(stderr, "stack_use: %s\n  %-36s", situations[s].name, "depth");
        for (unsigned i = 0; i < DEPTHS; i++)
            fprintf(stderr, " %6d", depths[i]);
        fprintf(stderr, " %8s %8s %6s\n", "later", "at most", "later");
        for (unsigned w = 0; w < WAYS; w++)
            measure_way(&situations[s], &ways[w]);
    }
}
