/*
 * sfb synth: makes an .sframe section from .eh_frame, for programs and libraries that were not
 * assembled with --gsframe. Writes its bytes, or a copy of the file that loads it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sfb/status.h>

#include "cli/options.h"
#include "cli/tool.h"
#include "cli/tool_files.h"
#include "symbols/code_ranges.h"
#include "symbols/eh_frame.h"
#include "toolchain/synth/elf_copy.h"
#include "toolchain/synth/elf_loadable.h"
#include "toolchain/synth/outcome.h"
#include "toolchain/synth/synthesis.h"
#include "util/number.h"

enum synth_option {
    OPTION_OUTPUT = OPTION_FIRST,
    OPTION_SECTION_ONLY,
    OPTION_VMA,
    OPTION_SFRAME_VERSION,
    OPTION_FORCE,
    OPTION_VERBOSE
};

struct synth_options {
    const char *out; /* NULL: only the report */
    bool section_only, force, verbose;
    const uint64_t *vma; /* NULL: where a copy would have it */
    unsigned version;    /* 0: the oldest that states every row that any could */
};

/* One file on its way. */
struct job {
    const struct synth_options *options;
    const struct input *input;
    struct stat status; /* of the input */
    struct object object;
    struct elf_copy copy;
    struct object_eh_frame view;
    uint64_t address; /* of the section */
    struct synthesis synthesis;
    struct synthesis_choice choice;
    uint8_t *section;
    size_t section_size;
    uint32_t stored_rows;
};

static enum tool_exit complain_of(const struct job *job, const struct object_fault *fault)
{
    return tool_complain_of(TOOL_BAD_DATA, job->input->name, fault);
}

/* A section can be made all the same, if its address is given. */
static enum tool_exit complain_of_copy(const struct job *job, const struct object_fault *fault)
{
    return tool_complain(TOOL_BAD_DATA,
                         "%s: +0x%" PRIx64 ": %s: %s: no copy can be made, the bytes alone with "
                         "--section-only --vma",
                         job->input->name, fault->offset, fault->field, fault->cause);
}

static enum tool_exit out_of_memory(const struct job *job)
{
    return tool_complain(TOOL_USAGE, "%s: %s", job->input->name, strerror(ENOMEM));
}

static enum tool_exit encode_by(struct job *job, struct synth_encoder *encoder)
{
    struct sfb_error error = { SFB_OK, NULL, 0 };
    struct object_fault fault;
    enum synthesis_result result;

    result = synthesize(&job->synthesis, encoder, &job->view.eh, &job->object, &error);
    if (result == SYNTHESIS_BAD_DATA) {
        object_fault_set(&fault, object_eh_frame_offset(&job->view, &job->object, error.offset),
                         error.field, sfb_status_str(error.status));
        return complain_of(job, &fault);
    }
    if (result != SYNTHESIS_DONE ||
        !synth_encoder_finish(encoder, &job->section, &job->section_size, &job->stored_rows))
        return out_of_memory(job);
    return TOOL_DONE;
}

static enum tool_exit encode_in(struct job *job, unsigned version)
{
    struct synth_encoder encoder;
    enum tool_exit result;

    job->choice.version = version;
    synth_encoder_init(&encoder, version, (enum sfb_abi)job->object.abi, job->address);
    result = encode_by(job, &encoder);
    synth_encoder_free(&encoder);
    return result;
}

/* Where the version is not given: the oldest, unless a function needs the newest. */
static enum tool_exit encode(struct job *job)
{
    const unsigned version = job->options->version;
    enum tool_exit result;

    if (!object_find_code(&job->object))
        return out_of_memory(job);
    result = encode_in(job, version ? version : SYNTH_OLDEST);
    if (result != TOOL_DONE || version || !job->synthesis.newer_reason)
        return result;
    job->choice.because = job->synthesis.newer_reason;
    job->choice.function = job->synthesis.newer;
    synthesis_free(&job->synthesis);
    free(job->section);
    job->section = NULL;
    return encode_in(job, SYNTH_NEWEST);
}

