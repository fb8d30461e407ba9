/* scrub.h: keeps secrets out of what operations store and show. One place for all of them: every call of every door
 * passes op_run(), which looks at the arguments before the operation sees them, and at the result, the lines of a
 * stream and the error before the door does.
 *
 * Looked for are the values of the team's vault and the patterns of core/secrets/redact.h. What would be stored is
 * refused, or stored without its secrets, as the setting secrets.mode says; what is only asked for or shown has them
 * replaced. Two things are shown as they are, because somebody asked for the secret itself: the value that "vault get"
 * was allowed to reveal, and a new token. */
#pragma once

#include "core/secrets/redact.h"
#include "op/op.h"

/* ---- for op_run() ---- */

/* The stream of a call on its way to the door. */
struct scrub_stream {
  struct op_call *call;
  struct op_hooks door;
  bool told; /* the caller got a line or progress, so that the call cannot be run again */
  struct arena line;
};
/* Before the first run: from here on the door gets lines without secrets. */
void scrub_open(struct scrub_stream *ret_stream, struct op_call *call);
void scrub_close(struct scrub_stream *stream);

/* In each run, once the store knows the team: finds out what is secret, and cleans what the door says of the caller. */
void scrub_begin(struct op_call *call);
/* STATUS_SECRET, or call->args holds no secrets but where the operation deals with them itself (PARAM_SECRETS). */
NODISCARD enum status scrub_args(struct op_call *call);
void scrub_result(struct op_call *call);
void scrub_error(struct op_call *call);
/* What an engine keeps between calls, for engine_close(). */
void scrubber_free(struct scrubber **scrubber);

/* ---- for doors, about what does not pass op_run() ---- */

/* What is looked for in texts of the team, as the vault is now. The engine's lock is held, and its store is the team's;
 * of the engine nothing but the store is asked. Valid until it is asked for again. */
const struct redactor *scrub_known(struct engine *engine, struct str team, struct arena *a);
/* Takes secrets out of an error that a door has made by itself: it may quote what a caller sent. Nobody holds the
 * engine's lock; NULL: patterns alone are looked for. */
void scrub_door_error(struct engine *engine, struct str team, struct error *err);

/* ---- for operations, about texts that are no arguments: from files, or parts of an argument ---- */

/* For a text that will be stored: takes secrets out and counts them, or refuses it in the name of `name`. */
NODISCARD enum status scrub_text(const struct redactor *what, struct arena *a, bool redact, struct str *text,
                                 const char *name, int64_t *count, struct error *err);
/* A line of JSON without secrets. */
struct str scrub_line(const struct redactor *what, struct arena *a, struct str line);
/* For an operation that lasts: values may have become secrets since it began. */
void scrub_refresh(struct op_call *call);
/* scrub_text(), as the team's setting says. */
NODISCARD enum status call_scrub(struct op_call *call, struct str *text, const char *name);
