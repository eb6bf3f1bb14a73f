/* In which C frames of a thread its Python functions run. */
#ifndef REMOTE_PYTHON_PLACE_H
#define REMOTE_PYTHON_PLACE_H

#include "remote/python.h"

/* Gives a thread its Python functions, each with the C frame that runs it. They are for free(), one block. */
void remote_python_place(struct sfb_remote_thread *out, const struct remote_python_stack *stack);

#endif
