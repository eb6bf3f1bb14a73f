/* What crash_program.c has to know of the machine; C++ as well, which machine.h is not. */
#ifndef SUPPORT_CRASH_MACHINE_H
#define SUPPORT_CRASH_MACHINE_H

#include <link.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

/*
 * CRASH_ILL, CRASH_TRAP      assembly: an instruction that raises SIGILL or SIGTRAP
 * CRASH_FPE                  ... SIGFPE, where there is one
 * CRASH_SYSCALL(number)      a system call without arguments, right there
 * crash_step_over_ill()      goes on behind CRASH_ILL
 * CRASH_FPE_TELLS, CRASH_TRAP_TELLS  what a report says of these
 * CRASH_FPE_MARK             which HERE in crash_program.c
 */
#if defined(__x86_64__)

#define CRASH_ILL  "ud2"
#define CRASH_TRAP "int3"
#define CRASH_FPE  "xorl %%ecx, %%ecx\n\txorl %%edx, %%edx\n\tidivl %%ecx" :: : "eax", "ecx", "edx"
#define CRASH_SYSCALL(number)                                                                      \
    __asm__ volatile("syscall" ::"a"((long)(number)) : "rcx", "r11", "memory")

#define CRASH_FPE_TELLS  "SIGFPE (8) code FPE_INTDIV (1) address 0x"
#define CRASH_FPE_MARK   "fpe"
#define CRASH_TRAP_TELLS "SIGTRAP (5) code SI_KERNEL (128) address 0x0 pid "

static inline void crash_step_over_ill(ucontext_t *uc)
{
    uc->uc_mcontext.gregs[REG_RIP] += 2;
}

#elif defined(__aarch64__)

#define CRASH_ILL  "udf 0"
#define CRASH_TRAP "brk 0"
#define CRASH_SYSCALL(number)                                                                      \
    __asm__ volatile("mov x8, %0\n\tsvc 0" ::"r"((long)(number)) : "x0", "x8", "memory")

#define CRASH_FPE_TELLS  "SIGFPE (8) code SI_TKILL (-6) sender "
#define CRASH_FPE_MARK   "fpe-raised"
#define CRASH_TRAP_TELLS "SIGTRAP (5) code TRAP_BRKPT (1) address 0x"

static inline void crash_step_over_ill(ucontext_t *uc)
{
    uc->uc_mcontext.pc += 4;
}

#endif

/* The program is the first. */
static inline int crash_hide_tables_of_first(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        char *page = (char *)((info->dlpi_addr + p->p_vaddr) & ~(ElfW(Addr))4095);

        if (p->p_type == PT_GNU_EH_FRAME)
            *(bool *)user = mprotect(page, p->p_memsz + 4096, PROT_NONE) == 0;
    }
    return 1;
}

/* Takes the pages with .eh_frame_hdr away. @return false: there are none */
static inline bool crash_hide_own_tables(void)
{
    bool hidden = false;

    dl_iterate_phdr(crash_hide_tables_of_first, &hidden);
    return hidden;
}

#endif
