/*
 * The library on a big-endian machine: the programs of cli/tests/big_endian, under qemu-aarch64_be.
 *
 * Each prints the stacks that it took of itself, as CBF. They are decoded here, in the other byte
 * order, and compared with what others say: objdump (the function that an address is in, and the
 * call before a return address), gcc (where each function returns to), and the chain of frame
 * records, which the program follows by the rules of AAPCS64.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/frame.h"
#include "sfb/status.h"
#include "support/run.h"
#include "support/test.h"

/* --- What is expected ------------------------------------------------------------------------- */

#define PROCESS "ra program\nra start_process\nra _start\nend\n"
#define CHAIN                                                                                      \
    "ra through_pointer\nra many_saved\nra recurse\nra recurse\nra recurse\nra recurse\n"          \
    "ra big_frame\nra huge_frame\nra with_alloca\nra small\n" PROCESS
#define BARE "ra take\nra take_behind_bare\nra bare\n"

struct stack {
    const char *name;
    const char *frames; /* "?": an address that is not the program's */
    enum sfb_status end;
    unsigned by_source[SFB_SOURCE_COUNT];
};

#define TABLES(n)                                                                                  \
    {                                                                                              \
        [SFB_SOURCE_START] = 1, [SFB_SOURCE_SFRAME] = (n)                                          \
    }

/* Tables alone lead through these, in every program. */
static const struct stack stacks[] = {
    { "plain", "ra take\nra take_all\n" CHAIN, SFB_END, TABLES(14) },
    { "both-ends",
      "ra take\nra take_both_ends\nra through_pointer\nra many_saved\nomit 9\n"
      "ra start_process\nra _start\nend\n",
      SFB_END, TABLES(5) },
    { "interrupted", "pc send_signal\n" CHAIN, SFB_END, TABLES(13) },
    { "through-signal",
      "ra take\nra on_signal\nra ?\npc send_signal\n" CHAIN,
      SFB_END,
      { [SFB_SOURCE_START] = 1, [SFB_SOURCE_SFRAME] = 15, [SFB_SOURCE_SIGNAL] = 1 } },
};

enum { STACKS = sizeof stacks / sizeof *stacks };

/* A function that no table covers, in programs that differ in who keeps frame records. */
static const struct program {
    const char *name;
    bool keeps_records, is_signed;
    struct stack bare;
} programs[] = {
    { "tables", false, false, { "bare", BARE "trunc\n", SFB_NO_FDE, TABLES(2) } },
    { "signed", false, true, { "bare", BARE "trunc\n", SFB_NO_FDE, TABLES(2) } },
    /* It keeps one, which leads to its caller; that keeps none, so that its sp is lost. */
    { "tables-and-one-record",
      false,
      false,
      { "bare",
        BARE "ra over_bare\ntrunc\n",
        SFB_NO_REGISTER,
        { [SFB_SOURCE_START] = 1, [SFB_SOURCE_SFRAME] = 2, [SFB_SOURCE_FRAME_POINTER] = 1 } } },
    { "records",
      true,
      false,
      { "bare",
        BARE "ra over_bare\n" PROCESS,
        SFB_END,
        { [SFB_SOURCE_START] = 1, [SFB_SOURCE_SFRAME] = 5, [SFB_SOURCE_FRAME_POINTER] = 1 } } },
    { "signed-records",
      true,
      true,
      { "bare",
        BARE "ra over_bare\n" PROCESS,
        SFB_END,
        { [SFB_SOURCE_START] = 1, [SFB_SOURCE_SFRAME] = 5, [SFB_SOURCE_FRAME_POINTER] = 1 } } },
};

/* --- The program by objdump ------------------------------------------------------------------- */

enum { NAME_SIZE = 48, CODE_MAX = 65536, LIST_MAX = 64 };

struct instruction {
    uint64_t address;
    char mnemonic[16];
    char function[NAME_SIZE];
};

static struct instruction code[CODE_MAX];
static size_t code_size;

/* Lines "0000000000400d34 <take>:" and "  400d34:\t94000123 \tbl\t400200 <f>". */
static void disassemble(const char *path)
{
    struct run run = run_line("'%s' -d '%s'", SFB_OBJDUMP, path);
    char function[NAME_SIZE] = "";

    cr_assert(run.status == 0, "%s", run.err);
    cr_assert(strstr(run.out, "file format elf64-bigaarch64") != NULL, "%s", path);
    code_size = 0;
    for (char *line = strtok(run.out, "\n"); line; line = strtok(NULL, "\n")) {
        struct instruction *i = &code[code_size];

        cr_assert(code_size < CODE_MAX);
        if (sscanf(line, " %" SCNx64 ":\t%*x \t%15s", &i->address, i->mnemonic) == 2) {
            memcpy(i->function, function, sizeof function);
            code_size++;
        } else {
            sscanf(line, "%*x <%47[^>]>:", function);
        }
    }
    cr_assert(code_size > 1000, "%zu instructions", code_size);
    run_free(&run);
}

