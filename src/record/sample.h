/* A sample of the interrupted thread, into its ring. */
#ifndef SFB_RECORD_SAMPLE_H
#define SFB_RECORD_SAMPLE_H

#include "record/thread.h"

/*
 * Takes one, and counts it if it cannot be kept. Changes errno.
 *
 * @param engine   whose signal it was
 * @param context  ucontext_t of the handler
 *
 * Signals: safe; it is for a handler that nothing of the agent interrupts.
 */
void sfb_sample_take(struct sfb_thread *thread, enum sfb_recording_engine engine,
                     const void *context);

#endif
