/* lexical_index_postgres.c: full-text index of chunks in PostgreSQL: store, check, rebuild. Triggers count the chunks
 * per word. */
#include <assert.h>

#include "core/text/terms.h"
#include "store/engine.h"
#include "store/postgres/lexemes.h"

enum {
  PAGE = 500, /* chunks indexed per statement; each common word is then counted once for all of them */
};

/* ---- single chunks ---- */

static bool is_holding(const struct txn *txn) { return txn->store->held_by && txn->store->held_by == txn->id; }

/* The texts stay in the chunk table; held_after is the id before the first of them. */
static enum status add_held(struct txn *txn, const struct chunk_text *t, int64_t *ret_id, struct error *err) {
  struct store *st = txn->store;
  int64_t id;
  TRY(db_int(st->db, &id, NULL, err,
             "INSERT INTO chunk (team, memory_id, seq, hash, headline, body, extra, terms)"
             " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id",
             "siisssss", t->team, t->memory_id, t->seq, t->hash, t->headline, t->body, t->extra, t->terms));
  if (st->held_after < 0)
    st->held_after = id - 1;
  *ret_id = id;
  return STATUS_OK;
}

enum status postgres_lexical_add(struct txn *txn, struct arena *a, const struct chunk_text *t, int64_t *ret_id,
                                 struct error *err) {
  struct words words;
  if (is_holding(txn))
    return add_held(txn, t, ret_id, err);
  TRY(words_of(txn->store, t, a, &words, err));
  return db_int(txn->store->db, ret_id, NULL, err,
                "WITH c AS (INSERT INTO chunk (team, memory_id, seq, hash, headline, body, extra, terms)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id)"
                " INSERT INTO chunk_text (team, chunk_id, memory_id, words, tokens)"
                " SELECT ?1, c.id, ?2, ?9, CAST(?10 AS tsvector) FROM c RETURNING chunk_id",
                "siisssssis", t->team, t->memory_id, t->seq, t->hash, t->headline, t->body, t->extra, t->terms,
                words.length, words_literal(a, &words));
}

/* A held text has no words yet; they are computed later from its new state. */
enum status postgres_lexical_update(struct txn *txn, struct arena *a, const struct chunk_text *t, struct error *err) {
  struct words words;
  TRY(words_of(txn->store, t, a, &words, err));
  return db_exec(txn->store->db, err,
                 "WITH c AS (UPDATE chunk SET extra = ?1, terms = ?2 WHERE team = ?3 AND memory_id = ?4 AND seq = 0"
                 " RETURNING id) UPDATE chunk_text x SET words = ?5, tokens = CAST(?6 AS tsvector)"
                 " FROM c WHERE x.team = ?3 AND x.chunk_id = c.id",
                 "sssiis", t->extra, t->terms, t->team, t->memory_id, words.length, words_literal(a, &words));
}

/* ---- batches ---- */

/* Columns of one statement's rows, as array literals. */
struct batch {
  struct buf teams, chunks, memories, lengths, tokens;
  size_t n;
};

static struct batch batch_new(struct arena *a) {
  struct batch b = {BUF(a), BUF(a), BUF(a), BUF(a), BUF(a), 0};
  struct buf *all[] = {&b.teams, &b.chunks, &b.memories, &b.lengths, &b.tokens};
  for (size_t i = 0; i < ARRAY_LEN(all); i++)
    buf_addc(all[i], '{');
  return b;
}

static void batch_add(struct batch *b, struct str team, int64_t chunk, int64_t memory, const struct words *words) {
  const char *comma = b->n++ ? "," : "";
  words_element(&b->teams, team);
  buf_addf(&b->chunks, "%s%lld", comma, (long long)chunk);
  buf_addf(&b->memories, "%s%lld", comma, (long long)memory);
  buf_addf(&b->lengths, "%s%lld", comma, (long long)words->length);
  words_element(&b->tokens, words_literal(b->tokens.a, words));
}

