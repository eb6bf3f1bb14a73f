/* `sfb stack CORE`: cores by the kernel and by gcore, whole, partial, packed, cut off, and without what it would like to have. */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/compiler.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

static const char show[] = "'" SFB_TOOL "' stack";

static char no_kernel_cores[256]; /* why; "": there are */

/* Cores of the kernel's own are wanted in the folder of the test. */
static void find_out(void)
{
    struct rlimit limit = { .rlim_cur = 0 };
    struct run run = run_line("cat /proc/sys/kernel/core_pattern");

    getrlimit(RLIMIT_CORE, &limit);
    if (strcmp(run.out, "core\n") != 0)
        snprintf(no_kernel_cores, sizeof no_kernel_cores,
                 "kernel.core_pattern is not \"core\" but %.200s", run.out);
    else if (limit.rlim_max != RLIM_INFINITY)
        snprintf(no_kernel_cores, sizeof no_kernel_cores,
                 "the hard limit of cores is not unlimited");
    run_free(&run);
}

static void begin(void)
{
    folder_enter();
    find_out();
}

TestSuite(core, .init = begin, .fini = folder_remove);

#define NEEDS_KERNEL_CORES                                                                         \
    do {                                                                                           \
        if (no_kernel_cores[0])                                                                    \
            cr_skip_test("%s", no_kernel_cores);                                                   \
    } while (0)

/* Sanitizers keep cores from being written, and take signals. */
#define PLAIN                                                                                      \
    "export "                                                                                      \
    "ASAN_OPTIONS=disable_coredump=0:handle_segv=0:handle_sigfpe=0:handle_abort=0:detect_leaks=0;" \
    " "

/* Runs the program as prog, and leaves its core and its report. */
static void die(const char *before, const char *how)
{
    struct run run =
        run_line(PLAIN "rm -f core*; cp '" SFB_PROGRAM
                       "' prog; ulimit -c unlimited; %s; ./prog %s >report 2>/dev/null; "
                       "set -- core*; [ -s \"$1\" ] && { [ \"$1\" = core ] || mv \"$1\" core; }",
                 before, how);

    cr_assert(eq(int, run.status, 0), "%s: %s", how, run.err);
    run_free(&run);
}

/* The frames of the first thread, as `sfb symbolize` prints them of a report. */
#define FRAMES "awk '/^thread|^[0-9]+ threads/ { n++ } /^#|^\\.\\.\\./ && n == 1'"

static void expect_same(const char *name, const char *one, const char *other)
{
    struct run a = run_line("%s", one), b = run_line("%s", other);

    cr_expect(a.out_size > 0, "%s: %s%s", name, a.err, b.err);
    run_expect_text(name, a.out, b.out);
    run_free(&a);
    run_free(&b);
}

static void expect_text(const struct run *run, const char *name, const char *want)
{
    cr_expect(strstr(run->out, want) != NULL || strstr(run->err, want) != NULL,
              "%s: no '%s' in:\n%s%s", name, want, run->out, run->err);
}

/* --- What it prints ------------------------------------------------------------------------------- */

Test(core, has_the_lines_of_the_same_crashs_report)
{
    static const char *const hows[] = { "null",   "thread", "handler", "abort",
                                        "divide", "vdso",   "library" };

    NEEDS_KERNEL_CORES;
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        char of_core[512];

        die("true", hows[i]);
        snprintf(of_core, sizeof of_core, "%s core | " FRAMES, show);
        expect_same(hows[i], of_core, "'" SFB_TOOL "' symbolize report | grep -E '^#|^\\.\\.\\.'");
    }
}

Test(core, says_of_what_the_process_died_and_where_each_thread_was)
{
    struct run run;

    NEEDS_KERNEL_CORES;
    die("true", "thread");
    run = run_line("%s core", show);
    cr_expect(eq(int, run.status, 0));
    expect_text(&run, "core",
                "\": 2 threads, SIGSEGV (11) code SEGV_MAPERR (1) address 0x10\n\nthread ");
    expect_text(&run, "core", "\"\n#0 0x"); /* the one that died stands first, and was in no call */
    expect_text(&run, "core", "\"prog\", in futex 0x");
    expect_text(&run, "core", " inner+0x");
    run_free(&run);
    run = run_line("%s core --json", show);
    expect_text(&run, "JSON", "\"signal\":11,\"lost\":0,\"code\":1,\"address\":\"0x10\"");
    run_free(&run);
    run = run_line("%s core --cbf | '" SFB_TOOL "' decode | grep -c '^pc '", show);
    run_expect_text("it", run.out, "2\n");
    run_free(&run);
}

