/* sse.h: the text of server-sent events. Pure. */
#ifndef CAIRN_HTTP_SSE_H
#define CAIRN_HTTP_SSE_H

#include "base/buf.h"

/* One event; id and event may be absent. Line breaks in the data become further data lines; in id and event, where they
 * would begin another field, they end the value. */
void sse_event(struct buf *out, struct str id, struct str event, struct str data);

#endif
