/*
 * sfb dump: an SFrame section as text, byte for byte what `objdump --sframe` of the binutils
 * release prints that writes its version: see dump_text.c.
 *
 * Unlike objdump it prints while it reads: what comes before a bad entry or row is shown.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sfb/section.h>

#include "cli/options.h"
#include "cli/tool.h"
#include "cli/tool_files.h"
#include "symbols/relocate.h"
#include "symbols/sframe.h"
#include "toolchain/dump/dump_text.h"
#include "util/foreign.h"
#include "util/number.h"

enum dump_option { OPTION_RAW_SECTION = OPTION_FIRST, OPTION_RESOLVE, OPTION_VMA };

/* Where the header says of which version and for which machine it is. */
enum { VERSION_AT = 2, ABI_AT = 4, ABI_S390X = 4 };

struct dump_options {
    bool raw_section;
    bool resolve;
    uint64_t vma;
};

/*
 * How objdump reads a start address. In versions 1 and 2 it uses the flag alone; before 2.45 it ignores
 * the flag too. So its starts are wrong for object files and for sections that were not merged.
 */
static bool objdump_counts_from_field(const struct sfb_section *s)
{
    return (s->flags & SFB_SECTION_FIELD_RELATIVE) != 0;
}

/* objdump 2.45 and later, which are the ones that can read such a section, relocate. */
static bool has_to_be_relocated(const struct sfb_section *s, const struct dump_options *options)
{
    return options->resolve || objdump_counts_from_field(s);
}

/*
 * s390x, ABI 4 of versions 2 and 3. The library has no rules for it, and so does not read its
 * tables; the specification has nothing against them.
 */
static bool is_s390x(const struct sfb_error *error, const uint8_t *data, size_t size)
{
    return size > ABI_AT && error->field && strcmp(error->field, "sfh_abi_arch") == 0 &&
           data[VERSION_AT] >= 2 && data[ABI_AT] == ABI_S390X;
}

static enum tool_exit complain_of_section(const char *file, const struct sfb_error *error)
{
    return tool_complain(TOOL_BAD_DATA, "%s: .sframe+0x%" PRIx64 ": %s: %s", file, error->offset,
                         error->field ? error->field : "section", sfb_status_str(error->status));
}

/* All headers, where they are to be resolved; objdump looks at the first. */
static enum sfb_status dump_headers(struct sfb_section *s, bool resolve, struct sfb_error *error)
{
    const uint8_t *start = s->data;
    enum sfb_status status;

    if (!resolve)
        s->field_relative = objdump_counts_from_field(s);
    while ((status = dump_text(s, error)) == SFB_OK && resolve && s->rest != 0) {
        const uint64_t before = (uint64_t)(s->data - start);

        printf("\n");
        status = sfb_section_next(s, s, error);
        if (status != SFB_OK) {
            error->offset += before;
            return status;
        }
    }
    if (status != SFB_OK)
        error->offset += (uint64_t)(s->data - start);
    return status;
}

/* The section that is dumped, and its file. */
struct source {
    const char *name, *format; /* format: as BFD calls it, and objdump prints it */
    struct object_sframe section;
    const struct object *object; /* NULL: a raw section */
    struct object_copy copy;     /* of an object file's section, if it had to be relocated */
};

