/*
 * Everything large is static: one thread writes at a time (handler.c), and it may have little stack.
 * Memory that a crash may have damaged is probed before it is read. For faults in tables of the loader
 * or of a module, see attempt.h.
 */
#include "crash/report.h"

#include <stdalign.h>
#include <string.h>
#include <sys/prctl.h>

#include "crash/attempt.h"
#include "crash/blocks.h"
#include "crash/crash.h"
#include "crash/grammar.h"
#include "crash/kernel.h"
#include "crash/lines.h"
#include "crash/names.h"
#include "crash/places.h"
#include "crash/registers.h"
#include "sfb/cbf.h"
#include "sframe_backtrace.h"
#include "unwind/process/pages.h"

/*
 * No frame takes more than 9 bytes, and up to half of the buffer is for the outermost ones: there
 * is room for SFRAME_BACKTRACE_CRASH_FRAMES_MAX and SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX.
 */
static alignas(8) uint8_t cbf[14 << 10];

_Static_assert(sizeof cbf > 9 * (SFRAME_BACKTRACE_CRASH_FRAMES_MAX + 2) +
                                9 * SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX / 2 &&
                   sizeof cbf / 2 > 9 * SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX,
               "all frames fit");

/* Bytes of the backtrace after the walk. The rest of the buffer then holds at least 500 module starts. */
static size_t cbf_size;
static struct sfb_places places;

/* --- the parts ----------------------------------------------------------------------------------
 */

/* Writes an id, unless a filter of system calls has refused it. */
static void put_id(struct sfb_text *text, const char *what, int id)
{
    if (id >= 0) {
        sfb_crash_put_number(text, what, id);
    } else {
        sfb_text_string(text, what);
        sfb_text_char(text, '?');
    }
}

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
    sfb_crash_put_number(text, " (", e->number);
    sfb_text_string(text, ") code ");
    sfb_text_string(text, sfb_crash_code_name(e->number, code));
    sfb_crash_put_number(text, " (", code);
    if (code <= 0) {
        sfb_crash_put_number(text, ") sender ", e->info->si_pid);
    } else if (e->number == SIGSYS) {
        sfb_crash_put_address(text, ") address ", (uintptr_t)e->info->si_call_addr);
        sfb_crash_put_number(text, " syscall ", e->info->si_syscall);
    } else {
        sfb_crash_put_address(text, ") address ", (uintptr_t)e->info->si_addr);
    }
    put_id(text, " pid ", e->process);
    put_id(text, " thread ", e->thread);
    put_thread_name(text);
    sfb_text_char(text, '\n');
}

/* State of a report, for its parts. */
struct report {
    struct sfb_text *text;
    const struct sfb_crash_event *event;
    uint32_t outermost;
    enum sfb_status end; /* of the walk */
    bool walk_failed;
};

static void write_signal(void *with)
{
    struct report *r = with;

    put_signal(r->text, r->event);
}

static void write_registers(void *with)
{
    struct report *r = with;
    struct sfb_crash_register reg;

    for (unsigned i = 0; (reg = sfb_crash_register(r->event->ucontext, i)).name; i++) {
        sfb_text_string(r->text, "register ");
        sfb_text_string(r->text, reg.name);
        sfb_crash_put_address(r->text, " ", reg.value);
        sfb_text_char(r->text, '\n');
    }
}

static void write_blocks(void *with)
{
    struct report *r = with;

    sfb_crash_put_blocks(r->text, r->event->ucontext);
}

/* @return the flag for doubt, unless a filter refuses the probe: with doubt nothing would be readable then */
static uint32_t doubt(void)
{
    return sfb_page_probe((uintptr_t)__builtin_frame_address(0)) ? SFRAME_BACKTRACE_DOUBT : 0;
}

static void walk(void *with)
{
    struct report *r = with;
    const struct sframe_backtrace_options options = { .size = sizeof options,
                                                      .context = r->event->ucontext,
                                                      .flags = sfb_crash.flags | doubt(),
                                                      .max_frames = sfb_crash.max_frames,
                                                      .outermost = r->outermost };
    struct sframe_backtrace_info info = { .size = sizeof info };
    ssize_t size;

    cbf_size = 0;
    memset(cbf, 0, sizeof cbf); /* so that salvage() finds the end after a fault */
    size = sframe_backtrace_cbf(cbf, sizeof cbf, &options, &info);
    cbf_size = size > 0 ? (size_t)size : 0;
    r->end = info.end;
}

/* @return the byte that ends a truncated backtrace */
static uint8_t cut_off(void)
{
    struct sfb_cbf_encoder encoder;
    uint8_t empty[SFB_CBF_SIZE_MIN];

    sfb_cbf_encoder_init(&encoder, empty, sizeof empty, 64);
    return empty[sfb_cbf_encoder_end(&encoder, true) - 1];
}