/* gdb writes other notes, and other memory. */
Test(core, by_gcore_is_as_the_process_was)
{
    struct run run = run_line("command -v gcore");
    const int have = run.status;

    run_free(&run);
    if (have != 0)
        cr_skip_test("there is no gcore");
    if (sanitized())
        cr_skip_test("gcore saves terabytes of a sanitizer's memory");
    run = run_line(
        "cp '" SFB_PROGRAM
        "' prog; mkfifo in out; ./prog wait <in >out & P=$!; exec 3>in; read there <out; "
        "until grep -q '^0 ' /proc/$P/syscall || grep -q '^63 ' /proc/$P/syscall; do :; done; "
        "%s $P | " FRAMES " >live; gcore -o gcore $P >gcore.log 2>&1; S=$?; exec 3>&-; wait $P; mv "
        "gcore.$P core; exit $S",
        show);
    if (run.status != 0) {
        run_free(&run);
        cr_skip_test("gcore may not attach here");
    }
    run_free(&run);
    run = run_line("%s core", show);
    expect_text(&run, "gcore", ": 1 thread, ");
    expect_text(&run, "gcore", " inner+0x");
    run_free(&run);
    run = run_line("%s core | " FRAMES " >saved; cmp live saved", show);
    cr_expect(eq(int, run.status, 0), "%s", run.out);
    run_free(&run);
}

/* --- What is missing ------------------------------------------------------------------------------ */

/* Makes `whole`, to which all else is compared: functions by their addresses, without lines. */
static void keep_whole(void)
{
    struct run run = run_line("%s core | " FRAMES " >whole; grep -c outer whole", show);

    run_expect_text("whole", run.out, "2\n");
    run_free(&run);
}

static void expect_whole(const char *name, const char *options, int status)
{
    struct run run = run_line("%s %s >shown; S=$?; " FRAMES " shown | cmp - whole; [ $S = %d ]",
                              show, options, status);

    cr_expect(eq(int, run.status, 0), "%s: %s%s", name, run.out, run.err);
    run_free(&run);
}

/* The program's file: below --root, by its build-id there, in a folder of symbols; but never one of another build. */
Test(core, takes_files_from_the_root_it_is_given)
{
    struct run run;

    NEEDS_KERNEL_CORES;
    die("true", "null");
    keep_whole();
    run = run_line("P=$(pwd); mkdir -p root$P sub; mv prog root$P/prog");
    run_free(&run);
    expect_whole("below the root", "core --root root", 0);
    run = run_line("mv root$(pwd)/prog sub/renamed; %s core", show);
    cr_expect(eq(int, run.status, 1)); /* it is not here, and that is said */
    expect_text(&run, "no file", "/prog: ");
    cr_expect(strstr(run.out, "inner") == NULL);
    run_free(&run);
    run = run_line("B=$(readelf -n sub/renamed | sed -n 's/.*Build ID: //p'); "
                   "D=root/usr/lib/debug/.build-id/$(echo $B | cut -c1-2); "
                   "mkdir -p $D; mv sub/renamed $D/$(echo $B | cut -c3-)");
    run_free(&run);
    expect_whole("by its build-id", "core --root root", 0);
    run = run_line("mv root/usr/lib/debug/.build-id/*/* sub/prog");
    run_free(&run);
    expect_whole("in a folder of symbols", "core --symbol-path sub", 0);
    run = run_line("cp /bin/sh prog; %s core", show);
    cr_expect(eq(int, run.status, 1));
    expect_text(&run, "another build", "not the file that was loaded");
    cr_expect(strstr(run.out, "inner") == NULL);
    run_free(&run);
}

/* A core with all memory needs no file for its walk. */
Test(core, with_all_memory_needs_no_file)
{
    struct run run;

    NEEDS_KERNEL_CORES;
    die("echo 0x7f >/proc/self/coredump_filter", "null");
    keep_whole();
    run = run_line("rm prog; cut -d' ' -f1,2 whole >addresses; %s core 2>/dev/null | " FRAMES
                   " | cut -d' ' -f1,2 | cmp - addresses",
                   show);
    cr_expect(eq(int, run.status, 0), "%s", run.out);
    run_free(&run);
}

/* --- Bytes ---------------------------------------------------------------------------------------- */

struct bytes {
    uint8_t *at;
    size_t size;
};

static struct bytes core_bytes(void)
{
    struct run run = run_line("cat core");

    return (struct bytes){ (uint8_t *)run.out, run.out_size }; /* its err is left */
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(name, "w");

