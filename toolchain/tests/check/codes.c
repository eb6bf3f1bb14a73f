/*
 * Every code: a good file with one fault gives exactly that code at exactly that offset, for each
 * machine and byte order that can have it.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "support/check_file.h"
#include "support/test.h"
#include "toolchain/check/cfi_bounds.h"
#include "toolchain/check/finding_list.h"
#include "toolchain/check/known.h"

/* A place in a file; `at` counts from there. */
struct place {
    enum {
        OF_HEADER,
        OF_ENTRY,
        OF_ATTRIBUTE,
        OF_ROW,
        OF_END,
        OF_NEXT,
        OF_SECTION,
        OF_SEGMENT,
        OF_EH_FRAME,
        OF_RELA,
        OF_FILE
    } kind;
    unsigned i, k;
    size_t at;
};

#define HEADER(at)                                                                                 \
    {                                                                                              \
        OF_HEADER, 0, 0, at                                                                        \
    }
#define ENTRY(i, at)                                                                               \
    {                                                                                              \
        OF_ENTRY, i, 0, at                                                                         \
    }
#define ATTRIBUTE(i, at)                                                                           \
    {                                                                                              \
        OF_ATTRIBUTE, i, 0, at                                                                     \
    }
#define ROW(i, k, at)                                                                              \
    {                                                                                              \
        OF_ROW, i, k, at                                                                           \
    }
#define END(at)                                                                                    \
    {                                                                                              \
        OF_END, 0, 0, at                                                                           \
    }
#define NEXT                                                                                       \
    {                                                                                              \
        OF_NEXT, 0, 0, 0                                                                           \
    } /* header, of two */
#define SECTION(i, field)                                                                          \
    {                                                                                              \
        OF_SECTION, i, 0, offsetof(Elf64_Shdr, field)                                              \
    }
#define SEGMENT(i, field)                                                                          \
    {                                                                                              \
        OF_SEGMENT, i, 0, offsetof(Elf64_Phdr, field)                                              \
    }
#define CFI(i, at)                                                                                 \
    {                                                                                              \
        OF_EH_FRAME, i, 0, at                                                                      \
    }
#define RELA(i, field)                                                                             \
    {                                                                                              \
        OF_RELA, i, 0, offsetof(Elf64_Rela, field)                                                 \
    }
#define IN_THE_FILE(at)                                                                            \
    {                                                                                              \
        OF_FILE, 0, 0, at                                                                          \
    }

#define MINUS(n) ((uint64_t) - (int64_t)(n))

struct patch {
    struct place place;
    size_t width;
    uint64_t value;
};

enum { AMD64 = 1, AARCH64 = 2, AARCH64_BE = 4, ARM = AARCH64 | AARCH64_BE, ALL = 7 };

struct test_case {
    enum check_code code;
    unsigned abis;
    struct file_plan plan;
    struct place want;
    struct patch patches[3]; /* a width of 0: the end */
    enum check_code also[6]; /* consequences of the fault */
    enum { AS_IT_IS, LONGER, CUT, EMPTY, CONCATENATED, RAW, NO_SECTIONS } shape;
    size_t amount; /* LONGER: by so many bytes; CUT: to so many */
};

#define V1     .plan = { .version = 1 }
#define V2     .plan = { .version = 2 }
#define V3     .plan = { .version = 3 }
#define OBJECT .plan = { .version = 1, .relocatable = true }

static const struct test_case cases[] = {
#include "codes_cases.inc"
};

enum { CASES = sizeof cases / sizeof *cases };

