/* Rows against the machine code: each finding, each exception, and when the comparison runs. */
#include <stdio.h>
#include <string.h>

#include "toolchain/tests/check/folder.h"

TestSuite(check_code, .init = make_folder, .fini = remove_folder);

enum machine { AMD64, AARCH64 };

/* Assembly without .eh_frame, and its codes besides the notes of coverage. */
struct code_case {
    const char *name;
    enum machine machine;
    const char *codes; /* "SF0801 error "; "": none */
    const char *lines;
};

#define F    "f: .cfi_startproc\n"
#define END  ".cfi_endproc\n"
#define UP   ".cfi_adjust_cfa_offset 8\n"
#define DOWN ".cfi_adjust_cfa_offset -8\n"
#define PROBES                                                                                     \
    "push %rbp\n" UP ".cfi_offset rbp, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register rbp\n"           \
    "lea -16384(%rsp), %rax\n1: sub $4096, %rsp\norq $0, (%rsp)\ncmp %rax, %rsp\njne 1b\n"

static const struct code_case cases[] = {
    { "pushes, pops, sub, add", AMD64, "",
      F "push %rbp\n" UP ".cfi_offset rbp, -16\npush %rbx\n" UP "sub $24, %rsp\n"
        ".cfi_adjust_cfa_offset 24\ncall g\ntest %eax, %eax\nje 1f\nxor %ebp, %ebp\n"
        "1: add $24, %rsp\n.cfi_adjust_cfa_offset -24\npop %rbx\n" DOWN "pop %rbp\n" DOWN
        "ret\n" END },
    { "fp, alloca, an aligned stack, leave", AMD64, "",
      F "push %rbp\n" UP ".cfi_offset rbp, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register rbp\n"
        "and $-32, %rsp\nsub %rdi, %rsp\ncall g\nleave\n.cfi_def_cfa rsp, 8\nret\n" END },
    { "a call that does not return, no-ops, and another block", AMD64, "",
      F "sub $24, %rsp\n.cfi_def_cfa_offset 32\ntest %edi, %edi\njne 1f\nadd $24, %rsp\n"
        ".cfi_def_cfa_offset 8\nret\n1: .cfi_def_cfa_offset 32\npush %rax\n" UP
        "call g\nnopl 0(%rax)\n.cfi_def_cfa_offset 8\njmp *%rax\n" END },
    { "the guard of a jump table that leads nowhere", AMD64, "",
      F "push %rbx\n" UP "cmp $5, %edi\nja 1f\nmov %edi, %edi\njmp *(,%rdi,8)\n"
        "pop %rbx\n" DOWN "1: ret\n" END },
    { "a loop that probes the stack, and sp behind it", AMD64, "",
      F PROBES ".cfi_def_cfa rsp, 16400\ncall g\n.cfi_def_cfa rbp, 16\nleave\n"
               ".cfi_def_cfa rsp, 8\nret\n" END },
    { "a loop that probes the stack, and a join behind it", AMD64, "",
      F PROBES ".cfi_def_cfa rsp, 16400\ntest %edi, %edi\nje 1f\ncall g\n1: mov %rax, %rax\n"
               ".cfi_def_cfa rbp, 16\nleave\n.cfi_def_cfa rsp, 8\nret\n" END },
    { "bytes that are no code, behind a call that does not return", AMD64, "",
      F "test %edi, %edi\njne 1f\nsub $8, %rsp\n" UP
        "call g\n.byte 5, 5\n.cfi_def_cfa_offset 8\n1: mov %rdi, %rax\nret\n" END },
    { "a barrier on the word that has fp", AMD64, "",
      F "push %rbp\n" UP ".cfi_offset rbp, -16\nlock addl $0, (%rsp)\nxor %ebp, %ebp\ncall g\n"
        "pop %rbp\n" DOWN ".cfi_restore rbp\nret\n" END },
    { "LLVM's stack that is freed early", AMD64, "SF0811 note ",
      F "push %rbx\n" UP "sub $8, %rsp\n" UP "call g\nadd $8, %rsp\ncmp %rbx, %rax\nje 1f\n" DOWN
        "pop %rbx\n" DOWN "ret\n1: .cfi_def_cfa_offset 16\npop %rbx\n" DOWN "ret\n" END },
    { "a call that gets the pc", AMD64, "", F "call 1f + 0\n1: ret\n" END },
    { "a return to what was pushed", AMD64, "", F "push %rdi\nxor %eax, %eax\nret\n" END },
    { "another stack", AMD64, "", F "mov (%rdi), %rsp\npush %rcx\nxor %eax, %eax\nret\n" END },

    { "a push that no row follows", AMD64, "SF0801 error ",
      F "push %rbx\ncall g\npop %rbx\nret\n" END },
    { "a row that is late", AMD64, "SF0801 error ",
      F "sub $24, %rsp\nmov %rdi, (%rsp)\n.cfi_def_cfa_offset 32\ncall g\nadd $24, %rsp\n"
        ".cfi_def_cfa_offset 8\nret\n" END },
    { "a wrong row in the middle, by the code before it", AMD64, "SF0801 error ",
      F "push %rbx\n.cfi_def_cfa_offset 24\ncall g\npop %rbx\n.cfi_def_cfa_offset 8\nret\n" END },
    { "two ways that bring different frames", AMD64, "SF0801 error ",
      F "test %edi, %edi\nje 1f\npush %rbx\n" UP "jmp 2f\n1: .cfi_def_cfa_offset 8\nnop\n"
        "2: .cfi_def_cfa_offset 16\nmov %rax, %rax\npop %rbx\n" DOWN "ret\n" END },
    { "a wrong row behind a loop that probes the stack", AMD64, "SF0801 error ",
      F PROBES ".cfi_def_cfa rsp, 16392\ncall g\n.cfi_def_cfa rbp, 16\nleave\n"
               ".cfi_def_cfa rsp, 8\nret\n" END },
    { "fp saved elsewhere", AMD64, "SF0803 error ",
      F "push %rbp\n" UP ".cfi_offset rbp, -24\nxor %ebp, %ebp\ncall g\npop %rbp\n" DOWN
        ".cfi_restore rbp\nret\n" END },
    { "fp is the function's own, and the row says it is unchanged", AMD64, "SF0803 error ",
      F "push %rbp\n" UP "mov %rsp, %rbp\ncall g\npop %rbp\n" DOWN "ret\n" END },
    { "a row within an instruction", AMD64, "SF0805 error ",
      F ".byte 0x48\n.cfi_remember_state\n.cfi_def_cfa_offset 8\n.cfi_offset rbp, -16\n"
        ".byte 0x89, 0xc0\n.cfi_restore rbp\njmp *%rax\n" END },
    { "an end within an instruction", AMD64, "SF0806 error ",
      F "push %rbx\n" UP "pop %rbx\n" DOWN ".byte 0x48\n" END ".byte 0x89, 0xe5\nret\n" },
    { "a return with a frame, where nothing leads to", AMD64, "SF0807 error ",
      F "jmp *%rax\n.cfi_def_cfa_offset 24\nmov %rax, %rax\nret\n" END },
    { "a call to a frame that no call leaves", AMD64, "SF0808 error ",
      F "sub $8, %rsp\n.cfi_def_cfa_offset 16\ncall h\nadd $8, %rsp\n.cfi_def_cfa_offset 8\n"
        "ret\n" END "h: .cfi_startproc\n.cfi_def_cfa_offset 32\njmp *%rax\n" END },
    { "a jump to another frame", AMD64, "SF0809 error ",
      F "push %rbx\n" UP "jmp h\n" END
        "nop\nh: .cfi_startproc\n.cfi_def_cfa_offset 32\njmp *%rax\n" END },
    { "a jump to the same frame", AMD64, "",
      F "push %rbx\n" UP "jmp h\n" END
        "nop\nh: .cfi_startproc\n.cfi_def_cfa_offset 16\njmp *%rax\n" END },
    { "fp overwritten by a number", AMD64, "SF0810 note ",
      F "xor %ebp, %ebp\nmov %rax, %rax\nret\n" END },
    { "flags by push and pop", AMD64, "SF0811 note ",
      F "mov %rdi, %rax\npushfq\npop %rax\nret\n" END },
    { "nothing behind the end", AMD64, "", F "push %rbx\n" UP "call g\n" END "pop %rbx\nret\n" },

    { "a frame, and back", AARCH64, "",
      F "stp x29, x30, [sp, -32]!\n.cfi_def_cfa_offset 32\n.cfi_offset 29, -32\n"
        ".cfi_offset 30, -24\nmov x29, sp\nstr x19, [sp, 16]\nbl g\nldr x19, [sp, 16]\n"
        "ldp x29, x30, [sp], 32\n.cfi_restore 29\n.cfi_restore 30\n.cfi_def_cfa_offset 0\n"
        "ret\n" END },
    { "a large frame, by a register", AARCH64, "",
      F "mov x16, 34464\nmovk x16, 1, lsl 16\nsub sp, sp, x16\n.cfi_def_cfa_offset 100000\n"
        "str xzr, [sp]\nadd sp, sp, x16\n.cfi_def_cfa_offset 0\nret\n" END },
    { "a signed return address", AARCH64, "",
      F "hint 25\n.cfi_negate_ra_state\nstp x29, x30, [sp, -16]!\n.cfi_def_cfa_offset 16\n"
        ".cfi_offset 29, -16\n.cfi_offset 30, -8\nbl g\nldp x29, x30, [sp], 16\n"
        ".cfi_restore 29\n.cfi_restore 30\n.cfi_def_cfa_offset 0\nhint 29\n"
        ".cfi_negate_ra_state\nret\n" END },
    { "sub without a row", AARCH64, "SF0801 error ",
      F "sub sp, sp, 32\nstr x0, [sp]\nbl g\nadd sp, sp, 32\nret\n" END },
    { "fp and lr exchanged", AARCH64, "SF0802 error ",
      F
      "stp x29, x30, [sp, -16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -8\n"
      ".cfi_offset 30, -16\nmov x9, x9\nldp x29, x30, [sp], 16\n.cfi_restore 29\n.cfi_restore 30\n"
      ".cfi_def_cfa_offset 0\nret\n" END },
    { "signed, and no row says so", AARCH64, "SF0804 error ",
      F "hint 25\nnop\nhint 29\nret\n" END },
    { "not signed, and a row says so", AARCH64, "SF0804 error ",
      F "mov x9, x9\n.cfi_negate_ra_state\nmov x9, x9\nret\n" END },
    { "lr overwritten", AARCH64, "SF0810 note ", F "mov x9, x30\nbl g\nbr x9\n" END },
    { "gcc's end of a large frame", AARCH64, "SF0811 note ",
      F "sub sp, sp, 1040\n.cfi_def_cfa_offset 1040\nstp x29, x30, [sp]\n.cfi_offset 29, -1040\n"
        ".cfi_offset 30, -1032\nmov x29, sp\n.cfi_def_cfa_register 29\nbl g\n"
        "ldp x29, x30, [sp]\nadd sp, sp, 1040\n.cfi_restore 29\n.cfi_restore 30\n"
        ".cfi_def_cfa 31, 0\nret\n" END },
    { "key B for nothing", AARCH64, "SF0813 warning ",
      "f: .cfi_startproc\n.cfi_b_key_frame\nnop\nret\n" END },
};

