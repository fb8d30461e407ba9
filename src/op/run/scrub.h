/* scrub.h: keeps secrets out of what operations store and return. All interfaces call op_run(), which checks the
 * arguments before the handler gets them, and the result, the lines of a stream and the error before the interface
 * gets them.
 *
 * A secret is a value of the team's vault or a match of the patterns in core/secrets/redact.h. Text to be stored is
 * refused or redacted, depending on the setting secrets.mode; queries and results are redacted. Two values are returned
 * unredacted because the caller asked for them (op->reveals): the value of "vault get", and a new token. */
#pragma once

#include "core/secrets/redact.h"
#include "op/op.h"

/* ---- for op_run() ---- */

/* Wraps the hooks of a call so that emitted lines are redacted. */
struct scrub_stream {
  struct op_call *call;
  struct op_hooks hooks; /* the caller's */
  bool has_output;       /* the caller was sent a line or progress: the call cannot be retried */
  struct arena line;
};
/* Call before the first run. */
void scrub_open(struct scrub_stream *ret_stream, struct op_call *call);
void scrub_close(struct scrub_stream *stream);

/* Call in each run, after the store is bound to the team: sets call->secrets and redacts call->caller. */
void scrub_begin(struct op_call *call);
/* STATUS_SECRET, or redacts call->args, except for arguments with PARAM_SECRETS. */
NODISCARD enum status scrub_args(struct op_call *call);
void scrub_result(struct op_call *call);
void scrub_error(struct op_call *call);
/* Redactor that an engine keeps between calls, for engine_close(). */
void scrubber_free(struct scrubber **scrubber);

/* ---- for interfaces, for text that does not pass through op_run() ---- */

/* Redactor for the current values of the team's vault. The engine's lock must be held and its store bound to the team.
 * Valid until the next call. */
const struct redactor *scrub_redactor(struct engine *engine, struct str team, struct arena *a);
/* Redacts an error made by an interface: it may quote the caller's input. Takes the engine's lock; NULL engine: checks
 * only patterns. */
void scrub_interface_error(struct engine *engine, struct str team, struct error *err);

/* Redacts the names of a call that an interface records itself: a client chooses its own and the project. Without a
 * store it checks only patterns; with one, see scrub_redactor(). */
void scrub_caller(struct engine *engine, struct arena *a, struct caller *caller);

/* Source of a client's calls, from the name that it gives itself: "Claude Code" becomes "claude-code". If the name
 * holds a secret, op_run() and scrub_caller() replace it, because the source no longer looks like the secret. */
struct str client_source(struct arena *a, struct str client);

/* ---- for operations, for text from files or parts of an argument ---- */

/* Redacts a text to be stored and counts the secrets; or refuses it, calling it `name` in the error. */
NODISCARD enum status scrub_text(const struct redactor *what, struct arena *a, bool redact, struct str *text,
                                 const char *name, int64_t *count, struct error *err);
/* Redacts a line of JSON. */
struct str scrub_line(const struct redactor *what, struct arena *a, struct str line);
/* Updates call->secrets during a long operation: the vault may have changed since it began. */
void scrub_refresh(struct op_call *call);
/* scrub_text(), with the team's setting secrets.mode. */
NODISCARD enum status call_scrub(struct op_call *call, struct str *text, const char *name);
