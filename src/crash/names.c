#include "crash/names.h"

#include <signal.h>
#include <stddef.h>

#define ANY 0

static const struct {
    int number; /* ANY: of every signal */
    int code;
    const char *name;
} codes[] = {
    { ANY, SI_USER, "SI_USER" },
    { ANY, SI_TKILL, "SI_TKILL" },
    { ANY, SI_QUEUE, "SI_QUEUE" },
    { ANY, SI_KERNEL, "SI_KERNEL" },
    { ANY, SI_TIMER, "SI_TIMER" },
    { SIGSEGV, SEGV_MAPERR, "SEGV_MAPERR" },
    { SIGSEGV, SEGV_ACCERR, "SEGV_ACCERR" },
    { SIGSEGV, SEGV_BNDERR, "SEGV_BNDERR" },
    { SIGSEGV, SEGV_PKUERR, "SEGV_PKUERR" },
    { SIGSEGV, 8, "SEGV_MTEAERR" }, /* not in every <signal.h> */
    { SIGSEGV, 9, "SEGV_MTESERR" },
    { SIGSEGV, 10, "SEGV_CPERR" },
    { SIGBUS, BUS_ADRALN, "BUS_ADRALN" },
    { SIGBUS, BUS_ADRERR, "BUS_ADRERR" },
    { SIGBUS, BUS_OBJERR, "BUS_OBJERR" },
    { SIGBUS, BUS_MCEERR_AR, "BUS_MCEERR_AR" },
    { SIGBUS, BUS_MCEERR_AO, "BUS_MCEERR_AO" },
    { SIGILL, ILL_ILLOPC, "ILL_ILLOPC" },
    { SIGILL, ILL_ILLOPN, "ILL_ILLOPN" },
    { SIGILL, ILL_ILLADR, "ILL_ILLADR" },
    { SIGILL, ILL_ILLTRP, "ILL_ILLTRP" },
    { SIGILL, ILL_PRVOPC, "ILL_PRVOPC" },
    { SIGILL, ILL_PRVREG, "ILL_PRVREG" },
    { SIGILL, ILL_COPROC, "ILL_COPROC" },
    { SIGILL, ILL_BADSTK, "ILL_BADSTK" },
    { SIGFPE, FPE_INTDIV, "FPE_INTDIV" },
    { SIGFPE, FPE_INTOVF, "FPE_INTOVF" },
    { SIGFPE, FPE_FLTDIV, "FPE_FLTDIV" },
    { SIGFPE, FPE_FLTOVF, "FPE_FLTOVF" },
    { SIGFPE, FPE_FLTUND, "FPE_FLTUND" },
    { SIGFPE, FPE_FLTRES, "FPE_FLTRES" },
    { SIGFPE, FPE_FLTINV, "FPE_FLTINV" },
    { SIGFPE, FPE_FLTSUB, "FPE_FLTSUB" },
    { SIGTRAP, TRAP_BRKPT, "TRAP_BRKPT" },
    { SIGTRAP, TRAP_TRACE, "TRAP_TRACE" },
    { SIGTRAP, TRAP_BRANCH, "TRAP_BRANCH" },
    { SIGTRAP, TRAP_HWBKPT, "TRAP_HWBKPT" },
    { SIGSYS, 1, "SYS_SECCOMP" },
    { SIGSYS, 2, "SYS_USER_DISPATCH" },
};

const char *sfb_crash_signal_name(int number)
{
    switch (number) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGILL: return "SIGILL";
    case SIGFPE: return "SIGFPE";
    case SIGABRT: return "SIGABRT";
    case SIGTRAP: return "SIGTRAP";
    case SIGSYS: return "SIGSYS";
    default: return "signal";
    }
}

const char *sfb_crash_code_name(int number, int code)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code && (codes[i].number == ANY || codes[i].number == number))
            return codes[i].name;
    return "?";
}