static uint64_t resolve(const struct file *f, const struct place *p)
{
    const uint64_t sframe = FILE_SFRAME_AT;

    switch (p->kind) {
    case OF_HEADER: return sframe + p->at;
    case OF_ENTRY: return sframe + f->fde[p->i] + p->at;
    case OF_ATTRIBUTE: return sframe + f->attribute[p->i] + p->at;
    case OF_ROW: return sframe + f->row[p->i][p->k] + p->at;
    case OF_END: return sframe + f->sframe_size + p->at;
    case OF_NEXT: return sframe + ((f->sframe_size + 7) & ~(size_t)7);
    case OF_SECTION: return file_shdr((enum file_section)p->i, p->at);
    case OF_SEGMENT: return file_phdr(p->i, p->at);
    case OF_EH_FRAME: return FILE_EH_FRAME_AT + (uint64_t)f->eh_entry[p->i] + p->at;
    case OF_RELA: return FILE_RELA_AT + (size_t)24 * p->i + p->at;
    case OF_FILE: return p->at;
    }
    return 0;
}

/* A finding's offset, in the file. */
static uint64_t found_at(const struct kept_finding *f)
{
    switch (f->place.region) {
    case IN_SFRAME: return FILE_SFRAME_AT + f->place.offset;
    case IN_EH_FRAME: return FILE_EH_FRAME_AT + f->place.offset;
    case IN_FILE: break;
    }
    return f->place.offset;
}

static void shape(struct file *f, const struct test_case *t)
{
    const size_t size = f->sframe_size, next = (size + 7) & ~(size_t)7;

    switch (t->shape) {
    case LONGER: file_resize(f, size + t->amount); break;
    case CUT: file_resize(f, t->amount); break;
    case EMPTY: file_resize(f, 0); break;
    case CONCATENATED:
        memcpy(f->at + FILE_SFRAME_AT + next, f->at + FILE_SFRAME_AT, size);
        file_resize(f, next + size);
        break;
    case NO_SECTIONS:
        file_set(f, offsetof(Elf64_Ehdr, e_shoff), 8, 0);
        file_set(f, offsetof(Elf64_Ehdr, e_shnum), 2, 0);
        file_set(f, offsetof(Elf64_Ehdr, e_shstrndx), 2, 0);
        break;
    case RAW:
    case AS_IT_IS: break;
    }
}

static bool expected(const struct test_case *t, enum check_code code)
{
    /* A fault of a function's rows leaves its symbol without them. */
    if (code == t->code || code == CODE_UNCOVERED || code == CODE_LOST)
        return true;
    for (size_t i = 0; i < sizeof t->also / sizeof *t->also && t->also[i]; i++)
        if (t->also[i] == code)
            return true;
    return false;
}

static void print_all(const struct finding_list *f)
{
    for (size_t i = 0; i < f->count; i++)
        fprintf(stderr, "    SF%04u at 0x%" PRIx64 ": %s\n", (unsigned)f->list[i].code,
                found_at(&f->list[i]), f->list[i].text);
}

/* Makes a case's file. @return what of it is checked; size: so many bytes */
static uint8_t *make_case(struct file *f, size_t *size, const struct test_case *t, enum sfb_abi abi)
{
    struct file_plan plan = t->plan;

    plan.abi = abi;
    file_make(f, &plan);
    shape(f, t);
    for (size_t i = 0; i < 3 && t->patches[i].width > 0; i++)
        file_set(f, resolve(f, &t->patches[i].place), t->patches[i].width, t->patches[i].value);
    *size = t->shape == RAW ? f->sframe_size : sizeof f->at;
    return t->shape == RAW ? f->at + FILE_SFRAME_AT : f->at;
}

