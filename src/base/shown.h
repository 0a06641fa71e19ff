/* Text from outside, in messages of the core: what a terminal might obey is shown instead, as lua/luabench/terminal.lua does for all others. */
#ifndef LUABENCH_BASE_SHOWN_H
#define LUABENCH_BASE_SHOWN_H

enum { SHOWN_SIZE = 1024 };

/* `text` in `out`, with control characters and bytes beyond ASCII as \x1b; what is too long for that is cut. Returns `out`. */
const char *shown(const char *text, char out[SHOWN_SIZE]);

#endif
