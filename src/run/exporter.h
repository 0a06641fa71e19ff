/* Serves the figures of a run while it goes on, over HTTP/1.1, to a Prometheus server or whoever else asks for /metrics. A thread of its own with a few connections, on
 * the codec of http/ in its server role. The text that it serves is made elsewhere (judge.h), once a second, whether somebody asks or not. */
#ifndef LUABENCH_RUN_EXPORTER_H
#define LUABENCH_RUN_EXPORTER_H

#include "base/buf.h"

struct exporter;

/* Listens on `host` ("": on any address) and `port` (0: any free one), says where on standard error, and starts the thread. NULL when that cannot be, with the reason on
 * standard error. */
struct exporter *exporter_new(const char *host, int port);
/* The text that is served from now on; any thread. */
void exporter_publish(struct exporter *exporter, const struct buf *text);
/* Ends the thread and closes all connections; NULL is nothing. */
void exporter_free(struct exporter *exporter);

#endif
