#include "profiler/agent/cpu/thread.h"

_Thread_local struct sfb_thread_local sfb_thread_local __attribute__((tls_model("initial-exec")));
