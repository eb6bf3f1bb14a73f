/* Functions of the unwinder, at the places where they return to another frame than their caller. */
#include <string.h>

#include "support/test.h"
#include "unwind/machine/insn_patterns.h"

enum { BASE = 0x400000, SIZE = 4096 };

static uint8_t code[SIZE];
static uint64_t size;

static bool read_code(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    (void)memory;
    if (address < BASE || address - BASE > SIZE - 8)
        return false;
    memcpy(out, code + (address - BASE), 8);
    return true;
}

static struct sfb_memory memory = { .read = read_code };

/* @return the address behind the bytes */
static uint64_t put(const void *bytes, uint64_t n)
{
    memcpy(code + size, bytes, n);
    size += n;
    return BASE + size;
}

#define PUT(...) put((const uint8_t[]){ __VA_ARGS__ }, sizeof(const uint8_t[]){ __VA_ARGS__ })

static uint64_t put_call(void)
{
    return PUT(0xe8, 0, 0x80, 0, 0);
}

/* incsspq %rsi, for shadow stacks */
static void put_filler(unsigned n)
{
    while (n-- > 0)
        PUT(0xf3, 0x48, 0x0f, 0xae, 0xee);
}

static bool is_leaving(uint64_t pc)
{
    return sfb_arch_is_leaving(&memory, pc);
}

static void begin(void)
{
    memset(code, 0x90, sizeof code);
    size = 64;
}

Test(eh_return_x86_64, knows_that_registers_are_overwritten_however_far_the_end_is)
{
    static const unsigned filler[] = { 0, 12, 30, 100 }; /* 100: more than any libgcc has */

    for (size_t i = 0; i < sizeof filler / sizeof *filler; i++) {
        uint64_t raised, installed, hooked, end, popped, jumped;

        begin();
        raised = put_call();                           /* _Unwind_RaiseException_Phase2() */
        PUT(0x83, 0xf8, 0x07, 0x0f, 0x85, 1, 0, 0, 0); /* cmp $7, %eax; jne: abort() */
        installed = put_call();
        PUT(0x4c, 0x8b, 0x8d, 0x68, 0xff, 0xff, 0xff); /* mov -0x98(%rbp), %r9 */
        hooked = put_call();
        PUT(0x74, 10); /* je */
        put_filler(filler[i]);
        end = PUT(0x48, 0x8b, 0x6d, 0); /* mov (%rbp), %rbp */
        popped = PUT(0x48, 0x89, 0xcc); /* mov %rcx, %rsp */
        jumped = PUT(0x59);
        PUT(0xff, 0xe1);
        cr_expect(not(is_leaving(raised)), "%u", filler[i]);
        cr_expect(is_leaving(installed), "%u", filler[i]);
        cr_expect(is_leaving(installed + 7), "%u", filler[i]);
        cr_expect(is_leaving(hooked), "%u", filler[i]);
        cr_expect(is_leaving(end), "%u", filler[i]);
        cr_expect(is_leaving(popped), "%u", filler[i]);
        cr_expect(is_leaving(jumped), "%u", filler[i]);
    }
}

Test(eh_return_x86_64, knows_the_end_of_other_compilers)
{
    uint64_t end, behind;

    begin();
    PUT(0x90);
    end = PUT(0x5d);                /* pop %rbp */
    behind = PUT(0x48, 0x89, 0xcc); /* mov %rcx, %rsp */
    PUT(0xc3);
    cr_expect(is_leaving(end));
    cr_expect(is_leaving(behind));

    begin();
    end = PUT(0x5d);
    behind = PUT(0x48, 0x8b, 0xe1); /* the same, encoded as a load */
    PUT(0xc3);
    cr_expect(is_leaving(end));
    cr_expect(is_leaving(behind));
}

Test(eh_return_x86_64, knows_that_a_function_goes_on_or_returns_to_its_caller)
{
    uint64_t loop, stepped, ends, jumps, jumped_over;

    begin();
    loop = PUT(0x90);
    PUT(0xff, 0xd0); /* call *%rax */
    stepped = put_call();
    PUT(0xc9);
    ends = PUT(0x90);
    PUT(0xc3);
    PUT(0x48, 0x89, 0xcc); /* of the next function */
    cr_expect(not(is_leaving(loop)), "two calls, one of them through a pointer");
    cr_expect(not(is_leaving(stepped)), "it returns behind leave");
    cr_expect(not(is_leaving(ends)));

    begin();
    jumps = PUT(0x90);
    PUT(0xeb, 4); /* jmp over 4 bytes */
    jumped_over = PUT(0x48, 0x89, 0xcc, 0x90);
    PUT(0xc3);
    cr_expect(not(is_leaving(jumps)));
    cr_expect(not(is_leaving(jumped_over)), "it is behind a no-op");
}

Test(eh_return_x86_64, takes_code_that_says_neither_for_the_end)
{
    uint64_t loop;

    begin();
    loop = PUT(0x90);
    PUT(0xeb, 0xfe); /* jmp to itself */
    cr_expect(is_leaving(loop), "the budget");
    PUT(0x06);
    cr_expect(is_leaving(BASE + size - 1), "no instruction");
    cr_expect(is_leaving(BASE + SIZE - 1), "the code ends");
    cr_expect(is_leaving(BASE + SIZE + 64), "nothing can be read");
}
