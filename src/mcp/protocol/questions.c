/* questions.c: requests to a legacy client, sent on the stream of the call, which blocks until the response. */
#include <assert.h>

#include "base/alloc.h"
#include "base/os/thread.h"
#include "mcp/protocol/server.h"

enum { POLL_MS = 200, ANSWER_MAX = 1 << 20 };

struct question {
  struct question *next;
  const struct mcp_session *session;
  char id[32];
  bool answered;
  char *result; /* JSON; NULL: an error, or too large */
  size_t result_n;
};

static void name_question(struct exchange *x, struct question *q) {
  struct mcp_server *server = x->server;
  pthread_mutex_lock(&server->lock);
  snprintf(q->id, sizeof(q->id), "cairn-%llu", (unsigned long long)++server->asked);
  pthread_mutex_unlock(&server->lock);
}

/* Nothing may jump until wait_for() has returned: the list would point into a dead stack frame. */
static void begin(struct exchange *x, struct question *q) {
  struct mcp_server *server = x->server;
  pthread_mutex_lock(&server->lock);
  q->session = x->session;
  q->next = server->questions;
  server->questions = q;
  pthread_mutex_unlock(&server->lock);
}

/* False on timeout, cancellation, or disconnect. */
static bool wait_for_answer(struct exchange *x, struct question *q, int64_t wait_ms) {
  struct mcp_server *server = x->server;
  int64_t end = clock_ticks_us() + wait_ms * 1000;
  pthread_mutex_lock(&server->lock);
  while (!q->answered && !server->closing && !server->input_ended && !exchange_cancelled(x)) {
    if (clock_ticks_us() > end || (x->session && x->session->ended))
      break;
    cond_wait_ms(&server->answered, &server->lock, POLL_MS);
  }
  struct question **at = &server->questions;
  while (*at && *at != q)
    at = &(*at)->next;
  assert(*at == q);
  *at = q->next;
  bool answered = q->answered;
  pthread_mutex_unlock(&server->lock);
  return answered;
}

static void free_result(void *p) { mem_free(p); }

enum status question_ask(struct exchange *x, const char *method, yyjson_mut_val *params, int64_t wait_ms,
                         yyjson_val **ret_result, struct error *err) {
  struct question q = {0};
  assert(!x->modern && !x->engine); /* modern servers send no requests; a person may take minutes */
  name_question(x, &q);
  struct str text = rpc_send(x->arena, x->doc, str_from(q.id), method, params);
  begin(x, &q);
  pthread_mutex_lock(&x->sending);
  if (!x->answered)
    x->out->send(x->out->arg, text, false);
  pthread_mutex_unlock(&x->sending);
  if (!wait_for_answer(x, &q, wait_ms))
    return error_set(err, STATUS_INTERRUPTED, "the client did not answer the question");
  *ret_result = NULL;
  if (!q.result)
    return STATUS_OK;
  arena_defer(x->arena, free_result, q.result);
  return json_read(x->arena, (struct str){q.result, q.result_n}, ret_result, err);
}

bool question_answer(struct mcp_server *server, const struct mcp_session *session, const struct rpc_message *in,
                     struct arena *a) {
  yyjson_val *result = yyjson_obj_get(in->root, "result");
  assert(in->kind == RPC_RESPONSE && in->id);
  struct str text = result ? json_write_val(a, result) : STR_NONE;
  char *copy = text.n && text.n <= ANSWER_MAX ? mem_alloc(text.n) : NULL;
  if (copy)
    memcpy(copy, text.p, text.n);
  pthread_mutex_lock(&server->lock);
  struct question *q = server->questions;
  while (q && !(str_eq(json_val_str(in->id), str_from(q->id)) && q->session == session && !q->answered))
    q = q->next;
  if (q) {
    q->answered = true;
    q->result = copy;
    q->result_n = text.n;
    pthread_cond_broadcast(&server->answered);
  }
  pthread_mutex_unlock(&server->lock);
  if (!q)
    mem_free(copy);
  return q != NULL;
}

void questions_abort(struct mcp_server *server) {
  pthread_mutex_lock(&server->lock);
  server->input_ended = true;
  pthread_cond_broadcast(&server->answered);
  pthread_mutex_unlock(&server->lock);
}
