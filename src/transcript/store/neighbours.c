/* neighbours.c: who stands next to whom in a session. */
#include "transcript/store/neighbours.h"

#include "base/utf8.h"
#include "core/memory/types.h"
#include "store/store_internal.h"
#include "store/vectors/vectors.h"

/* Some sixty tokens: enough to say what the next entry answers, and room for that entry in the embedder's window. */
enum { TAIL_BYTES = 240, WORD_BYTES = 60 };

/* From a word's beginning on, or a character's where there are no words. */
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

/* Memories and messages of transcripts that are documents never stand next to each other. */
static enum status tail_before(struct store *st, struct str team, struct str corpus, struct str project,
                               struct str session, int64_t id, struct arena *a, struct str *ret_tail,
                               struct error *err) {
  struct sql q = SQL(a);
  struct rows r;
  sql_add(&q, "SELECT b.text FROM memory m JOIN body b ON b.team = m.team AND b.memory_id = m.id WHERE m.team = ");
  sql_text(&q, team);
  sql_add(&q, " AND m.session = ");
  sql_text(&q, session);
  sql_add(&q, " AND m.project = ");
  sql_text(&q, project);
  sql_add(&q, " AND m.corpus = ");
  sql_text(&q, corpus);
  /* What was archived meanwhile is still what was said before: an entry that is embedded again gets the same vector. */
  sql_addf(&q, " AND m.state IN (" STATES_SEARCHED ") AND m.type IN (%.*s)", STR_ARG(types_of_sequence(a)));
  sql_add(&q, " AND m.id < ");
  sql_int(&q, id ? id : INT64_MAX);
  sql_add(&q, " ORDER BY m.id DESC LIMIT 1");
  db_query_sql(st->db, &r, err, &q);
  *ret_tail = rows_next(&r) ? transcript_tail(a, rows_text(&r, 0)) : STR_NONE;
  return rows_end(&r);
}

enum status transcript_before(struct store *st, struct str team, struct str project, struct str session, int64_t id,
                              struct arena *a, struct str *ret_tail, struct error *err) {
  return tail_before(st, team, STR("memory"), project, session, id, a, ret_tail, err);
}

enum status transcript_context(struct store *st, struct str team, int64_t chunk_id, struct arena *a,
                               struct str *ret_tail, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT m.id, m.type, m.project, m.session, m.corpus FROM chunk c"
           " JOIN memory m ON m.team = c.team AND m.id = c.memory_id"
           " WHERE c.id = ?1 AND c.team = ?2 AND c.seq = 0 AND m.session IS NOT NULL",
           "is", chunk_id, team);
  bool found = rows_next(&r);
  int64_t id = found ? rows_int(&r, 0) : 0;
  const struct mem_type *t = found ? type_find(rows_text(&r, 1)) : NULL;
  struct str project = found ? rows_dup(&r, 2, a) : STR_NONE, session = found ? rows_dup(&r, 3, a) : STR_NONE;
  struct str corpus = found ? rows_dup(&r, 4, a) : STR_NONE;
  enum status s = rows_end(&r);
  *ret_tail = STR_NONE;
  if (s != STATUS_OK || !t || !t->sequence)
    return s;
  return tail_before(st, team, corpus, project, session, id, a, ret_tail, err);
}

/* What takes a memory out of sight. */
#define HIDING "'memory:forget', 'memory:supersede', 'memory:expire', 'memory:fade'"

/* An entry that was never out of sight stood between what came before it and what came after. */
enum status transcript_wipe_after(struct txn *txn, const struct memory *m, struct arena *a, struct error *err) {
  LIST(int64_t) behind = {0};
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
  sql_addf(&q, " AND m.corpus = 'memory' AND m.type IN (%.*s) AND m.id > ", STR_ARG(types_of_sequence(a)));
  sql_int(&q, m->id);
  sql_add(&q, " ORDER BY m.id");
  db_query_sql(txn->store->db, &r, err, &q);
  while (more && rows_next(&r)) {
    list_push(a, &behind, rows_int(&r, 0));
    more = rows_int(&r, 1) != 0;
  }
  TRY(rows_end(&r));
  for (size_t i = 0; i < behind.n; i++)
    TRY(vec_remove(txn, behind.v[i], err));
  return STATUS_OK;
}

static enum status beside(struct store *st, const struct scope *scope, const struct filter *f, const struct memory *m,
                          bool after, struct arena *a, struct neighbour *ret, struct error *err) {
  struct sql q = SQL(a);
  struct rows r;
  sql_add(
      &q,
      "SELECT m.id, coalesce((SELECT c.id FROM chunk c WHERE c.team = m.team AND c.memory_id = m.id AND c.seq = 0), 0)"
      " FROM memory m WHERE ");
  visible(&q, scope, f->states ? f->states : STATES_SEARCHED);
  filter_where(&q, f);
  sql_add(&q, " AND m.session = ");
  sql_text(&q, m->session);
  sql_add(&q, " AND m.project = ");
  sql_text(&q, m->project);
  sql_add(&q, " AND m.corpus = ");
  sql_text(&q, str_empty(m->corpus) ? STR("memory") : m->corpus);
  sql_addf(&q, " AND m.type IN (%.*s) AND m.id %s ", STR_ARG(types_of_sequence(a)), after ? ">" : "<");
  sql_int(&q, m->id);
  sql_addf(&q, " ORDER BY m.id %s LIMIT 1", after ? "ASC" : "DESC");
  db_query_sql(st->db, &r, err, &q);
  if (rows_next(&r))
    *ret = (struct neighbour){rows_int(&r, 0), rows_int(&r, 1)};
  return rows_end(&r);
}

enum status transcript_around(struct store *st, const struct scope *scope, const struct filter *f,
                              const struct memory *m, struct arena *a, struct neighbour *ret_before,
                              struct neighbour *ret_after, struct error *err) {
  struct neighbour before = {0}, after = {0};
  TRY(beside(st, scope, f, m, false, a, &before, err));
  TRY(beside(st, scope, f, m, true, a, &after, err));
  *ret_before = before;
  *ret_after = after;
  return STATUS_OK;
}
