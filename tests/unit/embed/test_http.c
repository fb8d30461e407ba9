/* test_http.c: HTTP embedders against a real server that answers correctly, wrongly, late or not at all. */
#include "embed/remote/http.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/os/clock.h"
#include "embed/vec.h"
#include "support/harness.h"
#include "support/http_server.h"

enum { DIMS = 8 };

#define KEY "sk-test-0123456789abcdef"

static const struct str three[] = {STR_INIT("the first text"), STR_INIT("a second one"), STR_INIT("dr\xc3\xa9i")};

/* Configuration of most tests: short waits, eight dimensions. */
static struct http_embedder_config quick(enum http_api api, const char *url) {
  return (struct http_embedder_config){
      .api = api, .url = str_from(url), .model = STR("m"), .dims = DIMS, .backoff_ms = 4, .timeout_ms = 15000};
}

static struct embedder *open_embedder(const struct http_embedder_config *c) {
  struct embedder *e = NULL;
  struct error err = {0};
  CHECK_OK(http_embedder_open(c, &e, &err), &err);
  return e;
}

static void expected_vector(struct str text, int dims, int8_t *ret_vector) {
  float v[VEC_MAX_DIMS];
  http_server_vector(text, dims, v);
  vec_quantise(v, dims, ret_vector);
}

static void check_vectors(const struct embedder *e, const struct str *texts, size_t n) {
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  size_t dims = (size_t)e->dims;
  int8_t *got = arena_array(&a, int8_t, n *dims + 1), want[VEC_MAX_DIMS];
  got[n * dims] = 77;
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, texts, n, got, &err), &err);
  for (size_t i = 0; i < n; i++) {
    expected_vector(texts[i], e->dims, want);
    CHECK(memcmp(got + i * dims, want, dims) == 0);
  }
  CHECK_INT(got[n * dims], 77);
  arena_release(&a);
}

/* Embedding one text fails and leaves the vector unchanged. */
static struct error check_failure(const struct embedder *e) {
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  int8_t v[VEC_MAX_DIMS];
  memset(v, 77, sizeof(v));
  CHECK_STATUS(e->embed(e, &a, EMBED_QUERY, three, 1, v, &err), STATUS_UNAVAILABLE);
  CHECK_INT(err.code, STATUS_UNAVAILABLE);
  CHECK(err.message[0] != 0 && err.fix[0] != 0);
  for (size_t i = 0; i < sizeof(v); i++)
    CHECK_INT(v[i], 77);
  arena_release(&a);
  return err;
}

/* Opens an embedder, fails and closes it. The server must see `requests` requests. */
static struct error fails_with(struct http_server *s, const struct http_embedder_config *c, int requests) {
  struct embedder *e = open_embedder(c);
  struct error err = check_failure(e);
  CHECK_INT(http_server_requests(s), requests);
  e->close(e);
  http_server_stop(s);
  return err;
}

static void contains(const char *text, const char *part) {
  if (!strstr(text, part))
    FAIL("\"%s\" does not contain \"%s\"", text, part);
}

/* ---- correct responses ---- */

TEST(openai_request_and_response) {
  struct http_server *s = http_server_start(.dims = DIMS);
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  c.model = STR("text-embedding-3-small");
  c.key = STR(KEY "\n");
  struct embedder *e = open_embedder(&c);
  CHECK_INT(http_server_requests(s), 0);
  CHECK_STR(str_from(e->model), "openai:text-embedding-3-small");
  CHECK_INT(e->dims, DIMS);
  check_vectors(e, three, 3);
  CHECK_INT(http_server_requests(s), 1);
  const struct http_seen *seen = http_server_seen(s, 0);
  CHECK_STR(str_from(seen->path), "/embeddings");
  CHECK_STR(str_from(seen->model), "text-embedding-3-small");
  CHECK_STR(str_from(seen->authorization), "Bearer " KEY);
  CHECK_STR(str_from(seen->first), "the first text");
  CHECK_INT(seen->inputs, 3);
  CHECK_INT(seen->dimensions, DIMS);
  CHECK(seen->float_format);
  e->close(e);
  http_server_stop(s);
}

