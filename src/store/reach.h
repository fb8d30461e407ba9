/* reach.h: how far the caller of a store may reach: everything, one project, or nothing.
 *
 * A handle is bound to a reach for the time of a call (store_bind()). What is read is filtered by it here, below
 * everything that asks; what is written is checked here. What lies outside does not exist: it is not found, as if it
 * had never been, and the attempt is noted for the log (store_refusal()). */
#ifndef CAIRN_STORE_REACH_H
#define CAIRN_STORE_REACH_H

#include "base/error.h"
#include "base/str.h"

struct sql;
struct store;

enum role {
  ROLE_ADMIN,   /* reads and writes everything of the team */
  ROLE_PROJECT, /* reads its own project and global memories, writes its own project */
  ROLE_SKILL,   /* reads and writes nothing: what it needs comes in a message */
};
extern const char *const role_names[]; /* ends with NULL */
/* False when there is none of this name. */
bool role_find(struct str name, enum role *ret_role);

enum { REACH_PROJECT_MAX = 256, REACH_WANTED_MAX = 200 };

/* Cleared: everything. */
struct reach {
  enum role role;
  struct str project; /* of ROLE_PROJECT; never "" */
};

/* Until the next call of it; the text is copied. NULL: everything. */
void store_bind(struct store *st, const struct reach *reach);
/* Valid until the next store_bind(). */
struct reach store_reach(const struct store *st);

/* Whether memories of this project may be read, or written. */
bool reach_reads(const struct reach *reach, struct str project);
bool reach_owns(const struct reach *reach, struct str project);
/* Adds " AND column IN (...)" where the reach ends somewhere, on a column that holds a project. */
void reach_where(struct sql *q, const struct reach *reach, const char *column);

/* STATUS_DENIED, noted, when the handle may not write in this project; `what` is what was to be done there. */
NODISCARD enum status reach_write(struct store *st, struct str project, const char *what, struct error *err);
/* The same for what is nobody's but the administrator's. */
NODISCARD enum status reach_admin(struct store *st, const char *what, struct error *err);

/* Notes that something outside was asked for; the first of a call counts. */
void reach_note(struct store *st, const char *what, struct str name);
/* What was noted since the handle was bound; absent: nothing. Valid until the next store_bind(). */
struct str store_refusal(const struct store *st);

#endif
