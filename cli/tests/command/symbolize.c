/*
 * sfb symbolize, on this program: a child of it lies still with the same functions at the same
 * addresses while the command looks at its memory map.
 */
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sfb/cbf.h"
#include "sframe_backtrace.h"
#include "support/run.h"
#include "support/test.h"

#define PROGRAM "test-command-symbolize"

static int inner_line, outer_line;

__attribute__((noinline)) static void *caller(void)
{
    void *address = __builtin_return_address(0);

    __asm__ volatile("" : "+r"(address)); /* keeps this a function that returns what it found */
    return address;
}

__attribute__((always_inline)) static inline void *inner(void)
{
    void *address;

    inner_line = __LINE__ + 1;
    address = caller();
    __asm__ volatile("" : "+r"(address)); /* keeps the call from being the last thing done */
    return address;
}

__attribute__((noinline)) static void *outer(void)
{
    void *address;

    outer_line = __LINE__ + 1;
    address = inner();
    __asm__ volatile("" : "+r"(address));
    return address;
}

/* Frames to bytes, and what the command says of them, taken from a child and from its map. */
struct story {
    uint8_t cbf[256];
    size_t size;
    struct sfb_cbf_encoder encoder;
};

static void begin(struct story *s)
{
    cr_assert(sfb_cbf_encoder_init(&s->encoder, s->cbf, sizeof s->cbf, 64) == SFB_OK);
}

static void put(struct story *s, enum sfb_frame_kind kind, uint64_t value)
{
    cr_assert(sfb_cbf_encoder_put(&s->encoder, kind, value) == SFB_OK);
}

/* The image map of this process, which its children have in common with it. */
static void write_image_map(const char *path)
{
    static uint8_t map[1 << 16];
    const ssize_t size = sframe_backtrace_image_map(map, sizeof map, NULL);
    FILE *f = fopen(path, "w");

    cr_assert(size > 0 && f && fwrite(map, (size_t)size, 1, f) == 1 && fclose(f) == 0);
}

static void expect_told(struct story *s, bool truncated, const char *want)
{
    size_t size = sfb_cbf_encoder_end(&s->encoder, truncated);
    char image_map[] = "/tmp/sfb-image-map-XXXXXX";
    pid_t child = fork();
    struct run by_pid, by_maps, by_image_map;

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
        for (;;)
            pause();
    }
    by_pid = run_with_input(s->cbf, size, "'%s' symbolize --pid %d", SFB_TOOL, (int)child);
    by_maps =
        run_with_input(s->cbf, size, "'%s' symbolize --maps /proc/%d/maps -", SFB_TOOL, (int)child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(mkstemp(image_map));
    write_image_map(image_map);
    by_image_map = run_with_input(s->cbf, size, "'%s' symbolize --maps %s", SFB_TOOL, image_map);
    unlink(image_map);
    cr_expect(by_pid.status == 0 && by_maps.status == 0 && by_image_map.status == 0, "%s%s%s",
              by_pid.err, by_maps.err, by_image_map.err);
    run_expect_text("--pid", by_pid.out, want);
    run_expect_text("--maps", by_maps.out, want);
    run_expect_text("an image map", by_image_map.out, want);
    run_free(&by_pid);
    run_free(&by_maps);
    run_free(&by_image_map);
}

