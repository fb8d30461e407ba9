/* reembed_pass.c: embeds the pending chunks, in batches. */
#include <assert.h>

#include "core/memory/chunk.h"
#include "op/embedding/reembed.h"
#include "store/memories/lifecycle.h"
#include "store/vectors/indexes.h"
#include "transcript/store/neighbours.h"

/* Large batches save requests; small ones let the caller stop sooner, and one with a time limit stops in time. */
enum { BATCH = 32, BATCH_TIMED = 8, BATCH_COSTLY = 64 };

struct walk {
  struct op_call *call;
  const struct embedding *e;
  struct arena *a; /* released after each batch */
  int64_t until, after, done, total;
  struct pass *pass;
  /* A text of the batch is embedded with the transcript entry before it. Such texts are not cached: a purge would not
   * find them. */
  bool has_context;
};

static bool is_stopped(const struct walk *w) {
  return cancelled(w->call) || (w->until && clock_ticks_us() >= w->until);
}

/* Probes the embedder: if it works, a failure was caused by the text. */
static bool works(const struct walk *w) {
  struct str text = STR("Is anybody there?");
  struct error ignored;
  int8_t *vector = arena_array(w->a, int8_t, (size_t)w->e->model.dims);
  return w->e->e->embed(w->e->e, w->a, EMBED_TEXT, &text, 1, vector, &ignored) == STATUS_OK;
}

/* If a batch fails, tries its texts one by one: a text that the embedder refuses must not block the others. ok[i] says
 * which have a vector. */
static enum status embed_rows(struct walk *w, const struct str *texts, size_t n, int8_t *vectors, bool *ok) {
  assert(n > 0);
  size_t dims = (size_t)w->e->model.dims;
  struct embedding e = *w->e;
  e.costly &= !w->has_context;
  enum status s = embed_texts(w->call, w->a, &e, texts, n, vectors, &w->pass->why);
  for (size_t i = 0; i < n; i++)
    ok[i] = s == STATUS_OK;
  if (s == STATUS_OK || !works(w))
    return s;
  for (size_t i = 0; i < n && !is_stopped(w); i++) {
    embedding_try_again(w->e);
    ok[i] = embed_texts(w->call, w->a, &e, &texts[i], 1, vectors + i * dims, &w->pass->why) == STATUS_OK;
    w->pass->failed += !ok[i];
  }
  w->pass->why.code = STATUS_OK;
  return STATUS_OK;
}

/* Not logged, and committed without waiting for the disk: vectors that are lost are computed again. */
static enum status store_vectors(struct walk *w, const struct chunk_rows *rows, const int8_t *vectors, const bool *ok) {
  struct op_call *call = w->call;
  struct db *db = store_db(call->engine->store);
  struct txn txn = call_author(call);
  TRY(db_begin(db, call->caller.team, true, call->err));
  for (size_t i = 0; i < rows->n; i++)
    if (ok[i]) {
      TRY(vec_add_missing(&txn, &w->e->model, rows->v[i].id, vectors + i * (size_t)w->e->model.dims, call->err));
      w->pass->embedded++;
    }
  return db_commit(db, call->err);
}

static enum status chunk_text(struct walk *w, const struct chunk_row *row, struct str *ret_text) {
  struct op_call *call = w->call;
  struct str before;
  TRY(transcript_context(call->engine->store, call->caller.team, row->id, w->a, &before, call->err));
  w->has_context |= before.p != NULL;
  *ret_text = embed_text(w->a, before, row->headline, row->body);
  return STATUS_OK;
}

static int64_t batch_size(const struct walk *w) { return w->e->costly ? BATCH_COSTLY : w->until ? BATCH_TIMED : BATCH; }

static enum status embed_batch(struct walk *w, bool *ret_more) {
  struct op_call *call = w->call;
  struct chunk_rows rows = {0};
  struct arena *a = w->a;
  int64_t last = 0;
  /* Read before the list: newer chunks are left to their writers or to the next pass. */
  TRY(chunk_last_id(call->engine->store, call->caller.team, &last, call->err));
  TRY(chunks_pending(call->engine->store, &w->e->model, w->after, batch_size(w), a, &rows, call->err));
  *ret_more = rows.n > 0;
  w->pass->seen = rows.n ? rows.v[rows.n - 1].id : last;
  if (rows.n == 0)
    return STATUS_OK;
  w->has_context = false;
  struct str *texts = arena_array(a, struct str, rows.n);
  bool *ok = arena_array(a, bool, rows.n);
  for (size_t i = 0; i < rows.n; i++)
    TRY(chunk_text(w, &rows.v[i], &texts[i]));
  int8_t *vectors = arena_array(a, int8_t, arena_mul(a, rows.n, (size_t)w->e->model.dims));
  if (embed_rows(w, texts, rows.n, vectors, ok) != STATUS_OK) {
    w->pass->seen = w->after;
    *ret_more = false;
    return STATUS_OK; /* pass->why has the error */
  }
  w->after = w->pass->seen;
  return store_vectors(w, &rows, vectors, ok);
}

enum status reembed_pass(struct op_call *call, const struct embedding *e, int64_t after, int64_t until,
                         struct pass *ret_pass) {
  struct pass pass = {.seen = after};
  struct walk w = {.call = call, .e = e, .a = arena_child(call->arena), .until = until, .after = after, .pass = &pass};
  bool more = true;
  embedding_try_again(e);
  TRY(vec_count(call->engine->store, &e->model, &w.done, &w.total, call->err));
  while (more && !is_stopped(&w)) {
    TRY(embed_batch(&w, &more));
    if (pass.embedded)
      progress(call, "embed", w.done + pass.embedded, w.total);
    arena_release(w.a);
  }
  pass.complete = !more && pass.why.code == STATUS_OK;
  *ret_pass = pass;
  return STATUS_OK;
}
