/* Processes that are looked at: which ones, what they have mapped, and what they execute. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOK_PROCESSES_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOK_PROCESSES_H

#include "profiler/collector/outside/looks_state.h"

/* As looks_set(). */
bool look_processes_set(struct looks *looks, const pid_t *pids, size_t count, bool whole,
                        uint64_t now);

/* As looks_add(), looks_reaped(), and looks_forget_ended(). */
bool look_processes_add(struct looks *looks, pid_t pid, uint64_t since, uint64_t now);
uint64_t look_processes_reaped(struct looks *looks);
size_t look_processes_forget_ended(struct looks *looks, uint64_t now);

/* Reads anew what is mapped, and which threads there are. @return false: no memory */
bool look_process_list(struct looks *looks, struct look_process *process, uint64_t now);

/* Which threads there are, alone. @return false: no memory */
bool look_process_list_threads(struct looks *looks, struct look_process *process, uint64_t now);

/* The process has executed another program. */
void look_process_replace(struct looks *looks, struct look_process *process,
                          const struct remote_task_image *image, uint64_t now);

/* @return ns that it takes to read so many threads, if nothing comes between */
uint64_t look_pass_ns(size_t count);

void look_process_free(struct looks *looks, struct look_process *process);

#endif
