/* recv and send as bare system calls. Those of libc are cancellation points, which costs every call two atomic instructions in a program with threads; no thread is
 * ever cancelled here. errno as there. */
#ifndef LUABENCH_NET_SOCKET_CALLS_H
#define LUABENCH_NET_SOCKET_CALLS_H

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline ssize_t socket_receive(int fd, void *data, size_t size)
{
    return syscall(SYS_recvfrom, fd, data, size, 0, NULL, NULL);
}

/* Raises no SIGPIPE. */
static inline ssize_t socket_send(int fd, const void *data, size_t length)
{
    return syscall(SYS_sendto, fd, data, length, MSG_NOSIGNAL, NULL, 0);
}

#endif
