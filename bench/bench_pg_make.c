/* bench_pg_make.c: fills a database with memories of a hundred teams as fast as possible: rows in bulk without
 * triggers, indexes afterwards. The result is the same as after as many calls of "remember".
 *
 * Usage: bench_pg_make URL SIZE DATABASE (URL is for a superuser; an existing database is kept, others of the same
 * size with another name are dropped: the end of a name identifies the content) */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/id.h"
#include "cairn.h"
#include "core/memory/memory.h"
#include "core/text/terms.h"
#include "embed/builtin.h"
#include "store/memories/memories.h"
#include "store/postgres/lexemes.h"
#include "store/vectors/postgres.h"
#include "support/measure.h"
#include "support/pg.h"
#include "support/topics.h"

enum { FIRST_ID = 1000, PROGRESS = 100000 };

enum table { MEMORY, BODY, CHUNK, CHUNK_TEXT, VEC, TXN, EVENT, TABLES };
static const char *const copies[TABLES] = {
    "COPY cairn.memory (id, uid, team, project, kind, type, headline, trust, valid_from, created_at, updated_at, "
    "source)"
    " FROM STDIN",
    "COPY cairn.body (memory_id, team, text, hash) FROM STDIN",
    "COPY cairn.chunk (id, team, memory_id, seq, hash, headline, body, extra, terms) FROM STDIN",
    "COPY cairn.chunk_text (team, chunk_id, memory_id, words, tokens) FROM STDIN",
    "COPY cairn.vec (team, model, chunk_id, dims, v) FROM STDIN",
    "COPY cairn.txn (id, uid, team, at, op, source) FROM STDIN",
    "COPY cairn.event (team, txn, at, action, change, op, memory_id, uid, project, source, after) FROM STDIN",
};

struct make {
  int64_t size, now;
  struct store *words; /* for its tokeniser */
  struct topics topics[2];
  const struct embedder *embedders[2];
  struct pg_copy out[TABLES];
  struct error err;
};

/* ---- teams ---- */

static const struct embedder *embedder_of(struct make *k, int team) { return k->embedders[team >= PG_SEARCHED]; }

/* Stores one memory through the library, which creates the index of the team and everything else that a team needs. */
static void begin_team(struct make *k, const char *url, int team) {
  char name[8];
  struct cairn_options o = {.size = sizeof(o), .path = url, .team = pg_team(team, name), .source = "bench"};
  struct cairn *db = NULL;
  setenv("CAIRN_EMBEDDER", embedder_of(k, team)->model, 1);
  int s = cairn_open(&o, &db);
  if (s == CAIRN_OK)
    s = cairn_call(db, "remember", "{\"text\":\"The first memory of a team of the benchmark.\"}", 0, NULL, NULL);
  if (s != CAIRN_OK) {
    struct cairn_error e;
    cairn_last_error(db, &e);
    fail("%s: %s", url, e.message);
  }
  cairn_close(&db);
}

static void embed_topics(struct topics *t, const struct embedder *e) {
  struct arena a = {0};
  struct error err;
  struct str *texts = arena_array(&a, struct str, TOPICS);
  topics_start(t);
  t->dims = e->dims;
  t->vectors = malloc((size_t)TOPICS * (size_t)e->dims);
  for (size_t i = 0; i < TOPICS; i++)
    texts[i] = topic_text(t, i, &a);
  if (!t->vectors || e->embed(e, &a, EMBED_TEXT, texts, TOPICS, t->vectors, &err) != STATUS_OK)
    fail("%s", err.message);
  arena_release(&a);
}

/* ---- rows ---- */

static struct str event_of(const struct memory *m, const char *hash, struct arena *a) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *after = yyjson_mut_obj(doc);
  memory_put_fields(doc, after, m, 0, FIELD_LOCAL);
  json_put_int(doc, after, "body_bytes", (int64_t)m->body.n);
  json_put(doc, after, "body_hash", str_from(hash));
  return json_write(a, after, false);
}