TEST(ollama_request_and_response) {
  struct http_server *s = http_server_start(.dims = DIMS);
  struct http_embedder_config c = quick(HTTP_OLLAMA, http_server_url(s));
  c.model = STR("nomic-embed-text");
  struct embedder *e = open_embedder(&c);
  CHECK_STR(str_from(e->model), "ollama:nomic-embed-text");
  check_vectors(e, three, 3);
  const struct http_seen *seen = http_server_seen(s, 0);
  CHECK_STR(str_from(seen->path), "/api/embed");
  CHECK_STR(str_from(seen->model), "nomic-embed-text");
  CHECK_STR(str_from(seen->authorization), "");
  CHECK_INT(seen->inputs, 3);
  CHECK_INT(seen->dimensions, 0);
  CHECK(!seen->float_format);
  e->close(e);
  http_server_stop(s);
}

TEST(trailing_slashes_of_the_address_are_ignored) {
  struct http_server *s = http_server_start(.dims = DIMS);
  struct http_embedder_config c = quick(HTTP_OPENAI, NULL);
  char url[128];
  snprintf(url, sizeof(url), "%s/v1//", http_server_url(s));
  c.url = str_from(url);
  struct embedder *e = open_embedder(&c);
  check_vectors(e, three, 1);
  CHECK_STR(str_from(http_server_seen(s, 0)->path), "/v1/embeddings");
  e->close(e);
  http_server_stop(s);
}

TEST(vectors_are_sorted_by_index) {
  struct http_server *s =
      http_server_start(.dims = DIMS, HTTP_STEPS({.act = HTTP_ACT_SHUFFLED}, {.act = HTTP_ACT_BARE}));
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  struct embedder *e = open_embedder(&c);
  check_vectors(e, three, 3);
  check_vectors(e, three, 3); /* without an index: in order */
  e->close(e);
  http_server_stop(s);
}

TEST(the_largest_vectors) {
  struct http_server *s = http_server_start(.dims = VEC_MAX_DIMS);
  struct http_embedder_config c = quick(HTTP_OLLAMA, http_server_url(s));
  c.dims = VEC_MAX_DIMS;
  struct embedder *e = open_embedder(&c);
  check_vectors(e, three, 3);
  e->close(e);
  http_server_stop(s);
}

TEST(prefixes_of_queries_and_texts) {
  struct http_server *s = http_server_start(.dims = DIMS);
  struct http_embedder_config c = quick(HTTP_OLLAMA, http_server_url(s));
  c.query_prefix = STR("search_query: ");
  c.text_prefix = STR("search_document: ");
  struct embedder *e = open_embedder(&c);
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  int8_t v[DIMS], want[DIMS];
  CHECK_OK(e->embed(e, &a, EMBED_QUERY, &STR("cats"), 1, v, &err), &err);
  expected_vector(STR("search_query: cats"), DIMS, want);
  CHECK(memcmp(v, want, DIMS) == 0);
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, &STR("cats"), 1, v, &err), &err);
  expected_vector(STR("search_document: cats"), DIMS, want);
  CHECK(memcmp(v, want, DIMS) == 0);
  arena_release(&a);
  e->close(e);
  http_server_stop(s);
}

TEST(blank_texts_are_not_sent) {
  struct http_server *s = http_server_start(.dims = DIMS);
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  struct embedder *e = open_embedder(&c);
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  const struct str texts[] = {STR_INIT(""), STR_INIT("real"), STR_INIT(" \n")};
  int8_t v[3 * DIMS], want[DIMS], zero[DIMS] = {0};
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, texts, 3, v, &err), &err);
  expected_vector(STR("real"), DIMS, want);
  CHECK(memcmp(v, zero, DIMS) == 0 && memcmp(v + DIMS, want, DIMS) == 0 && memcmp(v + 2 * DIMS, zero, DIMS) == 0);
  CHECK_INT(http_server_seen(s, 0)->inputs, 1);
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, texts, 1, v, &err), &err);
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, texts, 0, v, &err), &err);
  CHECK_INT(http_server_requests(s), 1);
  arena_release(&a);
  e->close(e);
  http_server_stop(s);
}

