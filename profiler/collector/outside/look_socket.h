/* What a socket of another process is connected to. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_LOOK_SOCKET_H
#define PROFILER_COLLECTOR_OUTSIDE_LOOK_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Writes "tcp 127.0.0.1:5432", "unix /run/db.sock"; of a socket without a peer where it listens, or "not connected".
 *
 * @param out    any bytes but 0
 * @param inode  of the socket that is meant: another one may be behind the descriptor by now
 * @return false: not known
 */
bool look_socket_name(char *out, size_t room, pid_t pid, int descriptor, uint64_t inode);

#endif