static void put_memory(struct make *k, const struct memory *m, struct arena *a) {
  struct pg_copy *c = &k->out[MEMORY];
  const struct str first[] = {m->uid, m->team, m->project, m->kind, m->type, m->headline, m->trust};
  char hash[HASH_TEXT_SIZE], uid[UUID_SIZE];
  body_hash(a, m->body, hash);
  pg_copy_row(c);
  pg_copy_int(c, m->id);
  for (size_t i = 0; i < ARRAY_LEN(first); i++)
    pg_copy_text(c, first[i]);
  for (int i = 0; i < 3; i++)
    pg_copy_int(c, m->created_at);
  pg_copy_text(c, m->source);
  c = &k->out[BODY];
  pg_copy_row(c);
  pg_copy_int(c, m->id);
  pg_copy_text(c, m->team);
  pg_copy_text(c, m->body);
  pg_copy_text(c, str_from(hash));
  c = &k->out[TXN];
  uuid7_new(m->created_at, uid);
  pg_copy_row(c);
  pg_copy_int(c, m->id);
  pg_copy_text(c, str_from(uid));
  pg_copy_text(c, m->team);
  pg_copy_int(c, m->created_at);
  pg_copy_text(c, STR("remember"));
  pg_copy_text(c, m->source);
  c = &k->out[EVENT];
  pg_copy_row(c);
  pg_copy_text(c, m->team);
  pg_copy_int(c, m->id);
  pg_copy_int(c, m->created_at);
  const struct str what[] = {STR("memory:write"), STR("insert"), STR("remember")};
  for (size_t i = 0; i < ARRAY_LEN(what); i++)
    pg_copy_text(c, what[i]);
  pg_copy_int(c, m->id);
  const struct str rest[] = {m->uid, m->project, m->source, event_of(m, hash, a)};
  for (size_t i = 0; i < ARRAY_LEN(rest); i++)
    pg_copy_text(c, rest[i]);
}

/* The texts are short: a memory is one chunk, and both have the same id. */
static void put_chunk(struct make *k, const struct memory *m, struct arena *a) {
  char hash[HASH_TEXT_SIZE];
  struct words words;
  hash_text(m->body, hash);
  struct chunk_text t = {.id = m->id,
                         .team = m->team,
                         .memory_id = m->id,
                         .hash = str_from(hash),
                         .headline = m->headline,
                         .body = m->body,
                         .extra = STR(""),
                         .terms = terms_of_chunk(a, m->project, m->headline, m->body, STR(""))};
  if (words_of(k->words, &t, a, &words, &k->err) != STATUS_OK)
    fail("%s", k->err.message);
  struct pg_copy *c = &k->out[CHUNK];
  pg_copy_row(c);
  pg_copy_int(c, t.id);
  pg_copy_text(c, t.team);
  pg_copy_int(c, t.memory_id);
  pg_copy_int(c, 0);
  const struct str texts[] = {t.hash, t.headline, t.body, t.extra, t.terms};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    pg_copy_text(c, texts[i]);
  c = &k->out[CHUNK_TEXT];
  pg_copy_row(c);
  pg_copy_text(c, t.team);
  pg_copy_int(c, t.id);
  pg_copy_int(c, t.memory_id);
  pg_copy_int(c, words.length);
  pg_copy_text(c, words_literal(a, &words));
}

static void put_vector(struct make *k, const struct memory *m, int team, int64_t number) {
  static float v[TOPICS_DIMS_MAX];
  static int8_t vector[TOPICS_DIMS_MAX];
  static char text[HALFVEC_TEXT];
  const struct topics *t = &k->topics[team >= PG_SEARCHED];
  struct pg_copy *c = &k->out[VEC];
  topics_vector(t, number, v);
  topics_quantise(v, t->dims, vector);
  pg_copy_row(c);
  pg_copy_text(c, m->team);
  pg_copy_text(c, str_from(embedder_of(k, team)->model));
  pg_copy_int(c, m->id);
  pg_copy_int(c, t->dims);
  pg_copy_text(c, halfvec_write(vector, t->dims, text));
}

static void put(struct make *k, int64_t i, struct arena *a) {
  int team = (int)(i * PG_TEAMS / k->size);
  char name[8], uid[UUID_SIZE];
  int64_t at = k->now - (k->size - i) * 1000, number = TOPICS + i;
  uuid7_new(at, uid);
  struct memory m = {.id = FIRST_ID + i,
                     .uid = str_from(uid),
                     .team = str_from(pg_team(team, name)),
                     .project = topics_project(number, k->size, a),
                     .kind = STR("fact"),
                     .type = STR("fact"),
                     .body = topics_memory(&k->topics[0], number, a),
                     .delivery = STR("on_demand"),
                     .trust = STR("user"),
                     .state = STR("active"),
                     .weight = 1,
                     .valid_from = at,
                     .created_at = at,
                     .updated_at = at,
                     .source = STR("bench")};
  m.headline = str_trim(str_slice(m.body, 0, m.body.n < 28 ? m.body.n : 28));
  put_memory(k, &m, a);
  put_chunk(k, &m, a);
  put_vector(k, &m, team, number);
}

