/* Where a recorder listens (control.h). */
#ifndef PROFILER_PROTOCOL_CONTROL_ADDRESS_H
#define PROFILER_PROTOCOL_CONTROL_ADDRESS_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The number of this process's PID namespace, as `ls -i` shows it; 0: not to be had, without /proc */
uint64_t sfb_control_namespace(void);

/* Makes the address of a recorder's socket. @return its size, in bytes */
socklen_t sfb_control_address(struct sockaddr_un *out, pid_t recorder);

#endif
