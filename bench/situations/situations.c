/* The list. */
#include "situations/situation.h"

const int depths[DEPTHS] = { 8, 32, 128, 1000 };

const struct situation situations[] = {
    { "call", "the same stack again and again, walked by the function that is called last",
      situation_call },
    { "sig",
      "the same from a handler of SIGTRAP. Who takes a ucontext_t starts from it; the others walk\n"
      "through the signal frame, and the handler's three frames are among those counted",
      situation_signal },
    { "div",
      "64 different stacks in random order, all of them parts of the thread's own stack: control\n"
      "switches to each, and it is walked there. What a switch takes alone is taken off",
      situation_div },
    { "div-fibers", "the same with each of the 64 in a mapping of its own, as fibers are",
      situation_div_fibers },
    { "div-context", "the 64 stacks of div, each from its ucontext_t, without a switch",
      situation_div_context },
    { "vary",
      "the same stack, but the innermost 0 to 14 frames are others each time. What calling those\n"
      "takes alone is taken off",
      situation_vary },
    { "repeat",
      "one function that calls itself, and was called in the same way as often: a run of equal "
      "frames",
      situation_repeat },
    { "hash",
      "64 frames, of which the innermost eight are others each time, to the end of the stack: what "
      "a\n"
      "memo and a hash of the stack cost. What calling the eight takes alone is taken off",
      situation_hash },
    { "cold", "6 MiB are touched before each walk of the same stack", situation_cold },
    { "thread-1", "the first walk of a new thread", situation_thread },
    { "thread-2", "the second walk of that thread", NULL },
    { "process-1", "the first walk of a process, which is started for it", situation_process },
    { "process-2", "the second walk of that process", NULL },
    { "pair", "call, while another thread does the same on another CPU", situation_pair },
    { "half", "call, with every other shared object of the 8 built without .sframe",
      situation_half },
    { "bare", "call, with all 8 built without .sframe: .eh_frame says all", situation_bare },
    { "plugins",
      "call, with all 8 opened by dlopen(): walks have to look whether they are still there",
      situation_plugins },
    { "libraries",
      "call, with 500 more libraries loaded; spread: each frame in another one of those",
      situation_many },
    { "malloc",
      "inside malloc() of real programs, none of whose modules has .sframe: each walks the same\n"
      "stack at every 64th call, in turns. depth: frames; same: % equal to unw_backtrace()'s",
      NULL },
    { "lookup",
      "ns to find the rule for one pc in a section, all functions in random order, no cache",
      situation_lookup },
    { "encoder", "the CBF encoder alone, each stack from init to end", situation_encoder },
    { "instructions", "instructions a frame, 128 deep, counted by callgrind", NULL },
    { "stack",
      "bytes of an alternate stack that a capture in a handler touches, 32 frames deep, where all\n"
      "have .sframe and where none has; the first of a process and the next",
      situation_stack },
    { "memory", "KiB that the library has, and what the first walk of 4,096 functions maps",
      situation_memory },
    { NULL, NULL, NULL },
};
