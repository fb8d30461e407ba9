/* file_event.h: events about the files of an agent, with the payloads that the feed promises.
 *
 * They are outside of the store's transactions: there is nothing to undo. The files are what counts: an event that
 * cannot be written is said in the result, as `degraded`, and fails nothing. */
#pragma once

#include "op/run/common.h"

/* What kind of memory a file holds: the `type` of its events. */
#define FILE_EPISODIC "episodic"
#define FILE_LONG_TERM "long-term"
#define FILE_TASKS "tasks"

void file_event(struct op_call *call, const char *action, const yyjson_mut_val *detail);
/* memory:write {type, path, delta}: by how many bytes it has grown. */
void file_wrote(struct op_call *call, const char *type, struct str path, int64_t delta);
/* memory:read {type, path, size} */
void file_was_read(struct op_call *call, const char *type, struct str path, int64_t size);
