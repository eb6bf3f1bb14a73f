/*
 * SIGPROF is the agent's. The program reads back the action and the mask that it set, and gets signals that are not
 * ours as if it had them.
 *
 * Never is SIG_DFL restored: a signal of a timer or an event may come after these are gone, and would end the program.
 */
#ifndef SFB_RECORD_PROF_SIGNAL_H
#define SFB_RECORD_PROF_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/*
 * Installs the agent's handler, and unblocks the signal. What was there is the program's. At another recording of the
 * process the agent's is there already, and the program keeps what it has set.
 */
bool sfb_prof_signal_install(void);

/*
 * The C library has set or taken back the handler of profil(3), past the agent. It becomes the program's, and the
 * agent's is there again. Keeps errno.
 */
void sfb_prof_signal_take_back(void);

/* Gives the program back what is its own: for a child of fork() that is not recorded, to which nothing is under way. */
void sfb_prof_signal_uninstall(void);

/* In the child of fork(): the handler is its own. */
void sfb_prof_signal_continue_in_child(void);

/* From now on the handler runs on the threads' own stacks: alternate.h. Keeps errno. */
void sfb_prof_signal_leave_alternate(void);

/* Whether the agent stands between the program and this signal, in this process. */
bool sfb_prof_signal_is_ours(int signo);

/* As sigaction(SIGPROF, action, old) would. Signals: safe. */
void sfb_prof_signal_action(const struct sigaction *action, struct sigaction *old);

/* As siginterrupt(SIGPROF, interrupts) would; and the flag with which signal() sets SIGPROF from then on. */
void sfb_prof_signal_interrupt(bool interrupts);
int sfb_prof_signal_restart_flag(void);

/*
 * As pthread_sigmask(how, set, old), but SIGPROF stays unblocked, and what is for the program waits. Signals: safe.
 *
 * @param mask  pthread_sigmask() or sigprocmask(), the real one
 */
int sfb_prof_signal_mask(int how, const sigset_t *set, sigset_t *old,
                         int (*mask)(int, const sigset_t *, sigset_t *));

/* Sends the calling thread what came while the program had SIGPROF blocked. Signals: safe. */
void sfb_prof_signal_raise_what_waits(void);

/* In a new thread. blocks: the program had SIGPROF blocked in the one that made it. */
void sfb_prof_signal_begin_thread(bool blocks);

/*
 * Before a new program begins in a child, from here or in a child of vfork(): the kernel blocks SIGPROF if the program
 * believes so. Signals: safe.
 *
 * @return whether it does now, and sfb_prof_signal_release() has to be called
 */
bool sfb_prof_signal_hold(void);
void sfb_prof_signal_release(void);

/*
 * Before exec: signals under way must not reach the new program, where they would be deadly. Ignored, they are gone.
 * Afterwards: it has failed.
 */
void sfb_prof_signal_before_exec(void);
void sfb_prof_signal_after_exec(void);

#endif
