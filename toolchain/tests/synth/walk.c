/*
 * Walks its own stack through the C library and prints the source of each frame: a line "MODULE
 * SOURCE" for each, and "- STATUS" at the end. Once from a callback of qsort(), once from a signal
 * handler that interrupted raise().
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/walk.h"

static void name_module(char *out, size_t size, uint64_t address)
{
    Dl_info info;
    const char *slash;

    if (dladdr((void *)(uintptr_t)(address - 1), &info) == 0 || !info.dli_fname) {
        snprintf(out, size, "?");
        return;
    }
    slash = strrchr(info.dli_fname, '/');
    snprintf(out, size, "%s", slash ? slash + 1 : info.dli_fname);
}

static void print_walk(struct sfb_context *start, enum sfb_frame_kind kind)
{
    static struct sfb_walker walker;
    struct sfb_frame frame;
    char module[256];
    enum sfb_status status;

    if (sfb_walker_init(&walker, start, kind, NULL) != SFB_OK ||
        sfb_walker_next(&walker, &frame) != SFB_OK)
        abort();
    for (;;) {
        name_module(module, sizeof module, frame.address + (frame.kind == SFB_FRAME_PC));
        status = sfb_walker_next(&walker, &frame);
        if (status != SFB_OK)
            break;
        printf("%s %s\n", module, sfb_source_str(frame.source));
    }
    printf("%s end\n- %s\n", module, sfb_status_str(status));
}

static int compare(const void *a, const void *b)
{
    static int calls;
    struct sfb_context context;

    if (calls++ == 0) {
        sfb_context_capture(&context);
        print_walk(&context, SFB_FRAME_RA);
    }
    return *(const int *)a - *(const int *)b;
}

static void on_signal(int number, siginfo_t *info, void *ucontext)
{
    struct sfb_context context;

    (void)number, (void)info;
    if (sfb_context_from_ucontext(&context, ucontext) == SFB_OK)
        print_walk(&context, SFB_FRAME_PC);
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    int numbers[] = { 3, 1, 2 };

    qsort(numbers, 3, sizeof *numbers, compare);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    return numbers[0] == 1 ? 0 : 1;
}
