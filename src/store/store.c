/* store.c: opening and closing a store, its metadata, the visibility predicate, transactions. */
#include "store/store.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/id.h"
#include "store/copy/move.h"
#include "store/db/place.h"
#include "store/memories/documents.h"
#include "store/store_internal.h"

struct db *store_db(const struct store *st) { return st->db; }

int64_t store_missing(const struct store *st) { return st->missing; }

static enum status find_loss(struct store *st, struct error *err) {
  TRY(mark_check(st, &st->missing, err));
  return st->missing ? mark_settle(st, false, err) : STATUS_OK;
}

enum status store_accept_loss(struct store *st, struct error *err) {
  TRY(mark_settle(st, true, err));
  st->missing = 0;
  return STATUS_OK;
}

static enum status refuse_unfinished(struct store *st, struct error *err) {
  int64_t one;
  bool found = false;
  TRY(db_int(st->db, &one, &found, err, "SELECT 1 FROM meta WHERE name = ?1", "s", STR(MOVE_NOTE)));
  if (!found)
    return STATUS_OK;
  error_set(err, STATUS_CONFLICT, "a migration into this store is not finished: run it again (%s)", db_path(st->db));
  return error_fix(err, "cairn migrate --db SOURCE --to TARGET, with the same source and target, resumes it");
}

enum status store_open(const struct store_options *o, struct store **ret_store, struct error *err) {
  assert(o->path);
  struct store *st = mem_zalloc(sizeof(*st));
  if (!st)
    return error_set(err, STATUS_NOMEM, "out of memory");
  struct db_options dbo = {.path = o->path,
                           .busy_ms = o->busy_ms > 0 ? o->busy_ms : STORE_BUSY_MS,
                           .connect_ms = o->connect_ms,
                           .must_exist = o->must_exist,
                           .read_only = o->read_only};
  st->must_exist = o->must_exist;
  st->unfinished = o->unfinished;
  st->settings = o->settings;
  enum status s = STATUS_OK;
  if (place_is_broken(o->path)) {
    s = error_set(err, STATUS_USAGE, "the server address is not valid");
    error_fix(err,
              "write postgresql://ROLE@HOST:PORT/DATABASE, with special characters of a password as %%XX: / is %%2F, "
              "@ is %%40");
  }
  if (s == STATUS_OK)
    s = db_open(&dbo, &st->db, err);
  if (s == STATUS_OK)
    s = mark_check_log(st, err);
  if (s == STATUS_OK)
    s = migrate(st, o->now, err);
  if (s == STATUS_OK)
    s = store_update_types(st, err);
  if (s == STATUS_OK && !o->unfinished)
    s = refuse_unfinished(st, err);
  if (s == STATUS_OK)
    s = find_loss(st, err);
  if (s != STATUS_OK) {
    store_close(&st);
    return s;
  }
  *ret_store = st;
  return STATUS_OK;
}

void store_close(struct store **store) {
  struct store *st = *store;
  if (!st)
    return;
  if (st->db)
    reads_flush(st);
  vec_cache_free(st->vectors);
  read_queue_free(st->reads);
  call_queue_free(st->calls);
  heartbeats_free(st->heartbeats);
  tokeniser_close(&st->tokeniser);
  db_close(&st->db);
  mem_free(st);
  *store = NULL;
}

enum status store_meta(struct store *st, const char *name, struct arena *a, struct str *ret_value, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT value FROM meta WHERE name = ?1", "s", str_from(name));
  *ret_value = rows_next(&r) ? rows_dup(&r, 0, a) : STR_NONE;
  return rows_end(&r);
}

enum status store_set_meta(struct store *st, const char *name, struct str value, struct error *err) {
  return db_exec(
      st->db, err,
      "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", "ss",
      str_from(name), value);
}

/* ---- visibility ---- */

static void not_shadowed(struct sql *q, const struct scope *scope, int64_t at) {
  sql_add(q,
          " AND NOT EXISTS (SELECT 1 FROM link sh JOIN memory o ON o.team = sh.team AND o.id = sh.src"
          " WHERE sh.team = m.team AND sh.dst = m.id AND sh.rel = 'shadows' AND o.state = 'active' AND o.project = ");
  sql_text(q, scope->project);
  sql_add(q, " AND (o.expires_at IS NULL OR o.expires_at > ");
  sql_int(q, at);
  sql_add(q, "))");
}

/* Restricts to memories, documents, or both. The text must match the partial indexes literally: "corpus = 'memory'" for
 * memories only, "corpus <> 'memory'" for documents only. */