/* Replaces existing rows. */
static enum status batch_write(struct db *db, struct batch *b, struct error *err) {
  assert(b->n <= PAGE);
  struct buf *all[] = {&b->teams, &b->chunks, &b->memories, &b->lengths, &b->tokens};
  for (size_t i = 0; i < ARRAY_LEN(all); i++)
    buf_addc(all[i], '}');
  if (b->n == 0)
    return STATUS_OK;
  return db_exec(db, err,
                 "INSERT INTO chunk_text (team, chunk_id, memory_id, words, tokens)"
                 " SELECT u.team, u.chunk, u.memory, u.words, CAST(u.tokens AS tsvector) FROM unnest("
                 "CAST(?1 AS text[]), CAST(?2 AS bigint[]), CAST(?3 AS bigint[]), CAST(?4 AS integer[]),"
                 " CAST(?5 AS text[])) AS u (team, chunk, memory, words, tokens)"
                 " ON CONFLICT (team, chunk_id) DO UPDATE SET words = excluded.words, tokens = excluded.tokens",
                 "sssss", buf_str(&b->teams), buf_str(&b->chunks), buf_str(&b->memories), buf_str(&b->lengths),
                 buf_str(&b->tokens));
}

enum status postgres_lexical_fill(struct txn *txn, struct arena *a, const struct chunk_text *texts, size_t n,
                                  struct error *err) {
  for (size_t i = 0; i < n;) {
    struct batch batch = batch_new(a);
    for (; i < n && batch.n < PAGE; i++) {
      struct words words;
      TRY(words_of(txn->store, &texts[i], a, &words, err));
      batch_add(&batch, texts[i].team, texts[i].id, texts[i].memory_id, &words);
    }
    TRY(batch_write(txn->store->db, &batch, err));
  }
  return STATUS_OK;
}

/* One chunk of a page, allocated in the page's arena. */
struct stored {
  struct chunk_text text;
  int64_t id;
  struct str project, corpus, tokens; /* tokens in the format of tsvectorsend(); absent if there are none */
  int64_t length;
};
struct page {
  struct stored *v;
  size_t n, cap;
};

static void read_stored(const struct rows *r, struct arena *a, struct stored *ret) {
  *ret = (struct stored){.id = rows_int(r, 0),
                         .text = {.team = rows_dup(r, 1, a),
                                  .memory_id = rows_int(r, 2),
                                  .headline = rows_dup(r, 3, a),
                                  .body = rows_dup(r, 4, a),
                                  .extra = rows_dup(r, 5, a),
                                  .terms = rows_dup(r, 6, a)},
                         .project = rows_dup(r, 7, a),
                         .tokens = rows_dup(r, 8, a),
                         .length = rows_int(r, 9),
                         .corpus = rows_dup(r, 10, a)};
}

#define STORED_COLUMNS                                                                                                 \
  "c.id, c.team, c.memory_id, c.headline, c.body, c.extra, c.terms, m.project, tsvectorsend(x.tokens), x.words,"       \
  " m.corpus"                                                                                                          \
  " FROM chunk c JOIN memory m ON m.team = c.team AND m.id = c.memory_id"                                              \
  " LEFT JOIN chunk_text x ON x.team = c.team AND x.chunk_id = c.id"

/* Iterates over chunks page by page, each page in its own arena, to bound the memory. */
struct walk {
  struct store *st;
  struct error *err;
  bool held; /* true: held chunks of the team; false: all chunks after (team, id) */
  struct str team;
  int64_t id;
  /* A page is read completely before any of its chunks is written. */
  enum status (*work)(struct walk *w, struct arena *a, struct page *page);
  bool stale; /* found a chunk whose words or terms do not match its text */
};

