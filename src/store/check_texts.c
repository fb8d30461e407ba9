/* check_texts.c: recomputes the stored hashes of all texts, to find those that were changed outside Cairn.
 *
 * Three hashes are compared. body.hash is that of the normalised text: it ignores case, punctuation and spaces.
 * chunk.hash is that of the exact bytes of a chunk, and each chunk is a part of the text. The event of a memory's
 * creation has a copy of body.hash. The headline has no hash: it is compared with its copy in the chunks. So are key,
 * tags and notes, which the first chunk has. */
#include <stdio.h>

#include "base/id.h"
#include "store/check.h"
#include "store/engine.h"
#include "store/memories/memories.h"

enum { PAGE = 64, NAMED_MAX = 1000, TEAM_SIZE = 65 };

struct text {
  struct str team, body, hash, headline, key;
  struct str extra; /* of the first chunk: key, tags, notes; absent without one */
  int64_t id;
  size_t at; /* start of the previous chunk in the body */
  bool document, changed;
};

struct walk {
  struct store *st;
  struct arena page; /* memory of the current page */
  struct text v[PAGE];
  size_t n;
  char last_team[TEAM_SIZE]; /* last text of the previous page */
  int64_t last_id;
  int64_t done, total;
  struct buf memories, documents; /* ids of changed texts */
  int64_t memory_count, document_count;
};

/* Adds "AND key OP (team, id)", in the form that the engine's primary key serves. */
static void add_key(const struct walk *w, struct sql *q, const char *op, struct str team, int64_t id) {
  bool keyed_by_team = db_engine(w->st->db) == DB_POSTGRES;
  sql_addf(q, keyed_by_team ? " AND (x.team, x.memory_id) %s (" : " AND x.memory_id %s ", op);
  if (keyed_by_team) {
    sql_text(q, team);
    sql_add(q, ", ");
  }
  sql_int(q, id);
  sql_add(q, keyed_by_team ? ")" : "");
}

static void add_order(const struct walk *w, struct sql *q, const char *rest) {
  sql_addf(q, " ORDER BY %sx.memory_id%s", db_engine(w->st->db) == DB_POSTGRES ? "x.team, " : "", rest);
}

static enum status load_texts(struct walk *w, struct error *err) {
  struct rows r;
  struct arena *a = &w->page;
  struct sql q = SQL(a);
  sql_add(&q,
          "/* all teams: doctor */ SELECT x.team, x.memory_id, x.text, x.hash, m.headline, m.corpus, m.key FROM body x"
          " JOIN memory m ON m.team = x.team AND m.id = x.memory_id WHERE 1 = 1");
  add_key(w, &q, ">", str_from(w->last_team), w->last_id);
  add_order(w, &q, " LIMIT ");
  sql_int(&q, PAGE);
  db_query_sql(w->st->db, &r, err, &q);
  for (w->n = 0; w->n < PAGE && rows_next(&r); w->n++)
    w->v[w->n] = (struct text){.team = rows_dup(&r, 0, a),
                               .id = rows_int(&r, 1),
                               .body = rows_dup(&r, 2, a),
                               .hash = rows_dup(&r, 3, a),
                               .headline = rows_dup(&r, 4, a),
                               .key = rows_dup(&r, 6, a),
                               .document = !str_is(rows_text(&r, 5), "memory")};
  return rows_end(&r);
}

/* Queries rows x that belong to the texts of the page. */
static void query_page(struct walk *w, struct rows *r, struct error *err, const char *select, const char *order) {
  const struct text *first = &w->v[0], *last = &w->v[w->n - 1];
  struct sql q = SQL(&w->page);
  sql_add(&q, select);
  add_key(w, &q, ">=", first->team, first->id);
  add_key(w, &q, "<=", last->team, last->id);
  add_order(w, &q, order);
  db_query_sql(w->st->db, r, err, &q);
}

/* The text that the current row belongs to, at or after *i; NULL if it is not on the page. */
static struct text *text_of(struct walk *w, const struct rows *r, size_t *i) {
  struct str team = rows_text(r, 0);
  int64_t id = rows_int(r, 1);
  for (size_t k = *i; k < w->n; k++)
    if (w->v[k].id == id && str_eq(w->v[k].team, team)) {
      *i = k;
      return &w->v[k];
    }
  return NULL;
}

static void check_bodies(struct walk *w) {
  for (size_t i = 0; i < w->n; i++) {
    char now[HASH_TEXT_SIZE];
    body_hash(&w->page, w->v[i].body, now);
    w->v[i].changed = !str_is(w->v[i].hash, now);
  }
}

static bool matches(struct text *t, struct str hash, struct str headline, struct str piece) {
  char now[HASH_TEXT_SIZE];
  hash_text(piece, now);
  size_t at = str_find(t->body, piece, t->at);
  if (at != SIZE_MAX)
    t->at = at;
  return at != SIZE_MAX && str_is(hash, now) && str_eq(headline, t->headline);
}

static enum status check_pieces(struct walk *w, struct error *err) {
  struct rows r;
  size_t i = 0;
  query_page(
      w, &r, err,
      "/* all teams: doctor */ SELECT x.team, x.memory_id, x.hash, x.headline, x.body, x.seq, x.extra FROM chunk x"
      " WHERE 1 = 1",
      ", x.seq");
  while (rows_next(&r)) {
    struct text *t = text_of(w, &r, &i);
    if (t)
      t->changed |= !matches(t, rows_text(&r, 2), rows_text(&r, 3), rows_text(&r, 4));
    if (t && !t->document && rows_int(&r, 5) == 0) {
      t->extra = rows_dup(&r, 6, &w->page);
      t->changed |= !str_starts(t->extra, t->key);
    }
  }
  return rows_end(&r);
}