TEST(many_texts_go_in_batches_over_one_connection) {
  struct http_server *s = http_server_start(.dims = DIMS);
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  struct embedder *e = open_embedder(&c);
  struct arena a;
  arena_init(&a);
  struct str texts[130];
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    texts[i] = arena_printf(&a, "text number %zu", i);
  check_vectors(e, texts, ARRAY_LEN(texts)); /* 64 + 64 + 2 */
  CHECK_INT(http_server_requests(s), 3);
  CHECK_INT(http_server_seen(s, 0)->inputs, 64);
  CHECK_INT(http_server_seen(s, 1)->inputs, 64);
  CHECK_INT(http_server_seen(s, 2)->inputs, 2);
  CHECK_STR(str_from(http_server_seen(s, 1)->first), "text number 64");
  CHECK_INT(http_server_connections(s), 1);
  e->close(e);
  c.batch = 50;
  e = open_embedder(&c);
  check_vectors(e, texts, 100);
  CHECK_INT(http_server_requests(s), 5);
  CHECK_INT(http_server_seen(s, 4)->inputs, 50);
  arena_release(&a);
  e->close(e);
  http_server_stop(s);
}

/* 20,000 bytes of prose are below the limit of 8,000 tokens; 13 of them fit into 256 KiB. */
TEST(a_batch_has_a_limit_of_bytes) {
  struct http_server *s = http_server_start(.dims = DIMS);
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  struct embedder *e = open_embedder(&c);
  struct arena a;
  arena_init(&a);
  struct str texts[20];
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    struct buf b = BUF(&a);
    while (b.n < 20000)
      buf_adds(&b, "rivers ");
    b.p[0] = (char)('a' + i);
    texts[i] = str_slice(buf_str(&b), 0, 20000);
  }
  check_vectors(e, texts, ARRAY_LEN(texts));
  CHECK_INT(http_server_requests(s), 2);
  CHECK_INT(http_server_seen(s, 0)->inputs, 13);
  CHECK_INT(http_server_seen(s, 0)->text_bytes, 13 * 20000);
  CHECK_INT(http_server_seen(s, 1)->inputs, 7);
  arena_release(&a);
  e->close(e);
  http_server_stop(s);
}

/* Each of these characters has three bytes and is a token: 8,000 are kept, none is split. */
TEST(long_texts_are_truncated_between_characters) {
  struct http_server *s = http_server_start(.dims = DIMS);
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  struct embedder *e = open_embedder(&c);
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct buf b = BUF(&a);
  for (int i = 0; i < 20000; i++)
    buf_adds(&b, "\xe6\x95\xb0");
  struct str text = buf_str(&b);
  int8_t v[DIMS], want[DIMS];
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, &text, 1, v, &err), &err);
  CHECK_INT(http_server_seen(s, 0)->text_bytes, 24000);
  expected_vector(str_slice(text, 0, 24000), DIMS, want);
  CHECK(memcmp(v, want, DIMS) == 0);
  arena_release(&a);
  e->close(e);
  http_server_stop(s);
}

/* ---- dimensions ---- */

TEST(a_probe_sets_the_dimensions) {
  struct http_server *s = http_server_start(.dims = 24);
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  c.dims = 0;
  struct embedder *e = open_embedder(&c);
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  CHECK_INT(e->dims, 0);
  contains(check_failure(e).fix, "embedder.dims");
  CHECK_INT(http_server_requests(s), 0);
  CHECK_OK(http_embedder_probe(e, &a, &err), &err);
  CHECK_INT(e->dims, 24);
  CHECK_INT(http_server_seen(s, 0)->dimensions, 0);
  CHECK_OK(http_embedder_probe(e, &a, &err), &err);
  CHECK_INT(http_server_requests(s), 1);
  check_vectors(e, three, 3);
  arena_release(&a);
  e->close(e);
  http_server_stop(s);
}

TEST(a_failed_probe_sets_nothing) {
  struct http_server *s = http_server_start(HTTP_STEPS({.status = 401}));
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  c.dims = 0;
  struct embedder *e = open_embedder(&c);
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  CHECK_STATUS(http_embedder_probe(e, &a, &err), STATUS_UNAVAILABLE);
  CHECK_INT(e->dims, 0);
  arena_release(&a);
  e->close(e);
  http_server_stop(s);
}

