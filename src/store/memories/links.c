/* links.c: rows of links between memories. */
#include "store/memories/links.h"

#include <assert.h>

#include "store/memories/memories.h"
#include "store/store_internal.h"
#include "store/tables/events.h"

static struct str link_json(struct arena *a, const struct link *l) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  char time[TIME_TEXT_SIZE];
  json_put(doc, obj, "src", l->src_uid);
  json_put(doc, obj, "rel", l->rel);
  json_put(doc, obj, "dst", l->dst_uid);
  json_put(doc, obj, "at", time_format(l->at, time));
  json_put_opt(doc, obj, "reason", l->reason);
  json_put_opt(doc, obj, "prior", l->prior);
  return json_write(a, obj, false);
}

/* A link belongs to its source: the caller needs write access to the source and read access to the target. */
static enum status check_ends(struct store *st, const struct link *l, struct str from, struct str to,
                              struct error *err) {
  struct reach reach = store_reach(st);
  if (reach.role == ROLE_ADMIN)
    return STATUS_OK;
  TRY(reach_check_write(st, from, "link a memory of", err));
  if (reach_can_read(&reach, to))
    return STATUS_OK;
  reach_record(st, "link to a memory of", to);
  return error_set(err, STATUS_NOT_FOUND, "no memory '%lld'", (long long)l->dst);
}

static enum status fill_uids(struct txn *txn, struct arena *a, struct link *l, struct error *err) {
  struct rows r;
  struct str from = STR_NONE, to = STR_NONE;
  db_query(txn->store->db, &r, err, "SELECT id, uid, project FROM memory WHERE team = ?1 AND id IN (?2, ?3)", "sii",
           txn->team, l->src, l->dst);
  while (rows_next(&r)) {
    bool src = rows_int(&r, 0) == l->src;
    *(src ? &l->src_uid : &l->dst_uid) = rows_dup(&r, 1, a);
    *(src ? &from : &to) = rows_dup(&r, 2, a);
  }
  TRY(rows_end(&r));
  return check_ends(txn->store, l, from, to, err);
}

bool link_is_replacement(struct str rel) { return str_is(rel, "supersedes") || str_is(rel, "shadows"); }

enum status link_add(struct txn *txn, struct arena *a, const struct link *link, struct error *err) {
  assert(db_in_transaction(txn->store->db));
  assert(link->src > 0 && link->dst > 0 && link->rel.n > 0);
  struct link l = *link;
  if (!l.at)
    l.at = txn->now;
  TRY(fill_uids(txn, a, &l, err));
  TRY(db_exec(txn->store->db, err,
              "INSERT INTO link (team, src, rel, dst, at, reason, prior) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7"
              " WHERE NOT EXISTS (SELECT 1 FROM link WHERE team = ?1 AND src = ?2 AND rel = ?3 AND dst = ?4)",
              "sisiiss", txn->team, l.src, l.rel, l.dst, l.at, l.reason, l.prior));
  if (db_changes(txn->store->db) == 0)
    return STATUS_OK;
  if (l.reason.p && link_is_replacement(l.rel))
    TRY(memory_reindex(txn, a, l.src, err));
  struct event e = {
      .action = STR("memory:link"), .change = "link", .memory_id = l.src, .uid = l.src_uid, .after = link_json(a, &l)};
  return event_add(txn, &e, err);
}

#define LINK_COLUMNS                                                                                                   \
  "SELECT l.src, l.rel, l.dst, l.at, l.reason, l.prior, s.uid, d.uid, s.headline, s.state, d.headline, d.state,"       \
  " s.project, d.project, CASE WHEN " SQL_TRUSTED_AS(                                                                  \
      "s") " THEN 0 ELSE 1 END,"                                                                                       \
           " CASE WHEN " SQL_TRUSTED_AS("d") " THEN 0 ELSE 1 END"                                                      \
                                             " FROM link l JOIN memory s ON s.team = l.team AND s.id = l.src JOIN "    \
                                             "memory d ON d.team = l.team AND d.id = l.dst "

