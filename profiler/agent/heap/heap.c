#include "profiler/agent/heap/heap.h"

static const uint32_t nowhere;

struct sfb_heap sfb_heap = { .here = &nowhere };

_Thread_local struct sfb_heap_local sfb_heap_local __attribute__((tls_model("initial-exec")));
