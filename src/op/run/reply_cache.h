/* reply_cache.h: replies of searches that are asked again: the same question by the same caller within a minute, while
 * nobody has changed a memory, gets the same answer without a search. Reading is noted all the same.
 *
 * It belongs to an engine; under its lock. */
#pragma once

#include "op/op.h"
#include "store/generation.h"

struct reply_cache;

/* What the reply depends on: operation, team, project, arguments, the minute. */
struct str reply_key(struct op_call *call);
/* True: call->result is filled, and the read noted. Anything in doubt is false. */
bool reply_find(struct op_call *call, struct str key);
/* Keeps call->result, found in this generation of the store; `note` is the detail of the read's event. Replies that say
 * that something did not work are not kept. */
void reply_keep(struct op_call *call, struct str key, const struct generation *generation, struct str note);
void reply_cache_free(struct reply_cache **cache);