/* A link is visible if the caller may read both ends. */
static bool is_visible(const struct store *st, const struct rows *r) {
  struct reach reach = store_reach(st);
  return reach_can_read(&reach, rows_text(r, 12)) && reach_can_read(&reach, rows_text(r, 13));
}

static void link_row(const struct rows *r, struct arena *a, int64_t seen_from, struct link *ret) {
  *ret = (struct link){.src = rows_int(r, 0),
                       .rel = rows_dup(r, 1, a),
                       .dst = rows_int(r, 2),
                       .at = rows_int(r, 3),
                       .reason = rows_dup(r, 4, a),
                       .prior = rows_dup(r, 5, a),
                       .src_uid = rows_dup(r, 6, a),
                       .dst_uid = rows_dup(r, 7, a)};
  int other = ret->src == seen_from ? 10 : 8;
  ret->other_headline = rows_dup(r, other, a);
  ret->other_state = rows_dup(r, other + 1, a);
  ret->other_untrusted = rows_int(r, ret->src == seen_from ? 15 : 14) != 0;
}

enum status link_remove(struct txn *txn, struct arena *a, int64_t src, struct str rel, int64_t dst, bool *ret_found,
                        struct error *err) {
  struct rows r;
  struct link l;
  db_query(txn->store->db, &r, err, LINK_COLUMNS "WHERE l.team = ?1 AND l.src = ?2 AND l.rel = ?3 AND l.dst = ?4",
           "sisi", txn->team, src, rel, dst);
  *ret_found = rows_next(&r) && is_visible(txn->store, &r);
  struct str from = *ret_found ? rows_dup(&r, 12, a) : STR_NONE;
  if (*ret_found)
    link_row(&r, a, src, &l);
  TRY(rows_end(&r));
  if (!*ret_found)
    return STATUS_OK;
  TRY(reach_check_write(txn->store, from, "unlink a memory of", err));
  TRY(db_exec(txn->store->db, err, "DELETE FROM link WHERE team = ?1 AND src = ?2 AND rel = ?3 AND dst = ?4", "sisi",
              txn->team, src, rel, dst));
  if (l.reason.p && link_is_replacement(l.rel))
    TRY(memory_reindex(txn, a, src, err));
  struct event e = {.action = STR("memory:unlink"),
                    .change = "unlink",
                    .memory_id = src,
                    .uid = l.src_uid,
                    .before = link_json(a, &l)};
  return event_add(txn, &e, err);
}

enum status links_of(struct store *st, struct str team, int64_t id, struct arena *a, struct links *ret_links,
                     struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           LINK_COLUMNS "WHERE l.team = ?1 AND (l.src = ?2 OR l.dst = ?2) ORDER BY l.rel, l.src, l.dst", "si", team,
           id);
  while (rows_next(&r)) {
    struct link l;
    if (!is_visible(st, &r))
      continue;
    link_row(&r, a, id, &l);
    list_push(a, ret_links, l);
  }
  return rows_end(&r);
}

static enum status first_link(const struct store *st, struct rows *r, struct arena *a, int64_t seen_from,
                              struct link *ret_link) {
  struct link l = {0};
  if (rows_next(r) && is_visible(st, r))
    link_row(r, a, seen_from, &l);
  TRY(rows_end(r));
  *ret_link = l;
  return STATUS_OK;
}

enum status link_successor(struct store *st, struct str team, int64_t id, struct arena *a, struct link *ret_link,
                           struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, LINK_COLUMNS "WHERE l.team = ?1 AND l.dst = ?2 AND l.rel = 'supersedes'", "si", team, id);
  return first_link(st, &r, a, id, ret_link);
}

enum status link_predecessor(struct store *st, struct str team, int64_t id, struct arena *a, struct link *ret_link,
                             struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           LINK_COLUMNS "WHERE l.team = ?1 AND l.src = ?2 AND l.rel = 'supersedes' ORDER BY l.dst LIMIT 1", "si", team,
           id);
  return first_link(st, &r, a, id, ret_link);
}

