/* advice.h: what operations say about the command line, said again in the words of another door.
 *
 * An operation's fix names the command that would work: "cairn supersede 12 --reason WHY TEXT". A door that is not the
 * command line says how the same call looks there, from its own tables; so a new tool or route needs no list of
 * translations. */
#pragma once

#include "op/op.h"

struct words_door {
  void *arg;
  struct arena *arena;
  yyjson_mut_doc *doc;
  /* How a call looks here; absent when it cannot be made here. `args` are arguments of the operation: values, or
   * placeholders in capitals. */
  struct str (*call)(const struct words_door *door, const struct op *op, yyjson_mut_val *args);
  const char *help;      /* where the arguments of a call are described */
  const char *session;   /* how a call names its session: "the header Cairn-Session" */
  const char *elsewhere; /* of a command that cannot be given here: who gives it, or where */
};

/* The text with the commands and options in it as they are called at this door. What it quotes of a memory, behind
 * "memory 12: ", stays as it is. */
struct str words_at(const struct words_door *door, struct str text);

/* Members of results in which operations speak to the caller; what else is text was stored by somebody. `of` is the
 * object: the note of something stored, which says when it was created, is a person's. */
bool words_are_advice(yyjson_mut_val *of, struct str member);
