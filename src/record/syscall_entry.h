/*
 * syscall(), in syscall_entry_*.S: programs call it often, and some need its frame as it is, so it jumps to the C
 * library's. Only the calls that start a program or set a filter of system calls come by here.
 */
#ifndef SFB_RECORD_SYSCALL_ENTRY_H
#define SFB_RECORD_SYSCALL_ENTRY_H

/* Has the arguments of syscall(), six of them, of which a call may use fewer. */
long sfb_syscall_looked_at(long number, long a, long b, long c, long d, long e, long f);

#endif