static void add_corpora(struct sql *q, unsigned corpora) {
  enum { ALL = (1 << CORPUS_COUNT) - 1, MEMORIES = 1 << CORPUS_MEMORY };
  size_t n = 0;
  corpora &= ALL;
  if (corpora == 0 || corpora == MEMORIES) {
    sql_add(q, " AND m.corpus = 'memory'");
    return;
  }
  if (corpora == ALL)
    return;
  sql_add(q, " AND m.corpus IN (");
  for (enum corpus c = 0; c < CORPUS_COUNT; c++)
    if (corpora & (1U << c))
      sql_addf(q, "%s'%s'", n++ ? ", " : "", corpus_names[c]);
  sql_add(q, corpora & MEMORIES ? ")" : ") AND m.corpus <> 'memory'");
}

static void add_projects(struct sql *q, const struct scope *scope, const char *column) {
  if (scope->all_projects) {
    if (scope->own)
      sql_addf(q, " AND %s <> ''", column);
    return;
  }
  sql_addf(q, scope->own ? " AND %s IN (" : " AND %s IN ('', ", column);
  sql_text(q, scope->project);
  sql_add(q, ")");
}

/* Memories are expired as soon as their time to live has ended, even before maintenance marks them. Other states have
 * their own reason. There is an index for each of the two queries. */
static void add_expired(struct sql *q, const struct scope *scope, int64_t at) {
  sql_add(q, " AND m.id IN (SELECT e.id FROM memory e WHERE e.team = ");
  sql_text(q, scope->team);
  add_projects(q, scope, "e.project");
  sql_add(q, " AND e.state <> 'active' AND e.state IN ('expired', 'archived', 'faded')"
             " AND (e.state = 'expired' OR e.expires_at <= ");
  sql_int(q, at);
  sql_add(q, ") UNION ALL SELECT e.id FROM memory e WHERE e.team = ");
  sql_text(q, scope->team);
  sql_add(q, " AND e.state = 'active' AND e.expires_at <= ");
  sql_int(q, at);
  sql_add(q, ")");
}

/* Memories in one of these states. The partial indexes are those of "state = 'active'" and of "state <> 'active'",
 * literally. */
static void add_states(struct sql *q, const char *states) {
  sql_addf(q, strchr(states, ',') ? " AND m.state IN (%s)" : " AND m.state = %s", states);
  if (!strstr(states, "'active'"))
    sql_add(q, " AND m.state <> 'active'");
}

static void hide_expired(struct sql *q, int64_t at) {
  sql_add(q, " AND (m.expires_at IS NULL OR m.state NOT IN ('active', 'archived', 'faded') OR m.expires_at > ");
  sql_int(q, at);
  sql_add(q, ")");
}

void visible(struct sql *q, const struct scope *scope, const char *states) {
  assert(scope->team.n > 0 && states[0] == '\'');
  int64_t at = scope->as_of ? scope->as_of : scope->now;
  sql_add(q, "m.team = ");
  sql_text(q, scope->team);
  add_projects(q, scope, "m.project");
  reach_where(q, &scope->reach, "m.project");
  if (scope->reach.role == ROLE_PROJECT && scope->corpora & (1U << CORPUS_SESSIONS))
    sql_add(q, " AND (m.corpus <> 'sessions' OR m.project <> '')"); /* the administrator's own sessions are not shared
                                                                       with all projects */
  add_corpora(q, scope->corpora);
  if (scope->as_of) {
    sql_addf(q, " AND (m.state IN (%s) OR m.state_at > ", states);
    sql_int(q, at);
    sql_add(q, ") AND m.created_at <= ");
    sql_int(q, at);
    sql_add(q, " AND m.valid_from <= ");
    sql_int(q, at);
    hide_expired(q, at);
  } else if (strcmp(states, "'expired'") == 0) {
    add_expired(q, scope, at);
  } else {
    add_states(q, states);
    hide_expired(q, at);
  }
  if (!scope->all_projects && !str_empty(scope->project))
    not_shadowed(q, scope, at);
}

/* ---- transactions ---- */

static enum status begin(struct store *st, const struct txn *who, const char uid[UUID_SIZE], int64_t undoes,
                         struct txn *ret_txn, struct error *err) {
  assert(who->op && who->team.n > 0 && !db_in_transaction(st->db));
  TRY(reach_check_write(st, who->project, "write in", err));
  TRY(db_begin(st->db, who->team, false, err));
  int64_t id;
  enum status s =
      db_int(st->db, &id, NULL, err,
             "INSERT INTO txn (uid, team, at, op, source, session, undoes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
             " RETURNING id",
             "ssissst", str_from(uid), who->team, who->now, str_from(who->op), who->source, who->session, undoes);
  if (s == STATUS_OK)
    s = mark_begin(st, id, uid, err);
  if (s != STATUS_OK) {
    db_rollback(st->db);
    return s;
  }
  *ret_txn = *who;
  ret_txn->store = st;
  ret_txn->id = id;
  return STATUS_OK;
}

