/*
 * The trap flag of x86: from where trap_on() returns to where trap_off() does, SIGTRAP comes after
 * each instruction. The kernel clears the flag for a handler, and sigreturn puts it back.
 *
 * In assembly, because what pushes flags has to tell the tables, and inline assembly cannot. For
 * one file of a program.
 */
#ifndef SUPPORT_TRAP_FLAG_H
#define SUPPORT_TRAP_FLAG_H

void trap_on(void);
void trap_off(void);
__asm__(".text\n"
        ".globl trap_on, trap_off\n"
        "trap_on: .cfi_startproc\n"
        "pushfq\n .cfi_adjust_cfa_offset 8\n"
        "orl $0x100, (%rsp)\n"
        "popfq\n .cfi_adjust_cfa_offset -8\n"
        "ret\n .cfi_endproc\n"
        "trap_off: .cfi_startproc\n"
        "pushfq\n .cfi_adjust_cfa_offset 8\n"
        "andl $~0x100, (%rsp)\n"
        "popfq\n .cfi_adjust_cfa_offset -8\n"
        "ret\n .cfi_endproc\n");

#endif