static enum status read_page(struct walk *w, struct arena *a, struct page *page) {
  struct rows r;
  if (w->held)
    db_query(w->st->db, &r, w->err,
             "SELECT " STORED_COLUMNS " WHERE c.team = ?1 AND c.id > ?2 AND x.chunk_id IS NULL ORDER BY c.id LIMIT ?3",
             "sii", w->team, w->id, (int64_t)PAGE);
  else
    db_query(w->st->db, &r, w->err,
             "/* all teams: doctor */ "
             "SELECT " STORED_COLUMNS " WHERE (c.team, c.id) > (?1, ?2) ORDER BY c.team, c.id LIMIT ?3",
             "sii", w->team, w->id, (int64_t)PAGE);
  while (rows_next(&r)) {
    struct stored one;
    read_stored(&r, a, &one);
    list_push(a, page, one);
  }
  return rows_end(&r);
}

static enum status walk_pages(struct walk *w, struct arena *keep) {
  size_t n = PAGE;
  enum status s = STATUS_OK;
  while (s == STATUS_OK && n == PAGE && !(w->stale && !w->held)) {
    struct arena *a = arena_child(keep);
    struct page page = {0};
    s = read_page(w, a, &page);
    if (s == STATUS_OK && page.n) {
      const struct stored *last = &page.v[page.n - 1];
      s = w->work(w, a, &page);
      w->team = str_eq(w->team, last->text.team) ? w->team : arena_dup(keep, last->text.team);
      w->id = last->id;
    }
    n = page.n;
    arena_release(a);
  }
  return s;
}

static enum status walk(struct walk *w) {
  struct arena a;
  jmp_buf oom;
  enum status s;
  arena_init(&a);
  if (ARENA_BOUNDARY(&a, oom))
    s = error_set(w->err, STATUS_NOMEM, "out of memory");
  else
    s = walk_pages(w, &a);
  arena_release(&a);
  return s;
}

/* ---- held texts ---- */

static enum status store_words(struct walk *w, struct arena *a, struct page *page) {
  struct batch batch = batch_new(a);
  for (size_t i = 0; i < page->n; i++) {
    struct words words;
    const struct chunk_text *t = &page->v[i].text;
    TRY(words_of(w->st, t, a, &words, w->err));
    batch_add(&batch, t->team, page->v[i].id, t->memory_id, &words);
  }
  return batch_write(w->st->db, &batch, w->err);
}

enum status postgres_lexical_hold(struct txn *txn, struct error *err UNUSED) {
  txn->store->held_by = txn->id;
  txn->store->held_after = -1;
  return STATUS_OK;
}

enum status postgres_lexical_release(struct txn *txn, struct error *err) {
  struct store *st = txn->store;
  struct walk w = {.st = st, .err = err, .held = true, .team = txn->team, .id = st->held_after, .work = store_words};
  bool any = is_holding(txn) && st->held_after >= 0;
  st->held_by = 0;
  return any ? walk(&w) : STATUS_OK;
}

/* ---- check and repair ---- */

static enum status is_stale(struct walk *w, struct arena *a, const struct stored *c, struct words *ret_words,
                            struct str *ret_terms, bool *ret_stale) {
  struct chunk_text text = c->text;
  text.terms = terms_of_text(a, c->corpus, c->project, text.headline, text.body, text.extra);
  TRY(words_of(w->st, &text, a, ret_words, w->err));
  *ret_terms = text.terms;
  *ret_stale = !str_eq(text.terms, c->text.terms) || !c->tokens.p || c->length != ret_words->length ||
               !words_equal(ret_words, c->tokens);
  return STATUS_OK;
}

static enum status check_page(struct walk *w, struct arena *a, struct page *page) {
  for (size_t i = 0; i < page->n && !w->stale; i++) {
    struct words words;
    struct str terms;
    TRY(is_stale(w, a, &page->v[i], &words, &terms, &w->stale));
  }
  return STATUS_OK;
}

