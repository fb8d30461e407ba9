/* embed_ahead.c: query embedding on a second thread.
 *
 * The thread touches only its own memory and the embedder's constant weights. If it fails, the caller embeds the query
 * again and reports the error. */
#include "op/search/embed_ahead.h"

#include "base/alloc.h"
#include "base/os/thread.h"
#include "embed/builtin.h"

struct ahead {
  const struct embedder *e;
  pthread_t thread;
  struct str text; /* after the vector, in the same allocation */
  bool done;
  int64_t cpu_us; /* processor time of the thread */
  int8_t vector[];
};

static void *embed_one(void *arg) {
  struct ahead *h = arg;
  struct arena a;
  struct error ignored;
  jmp_buf oom;
  arena_init(&a);
  if (!ARENA_BOUNDARY(&a, oom))
    h->done = h->e->embed(h->e, &a, EMBED_QUERY, &h->text, 1, h->vector, &ignored) == STATUS_OK;
  arena_release(&a);
  h->cpu_us = thread_cpu_us();
  return NULL;
}

void embed_ahead_start(struct ahead **slot, const struct embedder *e, struct str text) {
  embed_ahead_stop(slot);
  if (!embedder_model(e) || thread_cores() < 2)
    return;
  struct ahead *h = mem_alloc(sizeof(*h) + (size_t)e->dims + text.n);
  if (!h)
    return;
  char *copy = (char *)h->vector + e->dims;
  memcpy(copy, text.p, text.n);
  *h = (struct ahead){.e = e, .text = {copy, text.n}};
  if (thread_start(&h->thread, embed_one, h) == 0)
    *slot = h;
  else
    mem_free(h);
}

bool embed_ahead_take(struct ahead **slot, struct str text, int8_t *ret_vector) {
  struct ahead *h = *slot;
  if (!h || !str_eq(h->text, text))
    return false;
  pthread_join(h->thread, NULL);
  *slot = NULL;
  thread_charge_cpu(h->cpu_us);
  bool done = h->done;
  if (done)
    memcpy(ret_vector, h->vector, (size_t)h->e->dims);
  mem_free(h);
  return done;
}

void embed_ahead_stop(struct ahead **slot) {
  if (!*slot)
    return;
  pthread_join((*slot)->thread, NULL);
  thread_charge_cpu((*slot)->cpu_us);
  mem_free(*slot);
  *slot = NULL;
}
