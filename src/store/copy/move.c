/* move.c: migrating a store: progress note in the target, resuming, verification. */
#include "store/copy/move.h"

#include <assert.h>
#include <stdio.h>

#include "base/json.h"
#include "store/engine.h"

const char *const move_start_names[] = {"fresh", "resumed", "source_changed", "copy_differs", "already_done"};

/* ---- the progress note ---- */

static struct str note_text(const struct move *m, struct arena *a, const struct copy_cursor *at) {
  assert(at->table < STORE_TABLES);
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *note = yyjson_mut_obj(doc);
  const char *table = store_tables[at->table].name;
  json_put(doc, note, "source", str_from(m->source));
  json_put_int(doc, note, "txns", m->txns);
  json_put(doc, note, "table", str_from(table ? table : ""));
  yyjson_mut_val *key = json_put_arr(doc, note, "key");
  for (size_t i = 0; at->begun && (i == 0 || store_tables[at->table].key[i - 1]); i++)
    if (at->key[i].form == 's')
      json_add_str(doc, key, at->key[i].s);
    else
      yyjson_mut_arr_add_sint(doc, key, at->key[i].i);
  return json_write(a, note, false);
}

static bool read_cursor(yyjson_val *note, struct arena *a, struct copy_cursor *ret) {
  struct str table = json_str(note, "table");
  yyjson_val *key = yyjson_obj_get(note, "key"), *v;
  size_t i, n;
  *ret = (struct copy_cursor){0};
  while (store_tables[ret->table].name && !str_is(table, store_tables[ret->table].name))
    ret->table++;
  if (!store_tables[ret->table].name && !str_empty(table))
    return false;
  ret->begun = yyjson_arr_size(key) > 0;
  if (yyjson_arr_size(key) > TABLE_KEY_MAX + 1)
    return false;
  yyjson_arr_foreach(key, i, n, v) {
    assert(i < ARRAY_LEN(ret->key));
    if (yyjson_is_str(v))
      ret->key[i] = (struct db_value){.form = 's', .s = arena_dup(a, json_val_str(v))};
    else
      ret->key[i] = (struct db_value){.form = 'i', .i = yyjson_get_sint(v)};
  }
  return true;
}

/* Detects a second run into the same target, which would copy everything twice: the note must be our last one. */
static enum status check_note(struct move *m, struct error *err) {
  struct str now;
  TRY(store_meta(m->copy.to, MOVE_NOTE, m->copy.arena, &now, err));
  if ((now.p != NULL) == (m->note.p != NULL) && str_eq(now, m->note))
    return STATUS_OK;
  error_set(err, STATUS_CONFLICT, "another process is migrating into %s", db_path(m->copy.to->db));
  return error_fix(err, "wait until it has finished");
}

static enum status set_note(struct move *m, const struct copy_cursor *at, struct error *err) {
  struct str text = note_text(m, m->copy.arena, at);
  TRY(store_set_meta(m->copy.to, MOVE_NOTE, text, err));
  m->note = text;
  return STATUS_OK;
}

/* Only the last commit syncs to disk: pages lost in a crash are copied again. */
static enum status begin_lazy(struct copy *c, struct error *err) {
  enum status s = db_begin(c->to->db, STR_NONE, true, err);
  if (s == STATUS_OK)
    s = check_note(c->arg, err);
  if (s != STATUS_OK)
    store_rollback(c->to);
  return s;
}

static enum status commit_noted(struct copy *c, const struct copy_cursor *at, struct error *err) {
  struct move *m = c->arg;
  struct str former = m->note;
  enum status s = set_note(m, at, err);
  if (s == STATUS_OK)
    s = db_commit(c->to->db, err);
  if (s == STATUS_OK)
    vec_cache_settle(c->to->vectors, true);
  else
    m->note = former;
  return s;
}

/* ---- begin ---- */

static enum status count_txns(struct move *m, int64_t *ret_count, struct error *err) {
  return db_int(m->copy.from->db, ret_count, NULL, err, "/* all teams: a copy */ SELECT count(*) FROM txn", NULL);
}

