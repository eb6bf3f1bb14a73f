/*
 * Everything large is static: one thread writes at a time (handler.c), and it may have little
 * stack. Memory that a crash may have damaged is read through the probe; the tables and ELF headers
 * of modules are believed to be where the loader put them, as they are by a walk.
 */
#include "crash/report.h"

#include <link.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "crash/crash.h"
#include "crash/kernel.h"
#include "crash/names.h"
#include "crash/registers.h"
#include "sfb/cbf.h"
#include "sframe_backtrace.h"
#include "unwind/loaded.h"
#include "unwind/memory.h"
#include "unwind/modules.h"

/*
 * No frame takes more than 9 bytes, and up to half of the buffer is for the outermost ones: there
 * is room for SFRAME_BACKTRACE_CRASH_FRAMES_MAX and SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX.
 */
static uint8_t cbf[14 << 10];

_Static_assert(sizeof cbf > 9 * (SFRAME_BACKTRACE_CRASH_FRAMES_MAX + 2) +
                                9 * SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX / 2 &&
                   sizeof cbf / 2 > 9 * SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX,
               "all frames fit");

/* --- names --------------------------------------------------------------------------------------
 */

/* A name is this long at most, whatever is found. */
enum { NAME_SIZE_MAX = 4096 };

static bool read_char(struct sfb_memory *memory, uint64_t address, char *out)
{
    return sfb_memory_copy(memory, address, out, 1) && *out != '\0';
}

/* @return the bytes of a name up to and with its last '/' */
static uint64_t folder_size(struct sfb_memory *memory, uint64_t name)
{
    uint64_t size = 0;
    char c;

    for (uint64_t i = 0; i < NAME_SIZE_MAX && read_char(memory, name + i, &c); i++)
        if (c == '/')
            size = i + 1;
    return size;
}

/*
 * Writes the name of a module as the loader has it; the program has none there.
 *
 * @param whole  else without its folder, and blanks are written as other unprintable characters
 */
static void put_name(struct sfb_text *text, uint64_t link_map, bool whole)
{
    struct sfb_memory memory;
    uint64_t name = 0;
    char c;

    sfb_memory_probed(&memory);
    if (link_map)
        sfb_memory_copy(&memory, link_map + offsetof(struct link_map, l_name), &name, sizeof name);
    if (name && !read_char(&memory, name, &c))
        name = (uintptr_t)sfb_crash.program;
    if (!name || !read_char(&memory, name, &c)) {
        sfb_text_char(text, '?');
        return;
    }
    if (!whole)
        name += folder_size(&memory, name);
    for (uint64_t i = 0; i < NAME_SIZE_MAX && read_char(&memory, name + i, &c); i++)
        sfb_text_foreign(text, c, whole ? '\\' : ' ');
}

static void put_build_id(struct sfb_text *text, const struct sfb_build_id *id)
{
    sfb_text_string(text, " build-id ");
    if (id->size > 0)
        sfb_text_bytes(text, id->bytes, id->size);
    else
        sfb_text_char(text, '-');
}

/* "libfoo.so+0x1234 build-id 0a1b", or "?" */
static void put_place(struct sfb_text *text, uint64_t address)
{
    struct sfb_loaded loaded;

    if (!sfb_loaded_find(&loaded, address)) {
        sfb_text_char(text, '?');
        return;
    }
    put_name(text, loaded.link_map, false);
    sfb_text_char(text, '+');
    sfb_text_hex(text, address - loaded.bias);
    put_build_id(text, &loaded.build_id);
}

static void put_number(struct sfb_text *text, const char *what, int64_t value)
{
    sfb_text_string(text, what);
    sfb_text_decimal(text, value);
}

static void put_address(struct sfb_text *text, const char *what, uint64_t value)
{
    sfb_text_string(text, what);
    sfb_text_hex(text, value);
}

/* --- the parts ----------------------------------------------------------------------------------
 */

static void put_thread_name(struct sfb_text *text)
{
    char name[17] = "";

    sfb_kernel(SYS_prctl, PR_GET_NAME, (uintptr_t)name, 0, 0);
    sfb_text_string(text, " \"");
    for (size_t i = 0; i < sizeof name && name[i]; i++)
        sfb_text_foreign(text, name[i], '"');
    sfb_text_char(text, '"');
}

static void put_signal(struct sfb_text *text, const struct sfb_crash_event *e)
{
    const int code = e->info->si_code;

    sfb_text_string(text, SFB_CRASH_PREFIX);
    sfb_text_string(text, sfb_crash_signal_name(e->number));
    put_number(text, " (", e->number);
    sfb_text_string(text, ") code ");
    sfb_text_string(text, sfb_crash_code_name(e->number, code));
    put_number(text, " (", code);
    if (code <= 0) {
        put_number(text, ") sender ", e->info->si_pid);
    } else if (e->number == SIGSYS) {
        put_address(text, ") address ", (uintptr_t)e->info->si_call_addr);
        put_number(text, " syscall ", e->info->si_syscall);
    } else {
        put_address(text, ") address ", (uintptr_t)e->info->si_addr);
    }
    put_number(text, " pid ", e->process);
    put_number(text, " thread ", e->thread);
    put_thread_name(text);
    sfb_text_char(text, '\n');
}