    cr_assert(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* The loader's own list has the same modules: from the core's memory. */
Test(core, without_a_list_of_files_has_the_loaders)
{
    struct bytes core;
    size_t notes = 0;

    NEEDS_KERNEL_CORES;
    die("true", "thread");
    keep_whole();
    core = core_bytes();
    for (size_t i = 8; i + 8 < core.size; i += 4) {
        uint32_t type = NT_FILE;

        if (memcmp(core.at + i, &type, sizeof type) != 0 || memcmp(core.at + i + 4, "CORE", 5) != 0)
            continue;
        memset(core.at + i, 0, sizeof type);
        notes++;
    }
    cr_assert(eq(sz, notes, 1));
    write_bytes("links", core.at, core.size);
    expect_whole("without NT_FILE", "links", 0);
    free(core.at);
}

/* @return how often a text was replaced by one of its size */
static size_t replace_all(struct bytes *in, const char *text, const char *by)
{
    const size_t size = strlen(text);
    size_t count = 0;

    for (size_t i = 0; i + size <= in->size; i++)
        if (memcmp(in->at + i, text, size) == 0) {
            memcpy(in->at + i, by, size);
            count++;
        }
    return count;
}

/* Names of the process and of its files move no cursor. */
Test(core, names_in_it_are_escaped)
{
    struct bytes core;
    struct run run;

    NEEDS_KERNEL_CORES;
    die("true", "null");
    core = core_bytes();
    cr_assert(replace_all(&core, "prog", "\033[2J") >= 2);
    write_bytes("escapes", core.at, core.size);
    run = run_line("%s escapes; %s escapes --json", show, show);
    expect_text(&run, "the process", "core of process ");
    expect_text(&run, "the process", " \"\\033[2J\"");
    expect_text(&run, "its file", "/\\033[2J: ");
    cr_expect(strchr(run.out, '\033') == NULL && strchr(run.err, '\033') == NULL);
    run_free(&run);
    free(core.at);
}

/* More segments than the header has room for: their number stands in a section header. */
Test(core, counts_its_segments_in_a_section_header)
{
    struct bytes core;
    Elf64_Ehdr header;
    Elf64_Shdr first = { .sh_info = 0 };

    NEEDS_KERNEL_CORES;
    die("true", "null");
    keep_whole();
    core = core_bytes();
    memcpy(&header, core.at, sizeof header);
    first.sh_info = header.e_phnum;
    header.e_phnum = PN_XNUM;
    header.e_shoff = core.size;
    header.e_shnum = 1;
    core.at = realloc(core.at, core.size + sizeof first);
    cr_assert(core.at != NULL);
    memcpy(core.at, &header, sizeof header);
    memcpy(core.at + core.size, &first, sizeof first);
    write_bytes("many", core.at, core.size + sizeof first);
    expect_whole("PN_XNUM", "many", 0);
    write_bytes("many", core.at, core.size);
    {
        struct run run = run_line("%s many", show);

        cr_expect(eq(int, run.status, 2));
        expect_text(&run, "PN_XNUM cut off", "many: it is cut off: it has 65,535 segments or more");
        run_free(&run);
    }
    free(core.at);
}

/* Wherever it is cut off: an error, or what is there; never a stack that goes on as if nothing were missing. */
Test(core, says_that_it_is_cut_off)
{
    struct bytes core;

    NEEDS_KERNEL_CORES;
    die("true", "null");
    core = core_bytes();
    for (size_t size = core.size; size > 0; size = size * 2 / 3) {
        struct run run;

        write_bytes("cut", core.at, size - 1);
        run = run_line("%s cut", show);
        cr_expect(run.status == 1 || run.status == 2, "%zu: %d", size, run.status);
        cr_expect(strstr(run.err, "cut: it is ") != NULL, "%zu: %s", size, run.err);
        if (run.status == 1)
            expect_text(&run, "cut", "cut: it is cut off: ");
        run_free(&run);
    }
    free(core.at);
}

/* Headers that name terabytes of memory, of notes, of files and of segments cost no more than the file has. */
Test(core, claims_more_than_it_has)
{
    enum { HUGE_SEGMENTS = 60000 };
    Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                          .e_type = ET_CORE,
                          .e_machine = EM_X86_64,
                          .e_phoff = sizeof header,
                          .e_phentsize = sizeof(Elf64_Phdr),
                          .e_phnum = HUGE_SEGMENTS };
    struct {
        Elf64_Nhdr status;
        char status_name[8];
        uint8_t registers[336];
        Elf64_Nhdr files;
        char files_name[8];
        uint64_t count, page;
    } notes = { .status = { 5, 336, NT_PRSTATUS },
                .status_name = "CORE",
                .files = { 5, 16, NT_FILE },
                .files_name = "CORE",
                .count = UINT64_MAX / 24,
                .page = 4096 };
    const uint64_t rsp = UINT64_C(0x7000);
    Elf64_Phdr *segments = calloc(HUGE_SEGMENTS, sizeof *segments);
    FILE *file = fopen("huge", "w");
    struct run run;

    cr_assert(segments != NULL && file != NULL);
    memcpy(notes.registers + 112 + (size_t)19 * 8, &rsp, sizeof rsp);
    segments[0] = (Elf64_Phdr){ .p_type = PT_NOTE,
                                .p_offset = sizeof header + HUGE_SEGMENTS * sizeof *segments,
                                .p_filesz = sizeof notes };
    segments[1] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = 64, .p_filesz = UINT64_C(1) << 60 };
    for (uint64_t i = 2; i < HUGE_SEGMENTS; i++)
        segments[i] = (Elf64_Phdr){ .p_type = PT_LOAD,
                                    .p_vaddr = i << 40,
                                    .p_memsz = UINT64_C(1) << 40,
                                    .p_filesz = UINT64_C(1) << 40 };
    cr_assert(fwrite(&header, sizeof header, 1, file) == 1 &&
              fwrite(segments, sizeof *segments, HUGE_SEGMENTS, file) == HUGE_SEGMENTS &&
              fwrite(&notes, sizeof notes, 1, file) == 1 && fclose(file) == 0);
    free(segments);
    run = run_line("ulimit -v %s; %s huge", sanitized() ? "unlimited" : "300000", show);
    cr_expect(eq(int, run.status, 1), "%s", run.err);
    expect_text(&run, "huge", "huge: it is cut off: ");
    expect_text(&run, "huge", ": 1 thread, ");
    run_free(&run);
}