static void try_case(size_t index, const struct test_case *t, enum sfb_abi abi)
{
    /* The comparison sees nearly every fault once more. */
    struct finding_list found = { .list = NULL };
    struct check_options options = { .raw = t->shape == RAW,
                                     .no_cfi = t->code < CODE_CFA_DIFFERS,
                                     .code = CHECK_CODE_NONE, /* check.code */
                                     .as_it_stands = true,    /* check.causes, check.seed */
                                     .take = finding_list_take,
                                     .take_data = &found };
    struct check_result result;
    static struct file f;
    bool there = false, only = true;
    uint64_t want;
    uint8_t *image;
    size_t size;

    image = make_case(&f, &size, t, abi);
    want = resolve(&f, &t->want);
    check_image(&result, "case", image, size, &options);
    cr_expect(result.fault.cause == NULL, "case %zu: SF%04u, ABI %d: %s", index, (unsigned)t->code,
              (int)abi, result.fault.cause);
    for (size_t i = 0; i < found.count; i++) {
        const struct kept_finding *g = &found.list[i];

        there |= g->code == t->code && found_at(g) == want;
        only &= expected(t, g->code);
    }
    cr_expect(there && only, "case %zu: SF%04u at 0x%" PRIx64 " %s, ABI %d, version %u", index,
              (unsigned)t->code, want, there ? "is not alone" : "is not there", (int)abi,
              t->plan.version);
    if (!there || !only)
        print_all(&found);
    finding_list_free(&found);
    check_result_free(&result);
}

typedef void case_judge(size_t index, const struct test_case *t, enum sfb_abi abi);

/* Each case with each of its machines. */
static void for_all(case_judge *judge)
{
    for (size_t i = 0; i < CASES; i++)
        for (int abi = SFB_ABI_AARCH64_BE; abi <= SFB_ABI_AMD64_LE; abi++)
            if (cases[i].abis & (abi == SFB_ABI_AMD64_LE     ? AMD64
                                 : abi == SFB_ABI_AARCH64_LE ? AARCH64
                                                             : AARCH64_BE))
                judge(i, &cases[i], (enum sfb_abi)abi);
}

Test(check_codes, are_found_where_the_fault_is)
{
    for_all(try_case);
}

/*
 * No case is a fault of a release: its functions have none of the CFI, and its file none of the shape, by which
 * --allow-known knows one. So a new fault passes no gate because a known one has the same code.
 */
static bool tried[CODE_REQUIRED];

static void expect_new(size_t index, const struct test_case *t, enum sfb_abi abi)
{
    struct finding_list found = { .list = NULL };
    const struct check_options options = {
        .raw = t->shape == RAW, .as_it_stands = true, .take = finding_list_take, .take_data = &found
    };
    struct check_result result;
    static struct file f;
    uint64_t known = 0;
    uint8_t *image;
    size_t size;

    image = make_case(&f, &size, t, abi);
    check_image(&result, "case", image, size, &options);
    for (size_t i = 0; i < found.count; i++)
        if (found.list[i].code < CODE_REQUIRED)
            tried[found.list[i].code] = true;
    /* One case is a fault of a release: as-undefined-ra. */
    if (t->code == CODE_ROW_INEXPRESSIBLE && abi == SFB_ABI_AMD64_LE)
        known = 1;
    cr_expect(eq(u64, result.findings.known, known), "case %zu: SF%04u, ABI %d: known for %s",
              index, (unsigned)t->code, (int)abi, result.findings.known_for[0]);
    finding_list_free(&found);
    check_result_free(&result);
}

Test(check_codes, of_known_faults_are_new_elsewhere)
{
    size_t codes = 0;

    for_all(expect_new);
    for (size_t i = 0; i < check_code_count; i++) {
        const enum check_code code = check_codes[i].code;

        if (code >= CODE_REQUIRED || !known_has_code(code))
            continue;
        codes++;
        cr_expect(tried[code], "SF%04u is known, and was not tried elsewhere", (unsigned)code);
    }
    cr_expect(lt(sz, 15, codes), "%zu", codes);
}

Test(check_codes, all_have_a_case)
{
    for (size_t i = 0; i < check_code_count; i++) {
        size_t count = 0;

        for (size_t k = 0; k < CASES; k++)
            count += cases[k].code == check_codes[i].code;
        count += check_codes[i].code == CODE_TOO_SHARED; /* below */
        count += check_codes[i].code >= CODE_REQUIRED;   /* check.gate, check.causes, check.code */
        cr_expect(count > 0, "SF%04u has no test", (unsigned)check_codes[i].code);
    }
}