TEST(dimensions_are_not_requested_again_after_a_rejection) {
  struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({.act = HTTP_ACT_FUSSY}));
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  struct embedder *e = open_embedder(&c);
  check_vectors(e, three, 3);
  check_vectors(e, three, 3);
  CHECK_INT(http_server_requests(s), 3);
  CHECK_INT(http_server_seen(s, 0)->dimensions, DIMS);
  CHECK_INT(http_server_seen(s, 1)->dimensions, 0);
  CHECK_INT(http_server_seen(s, 2)->dimensions, 0);
  e->close(e);
  http_server_stop(s);
}

TEST(wrong_dimensions_are_rejected) {
  struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({.dims = DIMS + 1}));
  struct http_embedder_config c = quick(HTTP_OLLAMA, http_server_url(s));
  struct error err = fails_with(s, &c, 1);
  contains(err.message, "9 dimensions, expected 8");
  contains(err.fix, "embedder.dims");
}

TEST(wrong_counts_are_rejected) {
  for (int missing = -1; missing <= 1; missing += 2)
    for (int api = HTTP_OPENAI; api <= HTTP_OLLAMA; api++) {
      struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({.missing = missing}));
      struct http_embedder_config c = quick((enum http_api)api, http_server_url(s));
      contains(fails_with(s, &c, 1).message, missing > 0 ? "0 vectors for 1 texts" : "2 vectors for 1 texts");
    }
}

/* ---- retries ---- */

TEST(transient_errors_are_retried) {
  static const int codes[] = {408, 429, 500, 502, 503, 504};
  for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
    test_note("status %d", codes[i]);
    struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({.status = codes[i], .times = 2}, {0}));
    struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
    struct embedder *e = open_embedder(&c);
    check_vectors(e, three, 3);
    CHECK_INT(http_server_requests(s), 3);
    e->close(e);
    http_server_stop(s);
  }
}

TEST(permanent_errors_are_not_retried) {
  static const struct {
    int code;
    const char *fix;
  } cases[] = {{400, "embedder.model"},
               {401, "embedder.key_env"},
               {403, "embedder.key_env"},
               {404, "embedder.url"},
               {501, "keyword"}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    char status[32];
    struct http_server *s =
        http_server_start(HTTP_STEPS({.status = cases[i].code, .body = "{\"error\":{\"message\":\"no such thing\"}}"}));
    struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
    struct error err = fails_with(s, &c, 1);
    snprintf(status, sizeof(status), "status %d", cases[i].code);
    contains(err.message, status);
    contains(err.message, "no such thing");
    contains(err.fix, cases[i].fix);
  }
}

TEST(ollama_without_the_model_suggests_to_pull_it) {
  struct http_server *s = http_server_start(HTTP_STEPS({.status = 404, .body = "{\"error\":\"model not found\"}"}));
  struct http_embedder_config c = quick(HTTP_OLLAMA, http_server_url(s));
  contains(fails_with(s, &c, 1).fix, "ollama pull m");
}

TEST(there_are_three_tries_by_default) {
  struct http_server *s = http_server_start(HTTP_STEPS({.status = 500}));
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  contains(fails_with(s, &c, 3).message, "status 500, 3 times");
}

TEST(the_number_of_retries_can_be_set) {
  struct http_server *s = http_server_start(HTTP_STEPS({.status = 500}));
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  c.retries = -1;
  fails_with(s, &c, 1);
  s = http_server_start(HTTP_STEPS({.status = 500}));
  c = quick(HTTP_OPENAI, http_server_url(s));
  c.retries = 5;
  c.backoff_ms = 1;
  fails_with(s, &c, 6); /* waits of about 1, 4, 16, 64 and 256 ms */
}

TEST(retry_after_is_honoured) {
  struct http_server *s =
      http_server_start(.dims = DIMS, HTTP_STEPS({.status = 429, .headers = "Retry-After: 1\r\n"}, {0}));
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  struct embedder *e = open_embedder(&c);
  int64_t began = clock_ticks_us();
  check_vectors(e, three, 1);
  CHECK(clock_ticks_us() - began >= 1000 * 1000);
  CHECK_INT(http_server_requests(s), 2);
  e->close(e);
  http_server_stop(s);
}

