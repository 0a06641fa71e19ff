/* What signals do to the process: none takes the results with it but SIGKILL, SIGABRT and those of a crash. While the script loads, Ctrl-C and its kind end the program with a
 * message; from signals_open on they are read by the runner, which ends the run with its results. One that was ignored when the program began (nohup, a shell's background) stays
 * ignored. */
#ifndef LUABENCH_RUN_SIGNALS_H
#define LUABENCH_RUN_SIGNALS_H

#include <stdint.h>

enum { EXIT_INTERRUPTED = 130 };

enum heard {
    HEARD_NOTHING,
    HEARD_ONCE,  /* the run is to end */
    HEARD_AGAIN, /* somebody does not want to wait for that */
};

/* At the start of the program. SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU: message and exit status 130. SIGPIPE and SIGXFSZ are errors of write. SIGALRM ends loading after
 * `seconds`; all others that would end the program mean nothing. */
void signals_loading(unsigned seconds);
/* The script is loaded: SIGALRM means nothing any more. */
void signals_loaded(void);
/* Blocks SIGINT and its kind in this thread and those it starts, and returns a descriptor from which they are read (signalfd, not blocking); -1 with errno. */
int signals_open(void);
/* What has come over that descriptor. `*first` is 0 at first, and becomes the time (ns) of the first signal. */
enum heard signals_read(int fd, int64_t *first);

#endif
