#include "support/fake_cpython.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Offsets of 3.12, by their names in unwind/runtime/cpython_layout.c. */
enum {
    RUNTIME_SIZE = 0x28b00,
    RUNTIME_INTERPRETERS = 40,
    INTERPRETER_THREADS = 72,
    INTERPRETER_RUNTIME = 96,
    THREAD_NEXT = 8,
    THREAD_INTERPRETER = 16,
    THREAD_FRAME = 56,
    THREAD_NATIVE = 144,
    FRAME_PREVIOUS = 8,
    FRAME_INSTRUCTION = 56,
    FRAME_OWNER = 70,
    FRAME_SIZE = 80,
    SHIM_OWNER = 3,
    CODE_FILE = 112,
    CODE_NAME = 128,
    CODE_LINES = 136,
    CODE_INSTRUCTIONS = 192,
    OBJECT_TYPE = 8,
    OBJECT_SIZE = 16,
    STRING_HASH = 24,
    STRING_STATE = 32,
    STRING_ASCII = 40,
    COMPACT_ASCII = 1 << 2 | 1 << 5 | 1 << 6, /* a byte a character */
    BYTES = 32,
    OBJECT_ROOM = 1024
};

// NOLINTNEXTLINE(bugprone-reserved-identifier): CPython's name
_Alignas(64) char _PyRuntime[RUNTIME_SIZE];
_Alignas(64) char PyCode_Type[512];
_Alignas(8) uint32_t Py_Version[2] = { 0x030c0000 }; /* a whole word: it is read as one */

static char *interpreter;

static void put(char *object, size_t offset, uint64_t word)
{
    memcpy(object + offset, &word, sizeof word);
}

static uint64_t at(const void *object)
{
    return (uint64_t)(uintptr_t)object;
}

static char *make(size_t size)
{
    const size_t room = (size + 63) / 64 * 64;
    char *object = aligned_alloc(64, room);

    if (!object)
        abort();
    memset(object, 0, room);
    return object;
}

static char *make_string(char c, size_t length)
{
    char *string = make(STRING_ASCII + length + 1);

    put(string, 0, 1);
    put(string, OBJECT_SIZE, length);
    put(string, STRING_HASH, length * 31 + (uint64_t)c);
    put(string, STRING_STATE, COMPACT_ASCII);
    memset(string + STRING_ASCII, c, length);
    return string;
}

/* Each entry stands for eight words of instructions on no line: a search reads up to its instruction. */
static char *make_lines(size_t size)
{
    char *lines = make(BYTES + size);

    put(lines, 0, 1);
    put(lines, OBJECT_SIZE, size);
    memset(lines + BYTES, 0xff, size);
    return lines;
}

static char *make_codes(const struct fake_cpython *how)
{
    char *codes = make(how->codes * OBJECT_ROOM), *name = make_string('n', how->names),
         *file = make_string('f', how->names), *lines = make_lines(how->lines);

    for (size_t i = 0; i < how->codes; i++) {
        char *code = codes + i * OBJECT_ROOM;

        put(code, 0, 1);
        put(code, OBJECT_TYPE, at(PyCode_Type));
        put(code, CODE_FILE, at(file));
        put(code, CODE_NAME, at(name));
        put(code, CODE_LINES, at(lines));
    }
    return codes;
}

/* @return the innermost frame */
static char *make_frames(const struct fake_cpython *how, void *shim)
{
    char *frames = make(how->frames * FRAME_SIZE), *codes = make_codes(how);

    memset(shim, 0, FAKE_CPYTHON_SHIM);
    ((char *)shim)[FRAME_OWNER] = SHIM_OWNER;
    for (size_t i = 0; i < how->frames; i++) {
        const size_t call = how->calls > 0 ? i / how->codes % how->calls : i;
        char *frame = frames + i * FRAME_SIZE, *code = codes + i % how->codes * OBJECT_ROOM;

        put(frame, 0, at(code));
        put(frame, FRAME_PREVIOUS, at(i + 1 < how->frames ? frame + FRAME_SIZE : (char *)shim));
        put(frame, FRAME_INSTRUCTION, at(code) + CODE_INSTRUCTIONS + 2 * call);
    }
    return frames;
}

void fake_cpython_run(const struct fake_cpython *how, void *shim)
{
    char *cframe = make(sizeof(uint64_t));

    if (!interpreter) {
        interpreter = make(OBJECT_ROOM);
        put(_PyRuntime, RUNTIME_INTERPRETERS, at(interpreter));
        put(interpreter, INTERPRETER_RUNTIME, at(_PyRuntime));
    }
    put(cframe, 0, at(make_frames(how, shim)));
    for (size_t i = 0; i < how->states; i++) {
        char *state = make(OBJECT_ROOM);
        uint64_t next;

        memcpy(&next, interpreter + INTERPRETER_THREADS, sizeof next);
        put(state, THREAD_NEXT, next);
        if (next != 0)
            put((char *)(uintptr_t)next, 0, at(state));
        put(state, THREAD_INTERPRETER, at(interpreter));
        put(state, THREAD_FRAME, at(cframe));
        put(state, THREAD_NATIVE, (uint64_t)syscall(SYS_gettid));
        put(interpreter, INTERPRETER_THREADS, at(state));
    }
}