TEST(a_long_retry_after_fails_at_once) {
  static const char *const headers[] = {"Retry-After: 3600\r\n", "Retry-After: 99999999999999\r\n",
                                        "Retry-After: 20\r\n"};
  for (size_t i = 0; i < ARRAY_LEN(headers); i++) { /* above the maximum wait, and twice above the rest of 15 s */
    struct http_server *s = http_server_start(HTTP_STEPS({.status = 429, .headers = headers[i]}));
    struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
    int64_t began = clock_ticks_us();
    struct error err = fails_with(s, &c, 1);
    CHECK(clock_ticks_us() - began < 14 * 1000 * 1000);
    contains(err.message, "try again in ");
    contains(err.fix, "wait");
  }
}

/* ---- no response ---- */

TEST(connection_refused) {
  struct http_embedder_config c = quick(HTTP_OLLAMA, http_server_nobody());
  struct embedder *e = open_embedder(&c);
  struct error err = check_failure(e);
  contains(err.message, "did not answer (3 tries)");
  contains(err.message, "127.0.0.1");
  contains(err.fix, "ollama serve");
  e->close(e);
}

TEST(a_slow_server_times_out) {
  struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({.delay_ms = 20 * 1000}));
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  c.timeout_ms = 400;
  int64_t began = clock_ticks_us();
  struct embedder *e = open_embedder(&c);
  struct error err = check_failure(e);
  CHECK(clock_ticks_us() - began < 15 * 1000 * 1000); /* the server takes 20 s */
  contains(err.message, "did not answer");
  CHECK(http_server_requests(s) >= 1);
  e->close(e);
  http_server_stop(s);
}

TEST(a_hanging_connection_is_retried) {
  struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({.delay_ms = 20 * 1000}, {0}));
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  c.text_timeout_ms = 2100;
  struct embedder *e = open_embedder(&c);
  check_vectors(e, three, 3);
  CHECK_INT(http_server_requests(s), 2);
  e->close(e);
  http_server_stop(s);
}

TEST(slow_bytes_do_not_extend_the_time_limit) {
  struct http_server *s = http_server_start(.dims = 256, HTTP_STEPS({.act = HTTP_ACT_DRIP}));
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  c.dims = 256;
  c.timeout_ms = 400;
  int64_t began = clock_ticks_us();
  struct embedder *e = open_embedder(&c);
  contains(check_failure(e).message, "did not answer");
  CHECK(clock_ticks_us() - began < 15 * 1000 * 1000);
  e->close(e);
  http_server_stop(s);
}

TEST(broken_connections_are_retried) {
  struct http_server *s =
      http_server_start(.dims = DIMS, HTTP_STEPS({.act = HTTP_ACT_HANG_UP}, {.act = HTTP_ACT_CUT}, {0}));
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  struct embedder *e = open_embedder(&c);
  check_vectors(e, three, 3);
  CHECK_INT(http_server_requests(s), 3);
  e->close(e);
  http_server_stop(s);
}

TEST(a_truncated_body_is_an_error) {
  struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({.act = HTTP_ACT_CUT}));
  struct http_embedder_config c = quick(HTTP_OLLAMA, http_server_url(s));
  contains(fails_with(s, &c, 3).message, "did not answer");
}

/* ---- unusable responses ---- */

TEST(unusable_bodies_are_not_retried) {
  static const struct {
    const char *body, *says;
  } cases[] = {
      {"", "empty"},
      {"  \r\n", "empty"},
      {"{\"data\":[{\"index\":0,\"embedding\":[1,2", "not valid JSON"},
      {"<!DOCTYPE html><html><body>It works!</body></html>", "<!DOCTYPE html>"},
      {"\x01\x02\xff garbage", "not valid JSON"},
      {"[]", "not an object"},
      {"{}", "no list \"data\""},
      {"{\"error\":{\"message\":\"quota used up\"}}", "quota used up"},
      {"{\"data\":[{\"index\":0,\"embedding\":[NaN,1,1,1,1,1,1,1]}]}", "not valid JSON"},
      {"{\"data\":[{\"index\":0,\"embedding\":[null,1,1,1,1,1,1,1]}]}", "not a finite number"},
      {"{\"data\":[{\"index\":0,\"embedding\":\"AACAPwAAgD8=\"}]}", "base64"},
      {"{\"data\":[{\"index\":1,\"embedding\":[1,1,1,1,1,1,1,1]}]}", "\"index\""},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    test_note("case %zu", i);
    struct http_server *s = http_server_start(HTTP_STEPS({.status = 200, .body = cases[i].body}));
    struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
    struct error err = fails_with(s, &c, 1);
    contains(err.message, cases[i].says);
    contains(err.message, "unusable response");
    for (const char *p = err.message; *p; p++)
      CHECK((unsigned char)*p >= 0x20 && (unsigned char)*p != 0xff);
  }
}