/* Completes the backtrace of a walk that faulted. @return its frames */
static uint64_t salvage(void)
{
    static const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                            .flags = SFB_CBF_STREAM };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    uint64_t frames = 0;

    cbf_size = 0;
    if (sfb_cbf_decoder_init(&decoder, cbf, sizeof cbf, &options, NULL) != SFB_OK)
        return 0;
    while (sfb_cbf_decoder_next(&decoder, &item, NULL) == SFB_OK)
        frames += item.count;
    /* It stopped at a zero, the end of a backtrace: the buffer was filled with zeros. */
    cbf_size = sfb_cbf_decoder_consumed(&decoder);
    cbf[cbf_size - 1] = cut_off();
    return frames;
}

/*
 * After a fault, the inner frames are in the buffer, but frames kept for the outer end are lost. So the
 * walk is repeated without keeping outer frames.
 */
static void take_walk(struct report *r)
{
    r->outermost = sfb_crash.outermost;
    if (!sfb_attempt(walk, r)) {
        r->walk_failed = true;
        if (salvage() >= sfb_crash.max_frames - r->outermost) {
            r->outermost = 0;
            r->walk_failed = !sfb_attempt(walk, r);
            if (r->walk_failed)
                salvage();
        }
    }
    sfb_attempt_tell(r->text, SFB_ATTEMPT_STEPPED_OVER);
    sfb_crash_put_cbf(r->text, "", cbf, cbf_size);
}

static void write_frames(void *with)
{
    struct report *r = with;
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    uint64_t number = 0;

    if (sfb_cbf_decoder_init(&decoder, cbf, cbf_size, NULL, NULL) != SFB_OK)
        return;
    while (sfb_cbf_decoder_next(&decoder, &item, NULL) == SFB_OK) {
        number = sfb_crash_put_frame(r->text, &item, number);
        sfb_attempt_tell(r->text, SFB_ATTEMPT_STEPPED_OVER);
    }
    if (r->walk_failed) {
        sfb_text_string(r->text, SFB_CRASH_TRUNCATED "the walk met with a fault\n");
    } else if (r->end == SFB_END) {
        sfb_text_string(r->text, SFB_CRASH_COMPLETE "\n");
    } else {
        sfb_text_string(r->text, SFB_CRASH_TRUNCATED);
        sfb_text_string(r->text, sfb_status_str(r->end));
        sfb_text_char(r->text, '\n');
    }
}

/*
 * Writes the known modules: loaded with the library, found by sframe_backtrace_refresh() or by a walk;
 * and the modules of the frames.
 */
static void write_modules(void *with)
{
    struct report *r = with;
    size_t used = (cbf_size + sizeof *places.start - 1) / sizeof *places.start;
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;

    places.start = (uint64_t *)(void *)cbf + used;
    places.count = 0;
    places.max = sizeof cbf / sizeof *places.start - used;
    if (sfb_cbf_decoder_init(&decoder, cbf, cbf_size, NULL, NULL) == SFB_OK)
        while (sfb_cbf_decoder_next(&decoder, &item, NULL) == SFB_OK)
            if (item.kind != SFB_FRAME_OMIT && !item.repeat)
                sfb_places_add(&places, item.value);
    sfb_places_add_known(&places);
    for (size_t i = 0; i < places.count; i++) {
        sfb_place_put_module(r->text, places.start[i]);
        sfb_attempt_tell(r->text, SFB_ATTEMPT_STEPPED_OVER);
    }
}

static void write_next(void *with)
{
    struct report *r = with;
    const struct sigaction *next = r->event->next;

    sfb_text_string(r->text, "then ");
    if (((unsigned)next->sa_flags & SA_SIGINFO) == 0 &&
        (next->sa_handler == SIG_DFL || next->sa_handler == SIG_IGN)) {
        sfb_text_string(r->text, "default");
    } else {
        sfb_text_string(r->text, "handler ");
        sfb_place_put(r->text, (uintptr_t)next->sa_sigaction);
    }
    sfb_text_char(r->text, '\n');
}

/* Writes a part, up to a fault. */
static void put_part(struct report *r, const char *name, void (*write)(void *))
{
    sfb_attempts.part = name;
    if (!sfb_attempt(write, r) && r->text->last != '\n')
        sfb_text_char(r->text, '\n');
    sfb_attempt_tell(r->text, SFB_ATTEMPT_STEPPED_OVER);
    sfb_text_flush(r->text);
}

void sfb_crash_report(struct sfb_text *text, const struct sfb_crash_event *event)
{
    struct report r = { .text = text, .event = event };

    sfb_places_begin();
    put_part(&r, "signal", write_signal);
    put_part(&r, "registers", write_registers);
    put_part(&r, "blocks", write_blocks);
    sfb_attempts.part = "walk";
    take_walk(&r);
    sfb_text_flush(text);
    put_part(&r, "frames", write_frames);
    put_part(&r, "modules", write_modules);
    put_part(&r, "end", write_next);
    sfb_text_string(text, SFB_CRASH_END "\n");
    sfb_text_flush(text);
}

void sfb_crash_report_spent(struct sfb_text *text, const struct sfb_crash_event *event)
{
    struct report r = { .text = text, .event = event };

    put_part(&r, "signal", write_signal);
    sfb_text_string(text, SFB_CRASH_PREFIX
                    "a previous handler crashes and is called again, and the stack is used up: "
                    "the process ends\n");
    sfb_text_flush(text);
}
