/* Limits of the process: how long scripts may take to load, and how many files may be open. */
#ifndef LUABENCH_RUN_LIMITS_H
#define LUABENCH_RUN_LIMITS_H

/* The process ends with a message when limits_loaded is not called within `seconds`. */
void limits_loading(unsigned seconds);
void limits_loaded(void);
/* Raises the soft limit of open files to the hard one. */
void limits_raise(void);

#endif
