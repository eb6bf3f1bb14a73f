/*
 * A library of some version of SFrame, or an object file of one that is not merged: FUNCTION hands
 * on, with a frame of its own.
 */
int FUNCTION(int (*next)(void *), void *arg);

int FUNCTION(int (*next)(void *), void *arg)
{
    volatile char space[40 + SPACE];

    space[0] = 1;
    return next(arg) + space[0];
}
