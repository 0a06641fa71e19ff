/* What signals do to the process. While the script loads, Ctrl-C and its kind end the program with a message; from signals_open on they are read by the runner, which ends the
 * run with its results. One that was ignored when the program began (nohup, a shell's background) stays ignored. */
#ifndef LUABENCH_RUN_SIGNALS_H
#define LUABENCH_RUN_SIGNALS_H

enum { EXIT_INTERRUPTED = 130 };

/* At the start of the program. SIGINT, SIGTERM and SIGHUP: message and exit status 130. SIGPIPE and SIGXFSZ are errors of write. SIGALRM ends loading after `seconds`; SIGUSR1 and
 * SIGUSR2 mean nothing. SIGQUIT stays what it is: the end at once, with a core. */
void signals_loading(unsigned seconds);
/* The script is loaded: SIGALRM means nothing any more. */
void signals_loaded(void);
/* Blocks SIGINT, SIGTERM and SIGHUP in this thread and those it starts, and returns a descriptor from which they are read (signalfd, not blocking); -1 with errno. */
int signals_open(void);

#endif