static void put_all(struct make *k) {
  struct arena a = {0};
  double began = now_us();
  for (int t = 0; t < TABLES; t++)
    pg_copy_begin(&k->out[t], copies[t]);
  for (int64_t i = 0; i < k->size; i++) {
    put(k, i, &a);
    arena_release(&a);
    if ((i + 1) % PROGRESS == 0 && i + 1 < k->size) {
      printf("    %lld rows of each table, %.0f s\n", (long long)(i + 1), (now_us() - began) / 1e6);
      fflush(stdout);
    }
  }
  for (int t = 0; t < TABLES; t++)
    pg_copy_end(&k->out[t]);
  report_text("loading without indexes and triggers", "%9.0f   memories/s, %.1f s",
              (double)k->size / (now_us() - began) * 1e6, (now_us() - began) / 1e6);
}

/* ---- indexes ---- */

/* Indexes of the filled tables that no constraint needs. */
static void list_indexes(PGconn *conn, struct arena *a, struct strs *names, struct strs *statements) {
  const struct libpq *pq = pg_library();
  PGresult *r = pq->exec(
      conn, "SELECT c.relname, replace(pg_get_indexdef(c.oid), ' ON ONLY ', ' ON ') FROM pg_index i JOIN pg_class c ON "
            "c.oid = i.indexrelid"
            " JOIN pg_class t ON t.oid = i.indrelid WHERE t.relnamespace = 'cairn'::regnamespace AND NOT"
            " c.relispartition AND t.relkind = 'p' AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid ="
            " c.oid) ORDER BY 1");
  if (pq->resultStatus(r) != PGRES_TUPLES_OK)
    fail("%s", pq->errorMessage(conn));
  for (int i = 0; i < pq->ntuples(r); i++) {
    strs_push(a, names, arena_dup(a, str_from(pq->getvalue(r, i, 0))));
    strs_push(a, statements, arena_dup(a, str_from(pq->getvalue(r, i, 1))));
  }
  pq->clear(r);
}

static void build_indexes(PGconn *conn, const struct strs *names, const struct strs *statements) {
  double others = 0;
  for (size_t i = 0; i < names->n; i++) {
    double began = now_us();
    struct arena a = {0};
    pg_run(conn, arena_cstr(&a, statements->v[i]));
    arena_release(&a);
    double took = (now_us() - began) / 1e6;
    bool large = strstr(statements->v[i].p, "USING hnsw") || strstr(statements->v[i].p, "USING gin");
    if (large)
      report_text(arena_printf(&a, "building %.*s", STR_ARG(names->v[i])).p, "%9.1f   s", took);
    else
      others += took;
    arena_release(&a);
  }
  report_text("building the B-trees that no key needs", "%9.1f   s", others);
}

static void count_all(PGconn *conn) {
  double began = now_us();
  pg_run(conn, "SET search_path = cairn, public;"
               "DELETE FROM term_count; DELETE FROM chunk_count; DELETE FROM vec_count;"
               "INSERT INTO term_count (team, term, n) SELECT x.team, u.lexeme COLLATE \"C\", count(*)"
               " FROM chunk_text x, unnest(x.tokens) u GROUP BY 1, 2 ORDER BY 1, 2;"
               "INSERT INTO chunk_count (team, n, words) SELECT team, count(*), sum(words) FROM chunk_text GROUP BY 1;"
               "INSERT INTO vec_count (team, model, n) SELECT team, model, count(*) FROM vec GROUP BY 1, 2;"
               "SELECT setval(pg_get_serial_sequence('memory', 'id'), (SELECT max(id) FROM memory)),"
               " setval(pg_get_serial_sequence('chunk', 'id'), (SELECT max(id) FROM chunk)),"
               " setval(pg_get_serial_sequence('txn', 'id'), (SELECT max(id) FROM txn)),"
               " setval(pg_get_serial_sequence('event', 'seq'), (SELECT max(seq) FROM event))");
  report_text("counting the words", "%9.1f   s", (now_us() - began) / 1e6);
  began = now_us();
  pg_run(conn, "VACUUM (ANALYZE)");
  pg_run(conn, "CHECKPOINT");
  report_text("vacuum, analyze, checkpoint", "%9.1f   s", (now_us() - began) / 1e6);
}