enum status link_head(struct store *st, struct str team, int64_t id, int64_t *ret_head, struct error *err) {
  return db_int(st->db, ret_head, NULL, err,
                "WITH RECURSIVE chain (id, depth) AS (SELECT ?2, 0 UNION ALL"
                " SELECT l.src, c.depth + 1 FROM link l JOIN chain c ON l.dst = c.id"
                " WHERE l.rel = 'supersedes' AND l.team = ?1)"
                " SELECT id FROM chain ORDER BY depth DESC LIMIT 1",
                "si", team, id);
}

enum status task_open_blockers(struct store *st, struct str team, int64_t id, struct arena *a, struct str *ret_ids,
                               struct error *err) {
  struct buf b = BUF(a);
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT b.id, b.project FROM link l JOIN memory b ON b.team = l.team AND b.id = l.dst"
           " WHERE l.team = ?1 AND l.src = ?2 AND l.rel = 'blocked_by' AND " OPEN_BLOCKER " ORDER BY b.id",
           "si", team, id);
  struct reach reach = store_reach(st);
  while (rows_next(&r))
    if (reach_can_read(&reach, rows_text(&r, 1)))
      buf_addf(&b, "%s%lld", b.n ? ", " : "", (long long)rows_int(&r, 0));
  *ret_ids = b.n ? buf_str(&b) : STR_NONE;
  return rows_end(&r);
}

struct hop {
  int64_t id;
  size_t from; /* index of the previous hop; SIZE_MAX for the first */
};

/* Breadth-first search over all blocked_by links of the team. There are few tasks, and a recursive query in SQL would
 * follow every path of a graph with diamonds. */
enum status link_path(struct store *st, struct str team, int64_t from, int64_t to, struct arena *a,
                      struct str *ret_path, struct error *err) {
  struct links edges = {0};
  struct rows r;
  db_query(st->db, &r, err, "SELECT src, dst FROM link WHERE team = ?1 AND rel = 'blocked_by'", "s", team);
  while (rows_next(&r))
    list_push(a, &edges, (struct link){.src = rows_int(&r, 0), .dst = rows_int(&r, 1)});
  TRY(rows_end(&r));
  LIST(struct hop) hops = {0};
  list_push(a, &hops, (struct hop){from, SIZE_MAX});
  size_t at = 0;
  for (; at < hops.n && hops.v[at].id != to; at++)
    for (size_t i = 0; i < edges.n; i++) {
      bool seen = edges.v[i].src != hops.v[at].id;
      for (size_t k = 0; !seen && k < hops.n; k++)
        seen = hops.v[k].id == edges.v[i].dst;
      if (!seen)
        list_push(a, &hops, (struct hop){edges.v[i].dst, at});
    }
  *ret_path = STR_NONE;
  if (at == hops.n)
    return STATUS_OK;
  assert(hops.v[at].id == to);
  struct str path = arena_printf(a, "%lld", (long long)hops.v[at].id);
  for (size_t i = hops.v[at].from; i != SIZE_MAX; i = hops.v[i].from)
    path = arena_printf(a, "%lld -> %.*s", (long long)hops.v[i].id, STR_ARG(path));
  *ret_path = path;
  return STATUS_OK;
}

void links_put(yyjson_mut_doc *doc, yyjson_mut_val *obj, int64_t id, const struct links *links) {
  if (links->n == 0)
    return;
  yyjson_mut_val *arr = json_put_arr(doc, obj, "links");
  for (size_t i = 0; i < links->n; i++) {
    const struct link *l = &links->v[i];
    bool out = l->src == id;
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, arr);
    json_put(doc, v, "rel", l->rel);
    json_put(doc, v, "direction", out ? STR("out") : STR("in"));
    json_put_int(doc, v, "id", out ? l->dst : l->src);
    json_put(doc, v, "uid", out ? l->dst_uid : l->src_uid);
    json_put(doc, v, "headline", l->other_headline);
    json_put(doc, v, "state", l->other_state);
    if (l->other_untrusted)
      json_put_bool(doc, v, "untrusted", true);
    char time[TIME_TEXT_SIZE];
    json_put(doc, v, "at", time_format(l->at, time));
    json_put_opt(doc, v, "reason", l->reason);
    json_put_opt(doc, v, "prior", l->prior);
  }
}