enum status txn_begin(struct store *st, const struct txn *who, int64_t undoes, struct txn *ret_txn, struct error *err) {
  char uid[UUID_SIZE];
  uuid7_new(who->now, uid);
  return begin(st, who, uid, undoes, ret_txn, err);
}

enum status txn_commit(struct txn *txn, struct error *err) {
  TRY(db_commit(txn->store->db, err));
  mark_commit(txn->store, txn->id);
  vec_cache_settle(txn->store->vectors, true);
  return STATUS_OK;
}

/* ---- parts ---- */

static enum status part_uid(struct store *st, struct str team, int64_t first, int part, char ret_uid[UUID_SIZE],
                            struct error *err) {
  struct rows r;
  char text[UUID_SIZE + 24];
  uint8_t hash[HASH_BYTES];
  assert(part > 0);
  db_query(st->db, &r, err, "SELECT uid FROM txn WHERE team = ?1 AND id = ?2", "si", team, first);
  struct str uid = rows_next(&r) ? rows_text(&r, 0) : STR("");
  int n = snprintf(text, sizeof(text), "%.*s part %d", (int)(uid.n < UUID_SIZE ? uid.n : UUID_SIZE - 1), uid.p, part);
  TRY(rows_end(&r));
  hash_bytes((struct str){text, (size_t)n}, hash);
  uuid8_from_hash(hash, ret_uid);
  return STATUS_OK;
}

/* Writers of a file poll for its lock (on_busy() in sqlite/driver.c); the lock of a server has a queue. */
void store_let_others_write(const struct store *st) {
  enum { POLL_US = 13000 };
  if (db_engine(st->db) == DB_SQLITE)
    nanosleep(&(struct timespec){.tv_nsec = POLL_US * 1000L}, NULL);
}

enum status txn_next_part(struct txn *txn, int64_t first, int part, struct error *err) {
  char uid[UUID_SIZE];
  struct txn who = *txn;
  TRY(part_uid(who.store, who.team, first, part, uid, err));
  TRY(txn_commit(txn, err));
  store_let_others_write(who.store);
  return begin(who.store, &who, uid, 0, txn, err);
}

enum status txn_find_part(struct store *st, struct str team, int64_t first, int part, int64_t *ret_id,
                          struct error *err) {
  char uid[UUID_SIZE];
  bool found = false;
  TRY(part_uid(st, team, first, part, uid, err));
  TRY(db_int(st->db, ret_id, &found, err, "SELECT id FROM txn WHERE team = ?1 AND uid = ?2", "ss", team,
             str_from(uid)));
  if (!found)
    *ret_id = 0;
  return STATUS_OK;
}

enum status txn_savepoint(struct txn *txn, struct error *err) {
  assert(db_in_transaction(txn->store->db));
  return db_savepoint(txn->store->db, err);
}

enum status txn_savepoint_end(struct txn *txn, bool keep, struct error *err) {
  if (!keep)
    vec_cache_settle(txn->store->vectors, false);
  return db_savepoint_end(txn->store->db, keep, err);
}

enum status txn_find(struct store *st, struct str team, int64_t id, struct arena *a, struct str *ret_op,
                     int64_t *ret_undone_by, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT t.op, coalesce(u.id, 0) FROM txn t LEFT JOIN txn u ON u.team = t.team AND u.undoes = t.id"
           " WHERE t.team = ?1 AND t.id = ?2",
           "si", team, id);
  bool found = rows_next(&r);
  *ret_op = found ? rows_dup(&r, 0, a) : STR_NONE;
  *ret_undone_by = found ? rows_int(&r, 1) : 0;
  return rows_end(&r);
}

void store_rollback(struct store *st) {
  if (!st || !st->db)
    return;
  db_rollback(st->db);
  st->marked = 0;
  vec_cache_settle(st->vectors, false);
}

void store_boundary_set(struct store *st, struct store_boundary *ret_boundary) {
  ret_boundary->store = st;
  if (st)
    ret_boundary->scope = db_scope(st->db);
}

bool store_boundary_left(const struct store_boundary *b) {
  if (!b->store)
    return true;
  db_scope_abort(b->store->db, b->scope);
  if (!b->scope.in_transaction)
    vec_cache_settle(b->store->vectors, false);
  return true;
}
