#include "toolchain/check/check.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/sframe.h"
#include "toolchain/check/bytes.h"
#include "toolchain/check/cause.h"
#include "toolchain/check/fingerprint.h"
#include "toolchain/check/known.h"
#include "toolchain/check/known_facts.h"
#include "toolchain/check/stats_collect.h"

_Static_assert((int)SFRAME_ABI_S390X == (int)OBJECT_ABI_S390X, "one number for a machine");

/* Completes a finding, and passes it over if the baseline has it. */
static bool judge_finding(void *data, struct finding *finding)
{
    const struct check *c = data;
    const struct check_policy *policy = c->options->policy;

    if (finding->text || (policy && policy->baseline.count > 0))
        finding->fingerprint = finding_fingerprint(finding, c->name, c->object);
    if (finding->severity == CHECK_NOTE)
        return true;
    finding->known = known_fault(c, finding);
    if (policy && policy->baseline_to && !c->first && !(finding->known && policy->allow_known))
        baseline_write(policy->baseline_to, c->name, finding, finding->fingerprint);
    return !policy || !baseline_has(&policy->baseline, finding->fingerprint);
}

static void take_finding(void *data, const struct finding *finding)
{
    const struct check *c = data;

    c->options->take(c->options->take_data, c, finding);
}

static void fail(struct check *c, uint64_t offset, const char *field, const char *cause)
{
    c->result->fault = (struct object_fault){ .field = field, .cause = cause, .offset = offset };
}

/*
 * Another offset of the rows: their length is the one that they have from there on, if they ended with the
 * section: both fields have the same fault then.
 */
static void keep_end(uint8_t *header, size_t size, const struct sframe_fix *fix, bool big)
{
    const uint64_t before = SFRAME_HEADER_SIZE + header[AT_HEADER_AUX];
    const uint64_t at = bytes_load(header + AT_HEADER_FRE_AT, 4, big);
    const uint64_t length = bytes_load(header + AT_HEADER_FRE_SIZE, 4, big);

    if (before + at + length == size && (uint64_t)fix->amount <= at + length)
        bytes_store(header + AT_HEADER_FRE_SIZE, 4, at + length - (uint64_t)fix->amount, big);
}

bool check_read(struct check *c)
{
    const struct sframe_fix *fix = &c->reading.fix;
    const bool header = fix->kind == FIX_HEADER && c->size >= SFRAME_HEADER_SIZE;
    const bool big = c->size >= 2 && bytes_load(c->data, 2, true) == SFRAME_MAGIC;

    if ((c->reading.version != 0 && c->size > AT_HEADER_VERSION) || header) {
        c->changed = malloc(c->size);
        if (!c->changed)
            return false;
        memcpy(c->changed, c->data, c->size);
        if (c->reading.version != 0)
            c->changed[AT_HEADER_VERSION] = c->reading.version;
        if (header && fix->at == AT_HEADER_FRE_AT)
            keep_end(c->changed, c->size, fix, big);
        if (header)
            bytes_store(c->changed + fix->at, fix->width, (uint64_t)fix->amount, big);
        c->data = c->changed;
    }
    if (!check_structure(c))
        return false;
    check_place_functions(c);
    return true;
}

void check_unread(struct check *c)
{
    for (size_t i = 0; i < c->part_count; i++)
        sframe_part_free(&c->parts[i]);
    free(c->parts);
    free(c->changed);
    c->parts = NULL;
    c->changed = NULL;
    c->part_count = c->part_capacity = 0;
}

/* Whether the table is of another file. */
static bool is_foreign(const struct check *c)
{
    return c->reading.fix.kind == FIX_FOREIGN;
}

