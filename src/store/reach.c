/* reach.c: access limits of a store's caller. */
#include "store/reach.h"

#include <assert.h>
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

/* If a name does not fit, access is denied rather than unlimited. */
static bool copy_projects(struct bound *bound, const struct reach *reach) {
  size_t used = 0;
  for (size_t i = 0; i < reach->project_count; i++) {
    struct str name = reach->projects[i];
    if (i == REACH_PROJECTS_MAX || name.n == 0 || name.n > REACH_PROJECT_MAX)
      return false;
    assert(used + name.n <= sizeof(bound->names));
    memcpy(bound->names + used, name.p, name.n);
    bound->projects[i] = (struct str){bound->names + used, name.n};
    used += name.n;
  }
  return reach->project_count > 0;
}

void store_bind(struct store *st, const struct reach *reach) {
  struct bound *bound = &st->bound;
  bound->wanted_n = 0;
  bound->reach = (struct reach){0};
  if (!reach)
    return;
  assert((unsigned)reach->role <= ROLE_SKILL);
  bound->reach = (struct reach){.role = reach->role, .read_only = reach->read_only};
  if (reach->role != ROLE_PROJECT)
    return;
  if (copy_projects(bound, reach)) {
    bound->reach.projects = bound->projects;
    bound->reach.project_count = reach->project_count;
  } else {
    bound->reach.role = ROLE_SKILL;
  }
}

struct reach store_reach(const struct store *st) { return st ? st->bound.reach : (struct reach){0}; }

struct reach reach_dup(struct arena *a, const struct reach *reach) {
  struct reach copy = *reach;
  struct str *names = arena_array(a, struct str, reach->project_count + 1);
  for (size_t i = 0; i < reach->project_count; i++)
    names[i] = arena_dup(a, reach->projects[i]);
  copy.projects = names;
  return copy;
}

bool reach_owns(const struct reach *reach, struct str project) {
  for (size_t i = 0; reach->role == ROLE_PROJECT && i < reach->project_count; i++)
    if (project.n > 0 && str_eq(reach->projects[i], project))
      return true;
  return reach->role == ROLE_ADMIN;
}

bool reach_can_read(const struct reach *reach, struct str project) {
  return reach_owns(reach, project) || (reach->role == ROLE_PROJECT && project.p && project.n == 0);
}

struct str reach_names(const struct reach *reach, char *out, size_t size) {
  assert(size > 0);
  size_t n = 0;
  out[0] = 0;
  for (size_t i = 0; i < reach->project_count && n + 1 < size; i++) {
    int more = snprintf(out + n, size - n, "%s%.*s", i ? ", " : "", STR_ARG(reach->projects[i]));
    n = more < 0 ? n : n + (size_t)more < size ? n + (size_t)more : size - 1;
  }
  return (struct str){out, n};
}

void reach_where(struct sql *q, const struct reach *reach, const char *column) {
  if (reach->role == ROLE_ADMIN)
    return;
  if (reach->role != ROLE_PROJECT) {
    sql_add(q, " AND 1 = 0");
    return;
  }
  sql_addf(q, " AND %s IN (''", column);
  for (size_t i = 0; i < reach->project_count; i++) {
    sql_add(q, ", ");
    sql_text(q, reach->projects[i]);
  }
  sql_add(q, ")");
}

void reach_record(struct store *st, const char *what, struct str name) {
  if (st->bound.wanted_n)
    return;
  name = utf8_cut(name, REACH_WANTED_MAX / 2);
  int n = snprintf(st->bound.wanted, sizeof(st->bound.wanted), "%s %.*s", what, STR_ARG(name));
  st->bound.wanted_n = n < 0 ? 0 : (size_t)n < sizeof(st->bound.wanted) ? (size_t)n : sizeof(st->bound.wanted) - 1;
}

struct str store_refusal(const struct store *st) {
  return st->bound.wanted_n ? (struct str){st->bound.wanted, st->bound.wanted_n} : STR_NONE;
}

bool store_can_write(const struct store *st, struct str project) {
  const struct reach *reach = &st->bound.reach;
  return !db_read_only(st->db) && !reach->read_only && reach_owns(reach, project);
}

static enum status refuse_write(const struct reach *reach, struct error *err) {
  char names[REACH_WANTED_MAX];
  if (reach->read_only) {
    error_set(err, STATUS_DENIED, "this caller is read-only");
    return error_fix(err, "ask the administrator for a token with write access");
  }
  if (reach->role == ROLE_SKILL) {
    error_set(err, STATUS_DENIED, "agents with the role skill cannot write");
    return error_fix(err, "return the result to the agent that sent the message");
  }
  assert(reach->role == ROLE_PROJECT && reach->project_count > 0);
  reach_names(reach, names, sizeof(names));
  error_set(err, STATUS_DENIED, "this caller can write only in project '%s'", names);
  return error_fix(err, reach->project_count == 1 ? "omit project and scope: its own project is the default"
                                                  : "name one of its projects");
}

enum status reach_check_write(struct store *st, struct str project, const char *what, struct error *err) {
  const struct reach *reach = &st->bound.reach;
  if (!reach->read_only && reach_owns(reach, project))
    return STATUS_OK;
  reach_record(st, what, str_empty(project) ? STR("global") : project);
  return refuse_write(reach, err);
}

enum status reach_check_admin(struct store *st, const char *what, struct error *err) {
  if (st->bound.reach.role == ROLE_ADMIN)
    return STATUS_OK;
  reach_record(st, what, STR("of the team"));
  error_set(err, STATUS_DENIED, "reserved for the administrator of the team: %s", what);
  return error_fix(err, "ask the administrator, who runs Cairn without an agent name");
}
