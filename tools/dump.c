/*
 * sfb dump: an SFrame section as text, byte for byte what `objdump --sframe` of binutils 2.40
 * prints (libsframe/sframe-dump.c there), down to the blanks at the ends of lines, so that the two
 * can be compared with diff.
 *
 * Unlike objdump it prints while it reads: what comes before a bad entry or row is shown.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <sfb/section.h>

#include "elf_section.h"
#include "input.h"
#include "tool.h"

enum { OPTION_RAW_SECTION = TOOL_OPTION_FIRST, OPTION_VMA };

struct dump_options {
    bool raw_section;
    uint64_t vma;
};

static void print_header(const struct sfb_section *s)
{
    const char *flags = "NONE";

    if (s->flags & SFB_SECTION_FDE_SORTED)
        flags = "SFRAME_F_FDE_SORTED";
    if (s->flags & SFB_SECTION_FRAME_POINTER)
        flags = "SFRAME_F_FRAME_POINTER"; /* objdump, too, shows only this one if both are set */
    printf("Contents of the SFrame section .sframe:\n"
           "  Header :\n"
           "\n"
           "    Version: SFRAME_VERSION_%u\n"
           "    Flags: %s\n"
           "    Num FDEs: %" PRIu32 "\n"
           "    Num FREs: %" PRIu32 "\n"
           "\n"
           "  Function Index :\n",
           s->version, flags, s->fde_count, s->fre_count);
}

static void print_function(const struct sfb_section *s, const struct sfb_fde *f)
{
    printf("\n    func idx [%" PRIu32 "]: pc = 0x%" PRIx64 ", size = %" PRIu32 " bytes%s\n",
           f->index, f->start, f->size,
           f->key_b && s->abi != SFB_ABI_AMD64_LE ? ", pauth = B key" : "");
    printf("    %-7s%-8s %-10s%-10s%-13s\n", "STARTPC", f->type == SFB_FDE_PCMASK ? "[m]" : "   ",
           "CFA", "FP", "RA");
}

/* "c-16" for a register saved at CFA-16, "u" for one that is where it was. */
static void print_saved(char *out, size_t size, bool saved, int32_t offset)
{
    if (saved)
        snprintf(out, size, "c%+" PRId32, offset);
    else
        snprintf(out, size, "u");
}

static void print_row(const struct sfb_section *s, const struct sfb_fde *f, const struct sfb_fre *r)
{
    /* The stored offsets are CFA, then RA unless the header fixes it, then fp. */
    unsigned fp_index = s->fixed_ra ? 1 : 2;
    char cfa[24], fp[24], saved_ra[24], ra[32];

    snprintf(cfa, sizeof cfa, "%s+%" PRId32, r->cfa_base == SFB_BASE_FP ? "fp" : "sp",
             r->offset[0]);
    if (s->fixed_fp)
        print_saved(fp, sizeof fp, true, s->fixed_fp);
    else
        print_saved(fp, sizeof fp, r->offset_count > fp_index, r->offset[fp_index]);
    print_saved(saved_ra, sizeof saved_ra, !s->fixed_ra && r->offset_count > 1, r->offset[1]);
    snprintf(ra, sizeof ra, "%s%s", saved_ra, r->mangled_ra ? "[s]" : "   ");

    /* In a PCMASK function rows start at a byte of each block, not at an address. */
    printf("    %016" PRIx64 "  %-10s%-10s%-13s\n",
           f->type == SFB_FDE_PCMASK ? r->start : f->start + r->start, cfa, fp, ra);
}

static enum sfb_status dump_functions(const struct sfb_section *s, struct sfb_error *error)
{
    for (uint32_t i = 0; i < s->fde_count; i++) {
        struct sfb_fde f;
        enum sfb_status status = sfb_fde_read(s, i, &f, error);
        uint32_t position;

        if (status != SFB_OK)
            return status;
        print_function(s, &f);
        position = f.fre_offset;
        for (uint32_t row = 0; row < f.fre_count; row++) {
            struct sfb_fre r;

            status = sfb_fre_read(s, &f, position, &r, error);
            if (status != SFB_OK)
                return status;
            print_row(s, &f, &r);
            position = r.position + r.size;
        }
    }
    return SFB_OK;
}

static enum tool_exit dump_section(const char *file, const struct elf_section *found)
{
    struct sfb_section section;
    struct sfb_error error = { SFB_OK, NULL, 0 };
    enum sfb_status status;

    printf("\n%s:     file format %s\n\n", file, found->format);
    status = sfb_section_open(&section, found->data, found->size, found->vma, &error);
    if (status == SFB_OK) {
        print_header(&section);
        status = dump_functions(&section, &error);
    }
    if (status == SFB_OK)
        return TOOL_DONE;
    return tool_complain(TOOL_BAD_DATA, "%s: .sframe+0x%" PRIx64 ": %s: %s", file, error.offset,
                         error.field ? error.field : "section", sfb_status_str(status));
}

static enum tool_exit dump_input(const struct input *input, const struct dump_options *options)
{
    struct elf_section section = { input->data, input->size, options->vma, "binary" };
    struct elf_fault fault;

    if (options->raw_section)
        return dump_section(input->name, &section);
    switch (elf_section_find(&section, &fault, input->data, input->size)) {
    case ELF_FOUND: return dump_section(input->name, &section);
    case ELF_ABSENT: return tool_complain(TOOL_BAD_DATA, "%s: no .sframe section", input->name);
    case ELF_FAULTY: break;
    }
    return tool_complain(TOOL_BAD_DATA, "%s: +0x%" PRIx64 ": %s%s%s", input->name, fault.offset,
                         fault.field ? fault.field : "", fault.field ? ": " : "", fault.cause);
}

static bool parse_address(const char *text, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0' && text[0] >= '0' && text[0] <= '9';
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    static const struct option options[] = { TOOL_OPTION_HELP_ENTRY,
                                             { "raw-section", no_argument, NULL,
                                               OPTION_RAW_SECTION },
                                             { "vma", required_argument, NULL, OPTION_VMA },
                                             { NULL, 0, NULL, 0 } };
    struct dump_options dump = { false, 0 };
    enum tool_exit exit_status = TOOL_DONE;
    bool have_vma = false;

    for (int o; (o = tool_option(command, argc, argv, options, &exit_status)) != -1;) {
        if (o == '?')
            return exit_status;
        if (o == OPTION_RAW_SECTION)
            dump.raw_section = true;
        if (o == OPTION_VMA && !parse_address(optarg, &dump.vma))
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
             "library or object file; - is stdin), in the format of objdump --sframe of binutils\n"
             "2.40. In object files no relocation is applied, so that functions start at 0.\n"
             "\n"
             "  --raw-section  FILE holds the bytes of a section, not an ELF file\n"
             "  --vma ADDRESS  address of a raw section; 0 if not given\n"
             "  --help         this text\n"
             "\n"
             "Exit status 1: a file has no .sframe, or its .sframe contradicts the specification.\n"
             "What comes before the first bad byte is printed, and stderr says where that is.\n",
    .run = run,
};
