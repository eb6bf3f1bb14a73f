/*
 * The chain of frame records, where no table answers: Debian's libc keeps it, and so does code that
 * is compiled as gcc does by default. A static program has no .eh_frame_hdr, so it is all that is
 * left there; the same program with a libc that has one is walked by it.
 *
 * And what is no caller: broken chains, return addresses that no row tells of.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "oracles/linked.h"
#include "sfb/walk.h"
#include "support/compiler.h"
#include "support/expect.h"
#include "unwind/machine/arch.h"

static volatile int zero;
static struct trace ours, theirs;
static struct sframe_backtrace_info info;

/* Inlined, so that the first frame is the caller's. */
__attribute__((always_inline)) static inline void walk(void *context, uint32_t flags)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .context = context,
                                                .flags = flags };
    uint8_t buffer[2048];

    info.size = sizeof info;
    trace_decode(&ours, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info));
}

static void judge(const char *title, size_t skip)
{
    bool same = trace_differs(&ours, skip, &theirs, skip) == SIZE_MAX;

    /* Without tables a function that stores no record may have been passed over. */
    expect(ours.error == SFB_OK && ((ours.end && info.end == SFB_END) ||
                                    (STATIC && !ours.end && info.end == SFB_UNPROVEN_END)),
           title, "to the end");
    if (!expect(same, title, "the same addresses"))
        trace_print(title, &ours, &theirs);
}

/* --- Through libc ----------------------------------------------------------------------------- */

NOINLINE static void capture(const char *title)
{
    walk(NULL, SFRAME_BACKTRACE_NO_LIBUNWIND);
    expect(info.by_source[SFB_SOURCE_LIBUNWIND] == 0, title, "without libunwind");
    expect((STATIC ? info.by_source[SFB_SOURCE_FRAME_POINTER] + info.by_source[SFB_SOURCE_UNPROVEN]
                   : info.by_source[SFB_SOURCE_EH_FRAME]) > 0,
           title, "by frame records, or by .eh_frame");
    linked_libgcc_walk(&theirs, 0);
    judge(title, 1);
    if (WITH_LIBUNWIND) {
        linked_libunwind_walk(&theirs, NULL);
        judge(title, 1);
    }
    zero = 0;
}

static int compare(const void *a, const void *b)
{
    static int calls;

    if (calls++ == 0)
        capture("a callback of qsort");
    return *(const int *)a - *(const int *)b;
}

NOINLINE static int sorts(void)
{
    int v[] = { 3, 1, 2, 5, 4 };

    qsort(v, 5, sizeof *v, compare);
    return v[0] + zero;
}

static void *in_thread(void *arg)
{
    capture("a thread");
    return arg;
}

static void on_signal(int number, siginfo_t *si, void *context)
{
    (void)number;
    (void)si;
    walk(context, SFRAME_BACKTRACE_NO_LIBUNWIND);
    /* Which of lr and the record has the caller of an interrupted function, only a table tells. */
    expect(ours.end == !STATIC, "an interrupted libc", "to the end, if there is a table");
    expect(ours.error == SFB_OK && ours.kind[0] == SFB_FRAME_PC, "an interrupted libc", "a pc");
    linked_libgcc_walk(&theirs, ours.address[0]);
    for (size_t i = 0; i < ours.count; i++)
        expect(ours.address[i] == theirs.address[i], "an interrupted libc",
               "right as far as it goes");
}

NOINLINE static int raises(void)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    return zero;
}

/* --- Chains that are none --------------------------------------------------------------------- */

/* Code without a table: a return address in it, and one that is none. */
extern const char bare_call[], bare_after[], bare_other[];
__asm__(".text\n.p2align 4\n.globl bare_call, bare_after, bare_other\n"
        "bare_call: bl bare_other\n" /* nobody runs it */
        "bare_after: nop\n"
        "bare_other: nop\nnop\n");

static uint64_t fake[64];

