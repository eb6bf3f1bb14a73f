/*
 * What a look at an interpreter takes at most, whatever its structures say: of this program, read as a core is.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "remote/python.h"
#include "support/fake_cpython.h"
#include "support/test.h"

// NOLINTNEXTLINE(bugprone-reserved-identifier): CPython's name
extern char _PyRuntime[];
extern char PyCode_Type[], Py_Version[];

enum { TABLE_MOST = 1 << 20 };

static uint64_t words;

static bool read_own(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    (void)memory;
    words++;
    *out = sfb_load(address);
    return true;
}

static struct sfb_memory own_memory = { .read = read_own };
static struct remote_python python = { .memory = &own_memory, .tasks = -1 };
static struct remote_python_stack stack;

static void begin(const struct fake_cpython *how, void *shim)
{
    const struct sfb_cpython_place place = { (uintptr_t)_PyRuntime, (uintptr_t)PyCode_Type,
                                             (uintptr_t)Py_Version };

    fake_cpython_run(how, shim);
    cr_assert_eq(sfb_cpython_attach(&python.cpython, &own_memory, &place), SFB_CPYTHON_FITS);
    python.fits = true;
    python.lines = malloc(TABLE_MOST);
    cr_assert(python.lines != NULL);
    remote_python_meter_read(&python.meter);
}

static void look(void)
{
    words = 0;
    remote_python_read(&stack, &python, (pid_t)syscall(SYS_gettid));
}

static void end(void)
{
    remote_python_free(&stack);
    remote_python_close(&python);
}

static bool is_torn(void)
{
    return stack.count > 0 && stack.frames[stack.count - 1].torn;
}

/* Of a recursion of some functions names are read once, and lines once a call. */
Test(python_bounds, do_not_reach_a_deep_recursion)
{
    static const struct fake_cpython how = {
        .frames = 60000, .codes = 50, .calls = 3, .lines = 400, .names = 30, .states = 1
    };
    _Alignas(16) char shim[FAKE_CPYTHON_SHIM];

    begin(&how, shim);
    look();
    cr_expect(all(eq(sz, stack.count, how.frames), not(is_torn())));
    cr_expect(eq(sz, stack.text_size, 1 + how.codes * 2 * (how.names + 1)));
    cr_expect(eq(u64, stack.frames[0].anchor, (uintptr_t)shim));
    end();
}

/* Each frame has its own instruction, and each table the largest size. */
Test(python_bounds, end_a_look_at_large_tables)
{
    static const struct fake_cpython how = {
        .frames = 60000, .codes = 7, .lines = TABLE_MOST, .names = 1000, .states = 4
    };
    _Alignas(16) char shim[FAKE_CPYTHON_SHIM];

    begin(&how, shim);
    look();
    cr_expect(le(u64, words, REMOTE_PYTHON_LOOK_UNITS));
    cr_expect(all(ge(sz, stack.count, 2), is_torn()));
    end();
}

/* All states of a thread together. */
Test(python_bounds, end_a_look_at_many_frames)
{
    static const struct fake_cpython how = {
        .frames = 30000, .codes = 1, .lines = 10, .names = 10, .states = 4
    };
    _Alignas(16) char shim[FAKE_CPYTHON_SHIM];

    begin(&how, shim);
    look();
    cr_expect(all(eq(sz, stack.count, REMOTE_PYTHON_LOOK_FRAMES + 1), is_torn()));
    end();
}

/* Threads are as many as the target likes: their names are for all together. */
Test(python_bounds, end_a_read_with_many_names)
{
    enum { LOOKS = 40 };
    static const struct fake_cpython how = {
        .frames = 5000, .codes = 5000, .lines = 10, .names = 1000, .states = 1
    };
    _Alignas(16) char shim[FAKE_CPYTHON_SHIM];
    size_t texts = 0, whole = 0;

    begin(&how, shim);
    for (unsigned i = 0; i < LOOKS; i++) {
        look();
        texts += stack.text_size;
        whole += !is_torn();
    }
    cr_expect(all(ge(sz, whole, 1), is_torn()));
    cr_expect(le(sz, texts, REMOTE_PYTHON_READ_TEXTS + 2 * how.frames * LOOKS));
    cr_expect(eq(sz, stack.count, 1));
    remote_python_meter_read(&python.meter);
    look();
    cr_expect(all(eq(sz, stack.count, how.frames), not(is_torn())));
    end();
}