static void report(const struct job *job)
{
    const bool to_stdout = job->options->out && strcmp(job->options->out, "-") == 0;
    const struct synthesis_size size = {
        .address = job->address,
        .bytes = job->section_size,
        .eh_frame = job->synthesis.eh_frame_size + job->view.hdr_size,
        .stored_rows = job->stored_rows,
    };
    FILE *to = to_stdout ? stderr : stdout;

    synthesis_report(to, job->input->name, &job->synthesis, &size, job->options->verbose);
    if (job->options->version == 0)
        synthesis_report_choice(to, &job->choice);
}

/* Permissions are the input's, but not those to run with its owner's rights. */
static unsigned output_mode(const struct job *job)
{
    mode_t mask = umask(0);

    umask(mask);
    if (job->options->section_only)
        return 0666 & ~mask;
    return S_ISREG(job->status.st_mode) ? job->status.st_mode & 0777 : 0777 & ~mask;
}

/* GNU ld has a type of its own for the section since 2.45, which is the first that knows version 3.
 */
static uint32_t section_type(const struct job *job)
{
    return job->choice.version < 3 ? SHT_PROGBITS : SFB_SHT_GNU_SFRAME;
}

static enum tool_exit write_out(struct job *job)
{
    const struct output_part section = { 0, job->section, job->section_size };
    bool good;

    if (job->options->section_only)
        return tool_write(job->options->out, output_mode(job), &section, 1) ? TOOL_DONE
                                                                            : TOOL_USAGE;
    if (!elf_copy_make(&job->copy, &job->object, job->section, job->section_size,
                       section_type(job)))
        return out_of_memory(job);
    good = tool_write(job->options->out, output_mode(job), job->copy.parts, 2);
    free(job->copy.appended);
    return good ? TOOL_DONE : TOOL_USAGE;
}

static bool has_section(const struct object *o)
{
    const GElf_Phdr *segment = object_segment(o, SFB_PT_GNU_SFRAME);

    /* objcopy -R .sframe leaves an empty segment behind. */
    return object_section_after(o, 0, ".sframe") != 0 || (segment && segment->p_filesz > 0);
}

static enum tool_exit make(struct job *job)
{
    const bool copies = job->options->out && !job->options->section_only;
    struct object_fault fault;
    enum tool_exit result;

    if (copies && !job->options->force && has_section(&job->object))
        return tool_complain(TOOL_BAD_DATA,
                             "%s: there is an .sframe already: --force replaces it, --section-only "
                             "leaves it alone",
                             job->input->name);
    if (!object_eh_frame_open(&job->view, &fault, &job->object))
        return complain_of(job, &fault);
    if (!job->options->vma && !elf_copy_plan(&job->copy, &fault, &job->object))
        return complain_of_copy(job, &fault);
    job->address = job->options->vma ? *job->options->vma : job->copy.section_address;
    result = encode(job);
    if (result != TOOL_DONE)
        return result;
    if (job->options->out && job->synthesis.row_count == 0)
        return tool_complain(TOOL_BAD_DATA,
                             "%s: .eh_frame: no function that a row can be made of: the section "
                             "would be empty",
                             job->input->name);
    if (job->options->out)
        result = write_out(job);
    if (result == TOOL_DONE)
        report(job);
    return result;
}

/* Whether the output would take the place of the input, under whatever name. */
static bool is_input(const struct job *job)
{
    struct stat out;

    return job->options->out && strcmp(job->options->out, "-") != 0 &&
           S_ISREG(job->status.st_mode) && stat(job->options->out, &out) == 0 &&
           out.st_dev == job->status.st_dev && out.st_ino == job->status.st_ino;
}

static enum tool_exit run_file(const struct tool_command *command,
                               const struct synth_options *options, const char *path)
{
    struct input input;
    struct job job = { .options = options, .input = &input };
    struct object_fault fault;
    enum tool_exit result;

    if (!tool_read(&input, path))
        return TOOL_USAGE;
    if ((strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &job.status) : stat(path, &job.status)) != 0)
        memset(&job.status, 0, sizeof job.status);
    if (is_input(&job))
        result = tool_misused(command, "the output is the input itself");
    else if (!elf_loadable_open(&job.object, &fault, input.data, input.size))
        result = complain_of(&job, &fault);
    else
        result = make(&job);
    synthesis_free(&job.synthesis);
    free(job.section);
    object_eh_frame_close(&job.view);
    object_close(&job.object);
    input_free(&input);
    return result;
}

