/* source_state.h: status file of the server that watches a team's sources, for `cairn source list` in other processes.
 *
 *   <files.root>/<team>/.sources.lock   locked (flock) by the one server that watches them
 *   <files.root>/<team>/.sources.json   its status for each folder */
#pragma once

#include "base/buf.h"
#include "base/error.h"

enum source_way {
  SOURCE_UNWATCHED, /* not watched */
  SOURCE_WATCHED,   /* changes are noticed at once */
  SOURCE_SCANNED,   /* too many folders to watch: scanned periodically */
  SOURCE_CLOSED,    /* not readable for the server: no permission, or added after the sandbox was closed */
  SOURCE_EMPTY,     /* empty or missing: stored documents are kept */
};
extern const char *const source_way_names[];

struct source_state {
  struct str project, folder;
  enum source_way way;
};
struct source_states {
  struct source_state *v;
  size_t n, cap;
};

/* Takes the lock and returns its descriptor; -1 if another process has it or the folder cannot be created. Close it to
 * release the lock. */
int source_state_claim(struct str root, struct arena *a);
NODISCARD enum status source_state_write(struct str root, const struct source_states *states, struct arena *a,
                                         struct error *err);
/* Returns nothing if no server holds the lock. */
void source_state_read(struct str root, struct arena *a, struct source_states *ret_states);
