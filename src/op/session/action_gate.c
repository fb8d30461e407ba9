/* action_gate.c: pending action items block writes of agents.
 *
 * A write of an agent is refused while an action item is pending that
 *   - belongs to the project of the call or of a memory that it changes, or is global; and
 *   - existed when the agent's session booted, so boot has shown it; and
 *   - was added by a caller. Extracted ones block only profiles that promise it (caller.extracted_items).
 * Items written later, by this session or another, count from the next boot on. People at the command line, reads,
 * answers, session operations and calls without a session are never blocked. If the items cannot be read, the write
 * proceeds and its reply says so. */
#include "op/session/action.h"
#include "op/session/session.h"

/* Projects that the call writes to: its own, and those of the memories that it names. */
static void add_targets(struct op_call *call, struct strs *projects) {
  static const char *const names[] = {"id", "ids", "supersedes"};
  struct scope scope = call_scope(call);
  struct error *outer = call->err, mine;
  strs_push(call->arena, projects, call->caller.project);
  call->err = &mine;
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    struct strs refs = {0};
    struct str one = json_str(call->args, names[i]);
    json_strs(call->arena, call->args, names[i], &refs);
    if (one.p)
      strs_push(call->arena, &refs, one);
    for (size_t k = 0; k < refs.n; k++) {
      struct memory m;
      if (memory_find(call->engine->store, &scope, refs.v[k], call->arena, &m, &mine) == STATUS_OK &&
          !strs_has(projects, m.project))
        strs_push(call->arena, projects, m.project);
    }
  }
  call->err = outer;
}

static enum status refuse(struct op_call *call, const struct action_items *items, int64_t total) {
  struct buf b = BUF(call->arena);
  for (size_t i = 0; i < items->n; i++)
    buf_addf(&b, "%s[%lld] %.*s", i ? "; " : "", (long long)items->v[i].id, STR_ARG(items->v[i].text));
  error_set(call->err, STATUS_REFUSED, "%lld action item%s must be answered before more is written: %.*s",
            (long long)total, total == 1 ? "" : "s", STR_ARG(buf_str(&b)));
  error_step(call->err, "action_items");
  return error_fix(call->err,
                   "cairn action ack %lld will_execute   (or: already_done --reason WHY, not_relevant --reason WHY); "
                   "reads stay open",
                   (long long)items->v[0].id);
}

static enum status find_blocking(struct op_call *call, struct action_items *ret_items, int64_t *ret_total) {
  struct session session;
  bool found;
  TRY(session_current(call, &session, &found));
  if (!found || session.last_item == 0)
    return STATUS_OK;
  struct strs projects = {0};
  add_targets(call, &projects);
  for (size_t i = 0; ret_items->n == 0 && i < projects.n; i++) {
    struct pending_query q = {
        .team = call->caller.team,
        .project = projects.v[i],
        .upto = session.last_item,
        .limit = 5,
        .extracted = call->caller.extracted_items,
        .no_global = store_reach(call->engine->store).role == ROLE_PROJECT, /* it cannot answer global items */
    };
    TRY(actions_pending(call->engine->store, &q, call->arena, ret_items, ret_total, call->err));
  }
  return STATUS_OK;
}

enum status action_gate(struct op_call *call) {
  struct action_items items = {0};
  int64_t total = 0;
  if (!str_is(call->caller.trust, "agent") || !call->engine->store)
    return STATUS_OK;
  struct error *outer = call->err, mine;
  call->err = &mine;
  enum status s = find_blocking(call, &items, &total);
  call->err = outer;
  if (s != STATUS_OK) {
    json_put(call->doc, call->result, "degraded",
             arena_printf(call->arena, "action items were not checked: %s", mine.message));
    return STATUS_OK;
  }
  return items.n ? refuse(call, &items, total) : STATUS_OK;
}