static enum status read_source(struct move *m, struct error *err) {
  TRY(events_epoch(m->copy.from, m->source, err));
  TRY(count_txns(m, &m->txns, err));
  return copy_count(&m->copy, err);
}

static enum status not_empty(struct move *m, struct error *err) {
  char epoch[EVENTS_EPOCH_SIZE];
  TRY(events_epoch(m->copy.to, epoch, err));
  error_set(err, STATUS_CONFLICT, "%s is not empty%s; a migration needs an empty store", db_path(m->copy.to->db),
            strcmp(epoch, m->source) == 0 ? " (it may be the source itself)" : "");
  return error_fix(err, "name a new file, or a new database, with --to");
}

static enum status check_empty(struct move *m, struct error *err) {
  for (const struct store_table *t = store_tables; t->name; t++) {
    struct sql q = SQL(m->copy.arena);
    int64_t one;
    bool found = false;
    if (t->way == TABLE_VECTORS)
      continue; /* without chunks there are no vectors */
    sql_addf(&q, "/* all teams: a copy */ SELECT 1 FROM %s LIMIT 1", t->name);
    TRY(db_int_sql(m->copy.to->db, &one, &found, err, &q));
    if (found)
      return not_empty(m, err);
  }
  return STATUS_OK;
}

static enum status begin_fresh(struct move *m, bool clear, struct error *err) {
  struct store *to = m->copy.to;
  m->cursor = (struct copy_cursor){0};
  memset(m->copy.sums, 0, sizeof(m->copy.sums));
  m->copy.done = 0;
  TRY(begin_lazy(&m->copy, err));
  enum status s = clear ? copy_clear(to, m->copy.arena, err) : check_empty(m, err);
  if (s == STATUS_OK)
    s = copy_prepare(to, err);
  if (s == STATUS_OK)
    s = commit_noted(&m->copy, &m->cursor, err);
  if (s != STATUS_OK)
    store_rollback(to);
  return s;
}

/* Compares the copied rows with the current source: even reads change a store (access counts, log of calls), and the
 * target may have been modified. */
static enum status compare_prefix(struct move *m, bool *ret_same, struct error *err) {
  struct table_sum *there = arena_array(m->copy.arena, struct table_sum, STORE_TABLES);
  TRY(copy_sums(&m->copy, m->copy.from, &m->cursor, "compare", m->copy.sums, err));
  int64_t done = m->copy.done;
  TRY(copy_sums(&m->copy, m->copy.to, NULL, "compare", there, err));
  m->copy.done = done;
  *ret_same = true;
  for (size_t i = 0; store_tables[i].name; i++)
    *ret_same &= sum_same(&m->copy.sums[i], &there[i]);
  return STATUS_OK;
}

/* True if an earlier run has finished and both stores are still equal. Nothing is written. */
static enum status is_done(struct move *m, bool *ret_done, struct error *err) {
  struct str from;
  *ret_done = false;
  m->cursor.table = STORE_TABLES - 1;
  TRY(store_meta(m->copy.to, MOVE_FROM, m->copy.arena, &from, err));
  if (!str_is(from, m->source))
    return STATUS_OK;
  TRY(compare_prefix(m, ret_done, err));
  if (!*ret_done)
    return STATUS_OK;
  m->report.start = MOVE_DONE;
  memcpy(m->report.sums, m->copy.sums, sizeof(m->report.sums));
  return events_epoch(m->copy.to, m->report.epoch, err);
}

static enum status other_source(struct move *m, struct error *err) {
  error_set(err, STATUS_CONFLICT, "%s is the target of an unfinished migration from another store",
            db_path(m->copy.to->db));
  return error_fix(err, "finish that migration first, or name a new file or database with --to");
}

static enum status resume(struct move *m, struct error *err) {
  yyjson_val *note;
  struct error ignored;
  bool same = false;
  if (json_read(m->copy.arena, m->note, &note, &ignored) != STATUS_OK || !str_is(json_str(note, "source"), m->source))
    return other_source(m, err);
  if (json_int(note, "txns", -1) != m->txns || !read_cursor(note, m->copy.arena, &m->cursor)) {
    m->report.start = MOVE_CHANGED;
    return begin_fresh(m, true, err);
  }
  m->report.start = MOVE_RESUMED;
  TRY(compare_prefix(m, &same, err));
  if (!same) {
    m->report.start = MOVE_DIFFERS;
    TRY(begin_fresh(m, true, err));
  }
  return STATUS_OK;
}

