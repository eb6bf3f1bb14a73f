/*
 * syscall(), in syscall_entry_*.S. Programs call it often, and some depend on its frame: so it jumps to the C library's.
 * Only the calls that start a program or set a seccomp filter come here.
 */
#ifndef PROFILER_AGENT_SYSCALL_ENTRY_H
#define PROFILER_AGENT_SYSCALL_ENTRY_H

/* Takes the arguments of syscall(): six, of which a call may use fewer. */
long sfb_syscall_looked_at(long number, long a, long b, long c, long d, long e, long f);

#endif