Test(check_codes, ascend_and_have_all_texts)
{
    for (size_t i = 0; i < check_code_count; i++) {
        const struct check_code_text *t = &check_codes[i];

        cr_expect(i == 0 || t->code > t[-1].code);
        cr_expect(t->title[0] && t->what[0] && t->why[0] && t->writers[0] && t->repeat[0], "SF%04u",
                  (unsigned)t->code);
    }
}

/* What cases damage is good to begin with, in every version. */
Test(check_codes, none_in_good_files)
{
    for (unsigned version = 1; version <= 3; version++)
        for (int abi = SFB_ABI_AARCH64_BE; abi <= SFB_ABI_AMD64_LE; abi++)
            for (int object = 0; object < 2; object++) {
                struct finding_list found = { .list = NULL };
                const struct check_options options = { .take = finding_list_take,
                                                       .take_data = &found };
                struct check_result result;
                static struct file f;

                file_make(&f, &(struct file_plan){ .version = version,
                                                   .abi = (enum sfb_abi)abi,
                                                   .relocatable = object });
                check_image(&result, "good", f.at, sizeof f.at, &options);
                cr_expect(eq(sz, found.count, 0), "version %u, ABI %d, object %d", version, abi,
                          object);
                print_all(&found);
                finding_list_free(&found);
                cr_expect(result.comparison.done);
                cr_expect(eq(u64, result.comparison.functions.all, f.functions));
                cr_expect(eq(u64, result.comparison.functions.equal, f.functions));
                check_result_free(&result);
            }
}

/* Two thousand functions of AMD64, all with the same two thousand rows. */
Test(check_codes, end_where_too_much_is_shared)
{
    enum { FUNCTIONS = 2000, ROWS = 2000, FRES = 28 + 17 * FUNCTIONS, SIZE = FRES + 4 * ROWS };
    const uint64_t visits = 64 * 4 * ROWS + 0x10000, stopped = visits / ROWS;
    struct finding_list found = { .list = NULL };
    const struct check_options options = { .raw = true,
                                           .take = finding_list_take,
                                           .take_data = &found };
    struct check_result result;
    uint8_t *b = calloc(1, SIZE);
    bool there = false;

    memcpy(b, (uint8_t[]){ 0xe2, 0xde, 1, 1, 3, 0, 0xf8, 0 }, 8);
    for (unsigned i = 0; i < 4; i++) {
        b[8 + i] = (uint8_t)(FUNCTIONS >> 8 * i);
        b[12 + i] = (uint8_t)(ROWS >> 8 * i);
        b[16 + i] = (uint8_t)(4 * ROWS >> 8 * i);
        b[24 + i] = (uint8_t)(17 * FUNCTIONS >> 8 * i);
    }
    for (size_t i = 0; i < FUNCTIONS; i++) {
        uint8_t *fde = b + 28 + 17 * i;

        fde[1] = (uint8_t)(i * 0x10);
        fde[2] = (uint8_t)(i >> 4);
        fde[5] = 0x10; /* 4,096 bytes */
        fde[12] = ROWS & 0xff;
        fde[13] = ROWS >> 8;
        fde[16] = 1;
    }
    for (size_t i = 0; i < ROWS; i++) {
        b[FRES + 4 * i] = (uint8_t)i;
        b[FRES + 4 * i + 1] = (uint8_t)(i >> 8);
        b[FRES + 4 * i + 2] = 3;
        b[FRES + 4 * i + 3] = 8;
    }
    check_image(&result, "shared", b, SIZE, &options);
    for (size_t i = 0; i < found.count; i++)
        there |= found.list[i].code == CODE_TOO_SHARED &&
                 found.list[i].place.offset == 28 + 17 * stopped + 12;
    cr_expect(there);
    cr_expect(eq(u64, result.findings.of_code[check_code_index(CODE_TOO_SHARED)], 1));
    finding_list_free(&found);
    check_result_free(&result);
    free(b);
}

