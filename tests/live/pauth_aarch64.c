/*
 * Return addresses that are signed (pointer authentication), as this program is built to sign them:
 * not at all, with key A or B, in leaf functions, too, with frame pointers and without; and run
 * where that is done and on a processor that takes its instructions for hints. What comes out are
 * clean addresses each time:
 *
 * - the same as libgcc's, which authenticates them;
 * - with frame pointers the same as those of the chain of frame records, stripped by XPACLRI;
 * - and in all builds of the functions that the test says, so that builds are compared, too.
 *
 * Arguments: "signs" or "hints", for the processor that it is run on.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "oracles/linked.h"
#include "sfb/walk.h"
#include "support/compiler.h"
#include "support/expect.h"
#include "unwind/machine/arch.h"

/* dladdr() names the functions that are exported, and no other file calls them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#if defined(__ARM_FEATURE_PAC_DEFAULT)
enum { BUILD_SIGNS = 1 };
#else
enum { BUILD_SIGNS = 0 };
#endif

/* Never changed, which no compiler can know. */
static volatile int zero;

static bool processor_signs;
static unsigned stacks, frames, slots, signed_slots;

/* --- What an answer is compared with ---------------------------------------------------------- */

static struct trace ours, theirs;
static bool libgcc_knows = true; /* what to make of this stack */

/* The instruction for it, which libgcc and the kernel use; this library masks. */
static uint64_t strip(uint64_t address)
{
    register uint64_t lr __asm__("x30") = address;

    __asm__("hint 7" : "+r"(lr)); /* xpaclri */
    return lr;
}

/* AAPCS64, "The Frame Pointer": what the records that begin at fp say. */
static void add_chain(struct trace *out, uint64_t fp)
{
    while (fp != 0 && out->count < TRACE_MAX) {
        const uint64_t *record = (const uint64_t *)(uintptr_t)fp;

        out->kind[out->count] = SFB_FRAME_RA;
        out->address[out->count++] = strip(record[1]);
        fp = record[0];
    }
    out->end = 1;
}

static bool in_program(uint64_t address)
{
    static const char *program;
    Dl_info here = { 0 }, info = { 0 };

    if (!program && dladdr((const void *)(uintptr_t)in_program, &here))
        program = here.dli_fname;
    return dladdr((const void *)(uintptr_t)address, &info) && info.dli_fname == program;
}

/*
 * "inner outer libc main libc _start": functions of the program from frame `from` on, other modules
 * as one word however many frames they have, "signal" for trampolines.
 */
static void name_frames(char *out, size_t size, const struct trace *t, size_t from)
{
    size_t used = 0;
    bool in_libc = false;

    out[0] = '\0';
    for (size_t i = from; i < t->count; i++) {
        uint64_t lookup = t->address[i] - (t->kind[i] == SFB_FRAME_RA);
        const char *name = "libc";
        Dl_info info = { 0 };

        if (i + 1 < t->count && t->kind[i + 1] == SFB_FRAME_PC)
            name = "signal";
        else if (in_program(lookup))
            name = dladdr((const void *)(uintptr_t)lookup, &info) && info.dli_sname ? info.dli_sname
                                                                                    : "?";
        if (strcmp(name, "libc") != 0 || !in_libc)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " " : "", name);
        in_libc = strcmp(name, "libc") == 0;
    }
}

/* Which return addresses lie on the stack as they are, and which signed. */
static void count_slots(const char *title, struct sfb_context *start, enum sfb_frame_kind kind)
{
    struct sfb_walker walker;
    struct sfb_frame inner, outer;
    uint64_t tag = 0xffull << 56;

    sfb_walker_init(&walker, start, kind, NULL);
    if (sfb_walker_next(&walker, &inner) != SFB_OK)
        return;
    for (; sfb_walker_next(&walker, &outer) == SFB_OK; inner = outer) {
        bool found = false;

        /* Frames of this program, by its rows, that have a place for it. */
        if (outer.source != SFB_SOURCE_SFRAME || outer.sp == inner.sp)
            continue;
        for (uint64_t at = inner.sp & ~tag; at < (outer.sp & ~tag) && !found; at += 8) {
            uint64_t word = *(const uint64_t *)(uintptr_t)at;

            if (strip(word) != outer.address)
                continue;
            found = true;
            slots++;
            signed_slots += word != outer.address;
        }
        expect(found, title, "there is a slot for each return address");
    }
}

static void judge(const char *title, size_t skip, const struct trace *oracle, const char *name)
{
    bool same = trace_differs(&ours, skip, oracle, skip) == SIZE_MAX && ours.end == oracle->end;

    expect(same, title, name);
    if (!same)
        trace_print(title, &ours, oracle);
}

