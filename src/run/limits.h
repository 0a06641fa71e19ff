/* Limits of the process on files. */
#ifndef LUABENCH_RUN_LIMITS_H
#define LUABENCH_RUN_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* Raises the soft limit of open files to the hard one, and makes sure that the three standard ones are open, so that no socket takes the place of a closed one: what is written to
 * it fails as before. */
void limits_files(void);
/* How many files may be open. */
uint64_t limits_of_files(void);
/* True when the address space of this process is limited (ulimit -v): then it is used sparingly, without 64 MB of it for each thread that malloc would set aside. */
bool limits_memory(void);
/* True when `count` more files can be opened. */
bool limits_can_open(unsigned count);

#endif