/* What BFD calls the format of a file. */
static const char *format_name(const GElf_Ehdr *header)
{
    static const struct {
        GElf_Half machine;
        unsigned char class, order;
        const char *name;
    } formats[] = {
        { EM_X86_64, ELFCLASS64, ELFDATA2LSB, "elf64-x86-64" },
        { EM_X86_64, ELFCLASS32, ELFDATA2LSB, "elf32-x86-64" },
        { EM_AARCH64, ELFCLASS64, ELFDATA2LSB, "elf64-littleaarch64" },
        { EM_AARCH64, ELFCLASS64, ELFDATA2MSB, "elf64-bigaarch64" },
        { EM_386, ELFCLASS32, ELFDATA2LSB, "elf32-i386" },
        { EM_S390, ELFCLASS64, ELFDATA2MSB, "elf64-s390" },
    };
    const bool big = header->e_ident[EI_DATA] == ELFDATA2MSB;

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].machine == header->e_machine &&
            formats[i].class == header->e_ident[EI_CLASS] &&
            formats[i].order == header->e_ident[EI_DATA])
            return formats[i].name;
    /* What a BFD that was built without the target calls it. */
    if (header->e_ident[EI_CLASS] == ELFCLASS32)
        return big ? "elf32-big" : "elf32-little";
    return big ? "elf64-big" : "elf64-little";
}

/* The first relocation that .sframe does not have, or that cannot be applied. */
static bool judge_relocations(struct object_fault *fault, const struct source *s)
{
    for (size_t i = 0; i < s->copy.relocation_count; i++) {
        const struct object_relocation *r = &s->copy.relocations[i];
        uint32_t narrow = 0, wide = 0;

        object_start_type(s->object, 4, &narrow);
        object_start_type(s->object, 8, &wide);
        if (object_is_no_relocation(s->object, r->type))
            continue;
        if (r->type != narrow && r->type != wide)
            return object_fault_set(fault, r->at, "r_info", "not a relocation that .sframe has");
        if (r->cause)
            return object_fault_set(fault, r->at, r->field, r->cause);
    }
    return true;
}

/*
 * Replaces the section of an object file by a copy in which starts of functions, which are 0 until
 * then, are distances from the field to the function, whose section is taken to lie at its own
 * address, 0 as a rule.
 */
static enum tool_exit relocate(struct source *s, struct sfb_section *section)
{
    struct object_fault fault;

    if (!object_relocate(&s->copy, s->object, s->section.section))
        return tool_complain(TOOL_USAGE, "%s: %s", s->name, strerror(ENOMEM));
    fault = s->copy.fault;
    if (fault.cause || !judge_relocations(&fault, s))
        return tool_complain_of(TOOL_BAD_DATA, s->name, &fault);
    if (sfb_section_open(section, s->copy.bytes, s->copy.size, s->section.address, NULL) != SFB_OK)
        return tool_complain(TOOL_BAD_DATA, "%s: .sframe: a relocation of its header", s->name);
    return TOOL_DONE;
}

static enum tool_exit dump_section(struct source *s, const struct dump_options *options)
{
    const struct object_sframe *found = &s->section;
    struct sfb_section section;
    struct sfb_error error = { SFB_OK, NULL, 0 };
    enum tool_exit result = TOOL_DONE;
    enum sfb_status status;

    printf("\n");
    foreign_print(stdout, s->name);
    printf(":     file format %s\n\n", s->format);
    status = sfb_section_open(&section, found->data, found->size, found->address, &error);
    if (status != SFB_OK && is_s390x(&error, found->data, found->size))
        return tool_complain(TOOL_BAD_DATA,
                             "%s: .sframe+0x%" PRIx64 ": %s: ABI 4 (s390x) is not supported: "
                             "x86-64 and AArch64 are ('sfb check' reads it)",
                             s->name, error.offset, error.field);
    if (status == SFB_OK && s->object && s->object->relocatable && found->section != 0 &&
        has_to_be_relocated(&section, options))
        result = relocate(s, &section);
    if (result != TOOL_DONE)
        return result;
    if (status == SFB_OK)
        status = dump_headers(&section, options->resolve, &error);
    return status == SFB_OK ? TOOL_DONE : complain_of_section(s->name, &error);
}

static enum tool_exit dump_object(const struct input *input, const struct object *object,
                                  const struct dump_options *options)
{
    struct source source = { .name = input->name, .object = object };
    struct object_fault fault;
    enum tool_exit result;

    switch (object_find_sframe(&source.section, &fault, object)) {
    case OBJECT_FOUND: break;
    case OBJECT_ABSENT: return tool_complain(TOOL_BAD_DATA, "%s: no .sframe section", input->name);
    case OBJECT_FAULTY: return tool_complain_of(TOOL_BAD_DATA, input->name, &fault);
    }
    source.format = format_name(&object->header);
    result = dump_section(&source, options);
    object_copy_free(&source.copy);
    return result;
}

