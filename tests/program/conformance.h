/* conformance.h: fixtures that the official conformance suite expects of a server, enabled by --conformance. */
#pragma once

#include "mcp/protocol/server.h"

struct fixture_tool {
  const char *name, *description;
  const char *input;  /* JSON schema; NULL: no arguments */
  const char *result; /* JSON of the result; NULL: call `run` */
  method_fn run;
};
extern const struct fixture_tool fixture_input_tools[]; /* conformance_input.c; ends with name == NULL */

/* Parse JSON into the exchange's document; answer with it. */
yyjson_mut_val *fixture_json(struct exchange *x, const char *json);
void fixture_answer(struct exchange *x, const char *json);
void fixture_say(struct exchange *x, struct str text);
/* Asks the client questions: JSON of {"key": {"method": ..., "params": ...}}. */
void fixture_ask(struct exchange *x, const char *requests, struct str state);
void fixture_prompt_input(struct exchange *x);