TEST(a_body_that_is_too_large_is_rejected) {
  struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({.act = HTTP_ACT_ENDLESS}));
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  c.response_max = 1024 * 1024;
  contains(fails_with(s, &c, 1).message, "more than 1048576 bytes");
  s = http_server_start(.dims = 1024); /* this one sends its length */
  c = quick(HTTP_OPENAI, http_server_url(s));
  c.dims = 1024;
  c.response_max = 4096;
  contains(fails_with(s, &c, 1).message, "more than 4096 bytes");
}

TEST(the_default_limit_stops_an_endless_body) {
  struct http_server *s = http_server_start(.dims = DIMS, HTTP_STEPS({.act = HTTP_ACT_ENDLESS}));
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  c.timeout_ms = 15 * 1000; /* the size limit must stop it */
  contains(fails_with(s, &c, 1).message, "more than 67108864 bytes");
}

/* ---- key ---- */

TEST(an_echoed_key_is_not_shown) {
  static const struct http_step steps[] = {{.act = HTTP_ACT_ECHO_KEY, .status = 401},
                                           {.act = HTTP_ACT_ECHO_KEY, .status = 400},
                                           {.act = HTTP_ACT_ECHO_KEY, .status = 500},
                                           {.act = HTTP_ACT_ECHO_KEY},
                                           {.status = 302, .headers = "Location: http://127.0.0.1:9/?k=" KEY "\r\n"}};
  for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
    test_note("step %zu", i);
    struct http_server *s = http_server_start(.steps = &steps[i], .nsteps = 1);
    struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
    c.key = STR(KEY);
    c.retries = -1;
    struct error err = fails_with(s, &c, 1);
    contains(err.message, "[key]");
    CHECK(memmem(&err, sizeof(err), "0123456789", 10) == NULL);
    CHECK(memmem(&err, sizeof(err), "sk-test", 7) == NULL);
  }
}

TEST(redirects_are_not_followed) {
  struct http_server *other = http_server_start(.dims = DIMS);
  char location[128];
  snprintf(location, sizeof(location), "Location: %s/embeddings\r\n", http_server_url(other));
  static const int codes[] = {301, 302, 307, 308};
  for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
    struct http_server *s = http_server_start(HTTP_STEPS({.status = codes[i], .headers = location}));
    struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
    c.key = STR(KEY);
    struct error err = fails_with(s, &c, 1);
    contains(err.message, "a redirect to http://127.0.0.1:");
    contains(err.fix, "embedder.url");
  }
  CHECK_INT(http_server_connections(other), 0);
  http_server_stop(other);
}

static enum status try_open(const struct http_embedder_config *c, struct error *err) {
  struct embedder *e = NULL;
  enum status s = http_embedder_open(c, &e, err);
  if (s == STATUS_OK)
    e->close(e);
  else
    CHECK(e == NULL && err->fix[0] != 0);
  return s;
}

TEST(a_key_is_not_sent_unencrypted) {
  struct error err = {0};
  struct http_embedder_config c = quick(HTTP_OPENAI, "http://embeddings.example:8080/v1");
  CHECK_OK(try_open(&c, &err), &err); /* without a key it is allowed */
  c.key = STR(KEY);
  CHECK_STATUS(try_open(&c, &err), STATUS_USAGE);
  contains(err.message, "unencrypted");
  contains(err.fix, "https");
  CHECK(strstr(err.message, "sk-") == NULL && strstr(err.fix, "sk-") == NULL);
  c.allow_plain_http = true;
  CHECK_OK(try_open(&c, &err), &err);
  c.allow_plain_http = false;
  static const char *const fine[] = {"https://embeddings.example/v1", "http://localhost:1234", "http://127.8.9.10/x",
                                     "http://[::1]:8080", NULL};
  for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
    c.url = str_from(fine[i]);
    CHECK_OK(try_open(&c, &err), &err);
  }
}

