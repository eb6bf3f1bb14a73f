/* The Python functions of a stack, and which C frames they stand for. */
#ifndef CLI_STACK_STACK_PYTHON_H
#define CLI_STACK_STACK_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

#include <sfb/remote.h>

#include "cli/stack/stack_request.h"

/* Functions of one C frame: [first, end) of the thread's. */
struct stack_python {
    size_t first, end;
};

/*
 * Goes on to a frame.
 *
 * @param python  in: of the frame before, {0} of the first one
 * @return whether it has any
 */
bool stack_python_of(struct stack_python *python, const struct sfb_remote_thread *thread,
                     size_t frame);

/* Whether the C frame itself is shown. */
bool stack_python_shows_native(enum stack_languages languages, const struct stack_python *python);

/* Prints them, a line each. */
void stack_python_print(const struct sfb_remote_thread *thread, const struct stack_python *python);

/* Says why the functions of an interpreter are not shown, if one was found and they are not. */
void stack_python_print_why(const struct sfb_remote *remote);

/* @return as strcmp() */
int stack_python_compare(const struct sfb_remote_thread *a, const struct sfb_remote_thread *b);

#endif
