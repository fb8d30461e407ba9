/* bench_search_make.c: builds a store for the search benchmark, or the same content for sqlite-vec and FTS5.
 *
 * Usage: bench_search_make store SIZE STORE
 *        bench_search_make peer SIZE STORE PEER EXTENSION */
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "cairn.h"
#include "store/memories/memories.h"
#include "store/search/lexical.h"
#include "support/measure.h"
#include "support/searchable.h"

enum { BATCH = 20000 };

/* ---- the store ---- */

static void call(struct cairn *db, const char *operation, const char *args) {
  if (cairn_call(db, operation, args, 0, NULL, NULL) != CAIRN_OK) {
    struct cairn_error e;
    cairn_last_error(db, &e);
    fail("%s %s: %s", operation, args, e.message);
  }
}

/* Stored first and embedded by maintenance: this skips the duplicate check, which could merge topics. */
static void remember_topics(const char *path) {
  static struct topics t;
  struct arena a = {0};
  struct cairn_options o = {.size = sizeof(o), .path = path, .source = "bench"};
  struct cairn *db = NULL;
  topics_start(&t);
  if (cairn_open(&o, &db) != CAIRN_OK)
    fail("cannot open %s", path);
  for (size_t i = 0; i < TOPICS; i++) {
    call(db, "remember", arena_printf(&a, "{\"text\":\"%s\",\"defer_embedding\":true}", topic_text(&t, i, &a).p).p);
    arena_release(&a);
  }
  call(db, "maintain", "{}");
  cairn_close(&db);
}

static void add_memory(struct searchable *s, struct txn *txn, int64_t number, int64_t size, struct arena *a) {
  static float v[TOPICS_DIMS_MAX];
  static int8_t vector[TOPICS_DIMS_MAX];
  char uid[UUID_SIZE];
  uuid7_new(txn->now, uid);
  int64_t at = txn->now - (size - number) * 1000;
  struct memory m = {.uid = str_from(uid),
                     .team = txn->team,
                     .project = topics_project(number, size, a),
                     .kind = STR("fact"),
                     .type = STR("fact"),
                     .body = topics_memory(&s->topics, number, a),
                     .delivery = STR("on_demand"),
                     .trust = STR("user"),
                     .state = STR("active"),
                     .weight = 1,
                     .valid_from = at,
                     .created_at = at,
                     .updated_at = at,
                     .source = STR("bench")};
  m.headline = str_slice(m.body, 0, m.body.n < 28 ? m.body.n : 28);
  struct chunk_rows chunks = {0};
  if (memory_insert(txn, a, &m, &chunks, &s->err) != STATUS_OK)
    fail("%s", s->err.message);
  topics_vector(&s->topics, number, v);
  topics_quantise(v, s->model.dims, vector);
  for (size_t i = 0; i < chunks.n; i++)
    if (vec_add(txn, &s->model, chunks.v[i].id, vector, &s->err) != STATUS_OK)
      fail("%s", s->err.message);
}

static void make_store(int64_t size, const char *path) {
  static struct searchable s;
  struct arena a = {0};
  double began = now_us();
  remember_topics(path);
  double embedded = now_us();
  searchable_open(&s, path, size);
  struct txn who = {.team = STR("default"), .source = STR("bench"), .op = "bench", .now = 1770000000000}, txn;
  for (int64_t number = TOPICS; number < size;) {
    if (txn_begin(s.store, &who, 0, &txn, &s.err) != STATUS_OK || lexical_hold(&txn, &s.err) != STATUS_OK)
      fail("%s", s.err.message);
    for (int64_t i = 0; i < BATCH && number < size; i++, number++) {
      add_memory(&s, &txn, number, size, &a);
      arena_release(&a);
    }
    if (lexical_release(&txn, &s.err) != STATUS_OK || txn_commit(&txn, &s.err) != STATUS_OK)
      fail("%s", s.err.message);
  }
  bool done;
  if (db_checkpoint(store_db(s.store), true, &done, &s.err) != STATUS_OK)
    fail("%s", s.err.message);
  printf("  made a store of %lld: %d topics embedded in %.1f s, the rest written in %.1f s\n", (long long)size, TOPICS,
         (embedded - began) / 1e6, (now_us() - embedded) / 1e6);
  searchable_close(&s);
}

