/* A library that comes and goes: it calls what it is given, so that a walk goes through it. */
int call_back(int (*callback)(void));

int call_back(int (*callback)(void))
{
#ifdef TOO
    volatile char more[200] = { 1 };

    return callback() + more[0];
#else
    return callback() + 1;
#endif
}
