/* file_event.h: events about an agent's files.
 *
 * They have their own transaction, which cannot be undone. If an event cannot be written, the call still succeeds, and
 * its result says `degraded`. */
#pragma once

#include "op/run/common.h"

/* `type` of the events: the kind of memory that a file holds. */
#define FILE_EPISODIC "episodic"
#define FILE_LONG_TERM "long-term"
#define FILE_TASKS "tasks"

void file_event(struct op_call *call, const char *action, const yyjson_mut_val *detail);
/* memory:write {type, path, delta}; `delta`: bytes by which the file has grown. */
void file_event_write(struct op_call *call, const char *type, struct str path, int64_t delta);
/* memory:read {type, path, size} */
void file_event_read(struct op_call *call, const char *type, struct str path, int64_t size);
