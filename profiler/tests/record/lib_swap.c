/* A library of which there are two, for tests that load them in turn: what it burns is under its own name. */
#include "profiler/tests/record/burn.h"

void work_in_library(unsigned ms);

__attribute__((visibility("default"))) void work_in_library(unsigned ms)
{
    burn_ms(ms);
}
