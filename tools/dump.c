/*
 * sfb dump: an SFrame section as text, byte for byte what `objdump --sframe` of the binutils
 * release prints that writes its version: see dump_text.c.
 *
 * Unlike objdump it prints while it reads: what comes before a bad entry or row is shown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sfb/section.h>

#include "dump_text.h"
#include "elf_relocate.h"
#include "elf_section.h"
#include "foreign.h"
#include "input.h"
#include "number.h"
#include "tool.h"

enum { OPTION_RAW_SECTION = TOOL_OPTION_FIRST, OPTION_RESOLVE, OPTION_VMA };

/* Where the header says of which version and for which machine it is. */
enum { VERSION_AT = 2, ABI_AT = 4, ABI_S390X = 4 };

struct dump_options {
    bool raw_section;
    bool resolve;
    uint64_t vma;
};

/*
 * What objdump takes a start for. In versions 1 and 2 it goes by the flag alone, and before 2.45 by
 * nothing: a section that nobody merged, and an object file's, has other starts than it prints.
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

static enum tool_exit complain_of_file(const char *file, const struct elf_fault *fault)
{
    return tool_complain(TOOL_BAD_DATA, "%s: +0x%" PRIx64 ": %s%s%s", file, fault->offset,
                         fault->field ? fault->field : "", fault->field ? ": " : "", fault->cause);
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

static enum tool_exit dump_section(const struct input *input, const struct elf_section *found,
                                   const struct dump_options *options)
{
    struct sfb_section section;
    struct sfb_error error = { SFB_OK, NULL, 0 };
    struct elf_fault fault;
    enum sfb_status status;

    printf("\n");
    foreign_print(stdout, input->name);
    printf(":     file format %s\n\n", found->format);
    status = sfb_section_open(&section, found->data, found->size, found->vma, &error);
    if (status != SFB_OK && is_s390x(&error, found->data, found->size))
        return tool_complain(TOOL_BAD_DATA,
                             "%s: .sframe+0x%" PRIx64 ": %s: ABI 4 (s390x) is not supported: "
                             "x86-64 and AArch64 are ('sfb check' reads it)",
                             input->name, error.offset, error.field);
    if (status == SFB_OK && !options->raw_section && has_to_be_relocated(&section, options) &&
        elf_relocate(found, &fault, input->data, input->size) == ELF_FAULTY)
        return complain_of_file(input->name, &fault);
    if (status == SFB_OK)
        status = dump_headers(&section, options->resolve, &error);
    return status == SFB_OK ? TOOL_DONE : complain_of_section(input->name, &error);
}

static enum tool_exit dump_input(const struct input *input, const struct dump_options *options)
{
    struct elf_section section = { input->data, input->size, options->vma, "binary" };
    struct elf_fault fault;

    if (options->raw_section)
        return dump_section(input, &section, options);
    switch (elf_section_find(&section, &fault, input->data, input->size)) {
    case ELF_FOUND: return dump_section(input, &section, options);
    case ELF_ABSENT: return tool_complain(TOOL_BAD_DATA, "%s: no .sframe section", input->name);
    case ELF_FAULTY: break;
    }
    return complain_of_file(input->name, &fault);
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    static const struct option options[] = { TOOL_OPTION_HELP_ENTRY,
                                             { "raw-section", no_argument, NULL,
                                               OPTION_RAW_SECTION },
                                             { "resolve", no_argument, NULL, OPTION_RESOLVE },
                                             { "vma", required_argument, NULL, OPTION_VMA },
                                             { NULL, 0, NULL, 0 } };
    struct dump_options dump = { false, false, 0 };
    enum tool_exit exit_status = TOOL_DONE;
    bool have_vma = false;

    for (int o; (o = tool_option(command, argc, argv, options, &exit_status)) != -1;) {
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

        if (!input_read(&input, argv[optind])) {
            exit_status = TOOL_USAGE;
            continue;
        }
        exit_status = tool_worse(exit_status, dump_input(&input, &dump));
        input_free(&input);
    }
    return exit_status;
}

const struct tool_command tool_dump = {
    .name = "dump",
    .summary = "print the SFrame section of an ELF file as objdump --sframe does",
    .usage = "sfb dump [OPTION...] FILE...\n"
             "\n"
             "Prints header, functions and rows of the .sframe section of each ELF file (program,\n"
             "library or object file; - is stdin), in the format of objdump --sframe of the\n"
             "binutils release that writes its version of SFrame: 2.40 for version 1, 2.44 for 2,\n"
             "2.47 for 3.\n"
             "\n"
             "objdump 2.44 and older do not relocate object files, so that functions start at 0,\n"
             "count the starts in a section that was not merged (by gold, lld, mold 1) from the\n"
             "wrong place, and all releases show only the first of its headers.\n"
             "\n"
             "  --resolve      the starts that functions really have, and all headers\n"
             "  --raw-section  FILE holds the bytes of a section, not an ELF file\n"
             "  --vma ADDRESS  address of a raw section; 0 if not given\n"
             "  --help         this text\n"
             "\n"
             "Exit status 1: a file has no .sframe, its .sframe contradicts the specification, or\n"
             "is for s390x, which is not supported.\n"
             "What comes before the first bad byte is printed, and stderr says where that is.\n",
    .run = run,
};
