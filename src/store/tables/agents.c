/* agents.c: rows of declared agents. */
#include "store/tables/agents.h"

#include <assert.h>

#include "base/json.h"
#include "store/store_internal.h"
#include "store/tables/vault.h"

#define COLUMNS "SELECT name, role, project, note, created_at FROM agent WHERE team = ?1"

bool agent_name_is_valid(struct str name) {
  if (name.n == 0 || name.n > AGENT_NAME_MAX)
    return false;
  for (size_t i = 0; i < name.n; i++)
    if (!ascii_alnum(name.p[i]) && name.p[i] != '_' && name.p[i] != '.' && name.p[i] != '-')
      return false;
  return true;
}

struct reach agent_reach(const struct agent *agent) {
  return (struct reach){.role = agent->role, .projects = &agent->project, .project_count = agent->role == ROLE_PROJECT};
}

/* An unknown role is read as ROLE_SKILL, which has no access. */
static struct agent read_row(const struct rows *r, struct str team, struct arena *a) {
  enum role role;
  if (!role_find(rows_text(r, 1), &role))
    role = ROLE_SKILL;
  return (struct agent){.team = team,
                        .name = rows_dup(r, 0, a),
                        .role = role,
                        .project = rows_dup(r, 2, a),
                        .note = rows_dup(r, 3, a),
                        .created_at = rows_int(r, 4)};
}

enum status agent_find(struct store *st, struct str team, struct str name, struct arena *a, struct agent *ret_agent,
                       bool *ret_found, struct error *err) {
  struct rows r;
  struct agent agent = {0};
  db_query(st->db, &r, err, COLUMNS " AND name = ?2", "ss", team, name);
  bool found = rows_next(&r);
  if (found)
    agent = read_row(&r, team, a);
  TRY(rows_end(&r));
  *ret_found = found;
  if (found)
    *ret_agent = agent;
  return STATUS_OK;
}

enum status agents_list(struct store *st, struct str team, struct arena *a, struct agents *ret_list,
                        struct error *err) {
  struct rows r;
  TRY(reach_check_admin(st, "the list of agents", err));
  db_query(st->db, &r, err, COLUMNS " ORDER BY name", "s", team);
  while (rows_next(&r))
    list_push(a, ret_list, read_row(&r, team, a));
  return rows_end(&r);
}

static enum status add_event(struct txn *txn, struct arena *a, const struct agent *agent, const char *action,
                             struct error *err) {
  assert((unsigned)agent->role <= ROLE_SKILL);
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  json_put(doc, detail, "agent", agent->name);
  json_put(doc, detail, "role", str_from(role_names[agent->role]));
  json_put_opt(doc, detail, "project", agent->project);
  struct event e = {.action = str_from(action), .detail = json_write(a, detail, false)};
  return event_add(txn, &e, err);
}

enum status agent_insert(struct txn *txn, struct arena *a, const struct agent *agent, struct error *err) {
  struct db *db = txn->store->db;
  TRY(reach_check_admin(txn->store, "declaring agents", err));
  TRY(db_exec(db, err,
              "INSERT INTO agent (team, name, role, project, note, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
              " ON CONFLICT DO NOTHING",
              "sssssi", txn->team, agent->name, str_from(role_names[agent->role]), agent->project, agent->note,
              txn->now));
  if (db_changes(db) == 0) {
    error_set(err, STATUS_CONFLICT, "there is an agent '%.*s' already", STR_ARG(agent->name));
    return error_fix(err, "'cairn agent list' shows it; remove it first to declare it again");
  }
  return add_event(txn, a, agent, "agent:add", err);
}

enum status agent_delete(struct txn *txn, struct arena *a, const struct agent *agent, struct error *err) {
  TRY(reach_check_admin(txn->store, "removing agents", err));
  TRY(grants_remove(txn, agent->name, err)); /* another agent may get its name */
  TRY(db_exec(txn->store->db, err, "DELETE FROM agent WHERE team = ?1 AND name = ?2", "ss", txn->team, agent->name));
  return add_event(txn, a, agent, "agent:remove", err);
}

enum status agent_log_refusal(struct store *st, const struct txn *who, struct str agent, struct str wanted,
                              struct error *err) {
  enum { BUSY_MS = 2000 };
  assert(!db_in_transaction(st->db));
  struct arena scratch;
  jmp_buf oom;
  int busy = db_set_busy(st->db, BUSY_MS);
  struct txn txn = *who;
  volatile enum status s = db_begin(st->db, who->team, false, err);
  txn.store = st;
  txn.id = 0;
  arena_init(&scratch);
  if (ARENA_BOUNDARY(&scratch, oom)) {
    s = error_set(err, STATUS_NOMEM, "out of memory");
  } else if (s == STATUS_OK) {
    yyjson_mut_doc *doc = json_new(&scratch);
    yyjson_mut_val *detail = yyjson_mut_obj(doc);
    json_put(doc, detail, "agent", agent);
    json_put(doc, detail, "op", str_from(who->op));
    json_put(doc, detail, "wanted", wanted);
    struct event e = {.action = STR("scope:refused"), .detail = json_write(&scratch, detail, false)};
    s = event_add(&txn, &e, err);
  }
  if (s == STATUS_OK)
    s = db_commit(st->db, err);
  if (s != STATUS_OK)
    db_rollback(st->db);
  arena_release(&scratch);
  db_set_busy(st->db, busy);
  return s;
}
