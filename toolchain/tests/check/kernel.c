/* `sfb check --kernel`: what a kernel's table may lack, and what its reader refuses. */
#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "toolchain/tests/check/folder.h"

TestSuite(check_kernel, .init = make_folder, .fini = remove_folder);

/* Writes a file like one of a linker script without a segment for the table. */
static void write_kernel(const char *name, const struct file_plan *plan)
{
    static struct file f;

    file_make(&f, plan);
    file_set(&f, file_phdr(3, offsetof(Elf64_Phdr, p_type)), 4, PT_NULL);
    write_file(name, &f);
}

#define KERNEL(...)                                                                                \
    write_kernel("vmlinux", &(struct file_plan){ .abi = SFB_ABI_AMD64_LE, __VA_ARGS__ })

static struct run check(const char *options)
{
    return run_line("cd '%s' && '%s' check %s vmlinux", folder, SFB_TOOL, options);
}

Test(check_kernel, wants_neither_segment_nor_eh_frame)
{
    struct run run;

    KERNEL(.version = 3, .without_eh_frame = true);
    run = check("");
    cr_expect(eq(int, run.status, 1));
    cr_expect(strstr(run.out, "SF0136 error: no PT_GNU_SFRAME") != NULL, "%s", run.out);
    cr_expect(strstr(run.out, "SF0512 note") != NULL, "%s", run.out);
    run_free(&run);
    run = check("--kernel");
    cr_expect(eq(int, run.status, 0), "%s", run.out);
    cr_expect(strstr(run.out, "SF0136") == NULL && strstr(run.out, "SF0512") == NULL, "%s",
              run.out);
    run_free(&run);
}

Test(check_kernel, refuses_what_the_reader_does)
{
    static const struct {
        struct file_plan plan;
        int plain; /* exit status without --kernel, of a file with a segment */
        const char *says;
    } cases[] = {
        { { .version = 1 },
          0,
          "SF0603 error: a version that no kernel reads, and --kernel asks for one: 1\n" },
        { { .version = 2 },
          0,
          "SF0603 error: a version that no kernel reads, and --kernel asks for one: 2\n" },
        { { .version = 3, .flex = true },
          0,
          "FDE 1: SF0604 error: a flexible row, and --kernel asks for none: info 0x01, in "
          "g+0x0\n" },
        { { .version = 3, .without_flags = true }, 1, "SF0202 error: sorted, and does not say so" },
        { { .version = 3, .aux_size = 4 }, 1, "SF0110 error: an auxiliary header" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct file_plan plan = cases[i].plan;
        static struct file f;
        struct run run;

        plan.abi = SFB_ABI_AMD64_LE;
        file_make(&f, &plan);
        write_file("vmlinux", &f);
        run = check("");
        cr_expect(eq(int, run.status, cases[i].plain), "%zu: %s", i, run.out);
        cr_expect(strstr(run.out, cases[i].says) == NULL, "%zu: %s", i, run.out);
        run_free(&run);
        write_kernel("vmlinux", &plan);
        run = check("--kernel");
        cr_expect(eq(int, run.status, 1), "%zu: %s", i, run.out);
        cr_expect(strstr(run.out, cases[i].says) != NULL, "%zu: %s", i, run.out);
        run_free(&run);
    }
}

/* Warnings elsewhere, errors here: two rows at one byte, and section-relative starts. */
Test(check_kernel, refuses_what_others_warn_of)
{
    static struct file f;
    static const struct {
        size_t row, at; /* an offset in the section, without a row */
        uint64_t value;
        const char *code;
    } cases[] = { { 2, 0, 4, "SF0303" }, { 0, 3, 1, "SF0123" } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char *const severities[] = { "warning", "error" };

        file_make(&f, &(struct file_plan){ .version = 3, .abi = SFB_ABI_AMD64_LE });
        file_set(&f, FILE_SFRAME_AT + (cases[i].row ? f.row[0][cases[i].row] : cases[i].at), 1,
                 cases[i].value);
        write_file("vmlinux", &f);
        for (size_t kernel = 0; kernel < 2; kernel++) {
            struct run run = check(kernel ? "--kernel --no-cfi" : "--no-cfi");
            char says[32];

            snprintf(says, sizeof says, "%s %s: ", cases[i].code, severities[kernel]);
            cr_expect(strstr(run.out, says) != NULL, "%s: %s", says, run.out);
            run_free(&run);
        }
    }
}

/* A file of ld by a script like the kernel's: PHDRS, and symbols around the table. */
Test(check_kernel, takes_what_a_linker_script_makes)
{
#ifdef __x86_64__
    struct run run = run_line("cd '%s' && printf '.cfi_sections .sframe\\n.globl f\\n.type f, "
                              "@function\\nf: .cfi_startproc\\n"
                              "push %%%%rbx\\n.cfi_adjust_cfa_offset 8\\ncall g\\npop "
                              "%%%%rbx\\n.cfi_adjust_cfa_offset -8\\nret\\n"
                              ".cfi_endproc\\n.size f, . - f\\n.globl g\\n.type g, @function\\ng: "
                              ".cfi_startproc\\nret\\n.cfi_endproc\\n"
                              ".size g, . - g\\n' >f.s && %sas --gsframe f.s -o f.o && printf "
                              "'PHDRS { text PT_LOAD FLAGS(5); }\\n"
                              "SECTIONS { . = 0xffffffff81000000; .text : { *(.text) } :text\\n"
                              ".sframe : { __start_sframe = .; KEEP(*(.sframe)) __stop_sframe = .; "
                              "} :text }\\n' >f.ld && "
                              "%sld -T f.ld -e f f.o -o vmlinux",
                              folder, SFB_TOOL_PREFIX, SFB_TOOL_PREFIX);

    if (run.status != 0)
        cr_skip_test("no assembler with --gsframe: %s", run.err);
    run_free(&run);
    run = check("");
    cr_expect(strstr(run.out, "SF0136 error") != NULL, "%s", run.out);
    run_free(&run);
    /* The local assembler selects the version. */
    run = check("--kernel --ignore SF0603");
    cr_expect(eq(int, run.status, 0), "%s", run.out);
    run_free(&run);
#else
    cr_skip_test("the function is x86-64's");
#endif
}
