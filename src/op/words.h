/* words.h: what operations say about the command line, said again in the words of another door.
 *
 * An operation's fix names the command that would work: "cairn supersede 12 --reason WHY TEXT". A door that is not the
 * command line says how the same call looks there, from its own tables; so a new tool or route needs no list of
 * translations. */
#ifndef CAIRN_OP_WORDS_H
#define CAIRN_OP_WORDS_H

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

/* The text with the commands and options in it as they are called at this door. */
struct str words_at(const struct words_door *door, struct str text);

/* Members of results in which operations speak to the caller; what else is text was stored by somebody. */
bool words_are_advice(struct str member);

#endif