/*
 * @param skip   frames that are two calls of one function in the two walks
 * @param names  those of all frames behind them
 */
static void judge_names(const char *title, size_t skip, const char *names)
{
    char got[1024];

    stacks++;
    frames += (unsigned)ours.count;
    expect(ours.error == SFB_OK && ours.end, title, "a whole CBF, to the end");
    for (size_t i = 0; i < ours.count; i++)
        expect(ours.address[i] >> 48 == 0, title, "clean addresses");
    name_frames(got, sizeof got, &ours, skip);
    expect(strcmp(got, names) == 0, title, "other functions than expected:");
    if (strcmp(got, names) != 0)
        fprintf(stderr, "    %s\n    %s expected\n", got, names);
}

/* Every way to look at the stack from here; behind this function there are `names`. */
NOINLINE void capture(const char *title, const char *names)
{
    struct sframe_backtrace_info info = { .size = sizeof info };
    struct sfb_context here;
    uint8_t buffer[2048];
    ssize_t size = sframe_backtrace_cbf(buffer, sizeof buffer, NULL, &info);

    trace_decode(&ours, buffer, size);
    judge_names(title, 1, names);
    if (libgcc_knows) {
        linked_libgcc_walk(&theirs, 0);
        judge(title, 1, &theirs, "as libgcc");
    }
    if (FRAME_POINTERS) {
        theirs = (struct trace){ .address = { ours.address[0] }, .count = 1 };
        add_chain(&theirs, (uintptr_t)__builtin_frame_address(0));
        judge(title, 1, &theirs, "as the chain of frame records");
    }
    sfb_context_capture(&here);
    count_slots(title, &here, SFB_FRAME_RA);

    /* An address that a program tagged is the same address. */
    here.reg[SFB_ARCH_SP] |= 0x5aull << 56;
    here.reg[SFB_ARCH_FP] |= 0xa5ull << 56;
    {
        struct sfb_walker walker;
        struct sfb_frame frame;
        enum sfb_status status;
        size_t n = 0;

        sfb_walker_init(&walker, &here, SFB_FRAME_RA, NULL);
        while ((status = sfb_walker_next(&walker, &frame)) == SFB_OK) {
            expect(n == 0 || (n < ours.count && frame.address == ours.address[n]), title,
                   "the same stack from tagged registers");
            n++;
        }
        expect(n == ours.count && status == SFB_END, title, "and all of it");
    }
    zero = 0;
}

/* --- Calls ------------------------------------------------------------------------------------ */

#define AT_THE_END " main libc _start"

/* Work behind each call keeps it a call. */
NOINLINE void inner(const char *title, const char *names)
{
    capture(title, names);
    zero = 0;
}

NOINLINE int frame_600(void)
{
    volatile char space[600];

    space[0] = 0;
    inner("a frame of 600 bytes", "inner frame_600" AT_THE_END);
    return space[0];
}

NOINLINE int frame_5000(void)
{
    volatile char space[5000];

    space[0] = 0;
    inner("a frame of 5000 bytes", "inner frame_5000" AT_THE_END);
    return space[0];
}

NOINLINE int frame_70000(void)
{
    volatile char space[70000];

    space[0] = 0;
    inner("a frame of 70000 bytes", "inner frame_70000" AT_THE_END);
    return space[0];
}

NOINLINE int with_alloca(size_t n)
{
    volatile char *space = __builtin_alloca(n);

    space[n - 1] = 0;
    inner("a frame of variable size", "inner with_alloca" AT_THE_END);
    return space[n - 1];
}

NOINLINE int recursion(int depth, const char *title, const char *names)
{
    if (depth == 0)
        inner(title, names);
    else
        recursion(depth - 1, title, names);
    return zero;
}

NOINLINE int by_pointer(void (*function)(const char *, const char *))
{
    function("through a pointer", "inner by_pointer" AT_THE_END);
    return zero;
}

int compare(const void *a, const void *b)
{
    static int calls;

    if (calls++ == 0)
        inner("a callback of qsort", "inner compare libc sorts" AT_THE_END);
    return *(const int *)a - *(const int *)b;
}

NOINLINE int sorts(void)
{
    int v[] = { 3, 1, 2 };

    qsort(v, 3, sizeof *v, compare);
    return v[0] + zero;
}

void *in_thread(void *arg)
{
    recursion(1, "a thread", "inner recursion recursion in_thread libc");
    return arg;
}

/* --- Signals ---------------------------------------------------------------------------------- */

static const char *interrupted_title, *interrupted_names, *handler_names;
static bool has_record; /* its fp leads to its own */
static bool compiled;   /* this build decides on what it signs */
static unsigned signed_lr;

