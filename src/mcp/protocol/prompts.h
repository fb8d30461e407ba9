/* prompts.h: prompts for the user: startup, handoff, review. */
#pragma once

#include "mcp/protocol/server.h"

struct prompt_arg {
  const char *name, *description;
};

struct prompt {
  const char *name, *title, *description;
  struct prompt_arg args[4]; /* ends with name == NULL; none is required */
  /* Adds the messages. */
  enum status (*get)(struct exchange *x, yyjson_val *args, yyjson_mut_val *messages, struct error *err);
  const char *op; /* operation that the prompt needs: hidden from callers who may not call it */
};

extern const struct prompt prompts[]; /* ends with name == NULL */
const struct prompt *prompt_find(struct str name);
yyjson_mut_val *prompt_definition(yyjson_mut_doc *doc, const struct prompt *p);
