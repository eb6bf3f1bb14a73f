/*
 * One fault of a whole section: it is reported first, its consequences are counted and not listed,
 * and other faults are still found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/test.h"
#include "symbols/sframe.h"
#include "toolchain/check/bytes.h"
#include "toolchain/check/finding_list.h"

#define FIXTURES SFB_SOURCE_DIR "/fixtures/elf/"

/* A file with a changeable .sframe. */
struct subject {
    uint8_t *image, *section;
    size_t size;
    bool big;
    unsigned version;
};

static void load(struct subject *s, const char *path)
{
    FILE *from = fopen(path, "rb");
    struct object_sframe found;
    struct object_fault fault;
    struct object object;

    cr_assert(from != NULL, "%s", path);
    fseek(from, 0, SEEK_END);
    s->size = (size_t)ftell(from);
    rewind(from);
    s->image = malloc(s->size);
    cr_assert(eq(sz, fread(s->image, 1, s->size, from), s->size));
    fclose(from);
    cr_assert(object_open(&object, &fault, s->image, s->size) != 0);
    cr_assert(object_find_sframe(&found, &fault, &object) == OBJECT_FOUND);
    s->section = s->image + (found.data - s->image);
    s->big = object.big;
    s->version = s->section[AT_HEADER_VERSION];
    object_close(&object);
}

static uint64_t field(const struct subject *s, size_t at)
{
    return bytes_load(s->section + at, 4, s->big);
}

/* Adds to each start; with `sign` also a multiple of the field's offset. */
static void move_starts(struct subject *s, int64_t shift, int sign)
{
    const struct sframe_version *v = sframe_version_find((uint8_t)s->version);
    const uint64_t count = field(s, AT_HEADER_FDES), first = field(s, AT_HEADER_FDE_AT);

    for (uint64_t i = 0; i < count; i++) {
        const size_t at = SFRAME_HEADER_SIZE + first + i * v->entry_size;
        int64_t start = bytes_load_signed(s->section + at, v->start_size, s->big);

        start += shift + sign * (int64_t)at;
        bytes_store(s->section + at, v->start_size, (uint64_t)start, s->big);
    }
}

struct seen {
    struct finding_list list;
    struct check_result result;
    uint64_t explained;
};

static void look(struct seen *out, const struct subject *s)
{
    const struct check_options options = { .take = finding_list_take, .take_data = &out->list };

    *out = (struct seen){ .explained = 0 };
    check_image(&out->result, "file", s->image, s->size, &options);
    for (size_t i = 0; i < check_code_count; i++)
        out->explained += out->result.findings.explained[i];
}

static void look_as_it_stands(struct seen *out, const struct subject *s)
{
    const struct check_options options = { .take = finding_list_take,
                                           .take_data = &out->list,
                                           .as_it_stands = true };

    *out = (struct seen){ .explained = 0 };
    check_image(&out->result, "file", s->image, s->size, &options);
}

static void unlook(struct seen *seen)
{
    finding_list_free(&seen->list);
    check_result_free(&seen->result);
}

/* The cause comes first; all other findings are in the good file, too. */
static void expect_cause(const struct subject *s, const struct seen *good, enum check_code code,
                         const char *what)
{
    struct seen bad;

    look(&bad, s);
    cr_expect(bad.list.count > 0 && bad.list.list[0].code == code, "%s: SF%04u first, not SF%04u",
              what, bad.list.count > 0 ? (unsigned)bad.list.list[0].code : 0, (unsigned)code);
    cr_expect(eq(sz, bad.list.count, good->list.count + 1), "%s", what);
    for (size_t i = 0; i + 1 < bad.list.count && i < good->list.count; i++)
        cr_expect(eq(int, bad.list.list[i + 1].code, good->list.list[i].code), "%s", what);
    cr_expect(lt(u64, 0, bad.explained), "%s", what);
    cr_expect(eq(u64, bad.result.comparison.rows.equal, good->result.comparison.rows.equal), "%s",
              what);
    cr_expect(findings_bad(&bad.result.findings), "%s", what);
    unlook(&bad);
}

/* Seeds each fault that the file's version can have. */
static void seed(const char *path)
{
    struct subject s;
    struct seen good;
    uint8_t flags;

    load(&s, path);
    look(&good, &s);
    cr_expect(eq(u64, good.explained, 0), "%s", path);
    cr_expect(good.list.count == 0 || good.list.list[0].code < CODE_CAUSE_STARTS, "%s", path);
    flags = s.section[AT_HEADER_FLAGS];

    for (int64_t shift = -16; shift <= 16; shift += 4) {
        if (shift == 0)
            continue;
        move_starts(&s, shift, 0);
        expect_cause(&s, &good, CODE_CAUSE_SHIFT, path);
        move_starts(&s, -shift, 0);
    }
    if (s.version == 2) {
        s.section[AT_HEADER_FLAGS] = flags | SFRAME_START_PCREL;
        expect_cause(&s, &good, CODE_CAUSE_STARTS, path);
        s.section[AT_HEADER_FLAGS] = flags;
        move_starts(&s, 0, -1);
        expect_cause(&s, &good, CODE_CAUSE_STARTS, path);
        move_starts(&s, 0, 1);
    } else if (s.version == 3) {
        move_starts(&s, 0, 1);
        expect_cause(&s, &good, CODE_CAUSE_STARTS, path);
        move_starts(&s, 0, -1);
    }
    for (uint8_t version = 1; version <= 3; version++) {
        if (version == s.version)
            continue;
        s.section[AT_HEADER_VERSION] = version;
        expect_cause(&s, &good, CODE_CAUSE_VERSION, path);
        s.section[AT_HEADER_VERSION] = (uint8_t)s.version;
    }
    unlook(&good);
    free(s.image);
}