static void judge_chains(void)
{
    const uint64_t ra = (uintptr_t)bare_after, fp = (uintptr_t)&fake[8];
    const struct {
        const char *name;
        uint64_t fp, next, ra;
        enum sfb_status missed; /* SFB_OK: the record is believed */
    } cases[] = {
        { "good", fp, 0, ra, SFB_OK },
        { "another one outside of it", fp, (uintptr_t)&fake[20], ra, SFB_OK },
        { "tagged", fp | 0x5aull << 56, (uintptr_t)&fake[20] | 0xa5ull << 56, ra, SFB_OK },
        { "signed", fp, 0, ra | 0x0050ull << 48, SFB_OK },
        { "nowhere", 0x10, 0, ra, SFB_NO_FRAME_RECORD },
        { "at the end of everything", ~(uint64_t)7, 0, ra, SFB_NO_FRAME_RECORD },
        { "not aligned", fp + 4, 0, ra, SFB_NO_FRAME_RECORD },
        { "inside of sp", (uintptr_t)&fake[0], 0, ra, SFB_NO_FRAME_RECORD },
        { "the next one is inside", fp, (uintptr_t)&fake[4], ra, SFB_NO_FRAME_RECORD },
        { "the next one is itself", fp, fp, ra, SFB_NO_FRAME_RECORD },
        { "ra zero", fp, 0, 0, SFB_NO_FRAME_RECORD },
        { "ra in data", fp, 0, (uintptr_t)fake, SFB_NO_FRAME_RECORD },
        { "ra unmapped", fp, 0, 0x1000, SFB_NO_FRAME_RECORD },
        { "ra not behind a call", fp, 0, (uintptr_t)bare_other, SFB_NO_FRAME_RECORD },
        { "ra between instructions", fp, 0, ra + 2, SFB_NO_FRAME_RECORD },
    };
    const struct sfb_walker_options options = { .size = sizeof options,
                                                .flags = SFB_WALKER_NO_LIBUNWIND };

    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const bool hides =
            i % 2 != 0; /* a word between sp and the record may be a return address */
        struct sfb_context start;
        struct sfb_regs regs = { .pc = ra, .sp = (uintptr_t)&fake[2], .fp = cases[i / 2].fp };
        struct sfb_walker w;
        struct sfb_frame frame;
        enum sfb_status status;

        memset(fake, 0, sizeof fake);
        fake[0] = fake[4] = 0;
        fake[1] = fake[21] = ra;
        fake[5] = hides || cases[i / 2].missed != SFB_OK ? ra : 0;
        fake[8] = cases[i / 2].next;
        fake[9] = cases[i / 2].ra;
        sfb_arch_context(&start, &regs);
        sfb_walker_init(&w, &start, SFB_FRAME_RA, &options);
        sfb_walker_next(&w, &frame);
        status = sfb_walker_next(&w, &frame);
        if (cases[i / 2].missed == SFB_OK) {
            expect(status == SFB_OK &&
                       frame.source == (hides ? SFB_SOURCE_UNPROVEN : SFB_SOURCE_FRAME_POINTER) &&
                       frame.address == ra,
                   cases[i / 2].name, sfb_status_str(status));
        } else {
            expect(status == (STATIC ? SFB_NO_FDE : SFB_NO_CFI), cases[i / 2].name,
                   "not believed: no row is the reason");
            expect(sfb_walker_frame(&w)->missed[SFB_SOURCE_FRAME_POINTER] == cases[i / 2].missed,
                   cases[i / 2].name,
                   sfb_status_str(
                       (enum sfb_status)sfb_walker_frame(&w)->missed[SFB_SOURCE_FRAME_POINTER]));
        }
    }
}

/* --- Rows that do not tell of the return address ------------------------------------------------
 */

/* In x19, of which tables cannot tell: what they say is that it still is in lr. */
void hides_ra(void (*)(void));
__asm__(".globl hides_ra\n.type hides_ra, %function\n.p2align 4\n"
        "hides_ra: .cfi_startproc\n"
        "stp x19, x20, [sp, -16]!\n.cfi_def_cfa_offset 16\n"
        "mov x19, x30\nblr x0\nmov x30, x19\n"
        "ldp x19, x20, [sp], 16\n.cfi_def_cfa_offset 0\n"
        "ret\n.cfi_endproc\n.size hides_ra, . - hides_ra\n");

