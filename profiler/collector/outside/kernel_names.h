/* Names of sampled functions of the kernel, by /proc/kallsyms. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_KERNEL_NAMES_H
#define PROFILER_COLLECTOR_OUTSIDE_KERNEL_NAMES_H

#include <stdbool.h>

#include "sfb/recording.h"

struct kernel_names;

/*
 * Begins. Where the list of the kernel's functions is hidden (kernel.kptr_restrict) or of another boot, there are no names.
 *
 * @param text  where the kernel's code began when samples were taken: of another boot the list says nothing; 0: this boot
 * @return NULL: no memory
 */
struct kernel_names *kernel_names_open(uint64_t text);

/* A frame of a process is at an address. @param names  NULL: nothing is noted */
void kernel_names_note(struct kernel_names *names, uint32_t process, uint64_t address);

/* @return its function, of this boot; "": not known. Lives as long as the names. The first call takes 50 ms */
const char *kernel_names_of(struct kernel_names *names, uint64_t address);

/* Whether kernel_names_of() has found a list to look in. */
bool kernel_names_known(const struct kernel_names *names);

/* Writes the functions that were noted into the recording, for each process as a perf map has them. Called in the end. */
void kernel_names_write(struct kernel_names *names, struct sfb_recording_writer *writer);

void kernel_names_close(struct kernel_names *names);

#endif
