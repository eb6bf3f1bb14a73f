/*
 * A library whose one function has a frame of FRAME bytes; tests load several, at one address.
 * LAST: its table says that nothing called it.
 */
#if defined(__x86_64__)
#define RETURN_ADDRESS "rip"
#elif defined(__aarch64__)
#define RETURN_ADDRESS "x30"
#endif

int call_back(int (*function)(void));

int call_back(int (*function)(void))
{
    volatile char space[FRAME];

#ifdef LAST
    __asm__ volatile(".cfi_undefined " RETURN_ADDRESS);
#endif
    space[0] = 1;
    return function() + space[0];
}