static void put_cbf(struct sfb_text *text, size_t size)
{
    enum { LINE = 32 };

    for (size_t at = 0; at < size; at += LINE) {
        sfb_text_string(text, "cbf ");
        sfb_text_bytes(text, cbf + at, size - at < LINE ? size - at : LINE);
        sfb_text_char(text, '\n');
    }
}

/* Writes one frame, or what stands for several. @return the number of the next */
static uint64_t put_frame(struct sfb_text *text, const struct sfb_cbf_item *item, uint64_t number)
{
    if (item->kind == SFB_FRAME_OMIT) {
        put_number(text, "omitted ", (int64_t)item->value);
        number += item->value;
    } else if (item->repeat) {
        put_number(text, "repeated ", (int64_t)item->count);
        number += item->count;
    } else {
        put_number(text, "frame ", (int64_t)number);
        put_address(text, item->kind == SFB_FRAME_PC ? " pc " : " ra ", item->value);
        sfb_text_char(text, ' ');
        put_place(text, item->value);
        number++;
    }
    sfb_text_char(text, '\n');
    return number;
}

static void put_frames(struct sfb_text *text, size_t size, enum sfb_status end)
{
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    uint64_t number = 0;

    if (sfb_cbf_decoder_init(&decoder, cbf, size, NULL, NULL) == SFB_OK)
        while (sfb_cbf_decoder_next(&decoder, &item, NULL) == SFB_OK)
            number = put_frame(text, &item, number);
    sfb_text_string(text, end == SFB_END ? "complete" : "truncated: ");
    if (end != SFB_END)
        sfb_text_string(text, sfb_status_str(end));
    sfb_text_char(text, '\n');
}

/*
 * The next module by address: of those that the library knows, which are all that were loaded when
 * it was, at sframe_backtrace_refresh(), or when a walk came to them, and of those of the frames.
 *
 * @return where it begins, 0: there is no more
 */
static uint64_t next_module(uint64_t after, size_t size)
{
    uint64_t next = sfb_module_cache_next(after);
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;

    if (sfb_cbf_decoder_init(&decoder, cbf, size, NULL, NULL) != SFB_OK)
        return next;
    while (sfb_cbf_decoder_next(&decoder, &item, NULL) == SFB_OK) {
        struct sfb_loaded loaded;

        if (item.kind != SFB_FRAME_OMIT && !item.repeat && sfb_loaded_find(&loaded, item.value) &&
            loaded.start > after && (next == 0 || loaded.start < next))
            next = loaded.start;
    }
    return next;
}

static void put_modules(struct sfb_text *text, size_t size)
{
    struct sfb_loaded loaded;

    for (uint64_t start = 0; (start = next_module(start, size)) != 0;) {
        if (!sfb_loaded_find(&loaded, start) || loaded.start != start)
            continue; /* unloaded */
        put_address(text, "module ", loaded.start);
        put_address(text, "-", loaded.end);
        put_build_id(text, &loaded.build_id);
        sfb_text_char(text, ' ');
        put_name(text, loaded.link_map, true);
        sfb_text_char(text, '\n');
    }
}

static void put_next(struct sfb_text *text, const struct sigaction *next)
{
    sfb_text_string(text, "then ");
    if (((unsigned)next->sa_flags & SA_SIGINFO) == 0 &&
        (next->sa_handler == SIG_DFL || next->sa_handler == SIG_IGN)) {
        sfb_text_string(text, "default");
    } else {
        sfb_text_string(text, "handler ");
        put_place(text, (uintptr_t)next->sa_sigaction);
    }
    sfb_text_char(text, '\n');
}

void sfb_crash_report(struct sfb_text *text, const struct sfb_crash_event *event,
                      const char *volatile *part)
{
    const struct sframe_backtrace_options options = { .size = sizeof options,
                                                      .context = event->ucontext,
                                                      .flags = sfb_crash.flags,
                                                      .max_frames = sfb_crash.max_frames,
                                                      .outermost = sfb_crash.outermost };
    struct sframe_backtrace_info info = { .size = sizeof info };
    ssize_t size;

    *part = "signal";
    put_signal(text, event);
    sfb_text_flush(text);
    *part = "registers";
    sfb_crash_registers(text, event->ucontext);
    sfb_text_flush(text);
    *part = "walk";
    size = sframe_backtrace_cbf(cbf, sizeof cbf, &options, &info);
    if (size > 0) {
        put_cbf(text, (size_t)size);
        sfb_text_flush(text);
        *part = "frames";
        put_frames(text, (size_t)size, info.end);
        sfb_text_flush(text);
    }
    *part = "modules";
    put_modules(text, size > 0 ? (size_t)size : 0);
    *part = "end";
    put_next(text, event->next);
    sfb_text_string(text, "end\n");
    sfb_text_flush(text);
}