static long peak_kilobytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Register 2^26: libdw, which read them once, made room for 1 GiB of registers. */
Test(check_codes, bound_the_registers_of_a_program)
{
    static const uint8_t program[] = { 0x05, 0x80, 0x80, 0x80, 0x20, 0x01 };
    enum { IN_FDE = 17 };

    for (unsigned version = 1; version <= 3; version++)
        for (int abi = SFB_ABI_AARCH64_BE; abi <= SFB_ABI_AMD64_LE; abi++) {
            const long before = peak_kilobytes();
            struct finding_list found = { .list = NULL };
            struct check_options options = { .take = finding_list_take, .take_data = &found };
            struct check_result result;
            static struct file f;
            bool there = false;

            file_make(&f, &(struct file_plan){ .version = version, .abi = (enum sfb_abi)abi });
            for (size_t i = 0; i < sizeof program; i++)
                file_set(&f, FILE_EH_FRAME_AT + f.eh_entry[0] + IN_FDE + i, 1, program[i]);
            check_image(&result, "registers", f.at, sizeof f.at, &options);
            cr_expect(result.fault.cause == NULL, "%s", result.fault.cause);
            for (size_t i = 0; i < found.count; i++)
                there |= found.list[i].code == CODE_CFI_UNREADABLE &&
                         strstr(found.list[i].text, "number that no machine has");
            cr_expect(there, "version %u, ABI %d", version, abi);
            /* The other functions are compared. */
            cr_expect(eq(u64, result.comparison.functions.equal, f.functions - 1));
            cr_expect(lt(long, peak_kilobytes() - before, 50 << 10), "%ld KiB",
                      peak_kilobytes() - before);
            finding_list_free(&found);
            check_result_free(&result);
        }
}

Test(check_codes, know_which_programs_are_followed)
{
    static uint8_t many[300], nested[600];
    const struct {
        const char *name;
        const uint8_t *at;
        size_t size;
        bool refused;
    } programs[] = {
        { "none", many, 0, false },
        { "nop", (const uint8_t *)"\0\0\0", 3, false },
        { "register 1023", (const uint8_t *)"\x05\xff\x07\x01", 4, false },
        { "register 1024", (const uint8_t *)"\x05\x80\x08\x01", 4, true },
        { "register 1024 in an expression", (const uint8_t *)"\x10\x80\x08\x00", 4, true },
        { "register 2^63", (const uint8_t *)"\x07\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11,
          true },
        { "a number of eleven bytes",
          (const uint8_t *)"\x0e\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 11, true },
        { "behind an expression", (const uint8_t *)"\x0f\x02\x96\x96\x07\x80\x08", 7, true },
        { "within an expression", (const uint8_t *)"\x0f\x03\x07\x80\x08", 5, false },
        { "behind an address", (const uint8_t *)"\x01\0\0\0\0\x07\x80\x08", 8, true },
        { "an expression past the end", (const uint8_t *)"\x0f\x03\x07\x80", 4, true },
        { "behind an unknown instruction", (const uint8_t *)"\x3f\x07\x80\x08", 4, false },
        { "300 states", many, sizeof many, true },
        { "300 states, one after the other", nested, sizeof nested, false },
    };

    memset(many, 0x0a, sizeof many);
    for (size_t i = 0; i < sizeof nested; i++)
        nested[i] = i % 2 ? 0x0b : 0x0a;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const char *cause =
            cfi_program_refused(programs[i].at, programs[i].at + programs[i].size, 4);

        cr_expect(eq(int, cause != NULL, programs[i].refused), "%s: %s", programs[i].name,
                  cause ? cause : "followed");
    }
}
