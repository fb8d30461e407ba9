/* reach.h: access limits of a store's caller: all projects, some, or none; and whether it may write.
 *
 * A handle is bound to a reach for the duration of a call (store_bind()). Reads are filtered by it and writes are
 * checked here, below all callers. Anything outside the reach is reported as not found, and the attempt is recorded for
 * the log (store_refusal()). */
#pragma once

#include "base/error.h"
#include "base/str.h"

struct arena;
struct sql;
struct store;

enum role {
  ROLE_ADMIN,   /* reads and writes everything of the team */
  ROLE_PROJECT, /* reads its own projects and global memories; writes its own projects */
  ROLE_SKILL,   /* no access; gets its input in messages */
};
extern const char *const role_names[]; /* ends with NULL */
/* False if the name is unknown. */
bool role_find(struct str name, enum role *ret_role);

enum { REACH_PROJECTS_MAX = 32, REACH_PROJECT_MAX = 256, REACH_WANTED_MAX = 200 };

/* Zero-initialised: unlimited. */
struct reach {
  enum role role;
  bool read_only;
  const struct str *projects; /* ROLE_PROJECT: 1 to REACH_PROJECTS_MAX names, none empty */
  size_t project_count;
};

/* Binds until the next call; the names are copied. NULL: unlimited. */
void store_bind(struct store *st, const struct reach *reach);
/* Valid until the next store_bind(). */
struct reach store_reach(const struct store *st);

/* Copies the reach, so it outlives the binding. */
struct reach reach_dup(struct arena *a, const struct reach *reach);

/* reach_can_read: may memories of this project be read? reach_owns: is it one of the caller's own projects, writable
 * unless the caller is read-only? */
bool reach_can_read(const struct reach *reach, struct str project);
bool reach_owns(const struct reach *reach, struct str project);
/* Names of the caller's projects for messages: "alpha, beta". */
struct str reach_names(const struct reach *reach, char *out, size_t size);
/* Adds " AND column IN (...)" if the reach is limited; the column holds a project. */
void reach_where(struct sql *q, const struct reach *reach, const char *column);

/* Returns STATUS_DENIED and records the attempt if the handle may not write in this project; `what` names the
 * operation. */
NODISCARD enum status reach_check_write(struct store *st, struct str project, const char *what, struct error *err);
/* Could reach_check_write() succeed? For optional side effects, which are skipped otherwise. Records nothing. */
bool store_can_write(const struct store *st, struct str project);
/* Like reach_check_write(), for operations reserved for the administrator. */
NODISCARD enum status reach_check_admin(struct store *st, const char *what, struct error *err);

/* Records an attempt to access something outside the reach; only the first of a call is kept. */
void reach_record(struct store *st, const char *what, struct str name);
/* The attempt recorded since the handle was bound; absent if none. Valid until the next store_bind(). */
struct str store_refusal(const struct store *st);
