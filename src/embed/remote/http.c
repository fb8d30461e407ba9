/* http.c: embedders over HTTP: prefixes, truncation, batches, retries and time limits. */
#include "embed/remote/http.h"

#include <assert.h>
#include <sodium.h>
#include <stdatomic.h>
#include <time.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/os/clock.h"
#include "base/utf8.h"
#include "core/text/token_count.h"
#include "embed/remote/client.h"
#include "embed/remote/error.h"
#include "embed/remote/parse.h"
#include "embed/remote/url.h"
#include "embed/vec.h"

enum {
  QUERY_MS = 10 * 1000,
  CONNECT_MS = 3 * 1000,
  RETRIES = 2,
  BACKOFF_MS = 200,
  WAIT_MAX_MS = 5 * 1000, /* before a retry; if the server asks for more, the call fails with its Retry-After */
  BATCH_TEXTS = 64,
  BATCH_BYTES = 256 * 1024,
  RESPONSE_MAX = 64 * 1024 * 1024,
  /* OpenAI's models accept 8,191 tokens and reject longer texts, so texts are truncated. */
  TEXT_TOKENS = 8000,
  TEXT_BYTES = 64 * 1024, /* always more than TEXT_TOKENS; bounds the counting */
  /* Limits of the configuration. */
  TIME_MAX_MS = 10 * 60 * 1000,
  RETRIES_MAX = 10,
  BATCH_MAX = 2048,
  KEY_MAX = 1024,
  MODEL_MAX = 200,
};

struct state {
  struct embedder e;
  size_t size; /* of the whole allocation, including texts */
  struct http_client client;
  struct http_endpoint endpoint;
  struct str query_prefix, text_prefix;
  const char *authorization; /* NULL without a key */
  bool direct;
  int query_ms, text_ms, connect_ms, retries, backoff_ms;
  size_t batch, response_max;
  atomic_bool without_dims; /* the endpoint does not support the parameter "dimensions" */
  char texts[];
};

static const struct {
  const char *name;
  struct str url, path;
} apis[] = {
    [HTTP_OPENAI] = {"openai", STR_INIT("https://api.openai.com/v1"), STR_INIT("/embeddings")},
    [HTTP_OLLAMA] = {"ollama", STR_INIT("http://127.0.0.1:11434"), STR_INIT("/api/embed")},
};

/* ---- request with retries ---- */

static int64_t now_ms(void) { return clock_ticks_us() / 1000; }

static void sleep_ms(int64_t ms) {
  struct timespec left = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0)
    ;
}

static bool is_retryable(const struct http_reply *r) {
  static const int codes[] = {408, 429, 500, 502, 503, 504};
  for (size_t i = 0; i < ARRAY_LEN(codes); i++)
    if (r->outcome == HTTP_ANSWERED && r->code == codes[i])
      return true;
  return r->outcome == HTTP_NO_ANSWER;
}

/* Wait before the next try: exponential backoff with a jitter of up to a quarter, so clients that were rejected
 * together do not retry together. The jitter is a hash of the body, so the same call always behaves the same. */
static int64_t retry_wait(const struct state *st, const struct http_reply *r, struct str body, int attempt) {
  int64_t base = st->backoff_ms;
  assert(base > 0 && attempt >= 0);
  for (int i = 0; i < attempt && base < WAIT_MAX_MS; i++)
    base *= 4;
  base = base < WAIT_MAX_MS ? base : WAIT_MAX_MS;
  uint64_t h = str_hash(STR_HASH + (uint64_t)attempt, body);
  int64_t wait = base - base / 4 + (int64_t)((h >> 32) % (uint64_t)(base / 2 + 1));
  int64_t asked = r->outcome == HTTP_ANSWERED ? r->retry_after_s : 0;
  asked = asked < TIME_MAX_MS ? asked * 1000 : INT64_MAX;
  return wait > asked ? wait : asked;
}