/* Compares tags or notes with their copies in the first chunk, which follow a separator. */
static enum status check_extra(struct walk *w, const char *select, char separator, struct error *err) {
  struct rows r;
  size_t i = 0;
  query_page(w, &r, err, select, "");
  while (rows_next(&r)) {
    struct text *t = text_of(w, &r, &i);
    if (t && t->extra.p)
      t->changed |=
          str_find(t->extra, arena_printf(&w->page, "%c%.*s", separator, STR_ARG(rows_text(&r, 2))), 0) == SIZE_MAX;
  }
  return rows_end(&r);
}

/* A quote inside a JSON text is escaped, so the name can only be a member. */
static bool differs(struct str after, struct str hash) {
  static const struct str name = STR_INIT("\"body_hash\":\"");
  size_t at = str_find(after, name, 0);
  return at != SIZE_MAX && !str_starts(str_slice(after, at + name.n, after.n), hash);
}

static enum status check_events(struct walk *w, struct error *err) {
  struct rows r;
  size_t i = 0;
  query_page(w, &r, err,
             "/* all teams: doctor */ SELECT x.team, x.memory_id, x.after FROM event x WHERE x.memory_id IS NOT NULL "
             "AND x.change = 'insert'",
             "");
  while (rows_next(&r)) {
    struct text *t = text_of(w, &r, &i);
    if (t)
      t->changed |= differs(rows_text(&r, 2), t->hash);
  }
  return rows_end(&r);
}

static enum status check_page(struct walk *w, struct error *err) {
  TRY(load_texts(w, err));
  if (!w->n)
    return STATUS_OK;
  check_bodies(w);
  TRY(check_pieces(w, err));
  TRY(check_extra(w, "/* all teams: doctor */ SELECT x.team, x.memory_id, x.value FROM label x WHERE x.field = 'tags'",
                  ' ', err));
  TRY(check_extra(w, "/* all teams: doctor */ SELECT x.team, x.memory_id, x.text FROM annotation x WHERE 1 = 1", '\n',
                  err));
  return check_events(w, err);
}

static void name_changed(struct walk *w) {
  for (size_t i = 0; i < w->n; i++) {
    const struct text *t = &w->v[i];
    struct buf *b = t->document ? &w->documents : &w->memories;
    int64_t *n = t->document ? &w->document_count : &w->memory_count;
    if (t->changed && (*n)++ < NAMED_MAX)
      buf_addf(b, "%s%lld", b->n ? ", " : "", (long long)t->id);
  }
}

/* Checks the next page, in one snapshot. */
static enum status next_page(struct walk *w, struct error *err) {
  bool began;
  TRY(db_snapshot(w->st->db, &began, err));
  TRY(db_snapshot_end(w->st->db, began, check_page(w, err), err));
  w->done += (int64_t)w->n;
  if (w->n) {
    const struct text *last = &w->v[w->n - 1];
    snprintf(w->last_team, sizeof(w->last_team), "%.*s", STR_ARG(last->team));
    w->last_id = last->id;
  }
  return STATUS_OK;
}

static void put_changed(struct buf *b, const char *one, const char *many, const struct buf *ids, int64_t n) {
  if (n)
    buf_addf(b, "%s%lld %s changed outside Cairn: %.*s", b->n ? "; " : "", (long long)n, n == 1 ? one : many,
             STR_ARG(buf_str(ids)));
  if (n > NAMED_MAX)
    buf_addf(b, " and %lld more", (long long)n - NAMED_MAX);
}

static enum status count_texts(struct walk *w, struct error *err) {
  return db_int(w->st->db, &w->total, NULL, err, "/* all teams: doctor */ SELECT count(*) FROM body", NULL);
}

/* Only the ids outlive the page. */
static enum status walk_all(struct walk *w, db_progress progress, void *arg, struct error *err) {
  do {
    struct store_boundary oom;
    volatile enum status s = STATUS_OK;
    arena_init(&w->page);
    if (STORE_BOUNDARY(w->st, &w->page, oom))
      s = error_set(err, STATUS_NOMEM, "out of memory");
    else
      s = next_page(w, err);
    arena_release(&w->page);
    TRY(s);
    name_changed(w);
    progress(arg, w->done, w->total);
  } while (w->n == PAGE);
  return STATUS_OK;
}

enum status check_texts(struct store *st, db_progress progress, void *arg, struct arena *a, struct str *ret_fault,
                        struct error *err) {
  struct walk *w = arena_new(a, struct walk);
  struct buf fault = BUF(a);
  w->st = st;
  w->memories = BUF(a);
  w->documents = BUF(a);
  TRY(db_team(st->db, STR_NONE, err));
  TRY(count_texts(w, err));
  TRY(walk_all(w, progress, arg, err));
  put_changed(&fault, "memory was", "memories were", &w->memories, w->memory_count);
  put_changed(&fault, "document was", "documents were", &w->documents, w->document_count);
  *ret_fault = buf_str(&fault);
  return STATUS_OK;
}
