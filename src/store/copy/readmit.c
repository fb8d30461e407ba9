/* readmit.c: what a restored store keeps of the one that it replaces: revoked access, and the ownership of files. */
#include "store/copy/readmit.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"
#include "store/store_internal.h"

/* Set in a store that was restored: even if it has no tokens now, it may have had some before. */
#define RESTORED_FACT "restored_at"

enum status readmit_any(struct store *backup, bool *ret_any, struct error *err) {
  int64_t one;
  return db_int(backup->db, &one, ret_any, err,
                "/* all teams: a restore */ SELECT 1 WHERE EXISTS (SELECT 1 FROM token WHERE revoked_at IS NULL)"
                " OR EXISTS (SELECT 1 FROM vault_grant)",
                NULL);
}

/* ---- the present store ---- */

static enum status is_unused(struct store *st, struct arena *a, bool *ret_unused, struct error *err) {
  int64_t one;
  bool found = false;
  struct str restored;
  TRY(store_meta(st, RESTORED_FACT, a, &restored, err));
  TRY(db_int(st->db, &one, &found, err,
             "/* all teams: a restore */ SELECT 1 WHERE EXISTS (SELECT 1 FROM token) OR EXISTS (SELECT 1 FROM vault)"
             " OR EXISTS (SELECT 1 FROM memory) OR EXISTS (SELECT 1 FROM team_removal)"
             " OR EXISTS (SELECT 1 FROM event WHERE action IN ('token:add', 'vault:grant'))",
             NULL));
  *ret_unused = !found && !restored.p;
  return STATUS_OK;
}

static int by_token(const void *x, const void *y) {
  const struct known_token *a = x, *b = y;
  int c = str_cmp(a->team, b->team);
  return c ? c : str_cmp(a->id, b->id);
}

static int by_grant(const void *x, const void *y) {
  const struct known_grant *a = x, *b = y;
  int c = str_cmp(a->team, b->team);
  if (c == 0)
    c = str_cmp(a->key, b->key);
  return c ? c : str_cmp(a->grantee, b->grantee);
}

static enum status read_tokens(struct store *st, struct arena *a, struct admission *known, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "/* all teams: a restore */ SELECT team, id, coalesce(revoked_at, 0) FROM token", NULL);
  while (rows_next(&r))
    list_push(
        a, &known->tokens,
        ((struct known_token){.team = rows_dup(&r, 0, a), .id = rows_dup(&r, 1, a), .revoked_at = rows_int(&r, 2)}));
  if (known->tokens.n)
    qsort(known->tokens.v, known->tokens.n, sizeof(known->tokens.v[0]), by_token);
  return rows_end(&r);
}

static enum status read_grants(struct store *st, struct arena *a, struct admission *known, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "/* all teams: a restore */ SELECT team, key, grantee, coalesce(uses, -1), coalesce(expires_at, 0)"
           " FROM vault_grant",
           NULL);
  while (rows_next(&r))
    list_push(a, &known->grants,
              ((struct known_grant){.team = rows_dup(&r, 0, a),
                                    .key = rows_dup(&r, 1, a),
                                    .grantee = rows_dup(&r, 2, a),
                                    .uses = rows_int(&r, 3),
                                    .expires_at = rows_int(&r, 4)}));
  if (known->grants.n)
    qsort(known->grants.v, known->grants.n, sizeof(known->grants.v[0]), by_grant);
  return rows_end(&r);
}

static enum status note_replaced(struct store *present, struct arena *a, struct str *ret_replaced, struct error *err) {
  struct str created, before;
  TRY(store_meta(present, "created_at", a, &created, err));
  TRY(store_meta(present, META_REPLACED, a, &before, err));
  *ret_replaced = arena_printf(a, "%.*s %.*s", STR_ARG(created), STR_ARG(before));
  return STATUS_OK;
}

enum status readmit_note(struct store *present, struct arena *a, struct admission *ret_known, struct error *err) {
  struct admission known = {0};
  TRY(note_replaced(present, a, &known.replaced, err));
  TRY(is_unused(present, a, &known.empty, err));
  TRY(read_tokens(present, a, &known, err));
  TRY(read_grants(present, a, &known, err));
  *ret_known = known;
  return STATUS_OK;
}

/* ---- the restored store ---- */

struct returning {
  struct store *store;
  const struct admission *known;
  int64_t now;
  struct arena *arena;
  struct restored *counts;
  struct error *err;
};

static enum status add_event(const struct returning *r, struct str team, const char *action,
                             const struct str facts[][2], size_t n) {
  struct txn txn = {
      .store = r->store, .team = team, .project = STR(""), .source = STR("restore"), .op = "restore", .now = r->now};
  yyjson_mut_doc *doc = json_new(r->arena);
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  for (size_t i = 0; i < n; i++)
    json_put(doc, detail, facts[i][0].p, facts[i][1]);
  struct event e = {.action = str_from(action), .detail = json_write(r->arena, detail, false)};
  return event_add(&txn, &e, r->err);
}

