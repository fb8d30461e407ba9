/* fuzz_http_answer.c: any bytes as the response of an embedding endpoint: rejected with a reason, or valid vectors.
 * Quotes of it in messages have no control characters and not the API key. */
#include <math.h>

#include "base/utf8.h"
#include "embed/remote/error.h"
#include "embed/remote/parse.h"
#include "embed/remote/url.h"
#include "embed/vec.h"
#include "support/fuzz.h"

typedef enum status (*parser)(struct arena *, struct str, size_t, int, struct http_vectors *, struct error *);

static void check_parser(parser parse, struct str body, size_t n, int dims) {
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct http_vectors got = {0};
  if (parse(&a, body, n, dims, &got, &err) != STATUS_OK) {
    FUZZ_CHECK(err.code == STATUS_UNAVAILABLE && err.message[0] && err.fix[0] && !got.v);
  } else {
    FUZZ_CHECK(got.n == n && got.dims > 0 && got.dims <= VEC_MAX_DIMS && (dims == 0 || got.dims == dims));
    for (size_t i = 0; i < n * (size_t)got.dims; i++)
      FUZZ_CHECK(isfinite(got.v[i]));
    for (size_t i = 0; i < n; i++) {
      int8_t v[VEC_MAX_DIMS];
      vec_quantise(got.v + i * (size_t)got.dims, got.dims, v);
      FUZZ_CHECK(vec_dot(v, v, got.dims) > 0);
    }
  }
  arena_release(&a);
}

static void check_quote(struct str text) {
  char quote[HTTP_QUOTE_SIZE];
  /* Take the key from the text, so it occurs there. */
  struct str key = text.n > 40 ? str_slice(text, 10, 30) : STR("0123456789");
  for (size_t i = 0; i < key.n; i++)
    if (key.p[i] < 0x21 || key.p[i] > 0x7e) /* http_embedder_open() rejects such keys */
      key = STR("0123456789");
  http_quote(text, key, quote, sizeof(quote));
  struct str got = str_from(quote);
  FUZZ_CHECK(got.n < sizeof(quote) && utf8_check(got) == got.n);
  for (size_t i = 0; i < got.n; i++)
    FUZZ_CHECK((unsigned char)got.p[i] >= 0x20 && got.p[i] != 0x7f);
  /* A key with brackets may match the placeholder that replaces it. */
  FUZZ_CHECK(memchr(key.p, '[', key.n) || memchr(key.p, ']', key.n) || !memmem(got.p, got.n, key.p, key.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str body = {(const char *)data, size};
  for (size_t n = 1; n <= 2; n++)
    for (int dims = 0; dims <= 2; dims += 2) {
      check_parser(http_parse_openai, body, n, dims);
      check_parser(http_parse_ollama, body, n, dims);
    }
  check_quote(body);
  struct http_url url = {0};
  struct error err = {0};
  if (http_url_parse(body, &url, &err) == STATUS_OK) {
    FUZZ_CHECK(url.text.n > 0 && url.text.n <= size);
    FUZZ_CHECK(memchr(url.text.p, '@', url.text.n) == NULL && memchr(url.text.p, '\n', url.text.n) == NULL);
  }
  return 0;
}