/* The levels that read the section itself. */
static void check_section(struct check *c)
{
    struct check_result *r = c->result;

    r->has_section = true;
    if (!check_read(c)) {
        c->no_memory = true;
        return;
    }
    if (c->part_count == 0)
        return;
    r->version = c->parts[0].version->number;
    for (size_t i = 0; i < c->part_count; i++)
        r->functions += c->parts[i].fde_count;
    check_producer(c);
    check_order(c);
    check_rows(c);
    if (c->options->kernel)
        check_kernel(c);
    if (c->object && !is_foreign(c))
        check_places(c);
}

static void check_cfi(struct check *c)
{
    if (c->options->no_cfi || c->part_count == 0 || is_foreign(c) ||
        findings_are_enough(c->findings))
        return;
    if (c->object)
        check_against_cfi(c);
    else
        findings_add(c->findings, CODE_NO_EH_FRAME, in_file(0),
                     "a raw section: levels 1 to 3 only");
}

void check_count(struct findings *out, const struct check *c, const struct check_reading *reading)
{
    struct check_result result = *c->result;
    struct check sub = *c;

    sub.result = &result;
    sub.findings = out;
    sub.reading = *reading;
    out->folded = reading->fix.set;
    sub.options = &(struct check_options){ .no_cfi = c->options->no_cfi,
                                           .code = c->options->code,
                                           .kernel = c->options->kernel };
    check_section(&sub);
    check_cfi(&sub);
    check_against_code(&sub);
    check_unread(&sub);
    free(sub.functions);
}

/* For each code: how many more the section's own reading has. @return the sum */
static uint64_t subtract(uint64_t *out, const struct findings *without, const struct findings *with)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < check_code_count; i++) {
        if (without->of_code[i] > with->of_code[i])
            out[i] = without->of_code[i] - with->of_code[i];
        sum += out[i];
    }
    return sum;
}

/* Counts what one fault explains, then checks the section without that fault. */
static void explain(struct check *c, const struct cause *cause)
{
    const struct check_reading none = { .version = 0 };
    struct findings without = { .limit = 0 }, with = { .limit = 0 };
    const struct findings_ears ears = { .take = NULL };

    if (findings_init(&without, 0, &ears) && findings_init(&with, 0, &ears)) {
        check_count(&without, c, &none);
        check_count(&with, c, &cause->reading);
        cause_say(c, cause, subtract(c->findings->explained, &without, &with));
        c->reading = cause->reading;
        c->findings->folded = cause->reading.fix.set;
        c->cause = (unsigned)cause->code;
        c->cause_field = cause->reading.fix.kind == FIX_HEADER ? cause->reading.fix.at : 0;
    } else {
        c->no_memory = true;
    }
    findings_free(&without);
    findings_free(&with);
}

/* All levels, in the reading of c. */
static void check_levels(struct check *c)
{
    if (c->object)
        check_container(c);
    check_section(c);
    check_for_reader(c);
    check_cfi(c);
    check_against_code(c);
}

/*
 * The levels once, with findings that wait. @return false: they must run again: there is a cause, or more
 * findings than can wait
 */
static bool check_first(struct check *c, struct cause *cause)
{
    struct findings *f = c->findings;
    const struct check_policy *policy = c->options->policy;
    struct check sub = *c;
    bool again;

    *cause = (struct cause){ .code = 0 };
    f->holds = true;
    f->ears.data = &sub;
    sub.first = true;
    check_levels(&sub);
    f->ears.data = c;
    sub.first = false;
    again =
        !c->options->as_it_stands &&
        (f->by_severity[CHECK_ERROR] + f->by_severity[CHECK_WARNING] > 0 || c->options->reader) &&
        cause_find(cause, c);
    c->result->looks = cause->looks;
    again |= f->overflow || (policy && policy->baseline_to);
    if (!again) {
        *c = sub;
        return true;
    }
    c->no_memory |= sub.no_memory;
    check_unread(&sub);
    free(sub.functions);
    findings_restart(f);
    f->holds = false;
    return false;
}

