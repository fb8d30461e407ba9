/* sse.h: the text of server-sent events. Pure. */
#pragma once

#include "base/buf.h"

/* One event; id and event may be absent. Line breaks in the data become further data lines; in id and event, where they
 * would begin another field, they end the value. */
void sse_event(struct buf *out, struct str id, struct str event, struct str data);
