/* A library whose one function has a frame of FRAME bytes; tests load several, at one address. */
int call_back(int (*function)(void));

int call_back(int (*function)(void))
{
    volatile char space[FRAME];

    space[0] = 1;
    return function() + space[0];
}