static void check_whole(struct check *c)
{
    const struct check_result before = *c->result;
    struct cause cause;

    if (!check_first(c, &cause)) {
        c->result->comparison = before.comparison;
        c->result->functions = before.functions;
        c->result->rows = before.rows;
        if (cause.code != 0)
            explain(c, &cause);
        check_levels(c);
    }
    if (c->options->inspect)
        c->options->inspect(c, c->options->inspect_data);
    c->findings->folded = NULL;
    c->reading.fix.set = NULL;
    free(cause.reading.fix.set);
}

/* Without section headers the segment leads to the table. */
static bool take_segment(struct check *c)
{
    const struct object *o = c->object;
    struct object_sframe found;
    struct object_fault fault;

    if (o->section_count > 0 || object_find_sframe_segment(&found, &fault, o) != OBJECT_FOUND)
        return false;
    c->data = found.data;
    c->size = found.size;
    c->address = found.address;
    c->result->section_at = (uint64_t)(found.data - o->image);
    return true;
}

static void check_object(struct check *c)
{
    struct object *o = c->object;
    const size_t index = object_section_after(o, 0, ".sframe");
    const struct object_section *s;

    if (index == 0) {
        if (take_segment(c))
            check_whole(c);
        else
            check_container(c);
        return;
    }
    s = &o->sections[index];
    c->result->has_section = true;
    if (s->header.sh_type == SHT_NOBITS) {
        check_container(c);
        return;
    }
    if (!object_bytes(o, s)) {
        check_container(c);
        fail(c, s->header_at, ".sframe",
             s->header.sh_flags & SHF_COMPRESSED ? "the section is compressed"
                                                 : "the section ends past the file");
        return;
    }
    if (!object_relocate(&c->copy, o, index)) {
        c->no_memory = true;
        return;
    }
    c->data = object_bytes(o, s);
    c->size = s->header.sh_size;
    c->address = s->address;
    c->result->section_at = s->header.sh_offset;
    check_whole(c);
    if (c->part_count > 0)
        check_section_type(c, s);
    object_copy_free(&c->copy);
}

/* Opens a file, and reads what every level needs. */
static bool open_object(struct object *out, struct object_fault *fault, uint8_t *image, size_t size)
{
    if (size < SELFMAG || memcmp(image, ELFMAG, SELFMAG) != 0)
        return object_fault_set(fault, 0, NULL, "not an ELF file (--raw: a bare section)");
    if (!object_open(out, fault, image, size))
        return false;
    object_lay_out(out);
    if (object_find_code(out) && object_read_labels(out))
        return true;
    object_close(out);
    return object_fault_set(fault, 0, NULL, "out of memory");
}

void check_image(struct check_result *out, const char *name, uint8_t *image, size_t size,
                 const struct check_options *options)
{
    struct object object = { .image = NULL };
    struct known_facts facts = { .cfi = NULL };
    struct check c = {
        .name = name, .options = options, .result = out, .findings = &out->findings, .facts = &facts
    };

    *out = (struct check_result){ .has_section = false };
    if (!findings_init(&out->findings, options->limit,
                       &(struct findings_ears){
                           .take = options->take ? take_finding : NULL,
                           .judge = judge_finding,
                           .data = &c,
                           .policy = options->policy,
                           .judge_wants_text = options->policy && options->policy->baseline_to })) {
        fail(&c, 0, NULL, "out of memory");
        return;
    }
    if (options->raw) {
        c.data = image;
        c.size = size;
        c.address = options->raw_address;
        check_whole(&c);
        findings_release(&out->findings);
    } else if (open_object(&object, &out->fault, image, size)) {
        c.object = &object;
        check_object(&c);
        check_coverage(&c);
        findings_release(&out->findings);
        known_facts_free(&facts);
        object_close(&object);
    }
    check_unread(&c);
    free(c.functions);
    if (c.no_memory || out->findings.no_memory)
        fail(&c, 0, NULL, "out of memory");
}

void check_result_free(struct check_result *result)
{
    stats_free(&result->stats);
    findings_free(&result->findings);
}
