/* source_state.h: how a server follows the sources of a team: noted beside the agents' files, for those who ask.
 *
 *   <files.root>/<team>/.sources.lock   locked (flock) by the server that follows them; one does
 *   <files.root>/<team>/.sources.json   what it does for each folder */
#pragma once

#include "base/buf.h"
#include "base/error.h"

enum source_way {
  SOURCE_ALONE,   /* nobody follows it */
  SOURCE_WATCHED, /* a change is noticed at once */
  SOURCE_SCANNED, /* too many folders: it is looked at now and then */
  SOURCE_CLOSED,  /* the server cannot read it: its sandbox was closed before, or it has no right */
  SOURCE_EMPTY,   /* nothing is in it, or it is not there: what is stored stays */
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

/* Becomes the one that follows; -1: another process does, or there is no such folder. Closing it ends that. */
int source_state_claim(struct str root, struct arena *a);
NODISCARD enum status source_state_write(struct str root, const struct source_states *states, struct arena *a,
                                         struct error *err);
/* Nothing when no server follows them now. */
void source_state_read(struct str root, struct arena *a, struct source_states *ret_states);