Test(check_causes, are_named_before_what_follows)
{
    static const char *const paths[] = {
        FIXTURES "v1/amd64/prog_sig",        FIXTURES "v2/amd64/prog_sig",
        FIXTURES "v3/amd64/prog_sig",        FIXTURES "v1/amd64/free_pie",
        FIXTURES "v1/aarch64/prog_pac_bkey", FIXTURES "v1/aarch64_be/libsample_pac_bkey.so",
    };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        seed(paths[i]);
}

/* A program of hundreds of functions: a copy of the command, by `sfb synth`. */
static void make_copy(char *path, size_t size, char *folder)
{
    struct run run;

    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, size, "%s/copy", folder);
    run = run_line("'%s' synth '%s/cli/sfb' -o '%s'", SFB_TOOL, SFB_BINARY_DIR, path);
    cr_assert(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
}

Test(check_causes, are_named_in_a_real_program)
{
    char folder[] = "/tmp/sfb-causes.XXXXXX", path[64];
    struct run run;

    make_copy(path, sizeof path, folder);
    seed(path);
    run = run_line("rm -r '%s'", folder);
    run_free(&run);
}

/* The last forty entries are gone, as if a linker had dropped their table. */
Test(check_causes, see_a_table_that_is_missing)
{
    char folder[] = "/tmp/sfb-causes.XXXXXX", path[64];
    uint64_t listed = 0, tables = 0;
    struct subject s;
    struct seen seen;
    struct run run;

    make_copy(path, sizeof path, folder);
    load(&s, path);
    bytes_store(s.section + AT_HEADER_FDES, 4, field(&s, AT_HEADER_FDES) - 40, s.big);
    look_as_it_stands(&seen, &s); /* else the cause is the number of functions */
    for (size_t i = 0; i < seen.list.count; i++) {
        const struct kept_finding *f = &seen.list.list[i];

        tables += f->code == CODE_CAUSE_TABLE && strstr(f->text, ": 40 functions, ") != NULL;
        listed += f->code == CODE_NOT_COVERED;
    }
    cr_expect(eq(u64, tables, 1));
    cr_expect(eq(u64, listed, 0));
    cr_expect(eq(u64, seen.result.findings.explained[check_code_index(CODE_NOT_COVERED)], 40));
    unlook(&seen);
    free(s.image);
    run = run_line("rm -r '%s'", folder);
    run_free(&run);
}

/* Other faults stay visible: a row is changed, too. */
Test(check_causes, leave_other_faults_to_be_found)
{
    enum { CFA_OF_A_ROW = 0x222f };
    uint64_t cfa = 0;
    struct subject s;
    struct seen seen;

    load(&s, FIXTURES "v2/amd64/prog_sig");
    s.image[CFA_OF_A_ROW] = 0x10;
    move_starts(&s, 8, 0);
    look(&seen, &s);
    for (size_t i = 0; i < seen.list.count; i++)
        cfa += seen.list.list[i].code == CODE_CFA_DIFFERS && seen.list.list[i].place.fde == 3;
    cr_expect(eq(int, seen.list.list[0].code, CODE_CAUSE_SHIFT));
    cr_expect(eq(u64, cfa, 1));
    unlook(&seen);
    free(s.image);
}

struct order {
    unsigned code[4];
    size_t count;
};

static void note_order(void *data, const struct finding *finding)
{
    struct order *o = data;

    if (o->count < 4)
        o->code[o->count++] = (unsigned)finding->code;
}

/* A second table explains lost functions, and these explain what is missing elsewhere. */
Test(check_causes, stand_in_front_of_lost_functions)
{
    struct order order = { .count = 0 };
    struct findings f;

    cr_assert(findings_init(&f, 0, &(struct findings_ears){ .take = note_order, .data = &order }) !=
              0);
    f.holds = true;
    findings_add(&f, CODE_CFA_DIFFERS, in_sframe(0), "%s", "");
    findings_add(&f, CODE_LOST, in_file(0), "%s", "");
    findings_add(&f, CODE_CONCATENATED, in_sframe(0), "%s", "");
    findings_release(&f);
    cr_assert(eq(sz, order.count, 3));
    cr_expect(eq(uint, order.code[0], CODE_CONCATENATED));
    cr_expect(eq(uint, order.code[1], CODE_LOST));
    cr_expect(eq(uint, order.code[2], CODE_CFA_DIFFERS));
    findings_free(&f);
}