struct live_token {
  struct str team, id, name;
  bool expired;
};

static enum status readmit_token(const struct returning *r, const struct live_token *t) {
  const struct admission *known = r->known;
  struct known_token wanted = {.team = t->team, .id = t->id}, *found = NULL;
  if (known->tokens.n)
    found = bsearch(&wanted, known->tokens.v, known->tokens.n, sizeof(wanted), by_token);
  if (known->empty || (found && !found->revoked_at)) {
    r->counts->tokens_live += !t->expired;
    return STATUS_OK;
  }
  r->counts->tokens_revoked += !t->expired;
  TRY(db_exec(r->store->db, r->err, "UPDATE token SET revoked_at = ?3 WHERE team = ?1 AND id = ?2", "ssi", t->team,
              t->id, found ? found->revoked_at : r->now));
  const struct str facts[][2] = {{STR("token"), t->id}, {STR("name"), t->name}};
  return add_event(r, t->team, "token:revoke", facts, ARRAY_LEN(facts));
}

static enum status readmit_tokens(const struct returning *r) {
  struct rows rows;
  LIST(struct live_token) list = {0};
  db_query(r->store->db, &rows, r->err,
           "/* all teams: a restore */ SELECT team, id, name, coalesce(expires_at, 0) FROM token"
           " WHERE revoked_at IS NULL ORDER BY team, name",
           NULL);
  while (rows_next(&rows)) {
    int64_t end = rows_int(&rows, 3);
    list_push(r->arena, &list,
              ((struct live_token){.team = rows_dup(&rows, 0, r->arena),
                                   .id = rows_dup(&rows, 1, r->arena),
                                   .name = rows_dup(&rows, 2, r->arena),
                                   .expired = end && end <= r->now}));
  }
  TRY(rows_end(&rows));
  for (size_t i = 0; i < list.n; i++)
    TRY(readmit_token(r, &list.v[i]));
  return STATUS_OK;
}

static enum status readmit_grant(const struct returning *r, const struct known_grant *g) {
  const struct known_grant *found = NULL;
  struct db *db = r->store->db;
  if (r->known->grants.n)
    found = bsearch(g, r->known->grants.v, r->known->grants.n, sizeof(*g), by_grant);
  if (r->known->empty)
    return STATUS_OK;
  if (found)
    return db_exec(db, r->err,
                   "UPDATE vault_grant SET uses = CASE WHEN ?4 < 0 THEN NULL ELSE ?4 END, expires_at = ?5"
                   " WHERE team = ?1 AND key = ?2 AND grantee = ?3",
                   "sssit", g->team, g->key, g->grantee, found->uses, found->expires_at);
  r->counts->grants_revoked++;
  TRY(db_exec(db, r->err, "DELETE FROM vault_grant WHERE team = ?1 AND key = ?2 AND grantee = ?3", "sss", g->team,
              g->key, g->grantee));
  const struct str facts[][2] = {{STR("key"), g->key}, {STR("to"), g->grantee}};
  return add_event(r, g->team, "vault:revoke", facts, ARRAY_LEN(facts));
}

static enum status readmit_grants(const struct returning *r) {
  struct admission back = {0};
  TRY(read_grants(r->store, r->arena, &back, r->err));
  for (size_t i = 0; i < back.grants.n; i++)
    TRY(readmit_grant(r, &back.grants.v[i]));
  return STATUS_OK;
}

/* The stores that this one replaces now or has replaced before, each once, without itself. */
static enum status set_replaced(const struct returning *r) {
  struct str own, before, words, word;
  struct strs all = {0};
  struct buf b = BUF(r->arena);
  TRY(store_meta(r->store, "created_at", r->arena, &own, r->err));
  TRY(store_meta(r->store, META_REPLACED, r->arena, &before, r->err));
  words = arena_printf(r->arena, "%.*s %.*s", STR_ARG(before), STR_ARG(r->known->replaced));
  while (str_next(&words, ' ', &word))
    if (word.n && !str_eq(word, own) && !strs_has(&all, word)) {
      buf_addf(&b, "%s%.*s", all.n ? " " : "", STR_ARG(word));
      strs_push(r->arena, &all, word);
    }
  return all.n ? store_set_meta(r->store, META_REPLACED, buf_str(&b), r->err) : STATUS_OK;
}

enum status readmit_apply(struct store *returned, const struct admission *known, int64_t now, struct arena *a,
                          struct restored *counts, struct error *err) {
  assert(db_in_transaction(returned->db));
  char time[TIME_TEXT_SIZE];
  struct returning r = {.store = returned, .known = known, .now = now, .arena = a, .counts = counts, .err = err};
  TRY(readmit_tokens(&r));
  TRY(readmit_grants(&r));
  TRY(set_replaced(&r));
  return store_set_meta(returned, RESTORED_FACT, time_format(now, time), err);
}