/* Assembles it. @return false: no assembler with --gsframe for it */
static bool assemble(const struct code_case *t, const char *sections)
{
    const char *as = t->machine == AARCH64 ? "aarch64-linux-gnu-as" : SFB_TOOL_PREFIX "as";
    char path[4096];
    struct run run;
    FILE *file;
    bool good;

    snprintf(path, sizeof path, "%s/case.s", folder);
    file = fopen(path, "w");
    cr_assert(file != NULL);
    fprintf(file, ".cfi_sections %s\n.text\n.type f, %%function\n%s", sections, t->lines);
    fclose(file);
    run = run_line("cd '%s' && %s --gsframe case.s -o case.o", folder, as);
    good = run.status == 0;
    run_free(&run);
    return good;
}

/* "SF0801 error SF0811 note " */
static struct run codes_of(const char *options)
{
    return run_line("cd '%s' && '%s' check %s case.o | sed -nE 's/.*: (SF08[01][0-9] [a-z]+): "
                    ".*/\\1/p' | sort -u | tr '\\n' ' '",
                    folder, SFB_TOOL, options);
}

static bool has_decoder(void)
{
    static const struct code_case one = { "", AMD64, "", F "ret\n" END };
    struct run run;
    bool has;

    if (!assemble(&one, ".sframe"))
        return false;
    run = run_line("cd '%s' && '%s' check case.o", folder, SFB_TOOL);
    has = strstr(run.out, "SF0820 note: rows were compared with the code: 1 function") != NULL;
    run_free(&run);
    return has;
}

