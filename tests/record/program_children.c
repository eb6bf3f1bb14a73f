#include "record/program.h"
#include <stddef.h>
const struct program_mode program_children[] = { { NULL, NULL } };
