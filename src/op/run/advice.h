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
  /* True if the call that is answered has this option. NULL: always. */
  bool (*takes)(const struct advice_interface *to, struct str option);
  const char *session;     /* how a call names its session: "the header Cairn-Session" */
  const char *user_option; /* what to say of an option that the call does not take; with `takes` */
  const char *elsewhere;   /* where to run commands that this interface lacks */
};

/* Rewrites the commands and options in `text`, which an operation wrote for its caller: never a text that quotes what
 * is stored. Values in shell quotes (arena_shell_quote()) are copied. */
struct str advice_translate(const struct advice_interface *to, struct str text);

/* The parameter with this option on the command line, without "--"; NULL if there is none. */
const struct param *op_option(const struct op *op, struct str option);

typedef struct str (*advice_rewriter)(void *arg, struct str text);

/* Rewrites the members of an operation's result whose declared type is `advice` (op/run/results.h), and the lines of
 * its text that name commands. Everything else may be stored text and is not changed. */
void advice_rewrite_result(struct arena *a, const struct op *op, yyjson_mut_val *result, advice_rewriter rewrite,
                           void *arg);
