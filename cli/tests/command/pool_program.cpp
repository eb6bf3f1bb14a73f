// The same in C++.
#include "pool_program.c"