/* Posts until it succeeds, fails permanently, or runs out of retries or time. */
static enum status post(struct state *st, struct str body, int64_t deadline, struct http_reply *reply,
                        struct error *err) {
  struct http_request request = {.url = st->endpoint.url,
                                 .authorization = st->authorization,
                                 .body = body,
                                 .connect_timeout_ms = st->connect_ms,
                                 .limit = st->response_max,
                                 .direct = st->direct};
  for (int attempt = 0;; attempt++) {
    int64_t left = deadline - now_ms();
    bool last = attempt >= st->retries;
    request.timeout_ms = last ? left : left * 2 / 3;
    request.timeout_ms = request.timeout_ms > 1 ? request.timeout_ms : 1;
    TRY(http_client_post(&st->client, &request, reply, err));
    if (reply->outcome == HTTP_ANSWERED && reply->code >= 200 && reply->code < 300)
      return STATUS_OK;
    int64_t wait = retry_wait(st, reply, body, attempt);
    if (last || !is_retryable(reply) || (reply->retry_after_s && wait > WAIT_MAX_MS) || wait >= deadline - now_ms())
      return http_error(&st->endpoint, reply, attempt + 1, err);
    sleep_ms(wait);
  }
}

/* ---- batch ---- */

struct batch {
  enum embed_use use;
  struct str *texts; /* with prefixes, truncated */
  size_t *places;    /* index of each text among those of the call */
  size_t n;
};

static struct str request_body(const struct state *st, struct arena *a, const struct batch *b, int dims) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  json_put(doc, root, "model", st->endpoint.model);
  yyjson_mut_val *input = json_put_arr(doc, root, "input");
  for (size_t i = 0; i < b->n; i++)
    json_add_str(doc, input, b->texts[i]);
  if (st->endpoint.api == HTTP_OPENAI) {
    json_put(doc, root, "encoding_format", STR("float"));
    if (dims)
      json_put_int(doc, root, "dimensions", dims);
  }
  return json_write(a, root, false);
}

static void release_reply(void *reply) { http_reply_release(reply); }

static bool rejects_dims(const struct http_reply *r) {
  return r->outcome == HTTP_ANSWERED && (r->code == 400 || r->code == 422) &&
         str_find(http_reply_body(r), STR("imension"), 0) != SIZE_MAX;
}

/* dims 0 accepts any dimensions. */
static enum status request_vectors(struct state *st, struct arena *a, const struct batch *b, int dims,
                                   struct http_vectors *ret_vectors, struct error *err) {
  struct http_reply *reply = arena_new(a, struct http_reply);
  assert(b->n > 0 && b->n <= st->batch);
  arena_defer(a, release_reply, reply);
  int64_t deadline = now_ms() + (b->use == EMBED_QUERY ? st->query_ms : st->text_ms);
  int requested = st->endpoint.api == HTTP_OPENAI && !atomic_load(&st->without_dims) ? dims : 0;
  enum status s = post(st, request_body(st, a, b, requested), deadline, reply, err);
  if (s != STATUS_OK) {
    if (!requested || !rejects_dims(reply))
      return s;
    TRY(post(st, request_body(st, a, b, 0), deadline, reply, err));
    atomic_store(&st->without_dims, true);
  }
  struct str body = http_reply_body(reply);
  s = st->endpoint.api == HTTP_OPENAI ? http_parse_openai(a, body, b->n, dims, ret_vectors, err)
                                      : http_parse_ollama(a, body, b->n, dims, ret_vectors, err);
  return s == STATUS_OK ? s : http_error_parse(&st->endpoint, body, err);
}

/* ---- embedder ---- */

static struct str prepare(const struct state *st, struct arena *a, enum embed_use use, struct str text) {
  struct buf b = BUF(a);
  buf_add(&b, use == EMBED_QUERY ? st->query_prefix : st->text_prefix);
  buf_add(&b, utf8_cut(text, TEXT_BYTES));
  return tokens_cut(buf_str(&b), TEXT_TOKENS);
}

/* Collects texts from *next on until the batch is full. Blank texts are skipped: endpoints reject them, and their
 * vector is zero. */
static struct batch next_batch(const struct state *st, struct arena *a, enum embed_use use, const struct str *texts,
                               size_t n, size_t *next) {
  struct batch b = {
      .use = use, .texts = arena_array(a, struct str, st->batch), .places = arena_array(a, size_t, st->batch)};
  size_t bytes = 0;
  for (; *next < n && b.n < st->batch; ++*next) {
    if (str_empty(str_trim(texts[*next])))
      continue;
    struct str text = prepare(st, a, use, texts[*next]);
    if (b.n && bytes + text.n > BATCH_BYTES)
      break;
    bytes += text.n;
    b.texts[b.n] = text;
    b.places[b.n++] = *next;
  }
  return b;
}

