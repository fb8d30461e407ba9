/* test_http_parse.c: valid and invalid responses of embedding endpoints. */
#include "embed/remote/parse.h"

#include "base/buf.h"
#include "support/harness.h"

typedef enum status (*parser)(struct arena *, struct str, size_t, int, struct http_vectors *, struct error *);

static void check_good(parser parse, const char *body, size_t n, int dims, int want_dims, const float *want) {
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct http_vectors got = {0};
  test_note("%s", body);
  CHECK_OK(parse(&a, str_from(body), n, dims, &got, &err), &err);
  CHECK_INT(got.n, n);
  CHECK_INT(got.dims, want_dims);
  for (size_t i = 0; i < n * (size_t)want_dims; i++)
    CHECK_NEAR((double)got.v[i], (double)want[i], 0);
  arena_release(&a);
}

static void check_bad(parser parse, const char *body, size_t n, int dims, const char *says) {
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct http_vectors got = {.dims = 77};
  test_note("%s", body);
  CHECK_STATUS(parse(&a, str_from(body), n, dims, &got, &err), STATUS_UNAVAILABLE);
  CHECK(got.dims == 77 && got.v == NULL);
  CHECK(err.fix[0] != 0);
  if (!strstr(err.message, says))
    FAIL("\"%s\" does not say \"%s\"", err.message, says);
  arena_release(&a);
}

TEST(openai_responses) {
  const float want[] = {1, -2, 0.5f, 3};
  check_good(http_parse_openai,
             "{\"object\":\"list\",\"data\":[{\"index\":0,\"embedding\":[1,-2]},{\"index\":1,\"embedding\":[0.5,3.0]}],"
             "\"usage\":{\"total_tokens\":2}}",
             2, 2, 2, want);
  check_good(http_parse_openai, "{\"data\":[{\"index\":1,\"embedding\":[5e-1,3]},{\"embedding\":[1,-2],\"index\":0}]}",
             2, 0, 2, want);
  check_good(http_parse_openai, "{\"error\":null,\"data\":[{\"embedding\":[1.0,-2E0]},{\"embedding\":[0.5,3]}]}", 2, 2,
             2, want);
}

TEST(ollama_responses) {
  const float want[] = {1, -2, 0.5f, 3};
  check_good(http_parse_ollama, "{\"model\":\"m\",\"embeddings\":[[1,-2],[0.5,3]],\"total_duration\":1}", 2, 2, 2,
             want);
  check_good(http_parse_ollama, "{\"embeddings\":[[1,-2,0.5,3]]}", 1, 0, 4, want);
}

TEST(openai_responses_that_are_rejected) {
  static const struct {
    const char *body;
    size_t n;
    const char *says;
  } cases[] = {
      {"{\"data\":[]}", 1, "0 vectors for 1"},
      {"{\"data\":{}}", 1, "no list"},
      {"{\"data\":[7]}", 1, "vector"},
      {"{\"data\":[{\"index\":0}]}", 1, "missing"},
      {"{\"data\":[{\"index\":0,\"embedding\":[]}]}", 1, "0 dimensions"},
      {"{\"data\":[{\"index\":0,\"embedding\":[1]}]}", 1, "1 dimensions, expected 2"},
      {"{\"data\":[{\"index\":0,\"embedding\":[1,2]},{\"index\":1,\"embedding\":[1,2,3]}]}", 2,
       "3 dimensions, expected 2"},
      {"{\"data\":[{\"index\":0,\"embedding\":[1,2]},{\"index\":0,\"embedding\":[1,2]}]}", 2, "index"},
      {"{\"data\":[{\"index\":0,\"embedding\":[1,2]},{\"index\":2,\"embedding\":[1,2]}]}", 2, "index"},
      {"{\"data\":[{\"index\":0,\"embedding\":[1,2]},{\"embedding\":[1,2]}]}", 2, "index"},
      {"{\"data\":[{\"embedding\":[1,2]},{\"index\":1,\"embedding\":[1,2]}]}", 2, "index"},
      {"{\"data\":[{\"index\":-1,\"embedding\":[1,2]}]}", 1, "index"},
      {"{\"data\":[{\"index\":\"0\",\"embedding\":[1,2]}]}", 1, "index"},
      {"{\"data\":[{\"index\":0.0,\"embedding\":[1,2]}]}", 1, "index"},
      {"{\"data\":[{\"index\":18446744073709551615,\"embedding\":[1,2]}]}", 1, "index"},
      {"{\"data\":[{\"index\":0,\"embedding\":[1,\"2\"]}]}", 1, "finite"},
      {"{\"data\":[{\"index\":0,\"embedding\":[1,1e39]}]}", 1, "finite"},
      {"{\"data\":[{\"index\":0,\"embedding\":[1,1e999]}]}", 1, "not valid JSON"},
      {"{\"data\":[{\"index\":0,\"embedding\":[0,0.0]}]}", 1, "only zeros"},
      {"{\"data\":[{\"index\":0,\"embedding\":[1e-60,0]}]}", 1, "only zeros"},
      {"{\"error\":\"overloaded\",\"data\":[{\"index\":0,\"embedding\":[1,2]}]}", 1, "overloaded"},
      {"{\"embeddings\":[[1,2]]}", 1, "no list \"data\""},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++)
    check_bad(http_parse_openai, cases[i].body, cases[i].n, 2, cases[i].says);
}

TEST(ollama_responses_that_are_rejected) {
  check_bad(http_parse_ollama, "{\"embedding\":[1,2]}", 1, 2, "no list \"embeddings\"");
  check_bad(http_parse_ollama, "{\"embeddings\":[[1,2]]}", 2, 2, "1 vectors for 2");
  check_bad(http_parse_ollama, "{\"embeddings\":[[1,2],[1]]}", 2, 0, "1 dimensions, expected 2");
  check_bad(http_parse_ollama, "{\"embeddings\":[[1,[2]]]}", 1, 2, "finite");
  check_bad(http_parse_ollama, "{\"embeddings\":[\"AACAPw==\"]}", 1, 2, "base64");
  check_bad(http_parse_ollama, "{\"error\":\"model not found\"}", 1, 2, "model not found");
  check_bad(http_parse_ollama, "", 1, 2, "empty");
}

TEST(too_many_dimensions) {
  struct arena a;
  arena_init(&a);
  struct buf b = BUF(&a);
  buf_adds(&b, "{\"embeddings\":[[1");
  for (int i = 1; i < 4097; i++)
    buf_adds(&b, ",1");
  buf_adds(&b, "]]}");
  check_bad(http_parse_ollama, b.p, 1, 0, "4097 dimensions, outside 1..4096");
  arena_release(&a);
}
