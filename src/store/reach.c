/* reach.c: how far the caller of a store may reach. */
#include "store/reach.h"

#include <stdio.h>

#include "base/utf8.h"
#include "store/store_internal.h"

const char *const role_names[] = {[ROLE_ADMIN] = "admin", [ROLE_PROJECT] = "project", [ROLE_SKILL] = "skill", NULL};

bool role_find(struct str name, enum role *ret_role) {
  for (int i = 0; role_names[i]; i++)
    if (str_is(name, role_names[i])) {
      *ret_role = (enum role)i;
      return true;
    }
  return false;
}

/* A project that does not fit is none: then nothing is reached, rather than everything. */
void store_bind(struct store *st, const struct reach *reach) {
  st->bound = (struct bound){0};
  if (!reach)
    return;
  st->bound.role = reach->role;
  if (reach->role == ROLE_PROJECT && (reach->project.n == 0 || reach->project.n > sizeof(st->bound.project)))
    st->bound.role = ROLE_SKILL;
  if (st->bound.role != ROLE_PROJECT)
    return;
  memcpy(st->bound.project, reach->project.p, reach->project.n);
  st->bound.project_n = reach->project.n;
}

struct reach store_reach(const struct store *st) {
  if (!st)
    return (struct reach){0};
  return (struct reach){st->bound.role, {st->bound.project, st->bound.project_n}};
}

bool reach_owns(const struct reach *reach, struct str project) {
  return reach->role == ROLE_ADMIN ||
         (reach->role == ROLE_PROJECT && reach->project.n > 0 && str_eq(reach->project, project));
}

bool reach_reads(const struct reach *reach, struct str project) {
  return reach_owns(reach, project) || (reach->role == ROLE_PROJECT && project.p && project.n == 0);
}

void reach_where(struct sql *q, const struct reach *reach, const char *column) {
  if (reach->role == ROLE_ADMIN)
    return;
  if (reach->role != ROLE_PROJECT) {
    sql_add(q, " AND 1 = 0");
    return;
  }
  sql_addf(q, " AND %s IN ('', ", column);
  sql_text(q, reach->project);
  sql_add(q, ")");
}

void reach_note(struct store *st, const char *what, struct str name) {
  if (st->bound.wanted_n)
    return;
  name = utf8_cut(name, REACH_WANTED_MAX / 2);
  int n = snprintf(st->bound.wanted, sizeof(st->bound.wanted), "%s %.*s", what, STR_ARG(name));
  st->bound.wanted_n = n < 0 ? 0 : (size_t)n < sizeof(st->bound.wanted) ? (size_t)n : sizeof(st->bound.wanted) - 1;
}

struct str store_refusal(const struct store *st) {
  return st->bound.wanted_n ? (struct str){st->bound.wanted, st->bound.wanted_n} : STR_NONE;
}

enum status reach_write(struct store *st, struct str project, const char *what, struct error *err) {
  struct reach reach = store_reach(st);
  if (reach_owns(&reach, project))
    return STATUS_OK;
  struct str place = str_empty(project) ? STR("global") : project;
  reach_note(st, what, place);
  if (reach.role == ROLE_SKILL) {
    error_set(err, STATUS_DENIED, "an agent with the role skill writes nothing");
    return error_fix(err, "hand the result back to the agent that sent the message");
  }
  error_set(err, STATUS_DENIED, "this agent writes in project '%.*s' alone", STR_ARG(reach.project));
  return error_fix(err, "leave project and scope out: its own project is the default");
}

enum status reach_admin(struct store *st, const char *what, struct error *err) {
  if (st->bound.role == ROLE_ADMIN)
    return STATUS_OK;
  reach_note(st, what, STR("of the team"));
  error_set(err, STATUS_DENIED, "%s belongs to the administrator of the team", what);
  return error_fix(err, "ask whoever runs Cairn without an agent's name");
}