static int find_base(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(uint64_t *)user = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

Test(tool_symbolize, names_inlined_functions_and_the_one_around_them)
{
    uint64_t ra = (uint64_t)outer(), start = (uint64_t)&outer;
    struct story s;
    char want[512];

    begin(&s);
    put(&s, SFB_FRAME_RA, ra);
    snprintf(want, sizeof want,
             "#0 0x%lx inner (symbolize.c:%d) inlined in " PROGRAM "\n"
             "#0 0x%lx outer+0x%lx (symbolize.c:%d) in " PROGRAM "\n",
             ra, inner_line, ra, ra - start, outer_line);
    expect_told(&s, false, want);
}

Test(tool_symbolize, agrees_with_addr2line)
{
    uint64_t ra = (uint64_t)outer(), base = 0;
    char want[256], program[4096] = "";
    struct run run;

    /* By name: under an emulator this process is the emulator's to everybody else. */
    cr_assert(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    dl_iterate_phdr(find_base, &base);
    run = run_line(SFB_TOOL_PREFIX "addr2line -i -f -s -e '%s' 0x%lx | sed 's/ (disc.*//'", program,
                   ra - 1 - base);
    if (run.out_size == 0)
        cr_skip_test("addr2line is not installed");
    snprintf(want, sizeof want, "inner\nsymbolize.c:%d\nouter\nsymbolize.c:%d\n", inner_line,
             outer_line);
    run_expect_text("addr2line", run.out, want);
    run_free(&run);
}

Test(tool_symbolize, names_addresses_of_a_file_as_it_is_linked)
{
    uint64_t ra = (uint64_t)outer(), base = 0, address;
    char want[1024], program[4096] = "";
    struct run given, from_stdin;

    cr_assert(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    dl_iterate_phdr(find_base, &base);
    address = ra - 1 - base;
    snprintf(want, sizeof want,
             "0x%lx inner (FILE:%d) inlined in\n0x%lx outer+0x%lx (FILE:%d)\n0x1 ?\n", address,
             inner_line, address, ra - 1 - (uint64_t)&outer, outer_line);
    given = run_line("'%s' symbolize --object '%s' 0x%lx 1 | sed 's|(/.*/symbolize.c:|(FILE:|; "
                     "s/:[0-9]*)/)/'",
                     SFB_TOOL, program, address);
    run_expect_text("as arguments", given.out, want);
    from_stdin = run_line("printf '%%s\n' 0x%lx ' 1' | '%s' symbolize --object '%s' | "
                          "sed 's|(/.*/symbolize.c:|(FILE:|; s/:[0-9]*)/)/'",
                          address, SFB_TOOL, program);
    run_expect_text("on stdin", from_stdin.out, want);
    run_free(&given);
    run_free(&from_stdin);
}

/* One line of output for each of input; the first bad lines are shown, and all are counted. */
Test(tool_symbolize, goes_on_behind_a_line_without_an_address)
{
    struct run run =
        run_line("printf '1\\nhere\\n1\\n' | '%s' symbolize --object '%s'", SFB_TOOL, SFB_TOOL);

    cr_expect(eq(int, run.status, 1));
    cr_expect(strcmp(run.out, "0x1 ?\n?\n0x1 ?\n") == 0, "%s", run.out);
    cr_expect(strcmp(run.err, "sfb: stdin:2: no address: here\n") == 0, "%s", run.err);
    run_free(&run);
    run = run_line("seq -f x%%g 20 | '%s' symbolize --object '%s'", SFB_TOOL, SFB_TOOL);
    cr_expect(strstr(run.err,
                     "stdin:8: no address: x8\nsfb: stdin: 12 more without an address\n") != NULL,
              "%s", run.err);
    run_free(&run);
}

/* The next lines are written after the answer to the ones before: input that pauses ends a batch. */
Test(tool_symbolize, answers_a_program_that_asks_and_waits)
{
    struct run run =
        run_line("exec bash -c 'coproc S { \"$1\" symbolize --object \"$1\"; } 2>/dev/null\n"
                 "for i in 3 1 2; do echo $i >&${S[1]}; read -r line <&${S[0]}; echo "
                 "\"$line\"; done; eval \"exec ${S[1]}>&-\"; wait' _ '%s'",
                 SFB_TOOL);

    cr_expect(strcmp(run.out, "0x3 ?\n0x1 ?\n0x2 ?\n") == 0, "%s%s", run.out, run.err);
    run_free(&run);
}

Test(tool_symbolize, counts_repeated_and_omitted_frames)
{
    uint64_t nowhere = 0x1000;
    struct story s;

    begin(&s);
    put(&s, SFB_FRAME_PC, nowhere);
    put(&s, SFB_FRAME_PC, nowhere);
    put(&s, SFB_FRAME_RA, nowhere);
    for (int i = 0; i < 5; i++)
        put(&s, SFB_FRAME_RA, nowhere);
    put(&s, SFB_FRAME_OMIT, 100);
    put(&s, SFB_FRAME_ASYNC, nowhere);
    put(&s, SFB_FRAME_OMIT, 1);
    expect_told(&s, true,
                "#0 0x1000 ? in ?\n#1 .. (repeated 1 time more)\n"
                "#2 0x1000 ? in ?\n#3 .. (repeated 5 times more)\n"
                "... 100 frames omitted\n... awaited by\n#108 0x1000 ? in ?\n... 1 frame "
                "omitted\n... truncated\n");
}

/* A suspended task has no frame on a stack. */
Test(tool_symbolize, has_a_task_that_no_thread_runs_begin_with_its_own_place)
{
    struct story s;

    begin(&s);
    put(&s, SFB_FRAME_ASYNC, 0x1000);
    put(&s, SFB_FRAME_ASYNC, 0x2000);
    expect_told(&s, false, "#0 0x1000 ? in ?\n#1 0x2000 ? in ?\n");
}

/* Looked up as they are, pc and async name the function that begins there, ra the one before. */
Test(tool_symbolize, looks_up_a_return_address_one_byte_before_unless_it_is_a_trampoline)
{
    uint64_t start = (uint64_t)&outer;
    char exact[96];
    struct run run;
    struct story s;
    size_t size;

    begin(&s);
    put(&s, SFB_FRAME_RA, start);
    put(&s, SFB_FRAME_PC, start);
    put(&s, SFB_FRAME_ASYNC, start);
    put(&s, SFB_FRAME_RA, start);
    size = sfb_cbf_encoder_end(&s.encoder, false);
    run = run_with_input(s.cbf, size, "'%s' symbolize --pid %d | grep -v inlined", SFB_TOOL,
                         (int)getpid());
    for (int frame = 0; frame < 4; frame++) {
        snprintf(exact, sizeof exact, "#%d 0x%lx outer+0x0 ", frame, start);
        cr_expect(frame < 3 ? strstr(run.out, exact) != NULL : !strstr(run.out, exact),
                  "frame %d of\n%s", frame, run.out);
    }
    run_free(&run);
}

Test(tool_symbolize, names_other_modules_and_reads_a_stream)
{
    /* No sanitizer puts a function of its own before this one. */
    uint64_t in_libc = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    uint8_t both[64];
    char fault[32];
    struct story s;
    struct run run;
    size_t size;

    begin(&s);
    put(&s, SFB_FRAME_PC, in_libc);
    size = sfb_cbf_encoder_end(&s.encoder, false);
    memcpy(both, s.cbf, size);
    memcpy(both + size, "\x02\x18\x10\x0f", 4); /* a second backtrace, its end damaged */
    snprintf(fault, sizeof fault, "+0x%zx: opcode: ", size + 3);
    run = run_with_input(both, size + 4, "'%s' symbolize --pid %d", SFB_TOOL, (int)getpid());
    cr_expect(run.status == 1);
    cr_expect(strstr(run.out, "gnu_get_libc_version+0x0 ") != NULL, "%s", run.out);
    cr_expect(strstr(run.out, " in libc.so.6\n\n#0 0x10 ? in ?\n") != NULL, "%s", run.out);
    cr_expect(strstr(run.err, fault) != NULL && run_count_lines(run.err) == 1, "%s", run.err);
    run_free(&run);
}