Test(check_code, finds_what_is_wrong_and_nothing_else)
{
    size_t count = 0;

#ifndef __x86_64__
    cr_skip_test("the assembly is x86-64's");
#endif
    if (!has_decoder())
        cr_skip_test("no capstone, or no assembler with --gsframe");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;

        if (!assemble(&cases[i], ".sframe"))
            continue;
        count++;
        run = codes_of("");
        cr_expect(strcmp(run.out, cases[i].codes) == 0, "%s: %s instead of %s", cases[i].name,
                  run.out, cases[i].codes);
        run_free(&run);
    }
    cr_expect(count > 20, "%zu cases were assembled", count);
}

/* With .eh_frame the code is compared only on request. */
Test(check_code, is_looked_at_where_it_is_needed)
{
    static const struct code_case wrong = { "", AMD64, "",
                                            F "push %rbx\ncall g\npop %rbx\nret\n" END };
    static const struct {
        const char *sections, *options;
        bool looked;
    } when[] = {
        { ".sframe", "", true },
        { ".sframe", "--no-code", false },
        { ".sframe", "--no-cfi", false },
        { ".eh_frame, .sframe", "", false },
        { ".eh_frame, .sframe", "--code", true },
        { ".eh_frame, .sframe", "--code --no-cfi", true },
    };

    if (!has_decoder())
        cr_skip_test("no capstone, or no assembler with --gsframe");
    for (size_t i = 0; i < sizeof when / sizeof *when; i++) {
        const bool assembled = assemble(&wrong, when[i].sections);
        struct run run;

        cr_assert(assembled);
        run = codes_of(when[i].options);
        cr_expect(eq(int, strstr(run.out, "SF0801") != NULL, when[i].looked), "%s %s: %s",
                  when[i].sections, when[i].options, run.out);
        run_free(&run);
    }
}