static void from_context(ucontext_t *uc)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .context = uc };
    uint8_t buffer[2048];

    trace_decode(&ours, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, &options, NULL));
}

NOINLINE void on_signal(int number, siginfo_t *si, void *context)
{
    ucontext_t *uc = context;
    struct sfb_context registers;
    ucontext_t tagged = *uc;
    struct trace plain;

    (void)number;
    (void)si;
    from_context(uc);
    judge_names(interrupted_title, 0, interrupted_names);
    expect(ours.kind[0] == SFB_FRAME_PC, interrupted_title, "the first one is a pc");
    if (libgcc_knows) {
        linked_libgcc_walk(&theirs, uc->uc_mcontext.pc);
        judge(interrupted_title, 0, &theirs, "as libgcc");
    }
    if (FRAME_POINTERS && has_record) {
        theirs = (struct trace){ .address = { uc->uc_mcontext.pc }, .count = 1 };
        add_chain(&theirs, uc->uc_mcontext.regs[29]);
        judge(interrupted_title, 0, &theirs, "as the chain of frame records");
    }
    sfb_context_from_ucontext(&registers, uc);
    if (compiled)
        count_slots(interrupted_title, &registers, SFB_FRAME_PC);
    if (!compiled)
        signed_lr += uc->uc_mcontext.regs[30] != strip(uc->uc_mcontext.regs[30]);

    plain = ours;
    tagged.uc_mcontext.sp |= 0x5aull << 56;
    tagged.uc_mcontext.regs[29] |= 0xa5ull << 56;
    from_context(&tagged);
    expect(trace_differs(&ours, 0, &plain, 0) == SIZE_MAX && ours.end == plain.end,
           interrupted_title, "the same stack from tagged registers");

    /* And from in here, through the signal's frame. */
    if (libgcc_knows && handler_names) {
        struct sfb_context here;
        ssize_t size;
        uint8_t buffer[2048];

        size = sframe_backtrace_cbf(buffer, sizeof buffer, NULL, NULL);
        trace_decode(&ours, buffer, size);
        judge_names(interrupted_title, 0, handler_names);
        linked_libgcc_walk(&theirs, 0);
        judge(interrupted_title, 1, &theirs, "as libgcc, out of the handler");
        sfb_context_capture(&here);
        if (compiled)
            count_slots(interrupted_title, &here, SFB_FRAME_RA);
    }
}

void on_trap(int number, siginfo_t *si, void *context)
{
    on_signal(number, si, context);
    ((ucontext_t *)context)->uc_mcontext.pc += 4;
}

NOINLINE int raises(void)
{
    interrupted_title = "interrupted in libc";
    interrupted_names = "libc raises" AT_THE_END;
    handler_names = "on_signal signal libc raises" AT_THE_END;
    libgcc_knows = has_record = compiled = true;
    raise(SIGUSR1);
    return zero;
}

/* A leaf signs nothing, unless it was told to, and then keeps what it signed in its register. */
NOINLINE int leaf(int n)
{
    __asm__ volatile("brk 0");
    return n + zero;
}

NOINLINE int calls_leaf(void)
{
    interrupted_title = "interrupted in a leaf";
    interrupted_names = "leaf calls_leaf" AT_THE_END;
    handler_names = "on_signal on_trap signal leaf calls_leaf" AT_THE_END;
    libgcc_knows = compiled = true;
    has_record = false;
    return leaf(1) + zero;
}

/*
 * The life of a return address, stopped at each point. Written out, so that every build has both
 * keys. `name`_lies is the same without a word to the tables about signing: assembly does that.
 */
void signs_with_a(void), signs_with_b(void), signs_with_a_lies(void), signs_with_b_lies(void);
__asm__(".text\n"
        ".macro signs name, sign, authenticate, key, tell\n"
        ".globl \\name\n .type \\name, %function\n .p2align 4\n"
        "\\name:\n .cfi_startproc\n"
        ".if \\key\n .cfi_b_key_frame\n .endif\n"
        "brk 0\n" /* plain, in lr */
        "hint \\sign\n .if \\tell\n .cfi_negate_ra_state\n .endif\n"
        "brk 0\n" /* signed, in lr */
        "stp x29, x30, [sp, -32]!\n"
        ".cfi_def_cfa_offset 32\n .cfi_offset 29, -32\n .cfi_offset 30, -24\n"
        "brk 0\n" /* ... and on the stack */
        "mov x30, 0\n"
        "brk 0\n" /* on the stack */
        "ldp x29, x30, [sp], 32\n"
        ".cfi_def_cfa_offset 0\n .cfi_restore 29\n .cfi_restore 30\n"
        "brk 0\n" /* in lr */
        "hint \\authenticate\n .if \\tell\n .cfi_negate_ra_state\n .endif\n"
        "brk 0\n" /* plain, in lr */
        "ret\n"
        ".cfi_endproc\n .size \\name, . - \\name\n"
        ".endm\n"
        "signs signs_with_a, 25, 29, 0, 1\n" /* paciasp, autiasp */
        "signs signs_with_b, 27, 31, 1, 1\n" /* pacibsp, autibsp */
        "signs signs_with_a_lies, 25, 29, 0, 0\n"
        "signs signs_with_b_lies, 27, 31, 1, 0\n");

