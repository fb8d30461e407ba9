/* sse.h: encoding of server-sent events. Pure. */
#pragma once

#include "base/buf.h"

/* Appends one event; id and event may be absent. Line breaks in the data become more data lines; id and event are cut
 * at a line break, which would start another field. */
void sse_event(struct buf *out, struct str id, struct str event, struct str data);