static enum status embed_batch(struct state *st, struct arena *a, const struct batch *b, int8_t *vectors,
                               struct error *err) {
  struct http_vectors got = {0};
  TRY(request_vectors(st, a, b, st->e.dims, &got, err));
  assert(got.n == b->n && got.dims == st->e.dims);
  size_t dims = (size_t)st->e.dims;
  for (size_t i = 0; i < b->n; i++)
    vec_quantise(got.v + i * dims, st->e.dims, vectors + b->places[i] * dims);
  return STATUS_OK;
}

static enum status embed(const struct embedder *e, struct arena *a, enum embed_use use, const struct str *texts,
                         size_t n, int8_t *ret_vectors, struct error *err) {
  struct state *st = e->state;
  if (e->dims == 0) {
    error_set(err, STATUS_UNAVAILABLE, "the dimensions of %s are not known yet", e->model);
    return error_fix(err, "Set embedder.dims.");
  }
  size_t size = arena_mul(a, n, (size_t)e->dims);
  int8_t *vectors = arena_zalloc(a, size);
  for (size_t next = 0; next < n;) {
    struct arena *part = arena_child(a); /* a response is many times as large as its vectors */
    struct batch b = next_batch(st, part, use, texts, n, &next);
    enum status s = b.n ? embed_batch(st, part, &b, vectors, err) : STATUS_OK;
    arena_release(part);
    TRY(s);
  }
  if (size)
    memcpy(ret_vectors, vectors, size);
  return STATUS_OK;
}

enum status http_embedder_probe(struct embedder *e, struct arena *a, struct error *err) {
  if (e->dims)
    return STATUS_OK;
  struct state *st = e->state;
  struct arena *part = arena_child(a);
  struct str text = prepare(st, part, EMBED_QUERY, STR("How many dimensions?"));
  struct http_vectors got = {0};
  enum status s = request_vectors(st, part, &(struct batch){.use = EMBED_QUERY, .texts = &text, .n = 1}, 0, &got, err);
  arena_release(part);
  if (s == STATUS_OK)
    e->dims = got.dims;
  return s;
}

static void close_embedder(struct embedder *e) {
  struct state *st = e->state;
  http_client_release(&st->client);
  sodium_memzero(st, st->size);
  mem_free(st);
}

/* ---- opening ---- */

static enum status usage(struct error *err, const char *what, const char *fix) {
  error_set(err, STATUS_USAGE, "%s", what);
  return error_fix(err, "%s", fix);
}

static enum status check_texts(const struct http_embedder_config *c, struct str key, struct error *err) {
  if (c->model.n == 0 || c->model.n > MODEL_MAX || utf8_check(c->model) != c->model.n)
    return usage(err, "an HTTP embedder needs the name of a model, of at most 200 bytes",
                 "Set embedder.model, for example to text-embedding-3-small (openai) or nomic-embed-text (ollama).");
  for (size_t i = 0; i < c->model.n; i++)
    if ((unsigned char)c->model.p[i] < 0x20)
      return usage(err, "the name of the embedding model has a control character", "Correct embedder.model.");
  for (size_t i = 0; i < key.n; i++)
    if (key.n > KEY_MAX || key.p[i] < 0x21 || key.p[i] > 0x7e)
      return usage(err, "the embedder's key is longer than 1,024 bytes or has an invalid character",
                   "Check the variable named by embedder.key_env: it must not contain blanks or line ends.");
  return STATUS_OK;
}

static enum status check_numbers(const struct http_embedder_config *c, struct error *err) {
  const int times[] = {c->timeout_ms, c->text_timeout_ms, c->connect_timeout_ms, c->backoff_ms};
  for (size_t i = 0; i < ARRAY_LEN(times); i++)
    if (times[i] < 0 || times[i] > TIME_MAX_MS)
      return usage(err, "a time limit of the embedder is out of range", "Use 1 to 600,000 milliseconds.");
  if (c->dims < 0 || c->dims > VEC_MAX_DIMS)
    return usage(err, "the embedder's dimensions are out of range", "Set embedder.dims to 1 to 4096.");
  if (c->retries < -1 || c->retries > RETRIES_MAX || c->batch < 0 || c->batch > BATCH_MAX)
    return usage(err, "the embedder's retries or batch are out of range",
                 "Use at most 10 retries and batches of 2,048.");
  return STATUS_OK;
}