static const struct instruction *instruction_at(uint64_t address)
{
    for (size_t i = 0; i < code_size; i++)
        if (code[i].address == address)
            return &code[i];
    return NULL;
}

/*
 * The function of an instruction that something returns to: bl and blr return behind themselves,
 * and the system call that sends a signal is behind it when the handler runs.
 */
static const char *function_behind(const char *mnemonic, uint64_t address)
{
    const struct instruction *before = instruction_at(address - 4);

    if (!before)
        return "?";
    return strncmp(before->mnemonic, mnemonic, strlen(mnemonic)) == 0 ? before->function : "wrong";
}

/* --- What the program says -------------------------------------------------------------------- */

struct list {
    size_t count;
    uint64_t at[LIST_MAX];
};

/* Finds a line by its first word, from where a case begins to where the next one does. */
static const char *line_of(const char *from, const char *word)
{
    const char *next = strstr(from, "\ncase ");
    char begin[32];
    const char *line;

    snprintf(begin, sizeof begin, "\n%s ", word);
    line = strstr(from, begin);
    return line && (!next || line < next) ? line + strlen(begin) : NULL;
}

static struct list list_of(const char *from, const char *word)
{
    const char *line = line_of(from, word);
    struct list list = { .count = 0 };
    int size;

    cr_assert(line != NULL, "no line of %s in %s", word, from);
    while (*line != '\n' && list.count < LIST_MAX) {
        cr_assert(sscanf(line, " 0x%" SCNx64 "%n", &list.at[list.count++], &size) == 1, "%s", line);
        line += size;
    }
    return list;
}

/* --- Comparing -------------------------------------------------------------------------------- */

/* A frame as `sfb decode` prints it. */
struct frame {
    char kind[8];
    uint64_t value;
};

struct backtrace {
    size_t count;
    struct frame frames[LIST_MAX];
    bool truncated;
};

/* Both of a case's CBFs: the one that was looked up, and the one from the cache of rules. */
static struct backtrace decode(const char *program, const char *from, size_t *size)
{
    const char *hex = line_of(from, "cbf"), *again;
    struct backtrace b = { .count = 0 };
    struct run run;

    cr_assert(hex != NULL, "%s: %s", program, from);
    again = line_of(hex, "cbf");
    *size = strcspn(hex, "\n");
    cr_assert(again != NULL && strncmp(hex, again, *size + 1) == 0, "%s: %s", program, from);
    run = run_with_input(hex, *size, "'%s' decode --hex -", SFB_TOOL);
    cr_assert(run.status == 0, "%s: %s: %s", program, hex, run.err);
    for (char *line = strtok(run.out, "\n"); line; line = strtok(NULL, "\n")) {
        struct frame *f = &b.frames[b.count];

        cr_assert(b.count < LIST_MAX);
        if (strcmp(line, "truncated") == 0)
            b.truncated = true;
        else
            cr_assert(
                sscanf(line, "%7s %" SCNi64, f->kind, (int64_t *)&b.frames[b.count++].value) == 2,
                "%s", line);
    }
    /* A missing terminator would be decoded, too. */
    cr_expect(strncmp(hex + *size - 2, b.truncated ? "01" : "00", 2) == 0, "%s: %s", program, hex);
    *size /= 2;
    run_free(&run);
    return b;
}

static void compare_names(const char *name, const struct backtrace *b, const struct stack *want)
{
    char text[LIST_MAX * 64];
    size_t size = 0;

    for (size_t i = 0; i < b->count; i++) {
        const struct frame *f = &b->frames[i];
        const char *before = strcmp(f->kind, "pc") == 0 ? "svc" : "bl";
        char omitted[24];

        snprintf(omitted, sizeof omitted, "%" PRIu64, f->value);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s %s\n", f->kind,
                                 strcmp(f->kind, "omit") == 0 ? omitted
                                                              : function_behind(before, f->value));
    }
    snprintf(text + size, sizeof text - size, b->truncated ? "trunc\n" : "end\n");
    run_expect_text(name, text, want->frames);
}

/*
 * The return addresses of a backtrace are those of a list, innermost first, less what is omitted.
 * A truncated one has fewer; the list does not have the call of the front door itself.
 */
static void compare_addresses(const char *name, const struct backtrace *b, const struct list *truth)
{
    size_t at = 0;

    for (size_t i = 0; i < b->count; i++) {
        const struct frame *f = &b->frames[i];

        if (strcmp(f->kind, "omit") == 0)
            at += f->value;
        else if (strcmp(f->kind, "ra") == 0 && i > 0)
            cr_expect(at < truth->count && f->value == truth->at[at++], "%s, frame %zu: %" PRIx64,
                      name, i, f->value);
    }
    cr_expect(b->truncated ? at < truth->count : at == truth->count, "%s: %zu of %zu", name, at,
              truth->count);
}

