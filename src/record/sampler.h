/*
 * The engine SAMPLER: a thread that looks at the CPU clocks of the others, and sends a signal to those that ran. It is
 * started only for threads that have no timer, since programs see that it is there.
 */
#ifndef SFB_RECORD_SAMPLER_H
#define SFB_RECORD_SAMPLER_H

/* Starts it if a thread needs it and none runs. Not for handlers. */
void sfb_sampler_start_if_needed(void);

#endif