/* ---- the database ---- */

static bool exists(PGconn *conn, struct arena *a, const char *name) {
  return pg_number(conn, arena_printf(a, "SELECT count(*) FROM pg_database WHERE datname = '%s'", name).p) > 0;
}

/* Drops outdated and incomplete databases. */
static void drop_others(PGconn *conn, struct arena *a, const char *size, const char *name) {
  const struct libpq *pq = pg_library();
  PGresult *r = pq->exec(conn, arena_printf(a,
                                            "SELECT datname FROM pg_database WHERE starts_with(datname, 'bench_%s_')"
                                            " AND datname <> '%s'",
                                            size, name)
                                   .p);
  for (int i = 0; i < pq->ntuples(r); i++)
    pg_run(conn, arena_printf(a, "DROP DATABASE %s", pq->getvalue(r, i, 0)).p);
  pq->clear(r);
}

static void fill(struct make *k, const char *url, const char *own, struct arena *a) {
  static struct arena rows[TABLES];
  struct strs names = {0}, statements = {0};
  PGconn *conn = pg_connect(url);
  pg_run(conn, "CREATE EXTENSION IF NOT EXISTS vector; CREATE EXTENSION IF NOT EXISTS btree_gin");
  for (int team = 0; team < PG_TEAMS; team++)
    begin_team(k, own, team);
  struct store_options o = {.path = own, .must_exist = true, .now = k->now};
  if (store_open(&o, &k->words, &k->err) != STATUS_OK)
    fail("%s", k->err.message);
  list_indexes(conn, a, &names, &statements);
  for (size_t i = 0; i < names.n; i++)
    pg_run(conn, arena_printf(a, "DROP INDEX cairn.%.*s", STR_ARG(names.v[i])).p);
  for (int t = 0; t < TABLES; t++) {
    k->out[t] = (struct pg_copy){.conn = pg_connect(url), .rows = BUF(&rows[t])};
    pg_run(k->out[t].conn, "SET session_replication_role = replica; SET synchronous_commit = off");
  }
  put_all(k);
  pg_run(conn, "SET maintenance_work_mem = '2GB'");
  build_indexes(conn, &names, &statements);
  count_all(conn);
  store_close(&k->words);
  for (int t = 0; t < TABLES; t++)
    pg_library()->finish(k->out[t].conn);
  pg_library()->finish(conn);
}

int main(int argc, char **argv) {
  static struct make k;
  static struct arena a;
  if (argc != 4)
    fail("usage: bench_pg_make URL SIZE DATABASE");
  PGconn *conn = pg_connect(argv[1]);
  drop_others(conn, &a, argv[2], argv[3]);
  if (exists(conn, &a, argv[3]))
    return 0;
  double began = now_us();
  printf("  filling a database with %s memories of %d teams\n", argv[2], PG_TEAMS);
  k.size = strtoll(argv[2], NULL, 10);
  k.now = (int64_t)time(NULL) * 1000;
  k.embedders[1] = embedder_hash();
  if (embedder_builtin(&k.embedders[0], &k.err) != STATUS_OK)
    fail("%s", k.err.message);
  for (int i = 0; i < 2; i++)
    embed_topics(&k.topics[i], k.embedders[i]);
  if (!pg_number(conn, "SELECT count(*) FROM pg_roles WHERE rolname = '" PG_ROLE "'"))
    pg_run(conn, "CREATE ROLE " PG_ROLE " LOGIN");
  const char *name = arena_printf(&a, "%s_new", argv[3]).p;
  pg_run(conn, arena_printf(&a, "CREATE DATABASE %s OWNER " PG_ROLE, name).p);
  fill(&k, pg_address(&a, argv[1], NULL, name), pg_address(&a, argv[1], PG_ROLE, name), &a);
  pg_run(conn, arena_printf(&a, "ALTER DATABASE %s RENAME TO %s", name, argv[3]).p);
  report_text("made", "%9.1f   s in all, target: under 900 s for 1,000,000", (now_us() - began) / 1e6);
  pg_library()->finish(conn);
  return 0;
}