#define NAMES(first) first " calls_one_that_signs" AT_THE_END

NOINLINE int calls_one_that_signs(void (*function)(void), const char *names,
                                  const char *from_handler)
{
    interrupted_title = "a signed address in lr";
    interrupted_names = names;
    handler_names = from_handler;
    libgcc_knows = from_handler != NULL;
    has_record = compiled = false;
    function();
    return zero;
}

/* A frame pointer with a tag, by which this frame, and through its slot the next, are found. */
int tags_fp(void (*)(const char *, const char *), const char *, const char *);
__asm__(".globl tags_fp\n .type tags_fp, %function\n .p2align 4\n"
        "tags_fp:\n .cfi_startproc\n"
        "stp x29, x30, [sp, -32]!\n"
        ".cfi_def_cfa_offset 32\n .cfi_offset 29, -32\n .cfi_offset 30, -24\n"
        "orr x29, x29, 0xf00000000000000\n str x29, [sp]\n" /* the caller's, tagged */
        "mov x29, sp\n orr x29, x29, 0xf00000000000000\n"
        ".cfi_def_cfa 29, 32\n"
        "mov x8, x0\n mov x0, x1\n mov x1, x2\n blr x8\n"
        "mov w0, 0\n"
        "ldp x29, x30, [sp], 32\n"
        "and x29, x29, 0xf0ffffffffffffff\n"
        ".cfi_def_cfa 31, 0\n .cfi_restore 29\n .cfi_restore 30\n"
        "ret\n"
        ".cfi_endproc\n .size tags_fp, . - tags_fp\n");

NOINLINE int calls_tags_fp(size_t n)
{
    volatile char *space = __builtin_alloca(n); /* its own CFA counts from fp */

    space[n - 1] = 0;
    libgcc_knows = false; /* it authenticates with a CFA that has the tag, too */
    tags_fp(inner, "tagged frame pointers", "inner tags_fp calls_tags_fp" AT_THE_END);
    libgcc_knows = true;
    return space[n - 1];
}

static void install(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

    sigaction(number, &action, NULL);
}

int main(int argc, char **argv)
{
    pthread_t thread;

    processor_signs = (getauxval(AT_HWCAP) & HWCAP_PACA) != 0;
    if (argc > 1)
        expect(strcmp(argv[1], processor_signs ? "signs" : "hints") == 0, "main",
               "not the processor that was asked for");
    install(SIGUSR1, on_signal);
    install(SIGTRAP, on_trap);

    inner("a call", "inner" AT_THE_END);
    zero = frame_600() + frame_5000() + frame_70000() + with_alloca(1000 + (size_t)zero);
    recursion(5, "recursion",
              "inner recursion recursion recursion recursion recursion recursion" AT_THE_END);
    by_pointer(inner);
    sorts();
    if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
        pthread_join(thread, NULL);
    calls_tags_fp(1000 + (size_t)zero);
    raises();
    calls_leaf();
    calls_one_that_signs(signs_with_a, NAMES("signs_with_a"),
                         NAMES("on_signal on_trap signal signs_with_a"));
    calls_one_that_signs(signs_with_b, NAMES("signs_with_b"),
                         NAMES("on_signal on_trap signal signs_with_b"));
    calls_one_that_signs(signs_with_a_lies, NAMES("signs_with_a_lies"), NULL);
    calls_one_that_signs(signs_with_b_lies, NAMES("signs_with_b_lies"), NULL);

    printf("pauth: %u stacks, %u frames; of %u return addresses found on them %u were signed; "
           "%u failures\n",
           stacks, frames, slots, signed_slots, failures);
    /*
     * It means something: there were signatures. (In seven bits: one in 128 is zero, each time that
     * its function is called from that depth.)
     */
    if (BUILD_SIGNS && processor_signs)
        expect(signed_slots > slots / 3, "main", "this build signs what it stores");
    else
        expect(signed_slots == 0, "main", "this build does not sign");
    /* Four functions: between signing and storing, at the store, and after loading. */
    expect(processor_signs ? signed_lr > 12 / 3 : signed_lr == 0, "main", "lr was signed");
    return failures != 0;
}
