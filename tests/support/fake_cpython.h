/*
 * What a debugger finds of CPython 3.12, without an interpreter: a process may export anything by these names.
 *
 * The program that links it exports _PyRuntime, PyCode_Type and Py_Version.
 */
#ifndef TEST_SUPPORT_FAKE_CPYTHON_H
#define TEST_SUPPORT_FAKE_CPYTHON_H

#include <stddef.h>

struct fake_cpython {
    size_t frames;
    size_t codes;  /* code objects, which the frames have in turn */
    size_t calls;  /* of each, at different instructions; 0: each frame has its own */
    size_t lines;  /* bytes of each table of lines */
    size_t names;  /* characters of each name, and of each file's path */
    size_t states; /* of the thread, each with all frames */
};

enum { FAKE_CPYTHON_SHIM = 128 };

/*
 * Gives the calling thread its states. Threads: one after the other.
 *
 * @param shim  FAKE_CPYTHON_SHIM bytes, in the C frame that is to run the functions
 */
void fake_cpython_run(const struct fake_cpython *how, void *shim);

#endif
