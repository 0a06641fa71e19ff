/* Names of status codes. */
#ifndef LUABENCH_HTTP_STATUS_H
#define LUABENCH_HTTP_STATUS_H

/* The reason phrase of `status` (IANA's registry of HTTP status codes), "" for one that has none. */
const char *status_reason(int status);

#endif