static enum status check_url(const struct http_embedder_config *c, bool keyed, struct http_url *ret_url,
                             struct error *err) {
  assert((unsigned)c->api < ARRAY_LEN(apis));
  TRY(http_url_parse(c->url.n ? c->url : apis[c->api].url, ret_url, err));
  if (keyed && !ret_url->https && !ret_url->loopback && !c->allow_plain_http)
    return usage(err, "the embedder's key would be sent unencrypted: the address is http, on another machine",
                 "Use an https address, or unset embedder.key_env if the endpoint needs no key.");
  return STATUS_OK;
}

/* Copies the concatenation of a and b to *at, NUL-terminated, and advances *at. */
static struct str put(char **at, struct str a, struct str b) {
  struct str whole = {*at, a.n + b.n};
  memcpy(*at, a.n ? a.p : "", a.n);
  memcpy(*at + a.n, b.n ? b.p : "", b.n);
  (*at)[whole.n] = 0;
  *at += whole.n + 1;
  return whole;
}

static void fill(struct state *st, const struct http_embedder_config *c, struct str key, const struct http_url *url) {
  static const struct str bearer = STR_INIT("Authorization: Bearer ");
  char *at = st->texts;
  st->endpoint.api = c->api;
  st->endpoint.url = put(&at, url->text, apis[c->api].path).p;
  struct str provider = put(&at, str_from(apis[c->api].name), STR(":"));
  at--; /* e.model is "PROVIDER:MODEL" */
  st->endpoint.model = put(&at, c->model, STR_NONE);
  st->e.model = provider.p;
  st->query_prefix = put(&at, c->query_prefix, STR_NONE);
  st->text_prefix = put(&at, c->text_prefix, STR_NONE);
  struct str header = put(&at, bearer, key);
  st->authorization = key.n ? header.p : NULL;
  st->endpoint.key = str_slice(header, bearer.n, header.n);
  assert(at <= (char *)st + st->size);
  st->direct = url->loopback;
  st->query_ms = c->timeout_ms ? c->timeout_ms : QUERY_MS;
  st->text_ms = c->text_timeout_ms ? c->text_timeout_ms : st->query_ms * 3;
  st->connect_ms = c->connect_timeout_ms ? c->connect_timeout_ms : CONNECT_MS;
  st->retries = c->retries > 0 ? c->retries : c->retries < 0 ? 0 : RETRIES;
  st->backoff_ms = c->backoff_ms ? c->backoff_ms : BACKOFF_MS;
  st->batch = c->batch ? (size_t)c->batch : BATCH_TEXTS;
  st->response_max = c->response_max ? c->response_max : RESPONSE_MAX;
  st->e.dims = c->dims;
  st->e.calibration = c->calibration ? c->calibration : calibration_conservative();
  st->e.embed = embed;
  st->e.close = close_embedder;
  st->e.state = st;
}

enum status http_embedder_open(const struct http_embedder_config *config, struct embedder **ret_embedder,
                               struct error *err) {
  struct str key = str_trim(config->key); /* may end with a line end */
  struct http_url url = {0};
  TRY(check_texts(config, key, err));
  TRY(check_numbers(config, err));
  TRY(check_url(config, key.n > 0, &url, err));
  size_t size = sizeof(struct state) + url.text.n + config->model.n + config->query_prefix.n + config->text_prefix.n +
                key.n + 128; /* for fixed strings and terminators */
  struct state *st = mem_zalloc(size);
  if (!st)
    return error_set(err, STATUS_NOMEM, "out of memory");
  st->size = size;
  enum status s = http_client_init(&st->client, err);
  if (s != STATUS_OK) {
    mem_free(st);
    return s;
  }
  fill(st, config, key, &url);
  *ret_embedder = &st->e;
  return STATUS_OK;
}
