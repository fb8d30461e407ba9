/* resources.h: resources: the boot payload, memories, skills, a project's memories as one page.
 *
 * A profile may replace them by its own (tool.h). */
#pragma once

#include "mcp/protocol/server.h"

struct resource {
  const char *uri; /* ends with one {variable} */
  const char *name, *title, *description, *mime;
  enum status (*read)(struct exchange *x, struct str variable, struct str *ret_text, struct error *err);
  /* True if the event changes the resource. `variable` is decoded; before and after may be NULL. */
  bool (*concerns)(struct str variable, const struct event *e, yyjson_val *before, yyjson_val *after);
  const char *op; /* operation that reads it: hidden from callers who may not call it */
};

extern const struct resource resources[]; /* ends with uri == NULL */

/* The resource of a URI, and the decoded variable; NULL if there is none. */
const struct resource *resource_find(struct arena *a, struct str uri, struct str *ret_variable);
/* The resource whose changes a subscription to this URI reports; of a profile's own resource, one that stands for it.
 */
const struct resource *resource_watched(struct exchange *x, struct str uri, struct str *ret_variable);
/* The URI from a prefix such as "cairn://boot/" and a name, percent-encoded. */
struct str resource_uri(struct arena *a, const char *prefix, struct str name);
/* The resource with this URI template; NULL if there is none. */
const struct resource *resource_of_template(struct str uri);
/* Matches a URI against a template; *ret_variable is the decoded value of its variable. */
bool resource_fits(struct arena *a, const char *uri_template, struct str uri, struct str *ret_variable);