/* sframe_backtrace() was called on another line of the same function, and omits nothing. */
static void compare_array(const char *name, const struct list *array, const struct backtrace *b,
                          const struct list *truth)
{
    size_t pc = SIZE_MAX;

    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->frames[i].kind, "pc") == 0)
            pc = i;
    cr_expect(strcmp(function_behind("bl", array->at[0]), "take") == 0, "%s", name);
    for (size_t i = 1, at = 0; i < array->count; i++) {
        uint64_t want = i == pc ? b->frames[i].value : truth->at[at++];

        cr_expect(array->at[i] == want, "%s, address %zu: %" PRIx64, name, i, array->at[i]);
    }
    if (b->truncated)
        cr_expect(array->count == b->count, "%s: %zu", name, array->count);
    else
        cr_expect(array->count == truth->count + 1 + (pc != SIZE_MAX), "%s: %zu", name,
                  array->count);
}

static void compare_info(const char *name, const char *from, const struct stack *want)
{
    struct list info = list_of(from, "info");

    cr_assert(info.count == 1 + SFB_SOURCE_COUNT);
    cr_expect(info.at[0] == (uint64_t)want->end, "%s: %s", name,
              sfb_status_str((enum sfb_status)info.at[0]));
    for (size_t s = 0; s < SFB_SOURCE_COUNT; s++)
        cr_expect(info.at[s + 1] == want->by_source[s], "%s: %" PRIu64 " frames by %s", name,
                  info.at[s + 1], sfb_source_str((enum sfb_source)s));
}

static void compare_stack(const struct program *program, const char *output,
                          const struct stack *want)
{
    char name[128], begin[64];
    struct backtrace backtrace;
    struct list calls;
    const char *from;
    size_t size;

    snprintf(name, sizeof name, "%s, %s", program->name, want->name);
    snprintf(begin, sizeof begin, "case %s\n", want->name);
    from = strstr(output, begin);
    cr_assert(from != NULL, "%s: %s", name, output);
    from += strlen("case ");

    backtrace = decode(name, from, &size);
    compare_names(name, &backtrace, want);
    compare_info(name, from, want);
    calls = list_of(from, "calls");
    compare_addresses(name, &backtrace, &calls);
    if (line_of(from, "array")) {
        struct list array = list_of(from, "array");

        compare_array(name, &array, &backtrace, &calls);
    }
    cr_assert(program->keeps_records == (line_of(from, "records") != NULL), "%s", name);
    if (program->keeps_records) {
        struct list records = list_of(from, "records");

        compare_addresses(name, &backtrace, &records);
    }
    cr_expect(program->is_signed == (list_of(from, "signed").at[0] > 0), "%s", name);
    cr_log_info("%s: %zu frames in %zu bytes\n", name, backtrace.count, size);
}

Test(big_endian, programs_find_their_own_stacks)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];
        struct run run = run_line("'%s' -cpu max '%s/%s'", SFB_QEMU, SFB_BIG_ENDIAN, p->name);
        char path[4096];

        cr_assert(run.status == 0, "%s: exit status %d: %s", p->name, run.status, run.err);
        snprintf(path, sizeof path, "%s/%s", SFB_BIG_ENDIAN, p->name);
        disassemble(path);
        for (size_t k = 0; k < STACKS; k++)
            compare_stack(p, run.out, &stacks[k]);
        compare_stack(p, run.out, &p->bare);
        run_free(&run);
    }
}

/* golden.tool_dump compares what is built for this machine; these need objdump for theirs. */
Test(big_endian, sections_are_dumped_as_objdump_does)
{
    struct run list = run_line("find '%s' -type f", SFB_BIG_ENDIAN);
    size_t count = 0;

    for (char *file = strtok(list.out, "\n"); file; file = strtok(NULL, "\n")) {
        struct run want = run_line("'%s' --sframe '%s' 2>/dev/null", SFB_OBJDUMP, file);

        /* One that has a section to show; objdump 2.47 says so with status 0 where there is none. */
        if (want.status == 0 && strstr(want.out, "Contents of the SFrame section") != NULL) {
            struct run got = run_line("'%s' dump '%s'", SFB_TOOL, file);

            cr_expect(got.status == 0, "%s: %s", file, got.err);
            run_expect_text(file, got.out, want.out);
            run_free(&got);
            count++;
        }
        run_free(&want);
    }
    /* The programs, and of each at least two objects: where starts are not relocated yet. */
    cr_expect(count >= 3 * sizeof programs / sizeof *programs, "%zu sections", count);
    run_free(&list);
}
