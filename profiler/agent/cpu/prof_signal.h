/*
 * SIGPROF is the agent's. The program reads back the action and the mask that it set. It gets all signals not sent by the
 * agent, as without the agent.
 *
 * SIG_DFL is never restored: a signal of a deleted timer or a closed event may still arrive, and would end the program.
 */
#ifndef PROFILER_AGENT_CPU_PROF_SIGNAL_H
#define PROFILER_AGENT_CPU_PROF_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/*
 * Installs the agent's handler, and unblocks the signal. The old action becomes the program's. At a later recording of
 * the same process the agent's handler is still installed, and the program's settings stay.
 */
bool sfb_prof_signal_install(void);

/*
 * After the C library has set or removed the handler of profil(3), past the agent: that handler becomes the program's,
 * and the agent's is installed again. Keeps errno.
 */
void sfb_prof_signal_take_back(void);

/* Restores the program's own settings in a child of fork() that is not recorded, and that has no signal under way. */
void sfb_prof_signal_uninstall(void);

/* In the child of fork(): the child has the handler, too. */
void sfb_prof_signal_continue_in_child(void);

/* From now on the handler runs on the threads' own stacks: alternate.h. Keeps errno. */
void sfb_prof_signal_leave_alternate(void);

/* Whether the agent handles this signal in this process. */
bool sfb_prof_signal_is_ours(int signo);

/* Does what sigaction(SIGPROF, action, old) would. Signals: safe. */
void sfb_prof_signal_action(const struct sigaction *action, struct sigaction *old);

/* Does what siginterrupt(SIGPROF, interrupts) would; also sets the flag of later signal(SIGPROF) calls. */
void sfb_prof_signal_interrupt(bool interrupts);
int sfb_prof_signal_restart_flag(void);

/*
 * Does what pthread_sigmask(how, set, old) would, but SIGPROF stays unblocked; the program's signals stay pending.
 * Signals: safe.
 *
 * @param mask  the real pthread_sigmask() or sigprocmask()
 */
int sfb_prof_signal_mask(int how, const sigset_t *set, sigset_t *old,
                         int (*mask)(int, const sigset_t *, sigset_t *));

/* Sends the calling thread the signal that came while the program had SIGPROF blocked. Signals: safe. */
void sfb_prof_signal_raise_what_waits(void);

/* In a new thread. blocks: the program had SIGPROF blocked in the creating thread. */
void sfb_prof_signal_begin_thread(bool blocks);

/*
 * Before exec in a child, from here or in a child of vfork(): lets the kernel block SIGPROF if the program has it
 * blocked.
 * Signals: safe.
 *
 * @return whether it is now blocked, and sfb_prof_signal_release() has to be called
 */
bool sfb_prof_signal_hold(void);
void sfb_prof_signal_release(void);

/* Before exec: ignores SIGPROF, which drops signals under way; these would end the new program. after_exec: exec has failed. */
void sfb_prof_signal_before_exec(void);
void sfb_prof_signal_after_exec(void);

#endif
