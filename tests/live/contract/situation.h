/*
 * Where thunks are run: in the handler of a signal that came deep in a stack, of functions with
 * .sframe, without, or in the midst of lazy binding.
 */
#ifndef CONTRACT_SITUATION_H
#define CONTRACT_SITUATION_H

#include <stdbool.h>
#include <ucontext.h>

enum situation { IN_SFRAME, IN_EH_FRAME, IN_LOADER, SITUATIONS };

typedef void in_handler_fn(ucontext_t *ucontext);

/*
 * Calls a function in a handler. Once in a process for each situation, but for IN_SFRAME.
 *
 * @param alternate  on an alternate stack, else on the one that was interrupted
 */
void in_handler(enum situation situation, bool alternate, in_handler_fn *call);

/* Does what has to be done before: loads the library for a situation. */
void prepare_situation(enum situation situation);

#endif