static void in_hidden(void)
{
    for (uint32_t flags = 0; flags <= SFRAME_BACKTRACE_NO_LIBUNWIND; flags++) {
        walk(NULL, flags);
        expect(!ours.end && info.end == SFB_NO_REGISTER, "ra not tracked in an outer frame",
               sfb_status_str(info.end));
        expect(ours.count == 2, "ra not tracked in an outer frame", "as far as its callee knows");
    }
}

/*
 * It stores fp and the return address side by side, as all do, and does not make fp lead there; and
 * calls code without a table that keeps a record. What that leads to is no place in this frame.
 */
void keeps_no_record(void (*)(void));
__asm__("bare_keeps_record: stp x29, x30, [sp, -16]!\nmov x29, sp\n"
        "blr x0\nldp x29, x30, [sp], 16\nret\n"
        ".globl keeps_no_record\n.type keeps_no_record, %function\n.p2align 4\n"
        "keeps_no_record: .cfi_startproc\n"
        "stp x29, x30, [sp, -48]!\n.cfi_def_cfa_offset 48\n"
        ".cfi_offset 29, -48\n.cfi_offset 30, -40\n"
        "bl bare_keeps_record\n"
        "ldp x29, x30, [sp], 48\n"
        ".cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\n"
        "ret\n.cfi_endproc\n.size keeps_no_record, . - keeps_no_record\n");

static void in_bare_code(void)
{
    walk(NULL, SFRAME_BACKTRACE_NO_LIBUNWIND);
    expect(!ours.end && info.end == SFB_NO_REGISTER, "fp that leads past its frame",
           sfb_status_str(info.end));
    expect(ours.count == 3, "fp that leads past its frame", "three frames");
}

/* CFA = sp+0, the return address in lr: good for one that runs, for no one that has called. */
void pushes_nothing(void);
__asm__(".globl pushes_nothing\n.type pushes_nothing, %function\n.p2align 4\n"
        "pushes_nothing: .cfi_startproc\nnop\nnop\nnop\nret\n.cfi_endproc\n"
        ".size pushes_nothing, . - pushes_nothing\n");

static void judge_frames_that_push_nothing(void)
{
    const uint64_t pc = (uintptr_t)pushes_nothing + 4;
    struct sfb_context start;
    struct sfb_walker w;
    struct sfb_frame frame;
    uint64_t ra;

    sfb_context_capture(&start);
    ra = start.reg[SFB_ARCH_PC];
    start.reg[SFB_ARCH_RA] = ra;
    start.valid |= 1u << SFB_ARCH_RA;
    start.reg[SFB_ARCH_PC] = pc;

    sfb_walker_init(&w, &start, SFB_FRAME_PC, NULL);
    sfb_walker_next(&w, &frame);
    expect(sfb_walker_next(&w, &frame) == SFB_OK && frame.address == ra &&
               frame.source == SFB_SOURCE_SFRAME && frame.sp == start.reg[SFB_ARCH_SP],
           "CFA = sp+0", "interrupted: its caller");
    expect(sfb_walker_next(&w, &frame) == SFB_OK, "CFA = sp+0", "whose caller is found, too");

    sfb_walker_init(&w, &start, SFB_FRAME_RA, NULL);
    sfb_walker_next(&w, &frame);
    expect(sfb_walker_next(&w, &frame) == SFB_NO_REGISTER, "CFA = sp+0", "not in an outer frame");
}

/* That of a static program is all of its libc. */
static bool is_loaded(const char *library)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;

    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, library) != NULL;
    if (maps)
        fclose(maps);
    return found;
}

int main(void)
{
    pthread_t thread;

    expect(is_loaded("/libc.so.6") == !STATIC, "libc", "there is one");

    capture("the main thread");
    sorts();
    if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
        pthread_join(thread, NULL);
    raises();
    judge_chains();
    hides_ra(in_hidden);
    keeps_no_record(in_bare_code);
    judge_frames_that_push_nothing();
    printf("frame_records: %u failures\n", failures);
    return failures != 0;
}
