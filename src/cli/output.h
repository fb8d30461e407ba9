/* output.h: standard output and standard error of one call: text or JSON, and proof that it arrived. */
#pragma once

#include "base/json.h"
#include "cli/term.h"

struct output {
  struct term out, err;
  bool json, quiet;
  bool pipe_quiet; /* a reader that went away ends the program by SIGPIPE, as its parent expects */
  int failed;      /* errno of the first write that failed */
};

/* To be called first: makes sure that descriptors 0 to 2 are open, so that no store file gets one of them. */
void output_init(struct output *o);
/* To be called when the options are known. */
void output_set(struct output *o, bool json, bool quiet, bool no_color);

/* To standard output. */
void output_text(struct output *o, struct str text);
/* JSON and a line end; made harmless for a terminal. */
void output_json_text(struct output *o, struct arena *a, struct str json);
/* An error: as JSON on standard output, or as text on standard error. Returns its exit code. */
int output_error(struct output *o, struct arena *a, const struct error *err);

/* Pushes out what is buffered; false when it did not arrive. */
bool output_flush(struct output *o);
/* To be called last: the exit code, which is not 0 when output was lost. */
int output_finish(struct output *o, int code);