/* Reads the note under the write lock: a server may still be committing the last batch of a killed run. */
static enum status read_note(struct move *m, struct error *err) {
  struct store *to = m->copy.to;
  enum status s = db_begin(to->db, STR_NONE, true, err);
  if (s == STATUS_OK)
    s = store_meta(to, MOVE_NOTE, m->copy.arena, &m->note, err);
  store_rollback(to);
  return s;
}

enum status move_begin(struct move *m, struct error *err) {
  m->copy.arg = m;
  m->copy.begin = begin_lazy;
  m->copy.commit = commit_noted;
  m->report = (struct move_report){.start = MOVE_FRESH};
  TRY(db_team(m->copy.from->db, STR_NONE, err));
  TRY(db_team(m->copy.to->db, STR_NONE, err));
  TRY(read_source(m, err));
  TRY(read_note(m, err));
  if (str_is(m->note, MOVE_NEW))
    return begin_fresh(m, false, err);
  if (m->note.p)
    return resume(m, err);
  bool done;
  TRY(is_done(m, &done, err));
  if (!done)
    return begin_fresh(m, false, err);
  return STATUS_OK;
}

/* ---- rows, verify, end ---- */

enum status move_rows(struct move *m, struct error *err) {
  int64_t before = m->copy.done;
  enum status s = copy_rows(&m->copy, &m->cursor, err);
  m->report.copied = m->copy.done - before;
  return s;
}

enum status move_verify(struct move *m, struct error *err) {
  TRY(begin_lazy(&m->copy, err));
  enum status s = copy_settle(m->copy.to, err);
  if (s == STATUS_OK)
    s = commit_noted(&m->copy, &m->cursor, err);
  if (s != STATUS_OK) {
    store_rollback(m->copy.to);
    return s;
  }
  TRY(copy_verify(&m->copy, err));
  memcpy(m->report.sums, m->copy.sums, sizeof(m->report.sums));
  return STATUS_OK;
}

/* The target gets its own epoch: the stores diverge from here, and a reader of one feed must not continue with the
 * other. */
static enum status finish(struct move *m, struct error *err) {
  struct store *to = m->copy.to;
  assert(db_in_transaction(to->db));
  uuid7_new(m->now, m->report.epoch);
  TRY(check_note(m, err));
  TRY(copy_finish(&m->copy, err));
  mark_forget(to);
  TRY(store_set_meta(to, "epoch", str_from(m->report.epoch), err));
  TRY(store_set_meta(to, MOVE_FROM, str_from(m->source), err));
  TRY(db_exec(to->db, err, "DELETE FROM meta WHERE name = ?1", "s", STR(MOVE_NOTE)));
  return db_commit(to->db, err);
}

enum status move_end(struct move *m, struct error *err) {
  enum status s = db_begin(m->copy.to->db, STR_NONE, false, err);
  if (s == STATUS_OK)
    s = finish(m, err);
  if (s != STATUS_OK)
    store_rollback(m->copy.to);
  return s;
}

static enum status move_all(struct move *m, struct error *err) {
  TRY(move_begin(m, err));
  if (m->report.start == MOVE_DONE)
    return STATUS_OK;
  TRY(move_rows(m, err));
  TRY(move_verify(m, err));
  return move_end(m, err);
}

enum status store_move(struct move *m, struct error *err) {
  struct db *from = m->copy.from->db;
  bool snapshot = false;
  int64_t txns = 0;
  TRY(db_team(from, STR_NONE, err));
  TRY(db_snapshot(from, &snapshot, err));
  TRY(db_snapshot_end(from, snapshot, move_all(m, err), err));
  TRY(count_txns(m, &txns, err));
  m->report.missing = txns - m->txns;
  return STATUS_OK;
}
