/* replay.c: idempotency keys: finds and saves the results of writes. */
#include "op/write/replay.h"

#include "op/access/authenticate.h"

/* Of the operation and its arguments in the order of the table: members may come in any order. */
void replay_hash_args(struct op_call *call, yyjson_val *args, struct write *w) {
  struct buf b = BUF(call->arena);
  const struct param *lists[] = {call->op->params, common_params};
  buf_adds(&b, call->op->name);
  for (size_t i = 0; i < ARRAY_LEN(lists); i++)
    for (const struct param *p = lists[i]; p->name; p++) {
      yyjson_val *v = yyjson_obj_get(args, p->name);
      if (!v || strcmp(p->name, "idempotency_key") == 0)
        continue;
      buf_addf(&b, "\n%s=", p->name);
      buf_add(&b, json_write_val(call->arena, v));
    }
  hash_text(buf_str(&b), w->args_hash);
}

/* Member of a saved result; results that are shown do not have it. */
static const char args_member[] = "arguments_hash";

/* Another token, agent or project has keys of its own. */
static struct str own_key(const struct op_call *call, const struct write *w) {
  const struct caller *c = &call->caller;
  struct str who = str_from(call->engine->agent);
  if (c->principal)
    who = c->principal->token.p ? c->principal->token : c->principal->name; /* names are reused, token ids are not */
  char hash[HASH_TEXT_SIZE];
  hash_text(arena_printf(call->arena, "%s %zu:%.*s %zu:%.*s %.*s", c->principal ? "token" : "local", who.n,
                         STR_ARG(who), w->m.project.n, STR_ARG(w->m.project), STR_ARG(w->idempotency_key)),
            hash);
  return arena_dup(call->arena, str_from(hash));
}

static enum status refuse_other_args(struct op_call *call, const struct write *w) {
  error_set(call->err, STATUS_REFUSED, "the idempotency key '%.*s' was used with other arguments; nothing was stored",
            STR_ARG(w->idempotency_key));
  error_step(call->err, "fields");
  return error_fix(call->err, "use a new key for a new write; a retry has the same arguments");
}

static enum status refuse_forgotten(struct op_call *call, const struct write *w, int64_t id) {
  error_set(call->err, STATUS_CONFLICT, "memory %lld, written with the idempotency key '%.*s', was forgotten since",
            (long long)id, STR_ARG(w->idempotency_key));
  return error_fix(call->err, "use a new key to store it again");
}

enum status replay_find(struct op_call *call, struct txn *txn, struct write *w) {
  struct arena *a = call->arena;
  struct str saved, state;
  yyjson_val *first;
  if (!w->idempotency_key.p)
    return STATUS_OK;
  TRY(idempotency_find(txn->store, txn->team, own_key(call, w), call->now, a, &saved, &state, call->err));
  if (!saved.p)
    return STATUS_OK;
  TRY(json_read(a, saved, &first, call->err));
  if (!str_is(json_str(first, args_member), w->args_hash))
    return refuse_other_args(call, w);
  if (str_is(state, "forgotten"))
    return refuse_forgotten(call, w, json_int(first, "id", 0));
  yyjson_mut_val *result = yyjson_val_mut_copy(call->doc, first);
  yyjson_mut_obj_remove_key(result, args_member);
  w->replay = json_write(a, result, false);
  return STATUS_OK;
}

enum status replay_save(struct op_call *call, struct txn *txn, const struct write *w, yyjson_mut_val *result) {
  if (!w->idempotency_key.p || w->replay.p)
    return STATUS_OK;
  yyjson_mut_val *saved = yyjson_mut_val_mut_copy(call->doc, result);
  json_put(call->doc, saved, args_member, str_from(w->args_hash));
  return idempotency_save(txn, own_key(call, w), w->id, json_write(call->arena, saved, false), call->err);
}
