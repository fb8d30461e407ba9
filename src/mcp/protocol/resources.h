/* resources.h: what can be read by URI: the boot payload, memories, skills, a project's memory as one page.
 *
 * A profile may bring resources of its own in their place (tool.h). */
#pragma once

#include "mcp/protocol/server.h"

struct resource {
  const char *uri; /* ends with one {variable} */
  const char *name, *title, *description, *mime;
  enum status (*read)(struct exchange *x, struct str variable, struct str *ret_text, struct error *err);
  /* Is this what an event is about? `variable` is decoded; before and after may be NULL. */
  bool (*concerns)(struct str variable, const struct event *e, yyjson_val *before, yyjson_val *after);
  const char *op; /* that reads it: who may not call it is not offered the resource */
};

extern const struct resource resources[]; /* ends with uri == NULL */

/* The resource behind a URI, and the decoded variable; NULL when there is none. */
const struct resource *resource_find(struct arena *a, struct str uri, struct str *ret_variable);
/* "cairn://boot/" and a name, encoded. */
struct str resource_uri(struct arena *a, const char *prefix, struct str name);
/* Whether a URI's template is one of ours; then *ret_resource says which, for completion. */
const struct resource *resource_of_template(struct str uri);
/* Does `uri` begin like this template, and what stands in place of its variable? */
bool resource_fits(struct arena *a, const char *uri_template, struct str uri, struct str *ret_variable);
