/* reembed_pass.c: embeds the chunks that wait for a vector, in portions. */
#include "core/memory/chunk.h"
#include "op/embedding/reembed.h"
#include "store/memories/lifecycle.h"
#include "store/vectors/indexes.h"
#include "transcript/store/neighbours.h"

/* Large portions save requests; small ones leave the caller a chance to stop. */
enum { PORTION = 32, PORTION_COSTLY = 64 };

struct walk {
  struct op_call *call;
  const struct embedding *e;
  struct arena *a; /* of one portion */
  int64_t until, after, done, total;
  struct pass *pass;
  bool
      together; /* a text of the portion is embedded with the entry before it: a purge would not find it in the cache */
};

static bool stopped(const struct walk *w) { return cancelled(w->call) || (w->until && clock_ticks_us() >= w->until); }

/* Whether the embedder answers at all: then a failure was the text's own fault. */
static bool answers(const struct walk *w) {
  struct str text = STR("Is anybody there?");
  struct error ignored;
  int8_t *vector = arena_array(w->a, int8_t, (size_t)w->e->model.dims);
  return w->e->e->embed(w->e->e, w->a, EMBED_TEXT, &text, 1, vector, &ignored) == STATUS_OK;
}

/* One text that the embedder does not take must not hold up the others: where all fail together, each is tried alone.
 * ok[i] says which have a vector. */
static enum status embed_rows(struct walk *w, const struct str *texts, size_t n, int8_t *vectors, bool *ok) {
  size_t dims = (size_t)w->e->model.dims;
  struct embedding e = *w->e;
  e.costly &= !w->together;
  enum status s = embed_texts(w->call, w->a, &e, texts, n, vectors, &w->pass->why);
  for (size_t i = 0; i < n; i++)
    ok[i] = s == STATUS_OK;
  if (s == STATUS_OK || !answers(w))
    return s;
  for (size_t i = 0; i < n && !stopped(w); i++) {
    embedding_try_again(w->e);
    ok[i] = embed_texts(w->call, w->a, &e, &texts[i], 1, vectors + i * dims, &w->pass->why) == STATUS_OK;
    w->pass->failed += !ok[i];
  }
  w->pass->why.code = STATUS_OK;
  return STATUS_OK;
}

/* No transaction of the log, and no waiting for the disk: vectors are derived, and what is lost is computed again. */
static enum status keep_vectors(struct walk *w, const struct chunk_rows *rows, const int8_t *vectors, const bool *ok) {
  struct op_call *call = w->call;
  struct db *db = store_db(call->engine->store);
  struct txn txn = who_of(call);
  enum status s = db_begin(db, call->caller.team, true, call->err);
  for (size_t i = 0; s == STATUS_OK && i < rows->n; i++)
    if (ok[i]) {
      s = vec_add_missing(&txn, &w->e->model, rows->v[i].id, vectors + i * (size_t)w->e->model.dims, call->err);
      w->pass->embedded++;
    }
  return s == STATUS_OK ? db_commit(db, call->err) : s;
}

static enum status chunk_text(struct walk *w, const struct chunk_row *row, struct str *ret_text) {
  struct op_call *call = w->call;
  struct str before;
  enum status s = transcript_context(call->engine->store, call->caller.team, row->id, w->a, &before, call->err);
  w->together |= s == STATUS_OK && before.p;
  *ret_text = s == STATUS_OK ? embed_text(w->a, before, row->headline, row->body) : STR_NONE;
  return s;
}

static enum status portion(struct walk *w, bool *ret_more) {
  struct op_call *call = w->call;
  struct chunk_rows rows = {0};
  struct arena *a = w->a;
  int64_t last = 0;
  /* Read before the list: what is newer is somebody else's, or the next pass's. */
  enum status s = chunk_last(call->engine->store, call->caller.team, &last, call->err);
  if (s == STATUS_OK)
    s = chunks_pending(call->engine->store, call->caller.team, w->e->model.model, w->after,
                       w->e->costly ? PORTION_COSTLY : PORTION, a, &rows, call->err);
  if (s != STATUS_OK)
    return s;
  *ret_more = rows.n > 0;
  w->pass->seen = rows.n ? rows.v[rows.n - 1].id : last;
  if (rows.n == 0)
    return STATUS_OK;
  w->together = false;
  struct str *texts = arena_array(a, struct str, rows.n);
  bool *ok = arena_array(a, bool, rows.n);
  for (size_t i = 0; s == STATUS_OK && i < rows.n; i++)
    s = chunk_text(w, &rows.v[i], &texts[i]);
  if (s != STATUS_OK)
    return s;
  int8_t *vectors = arena_array(a, int8_t, arena_mul(a, rows.n, (size_t)w->e->model.dims));
  if (embed_rows(w, texts, rows.n, vectors, ok) != STATUS_OK) {
    w->pass->seen = w->after;
    *ret_more = false;
    return STATUS_OK; /* the pass says why */
  }
  w->after = w->pass->seen;
  return keep_vectors(w, &rows, vectors, ok);
}

enum status reembed_pass(struct op_call *call, const struct embedding *e, int64_t after, int64_t until,
                         struct pass *ret_pass) {
  struct pass pass = {.seen = after};
  struct walk w = {.call = call, .e = e, .a = arena_child(call->arena), .until = until, .after = after, .pass = &pass};
  bool more = true;
  embedding_try_again(e);
  enum status s = vec_count(call->engine->store, &e->model, &w.done, &w.total, call->err);
  while (s == STATUS_OK && more && !stopped(&w)) {
    s = portion(&w, &more);
    if (s == STATUS_OK && pass.embedded)
      progress(call, "embed", w.done + pass.embedded, w.total);
    arena_release(w.a);
  }
  pass.complete = !more && pass.why.code == STATUS_OK;
  if (s == STATUS_OK)
    *ret_pass = pass;
  return s;
}
