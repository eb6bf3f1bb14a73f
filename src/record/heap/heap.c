#include "record/heap/heap.h"

struct sfb_heap sfb_heap;

_Thread_local struct sfb_heap_local sfb_heap_local __attribute__((tls_model("initial-exec")));
