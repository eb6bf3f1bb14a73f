/*
 * As much of a C library as sframe-backtrace imports, for a program that is linked with nothing
 * else: Debian has no big-endian one. What it says of the process is read where glibc reads it,
 * from the stack that the kernel made and from the program's own headers, so that the library under
 * test is the same as everywhere.
 */
#include <asm/unistd.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "calls.h"
#include "system.h"

enum { PAGE = 4096, LINE = 8192 };

/* By the linker: this program's headers, its end, and the table of its constructors. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
typedef void constructor(int, char **, char **);
extern constructor *const __init_array_start[] __attribute__((visibility("hidden")));
extern constructor *const __init_array_end[] __attribute__((visibility("hidden")));

static const ElfW(auxv_t) * auxv;
const uint64_t *stack_begin;

/* --- string.h: compilers call these by themselves, so their loops must stay loops ------------- */

#define PLAIN_LOOP __attribute__((optimize("no-tree-loop-distribute-patterns")))

PLAIN_LOOP void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    for (size_t i = 0; i < size; i++)
        t[i] = f[i];
    return to;
}

PLAIN_LOOP void *memmove(void *to, const void *from, size_t size)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    if ((uintptr_t)to < (uintptr_t)from)
        return memcpy(to, from, size); /* forwards, byte by byte */
    while (size-- > 0)
        t[size] = f[size];
    return to;
}

PLAIN_LOOP void *memset(void *to, int byte, size_t size)
{
    uint8_t *t = to;

    for (size_t i = 0; i < size; i++)
        t[i] = (uint8_t)byte;
    return to;
}

PLAIN_LOOP int memcmp(const void *a, const void *b, size_t size)
{
    const uint8_t *x = a, *y = b;

    for (size_t i = 0; i < size; i++)
        if (x[i] != y[i])
            return x[i] - y[i];
    return 0;
}

PLAIN_LOOP size_t strnlen(const char *text, size_t most)
{
    size_t size = 0;

    while (size < most && text[size])
        size++;
    return size;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *(const uint8_t *)a - *(const uint8_t *)b;
}

/* (In parentheses: later versions of glibc have a macro of that name.) */
char *(strrchr)(const char *text, int c)
{
    char *found = NULL;

    for (;; text++) {
        if (*text == (char)c)
            found = (char *)(uintptr_t)text;
        if (!*text)
            return found;
    }
}

/* --- The process ------------------------------------------------------------------------------ */

unsigned long getauxval(unsigned long type)
{
    for (const ElfW(auxv_t) *a = auxv; a->a_type != AT_NULL; a++)
        if (a->a_type == type)
            return a->a_un.a_val;
    return 0;
}

ssize_t readlink(const char *restrict path, char *restrict to, size_t size)
{
    return system_call(__NR_readlinkat, (uint64_t)AT_FDCWD, (uintptr_t)path, (uintptr_t)to, size);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *out)
{
    long status = system_call(__NR_prlimit64, 0, (uint64_t)resource, 0, (uintptr_t)out);

    return status == 0 ? 0 : -1;
}

static const ElfW(Phdr) * program_headers(void)
{
    return (const void *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
}

int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *user)
{
    struct dl_phdr_info info = { .dlpi_name = "",
                                 .dlpi_phdr = program_headers(),
                                 .dlpi_phnum = __ehdr_start.e_phnum };

    return callback(&info, sizeof info, user);
}

int _dl_find_object(void *address, struct dl_find_object *out)
{
    const uint64_t start = (uintptr_t)&__ehdr_start;
    const uint64_t end = ((uintptr_t)_end + PAGE - 1) & ~(uint64_t)(PAGE - 1);

    if ((uintptr_t)address < start || (uintptr_t)address >= end)
        return -1;
    memset(out, 0, sizeof *out);
    out->dlfo_map_start = (void *)start;
    out->dlfo_map_end = (void *)end;
    for (unsigned i = 0; i < __ehdr_start.e_phnum; i++)
        if (program_headers()[i].p_type == PT_GNU_EH_FRAME)
            out->dlfo_eh_frame = (void *)program_headers()[i].p_vaddr;
    return 0;
}

_Noreturn void system_exit(int status)
{
    for (;;)
        system_call(__NR_exit_group, (uint64_t)status, 0, 0, 0);
}

/* --- Output ----------------------------------------------------------------------------------- */

static char line[LINE];
static size_t length;

static void put(char c)
{
    if (length < sizeof line)
        line[length++] = c;
}

void print_text(const char *text)
{
    while (*text)
        put(*text++);
}

void print_bytes(const void *bytes, size_t size)
{
    const uint8_t *b = bytes;

    for (size_t i = 0; i < size; i++) {
        put("0123456789abcdef"[b[i] >> 4]);
        put("0123456789abcdef"[b[i] & 15]);
    }
}

void print_number(uint64_t value)
{
    int digits = 1;

    while (digits < 16 && value >> 4 * digits)
        digits++;
    print_text(" 0x");
    while (digits-- > 0)
        put("0123456789abcdef"[value >> 4 * digits & 15]);
}

void print_line(void)
{
    put('\n');
    system_call(__NR_write, 1, (uintptr_t)line, length, 0);
    length = 0;
}

/* --- The beginning ---------------------------------------------------------------------------- */

/* @param stack  as the kernel left it: the arguments, the environment, each ended by 0, and auxv */
/*
 * The one thread's block of thread-local storage, behind the two words that the thread pointer
 * leads to. Zeros: there is nothing in .tdata.
 */
static uint64_t thread[64];

_Noreturn void start_process(uint64_t *stack);
_Noreturn void start_process(uint64_t *stack)
{
    int argc = (int)stack[0];
    char **argv = (char **)(stack + 1), **environment = argv + argc + 1;
    char **end = environment;

    ENTER();
    __asm__ volatile("msr tpidr_el0, %0" : : "r"(thread));
    stack_begin = stack;
    while (*end)
        end++;
    auxv = (const void *)(end + 1);
    for (constructor *const *c = __init_array_start; c < __init_array_end; c++)
        (*c)(argc, argv, environment);
    system_exit(program());
}