/* ---- the same for sqlite-vec and FTS5 ---- */

static void run(sqlite3 *db, const char *sql) {
  char *why = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
    fail("%s: %s", sql, why);
}

static sqlite3_stmt *prepared(sqlite3 *db, const char *sql) {
  sqlite3_stmt *st;
  if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
    fail("%s: %s", sql, sqlite3_errmsg(db));
  return st;
}

static void step(sqlite3_stmt *st) {
  if (sqlite3_step(st) != SQLITE_DONE)
    fail("%s: %s", sqlite3_sql(st), sqlite3_errmsg(sqlite3_db_handle(st)));
  sqlite3_reset(st);
}

/* The texts of the chunks, and their vectors, unrounded if available. */
static void make_peer(int64_t size, const char *path, const char *peer, const char *extension) {
  static struct searchable s;
  static float v[TOPICS_DIMS_MAX];
  char sql[300];
  double began = now_us();
  searchable_open(&s, path, size);
  sqlite3 *db = peer_open(peer, extension);
  run(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
          "CREATE TABLE text (id INTEGER PRIMARY KEY, body TEXT NOT NULL);"
          "CREATE VIRTUAL TABLE words USING fts5 (body, content = 'text', content_rowid = 'id',"
          " tokenize = 'porter unicode61 remove_diacritics 2')");
  snprintf(sql, sizeof(sql), "CREATE VIRTUAL TABLE vectors USING vec0 (embedding float[%d] distance_metric=cosine)",
           s.model.dims);
  run(db, sql);
  run(db, "BEGIN");
  sqlite3_stmt *text = prepared(db, "INSERT INTO text (id, body) VALUES (?1, ?2)");
  sqlite3_stmt *vector = prepared(db, "INSERT INTO vectors (rowid, embedding) VALUES (?1, ?2)");
  struct rows r;
  db_query(store_db(s.store), &r, &s.err, "SELECT id, memory_id, body FROM chunk ORDER BY id", NULL);
  for (int64_t number = 0; rows_next(&r); number++) {
    struct str body = rows_text(&r, 2);
    sqlite3_bind_int64(text, 1, rows_int(&r, 0));
    sqlite3_bind_text(text, 2, body.p, (int)body.n, SQLITE_STATIC);
    step(text);
    for (int i = 0; number < TOPICS && i < s.model.dims; i++)
      v[i] = s.topics.vectors[number * s.model.dims + i];
    if (number >= TOPICS)
      topics_vector(&s.topics, number, v);
    sqlite3_bind_int64(vector, 1, rows_int(&r, 0));
    sqlite3_bind_blob(vector, 2, v, s.model.dims * (int)sizeof(float), SQLITE_STATIC);
    step(vector);
  }
  if (rows_end(&r) != STATUS_OK)
    fail("%s", s.err.message);
  run(db, "INSERT INTO words (words) VALUES ('rebuild'); COMMIT; INSERT INTO words (words) VALUES ('optimize');"
          "PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite3_finalize(text);
  sqlite3_finalize(vector);
  sqlite3_close(db);
  searchable_close(&s);
  printf("  made the same for sqlite-vec and FTS5 in %.1f s\n", (now_us() - began) / 1e6);
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "store") == 0)
    make_store(strtoll(argv[2], NULL, 10), argv[3]);
  else if (argc == 6 && strcmp(argv[1], "peer") == 0)
    make_peer(strtoll(argv[2], NULL, 10), argv[3], argv[4], argv[5]);
  else
    fail("usage: bench_search_make store SIZE STORE | peer SIZE STORE PEER EXTENSION");
  return 0;
}