/* Version 3 with a trampoline's bit on a function that returns. */
Test(check_code, knows_that_trampolines_do_not_return)
{
    static struct file f;
    struct run run;

    if (!has_decoder())
        cr_skip_test("no capstone, or no assembler with --gsframe");
    for (int set = 0; set < 2; set++) {
        file_make(&f, &(struct file_plan){
                          .version = 3, .abi = SFB_ABI_AMD64_LE, .without_eh_frame = true });
        if (set)
            file_set(&f, FILE_SFRAME_AT + f.attribute[1] + 2, 1, 0x80);
        write_file("case.o", &f);
        run = codes_of("");
        cr_expect(strcmp(run.out, set ? "SF0814 warning " : "") == 0, "%s", run.out);
        run_free(&run);
    }
}

/* Version 3 without a row for a function, and with a row without words: both mean that no caller is. */
Test(check_code, knows_that_what_returns_has_a_caller)
{
    static struct file f;
    struct run run;

    if (!has_decoder())
        cr_skip_test("no capstone, or no assembler with --gsframe");
    for (int row = 0; row < 2; row++) {
        file_make(&f, &(struct file_plan){
                          .version = 3, .abi = SFB_ABI_AMD64_LE, .without_eh_frame = true });
        if (row)
            file_set(&f, FILE_SFRAME_AT + f.row[1][0] + 1, 1, 0x01);
        else
            file_set(&f, FILE_SFRAME_AT + f.attribute[1], 2, 0);
        write_file("case.o", &f);
        run = codes_of("");
        cr_expect(strcmp(run.out, "SF0815 error ") == 0, "%d: %s", row, run.out);
        run_free(&run);
    }
}

/* The CFA is in r11, which the code compares with sp in a loop: a fixture, for 2.40 has no such row. */
Test(check_code, follows_a_cfa_in_another_register)
{
    struct run run;

    if (!has_decoder())
        cr_skip_test("no capstone, or no assembler with --gsframe");
    run = run_line("'%s' check '" SFB_SOURCE_DIR "/fixtures/check/probes.o'", SFB_TOOL);
    cr_expect(strstr(run.out, "1 function, 11 instructions; 1 function from end to end") != NULL,
              "%s", run.out);
    cr_expect(strstr(run.out, ": 0 errors, 0 warnings, ") != NULL, "%s", run.out);
    run_free(&run);
}