static enum status repair_page(struct walk *w, struct arena *a, struct page *page) {
  struct batch batch = batch_new(a);
  enum status s = STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < page->n; i++) {
    const struct stored *c = &page->v[i];
    struct words words;
    struct str terms;
    bool stale = false;
    s = is_stale(w, a, c, &words, &terms, &stale);
    if (s != STATUS_OK || !stale)
      continue;
    batch_add(&batch, c->text.team, c->id, c->text.memory_id, &words);
    if (!str_eq(terms, c->text.terms))
      s = db_exec(w->st->db, w->err, "UPDATE chunk SET terms = ?1 WHERE team = ?2 AND id = ?3", "ssi", terms,
                  c->text.team, c->id);
  }
  return s == STATUS_OK ? batch_write(w->st->db, &batch, w->err) : s;
}

/* Compares the counters of the triggers with the tables. */
static enum status check_counts(struct store *st, bool *ret_ok, struct error *err) {
  int64_t wrong = 0;
  TRY(db_int(st->db, &wrong, NULL, err,
             "/* all teams: doctor */ "
             "SELECT CAST(EXISTS (SELECT 1 FROM (SELECT team, count(*) AS n FROM chunk GROUP BY team) c"
             " FULL JOIN (SELECT team, sum(words) AS words FROM chunk_text GROUP BY team) t USING (team)"
             " FULL JOIN chunk_count k USING (team) WHERE coalesce(c.n, 0) <> coalesce(k.n, 0)"
             " OR coalesce(t.words, 0) <> coalesce(k.words, 0)) AS integer)",
             NULL));
  if (!wrong)
    TRY(db_int(st->db, &wrong, NULL, err,
               "/* all teams: doctor */ "
               "SELECT CAST(EXISTS (SELECT 1 FROM (SELECT x.team, u.lexeme COLLATE \"C\" AS term, count(*) AS n"
               " FROM chunk_text x, unnest(x.tokens) u GROUP BY 1, 2) c FULL JOIN term_count t USING (team, term)"
               " WHERE coalesce(c.n, 0) <> coalesce(t.n, 0)) AS integer)",
               NULL));
  *ret_ok = !wrong;
  return STATUS_OK;
}

/* Checks all teams. */
enum status postgres_lexical_check(struct store *st, bool *ret_ok, struct error *err) {
  struct walk w = {.st = st, .err = err, .team = STR(""), .work = check_page};
  TRY(db_team(st->db, STR_NONE, err));
  TRY(walk(&w));
  if (!w.stale)
    return check_counts(st, ret_ok, err);
  *ret_ok = false;
  return STATUS_OK;
}

static enum status rebuild(struct store *st, struct error *err) {
  struct walk w = {.st = st, .err = err, .team = STR(""), .work = repair_page};
  TRY(walk(&w));
  return db_script(st->db, err,
                   "/* all teams: doctor */ "
                   "DELETE FROM term_count;"
                   "INSERT INTO term_count (team, term, n) SELECT x.team, u.lexeme COLLATE \"C\", count(*)"
                   " FROM chunk_text x, unnest(x.tokens) u GROUP BY 1, 2;"
                   "DELETE FROM chunk_count;"
                   "INSERT INTO chunk_count (team, n, words) SELECT team, count(*), coalesce(sum(words), 0)"
                   " FROM chunk_text GROUP BY team");
}

/* Rebuilds all teams, in one transaction. */
enum status postgres_lexical_rebuild(struct store *st, struct error *err) {
  if (db_in_transaction(st->db))
    return rebuild(st, err);
  enum status s = db_begin(st->db, STR_NONE, false, err);
  if (s == STATUS_OK)
    s = rebuild(st, err);
  if (s == STATUS_OK)
    return db_commit(st->db, err);
  db_rollback(st->db);
  return s;
}

/* Words of deleted chunks cannot be found once the deletion is committed. Their space in the server's tables, indexes
 * and log is freed by VACUUM, which cannot run in a transaction. Deletion receipts do not claim it. */
enum status postgres_lexical_optimize(struct store *st UNUSED, struct error *err UNUSED) { return STATUS_OK; }