/* ---- opening ---- */

TEST(invalid_configurations_are_rejected) {
  struct error err = {0};
  const struct http_embedder_config good = quick(HTTP_OPENAI, "http://127.0.0.1:1");
  struct http_embedder_config bad[12];
  for (size_t i = 0; i < ARRAY_LEN(bad); i++)
    bad[i] = good;
  bad[0].model = STR_NONE;
  bad[1].model = STR("a\nb");
  bad[2].model = STR("\xff");
  bad[3].dims = VEC_MAX_DIMS + 1;
  bad[4].dims = -1;
  bad[5].url = STR("ftp://127.0.0.1");
  bad[6].url = STR("http://user:secret@127.0.0.1");
  bad[7].key = STR("two words");
  bad[8].key = STR("line\r\nInjected: header");
  bad[9].timeout_ms = -1;
  bad[10].retries = 1000;
  bad[11].batch = -5;
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("case %zu", i);
    CHECK_STATUS(try_open(&bad[i], &err), STATUS_USAGE);
    CHECK(!strstr(err.message, "secret") && !strstr(err.message, "Injected"));
  }
  CHECK_OK(try_open(&good, &err), &err);
}

TEST(out_of_memory_while_opening) {
  struct error err = {0};
  struct http_embedder_config c = quick(HTTP_OPENAI, "http://127.0.0.1:1");
  struct embedder *e = NULL;
  alloc_fail_at(1, 0);
  CHECK_STATUS(http_embedder_open(&c, &e, &err), STATUS_NOMEM);
  CHECK(e == NULL);
}

/* Each allocation of a call fails once, with an error or a jump to the boundary; the next call works. */
TEST(out_of_memory_during_a_call) {
  struct http_server *s = http_server_start(.dims = DIMS);
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  struct embedder *e = open_embedder(&c);
  bool failed = true;
  for (long nth = 1; failed && nth < 200; nth++) {
    struct arena a;
    jmp_buf boundary;
    struct error err = {0};
    int8_t v[3 * DIMS];
    arena_init(&a);
    if (ARENA_BOUNDARY(&a, boundary)) {
      alloc_fail_at(0, 0);
    } else {
      alloc_fail_at(nth, 0);
      enum status status = e->embed(e, &a, EMBED_TEXT, three, 3, v, &err);
      failed = alloc_failures() > 0;
      alloc_fail_at(0, 0);
      CHECK_INT(status, failed ? STATUS_NOMEM : STATUS_OK);
    }
    arena_release(&a);
  }
  CHECK(!failed);
  check_vectors(e, three, 3);
  e->close(e);
  http_server_stop(s);
}

TEST(the_calibration_can_be_set) {
  static const struct calibration own = {.n = 2, .raw = {0, 1}, .scaled = {0, 1}};
  struct http_embedder_config c = quick(HTTP_OPENAI, "http://127.0.0.1:1");
  struct embedder *e = open_embedder(&c);
  CHECK_NEAR(calibrate(e->calibration, 1.0), 1.0, 1e-12);
  CHECK(calibrate(e->calibration, 0.89) < SIMILARITY_NEAR);
  CHECK(calibrate(e->calibration, 0.96) < SIMILARITY_SAME);
  e->close(e);
  c.calibration = &own;
  e = open_embedder(&c);
  CHECK(e->calibration == &own);
  e->close(e);
}

/* ---- threads ---- */

static void *use_it(void *embedder) {
  for (int i = 0; i < 5; i++)
    check_vectors(embedder, three, 3);
  return NULL;
}

TEST(threads_share_an_embedder) {
  struct http_server *s = http_server_start(.dims = DIMS);
  struct http_embedder_config c = quick(HTTP_OPENAI, http_server_url(s));
  struct embedder *e = open_embedder(&c);
  pthread_t threads[6];
  for (size_t i = 0; i < ARRAY_LEN(threads); i++)
    CHECK_INT(pthread_create(&threads[i], NULL, use_it, e), 0);
  for (size_t i = 0; i < ARRAY_LEN(threads); i++)
    pthread_join(threads[i], NULL);
  CHECK_INT(http_server_requests(s), 30);
  e->close(e);
  http_server_stop(s);
}