static enum tool_exit dump_input(const struct input *input, const struct dump_options *options)
{
    struct source raw = { .name = input->name,
                          .format = "binary",
                          .section = { input->data, input->size, options->vma, 0 } };
    struct object_fault fault;
    struct object object;
    enum tool_exit result;

    if (options->raw_section)
        return dump_section(&raw, options);
    if (!object_open(&object, &fault, input->data, input->size))
        return tool_complain_of(TOOL_BAD_DATA, input->name, &fault);
    result = dump_object(input, &object, options);
    object_close(&object);
    return result;
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    struct dump_options dump = { false, false, 0 };
    enum tool_exit exit_status = TOOL_DONE;
    bool have_vma = false;

    for (int o; (o = options_next(command, argc, argv, &exit_status)) != -1;) {
        if (o == '?')
            return exit_status;
        if (o == OPTION_RAW_SECTION)
            dump.raw_section = true;
        if (o == OPTION_RESOLVE)
            dump.resolve = true;
        if (o == OPTION_VMA && !number_of_argument(optarg, &dump.vma))
            return tool_misused(command, "'%s' is no address", optarg);
        have_vma |= o == OPTION_VMA;
    }
    if (have_vma && !dump.raw_section)
        return tool_misused(command, "--vma goes with --raw-section: an ELF file says where it is");
    if (optind == argc)
        return tool_misused(command, "no file given");
    for (; optind < argc; optind++) {
        struct input input;

        if (!tool_read(&input, argv[optind])) {
            exit_status = TOOL_USAGE;
            continue;
        }
        exit_status = tool_worse(exit_status, dump_input(&input, &dump));
        input_free(&input);
    }
    return exit_status;
}

static const struct tool_option options[] = {
    { OPTION_RESOLVE, 0, "resolve", TAKES_NOTHING, NULL,
      "the starts that functions really have, and all headers" },
    { OPTION_RAW_SECTION, 0, "raw-section", TAKES_NOTHING, NULL,
      "FILE holds the bytes of a section, not an ELF file" },
    { OPTION_VMA, 0, "vma", TAKES_ARGUMENT, "ADDRESS", "address of a raw section; 0 if not given" },
    OPTIONS_END,
};

static const struct option_group groups[] = { { NULL, options, NULL }, OPTION_GROUPS_END };

static const struct option_habit of_objdump[] = {
    { HABIT_NEEDLESS, 0, "sframe", TAKES_OPTIONAL, NULL, NULL },
    OPTION_HABITS_END,
};

static const struct option_habits habits = { "objdump", of_objdump, "it shows nothing else" };

const struct tool_command tool_dump = {
    .name = "dump",
    .summary = "print the SFrame section of an ELF file as objdump --sframe does",
    .usage = "sfb dump [OPTION...] FILE...",
    .about = "Prints header, functions and rows of the .sframe section of each ELF file (program, "
             "library or object file; - is stdin), in the format of objdump --sframe of the "
             "binutils release that writes its version of SFrame: 2.40 for version 1, 2.44 for 2, "
             "2.47 for 3.\n"
             "\n"
             "objdump 2.44 and older do not relocate object files, so that functions start at 0, "
             "count the starts in a section that was not merged (by gold, lld, mold 1) from the "
             "wrong place, and all releases show only the first of its headers.\n",
    .options = groups,
    .habits = &habits,
    .exits = "Exit status 1: a file has no .sframe, its .sframe contradicts the specification, or "
             "is for s390x, which is not supported. What comes before the first bad byte is "
             "printed, and stderr says where that is.\n",
    .run = run,
};