Test(core, packed_by_zstd_is_unpacked_and_nothing_is_left)
{
    struct run run = run_line("command -v zstd");
    const int have = run.status;

    run_free(&run);
    NEEDS_KERNEL_CORES;
    if (have != 0)
        cr_skip_test("there is no zstd");
    die("true", "null");
    keep_whole();
    run = run_line("zstd -q core -o core.zst; mkdir temporary");
    run_free(&run);
    run = run_line("export TMPDIR=$(pwd)/temporary; %s core.zst | " FRAMES
                   " | cmp - whole && ls temporary",
                   show);
    cr_expect(eq(int, run.status, 0), "%s%s", run.out, run.err);
    run_expect_text("it", run.out, "");
    run_free(&run);
    run = run_line("%s core.zst --max-core 100k", show);
    cr_expect(eq(int, run.status, 2));
    expect_text(&run, "too much",
                "core.zst: it unpacks to more than 102400 bytes: --max-core allows more");
    run_free(&run);
    run = run_line(
        "head -c $(($(wc -c <core.zst) / 2)) core.zst >half.zst; head -c 20 core.zst >cut.zst; "
        "head -c 50 core.zst >bad.zst; cat core.zst >>bad.zst; "
        "for i in half cut bad; do %s $i.zst; done",
        show);
    expect_text(&run, "half", "half.zst: it is cut off: ");
    expect_text(&run, "cut off", "cut.zst: its zstd data is cut off before its first block ends");
    expect_text(&run, "damaged", "bad.zst: its zstd data is damaged");
    run_free(&run);
}

Test(core, of_what_it_is_not_has_a_clear_error)
{
    static const struct {
        const char *make, *want;
        int status;
    } cases[] = {
        { "true", "it: No such file or directory", 2 },
        { "mkdir it", "it: a directory, not a regular file", 2 },
        { ": >it", "it: it is no ELF file", 2 },
        { "echo text >it", "it: it is no ELF file", 2 },
        { "cp /bin/sh it", "it: it is a program or a library, not a core", 2 },
        { "printf '\\3757zXZ\\0 and more' >it",
          "it: it is packed by xz, and zstd alone is unpacked here: 'xz -dc' first", 2 },
        { "printf '\\004\\042\\115\\030 and more' >it", "it: it is packed by lz4", 2 },
        { "printf '\\037\\213 and more' >it", "it: it is packed by gzip", 2 },
        { "printf '\\177ELF\\001\\001\\001' >it; head -c 100 /dev/zero >>it",
          "it: it is of 32 bits", 2 },
        { "printf '\\177ELF\\002\\002\\001' >it; head -c 100 /dev/zero >>it",
          "it: it is of a big-endian machine", 2 },
        { "printf '\\177ELF\\002\\001\\001\\0\\0\\0\\0\\0\\0\\0\\0\\0\\004\\0\\363\\0' >it; head "
          "-c 100 /dev/zero >>it",
          "it: it is of machine 243", 2 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line("rm -rf it; %s; %s it", cases[i].make, show);

        cr_expect(eq(int, run.status, cases[i].status), "%zu", i);
        cr_expect(eq(sz, run.out_size, 0), "%zu", i);
        expect_text(&run, cases[i].make, cases[i].want);
        run_free(&run);
    }
}
