/* neighbours.c: adjacent entries of a session. */
#include "transcript/store/neighbours.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/memory/types.h"
#include "store/store_internal.h"
#include "store/vectors/vectors.h"

/* About 60 tokens: enough context for the next entry, without filling the embedder's window. */
enum { TAIL_BYTES = 240, WORD_BYTES = 60 };

/* Starts at a word, or at a character if there are no spaces. */
struct str transcript_tail(struct arena *a, struct str text) {
  text = str_trim(text);
  size_t at = text.n > TAIL_BYTES ? text.n - TAIL_BYTES : 0, word = at;
  while (word > 0 && word < at + WORD_BYTES && !ascii_space(text.p[word - 1]))
    word++;
  if (word < at + WORD_BYTES)
    at = word;
  while (at > 0 && at < text.n && (text.p[at] & 0xC0) == 0x80)
    at++;
  return arena_dup(a, str_trim(str_slice(text, at, text.n)));
}

/* The entries of the session of `m`. */
static void in_session(struct sql *q, const struct memory *m) {
  sql_add(q, " AND m.session = ");
  sql_text(q, m->session);
  sql_add(q, " AND m.project = ");
  sql_text(q, m->project);
  sql_add(q, " AND m.corpus = ");
  sql_text(q, str_empty(m->corpus) ? STR("memory") : m->corpus);
}

enum status transcript_before(struct store *st, const struct memory *m, struct arena *a, struct str *ret_tail,
                              struct error *err) {
  struct sql q = SQL(a);
  struct rows r;
  sql_add(&q, "SELECT b.text FROM memory m JOIN body b ON b.team = m.team AND b.memory_id = m.id WHERE m.team = ");
  sql_text(&q, m->team);
  in_session(&q, m);
  /* Archived entries count, so embedding an entry again gives the same vector. */
  sql_addf(&q, " AND m.state IN (" STATES_SEARCHED ") AND m.type IN (%.*s)", STR_ARG(type_sequence_sql_list(a)));
  sql_add(&q, " AND m.id < ");
  sql_int(&q, m->id ? m->id : INT64_MAX);
  sql_add(&q, " ORDER BY m.id DESC LIMIT 1");
  db_query_sql(st->db, &r, err, &q);
  *ret_tail = rows_next(&r) ? transcript_tail(a, rows_text(&r, 0)) : STR_NONE;
  return rows_end(&r);
}

enum status transcript_context(struct store *st, struct str team, int64_t chunk_id, struct arena *a,
                               struct str *ret_tail, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT m.id, m.type, m.project, m.session, m.corpus FROM chunk c"
           " JOIN memory m ON m.team = c.team AND m.id = c.memory_id"
           " WHERE c.id = ?1 AND c.team = ?2 AND c.seq = 0 AND m.session IS NOT NULL",
           "is", chunk_id, team);
  const struct mem_type *t = NULL;
  struct memory m = {.team = team};
  *ret_tail = STR_NONE;
  if (rows_next(&r)) {
    t = type_find(rows_text(&r, 1));
    m.id = rows_int(&r, 0);
    m.project = rows_dup(&r, 2, a);
    m.session = rows_dup(&r, 3, a);
    m.corpus = rows_dup(&r, 4, a);
  }
  TRY(rows_end(&r));
  return t && t->sequence ? transcript_before(st, &m, a, ret_tail, err) : STATUS_OK;
}

/* Actions that hide a memory. */
#define HIDING "'memory:forget', 'memory:supersede', 'memory:expire', 'memory:fade'"

/* Stops after the first entry that was never hidden: entries after it were embedded with its text. */
enum status transcript_delete_vectors_after(struct txn *txn, const struct memory *m, struct arena *a,
                                            struct error *err) {
  LIST(int64_t) followers = {0};
  struct sql q = SQL(a);
  struct rows r;
  bool more = true;
  if (!memory_is_entry(m))
    return STATUS_OK;
  sql_add(&q,
          "SELECT m.id, m.state NOT IN (" STATES_SEARCHED ") OR EXISTS (SELECT 1 FROM event e"
          " WHERE e.team = m.team AND e.memory_id = m.id AND e.action IN (" HIDING ")) FROM memory m WHERE m.team = ");
  sql_text(&q, m->team);
  sql_add(&q, " AND m.session = ");
  sql_text(&q, m->session);
  sql_add(&q, " AND m.project = ");
  sql_text(&q, m->project);
  sql_addf(&q, " AND m.corpus = 'memory' AND m.type IN (%.*s) AND m.id > ", STR_ARG(type_sequence_sql_list(a)));
  sql_int(&q, m->id);
  sql_add(&q, " ORDER BY m.id");
  db_query_sql(txn->store->db, &r, err, &q);
  while (more && rows_next(&r)) {
    list_push(a, &followers, rows_int(&r, 0));
    more = rows_int(&r, 1) != 0;
  }
  TRY(rows_end(&r));
  for (size_t i = 0; i < followers.n; i++)
    TRY(vec_remove(txn, followers.v[i], err));
  return STATUS_OK;
}

static struct sql select_neighbour(struct arena *a, const struct scope *scope, const struct filter *f,
                                   const struct memory *m, bool after) {
  struct sql q = SQL(a);
  sql_add(
      &q,
      "SELECT m.id, coalesce((SELECT c.id FROM chunk c WHERE c.team = m.team AND c.memory_id = m.id AND c.seq = 0), 0)"
      " FROM memory m WHERE ");
  visible(&q, scope, f->states ? f->states : STATES_SEARCHED);
  filter_where(&q, f);
  in_session(&q, m);
  sql_addf(&q, " AND m.type IN (%.*s) AND m.id %s ", STR_ARG(type_sequence_sql_list(a)), after ? ">" : "<");
  sql_int(&q, m->id);
  sql_addf(&q, " ORDER BY m.id %s LIMIT 1", after ? "ASC" : "DESC");
  return q;
}

static enum status find_neighbour(struct store *st, const struct sql *q, struct neighbour *ret, struct error *err) {
  struct rows r;
  db_query_sql(st->db, &r, err, q);
  if (rows_next(&r))
    *ret = (struct neighbour){rows_int(&r, 0), rows_int(&r, 1)};
  return rows_end(&r);
}

enum status transcript_around(struct store *st, const struct scope *scope, const struct filter *f,
                              const struct memory *m, struct arena *a, struct neighbours *ret, struct error *err) {
  assert(m->session.n > 0 && m->id > 0);
  struct sql before = select_neighbour(a, scope, f, m, false), after = select_neighbour(a, scope, f, m, true);
  struct neighbours found = {0};
  TRY(find_neighbour(st, &before, &found.before, err));
  TRY(find_neighbour(st, &after, &found.after, err));
  *ret = found;
  return STATUS_OK;
}