static bool read_version(unsigned *version, const char *argument)
{
    uint64_t number = 0;

    if (strcmp(argument, "auto") != 0 &&
        (!number_of_argument(argument, &number) || number < SYNTH_OLDEST || number > SYNTH_NEWEST))
        return false;
    *version = (unsigned)number;
    return true;
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    struct synth_options synth = { .version = SYNTH_OLDEST };
    enum tool_exit exit_status = TOOL_DONE;
    uint64_t vma = 0;

    for (int o; (o = options_next(command, argc, argv, &exit_status)) != -1;) {
        switch (o) {
        case OPTION_OUTPUT: synth.out = optarg; break;
        case OPTION_SECTION_ONLY: synth.section_only = true; break;
        case OPTION_FORCE: synth.force = true; break;
        case OPTION_VERBOSE: synth.verbose = true; break;
        case OPTION_VMA:
            if (!number_of_argument(optarg, &vma))
                return tool_misused(command, "'%s' is no address", optarg);
            synth.vma = &vma;
            break;
        case OPTION_SFRAME_VERSION:
            if (!read_version(&synth.version, optarg))
                return tool_misused(
                    command, "'%s' is no version that is written: 1, 2, 3 and auto are", optarg);
            break;
        default: return exit_status;
        }
    }
    if (synth.vma && !synth.section_only)
        return tool_misused(command,
                            "--vma goes with --section-only: in a copy there is one place");
    if (optind == argc)
        return tool_misused(command, "no file given");
    if (argc - optind > 1)
        return tool_misused(command, "more than one file given");
    return run_file(command, &synth, argv[optind]);
}

static const struct tool_option options[] = {
    { OPTION_OUTPUT, 'o', "output", TAKES_ARGUMENT, "OUT",
      "write a copy of FILE that loads the section; - is stdout, and the report then goes to "
      "stderr. OUT has the permissions of FILE" },
    { OPTION_SECTION_ONLY, 0, "section-only", TAKES_NOTHING, NULL,
      "write the bytes of the section, and no copy" },
    { OPTION_VMA, 0, "vma", TAKES_ARGUMENT, "ADDRESS",
      "where such bytes will lie, on which they depend; if not given, where a copy would have "
      "them" },
    { OPTION_SFRAME_VERSION, 0, "sframe-version", TAKES_ARGUMENT, "N",
      "version of the format: 1 (the default), as binutils 2.40 has it; 2, which 2.41 and later "
      "read and glibc's backtrace() from 2.42 on; 3, of 2.46 and later, which states nearly all "
      "that .eh_frame does; auto: 3 if a function needs it, which the report names, else 1" },
    { OPTION_FORCE, 0, "force", TAKES_NOTHING, NULL, "replace a section that is there already" },
    { OPTION_VERBOSE, 'v', "verbose", TAKES_NOTHING, NULL,
      "list what is left out, with its addresses" },
    OPTIONS_END,
};

static const struct option_group groups[] = { { NULL, options, NULL }, OPTION_GROUPS_END };

const struct tool_command tool_synth = {
    .name = "synth",
    .summary = "make an SFrame section from the .eh_frame of an ELF file",
    .usage = "sfb synth [OPTION...] FILE",
    .about = "Makes an .sframe section from the .eh_frame of a program or a shared library of "
             "x86-64 or AArch64 (- is stdin), and says what came of it: how many functions and "
             "rows, the size, and what .sframe cannot express and is therefore left out. Without "
             "-o that is all.\n",
    .options = groups,
    .more = "In the copy a new read-only segment behind all others holds the section. Room for its "
            "program headers is made by moving .gnu.hash there, too (or .hash, .dynsym). OUT is "
            "written under another name and renamed.\n",
    .exits = "Exit status 1: FILE has no .eh_frame that can be searched, no function there that "
             "can be expressed, no room for program headers, is not for these machines, or "
             "contradicts itself; stderr says where, and nothing is written. If some functions can "
             "be expressed and others cannot, that is no failure.\n",
    .run = run,
};
