/* 0.1.0: include/sframe_backtrace_crash.h of the last commit before 0.2.0, without its comments. */
#ifndef SFRAME_BACKTRACE_CRASH_H
#define SFRAME_BACKTRACE_CRASH_H
#include "sfb/api.h"
#include "sfb/status.h"
#include <stddef.h>
#include <stdint.h>
SFB_BEGIN_DECLS
#define SFRAME_BACKTRACE_CRASH_FRAMES_MAX    1024
#define SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX 512
struct sframe_backtrace_crash_options {
    size_t size;
    int fd;
    uint32_t flags;
    uint32_t signals;
    uint32_t max_frames;
    uint32_t outermost;
};
SFB_API enum sfb_status sframe_backtrace_install_crash_handler(
    const struct sframe_backtrace_crash_options *options);
SFB_API enum sfb_status sframe_backtrace_uninstall_crash_handler(void);
SFB_API enum sfb_status sframe_backtrace_crash_stack(void *memory, size_t size);
SFB_API void sframe_backtrace_release_crash_stack(void);
SFB_API size_t sframe_backtrace_crash_stack_size(void);
SFB_END_DECLS
#endif
