/* reach.h: how far the caller of a store may reach: everything, some projects, or nothing; and whether it may write.
 *
 * A handle is bound to a reach for the time of a call (store_bind()). What is read is filtered by it here, below
 * everything that asks; what is written is checked here. What lies outside does not exist: it is not found, as if it
 * had never been, and the attempt is noted for the log (store_refusal()). */
#pragma once

#include "base/error.h"
#include "base/str.h"

struct arena;
struct sql;
struct store;

enum role {
  ROLE_ADMIN,   /* reads and writes everything of the team */
  ROLE_PROJECT, /* reads its own projects and global memories, writes its own projects */
  ROLE_SKILL,   /* reads and writes nothing: what it needs comes in a message */
};
extern const char *const role_names[]; /* ends with NULL */
/* False when there is none of this name. */
bool role_find(struct str name, enum role *ret_role);

enum { REACH_PROJECTS_MAX = 32, REACH_PROJECT_MAX = 256, REACH_WANTED_MAX = 200 };

/* Cleared: everything. */
struct reach {
  enum role role;
  bool read_only;
  const struct str *projects; /* of ROLE_PROJECT, 1 to REACH_PROJECTS_MAX; none is "" */
  size_t project_count;
};

/* Until the next call of it; the names are copied. NULL: everything. */
void store_bind(struct store *st, const struct reach *reach);
/* Valid until the next store_bind(). */
struct reach store_reach(const struct store *st);

/* A copy that outlives the binding. */
struct reach reach_dup(struct arena *a, const struct reach *reach);

/* Whether memories of this project may be read; whether it is one of the caller's own, to be written unless the caller
 * only reads. */
bool reach_reads(const struct reach *reach, struct str project);
bool reach_owns(const struct reach *reach, struct str project);
/* The projects of the caller, for messages: "alpha, beta". */
struct str reach_names(const struct reach *reach, char *out, size_t size);
/* Adds " AND column IN (...)" where the reach ends somewhere, on a column that holds a project. */
void reach_where(struct sql *q, const struct reach *reach, const char *column);

/* STATUS_DENIED, noted, when the handle may not write in this project; `what` is what was to be done there. */
NODISCARD enum status reach_write(struct store *st, struct str project, const char *what, struct error *err);
/* Whether it would be let in: for what is done by the way, and left out where it may not be. Nothing is noted. */
bool store_writes(const struct store *st, struct str project);
/* As reach_write(), for what is nobody's but the administrator's. */
NODISCARD enum status reach_admin(struct store *st, const char *what, struct error *err);

/* Notes that something outside was asked for; the first of a call counts. */
void reach_note(struct store *st, const char *what, struct str name);
/* What was noted since the handle was bound; absent: nothing. Valid until the next store_bind(). */
struct str store_refusal(const struct store *st);
