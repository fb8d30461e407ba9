/* advice.h: translates command lines in messages into the calls of another interface.
 *
 * An operation's fix names the command that would work: "cairn supersede 12 --reason WHY TEXT". Other interfaces show
 * the same call in their own form, derived from their tables; a new tool or route needs no list of translations. */
#pragma once

#include "op/op.h"

struct advice_interface {
  void *arg;
  struct arena *arena;
  yyjson_mut_doc *doc;
  /* Formats a call for this interface; absent if it is not available here. `args` are arguments of the operation:
   * values, or placeholders in capitals. */
  struct str (*call)(const struct advice_interface *to, const struct op *op, yyjson_mut_val *args);
  const char *session;   /* how a call names its session: "the header Cairn-Session" */
  const char *elsewhere; /* where to run commands that this interface lacks */
};

/* Rewrites the commands and options in `text` for this interface. Text quoted from a memory, after "memory 12: ", is
 * not changed. */
struct str advice_translate(const struct advice_interface *to, struct str text);

/* True for members of results that hold messages of operations; other text was stored by callers. `of` is the object
 * with the member: a note with a created_at was stored. */
bool is_advice_member(yyjson_mut_val *of, struct str member);
