/* output.h: standard output and error of a call, as text or JSON, with detection of failed writes. */
#pragma once

#include "base/json.h"
#include "cli/term.h"

struct output {
  struct term out, err;
  bool json, quiet;
  bool pipe_quiet; /* die of SIGPIPE if the reader goes away, as the parent expects */
  int failed;      /* errno of the first failed write */
};

/* Call it first. Makes sure that descriptors 0 to 2 are open, so no store file gets one of them. */
void output_init(struct output *o);
/* Call it once the options are known. */
void output_set(struct output *o, bool json, bool quiet, bool no_color);

/* Writes to standard output. */
void output_text(struct output *o, struct str text);
/* Writes JSON and a line end; escaped for a terminal. */
void output_json_text(struct output *o, struct arena *a, struct str json);
/* Prints an error: as JSON on standard output, or as text on standard error. Returns its exit code. */
int output_error(struct output *o, struct arena *a, const struct error *err);
/* Warns on standard error that this many transactions are missing; nothing if there are none. */
void output_loss(int64_t missing);

/* Flushes; false if a write failed. */
bool output_flush(struct output *o);
/* Call it last. Returns the exit code, which is nonzero if output was lost. */
int output_finish(struct output *o, int code);
