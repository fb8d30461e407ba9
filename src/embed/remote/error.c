/* error.c: error messages about an endpoint. */
#include "embed/remote/error.h"

#include <assert.h>
#include <stdio.h>

#include "base/utf8.h"

enum {
  QUOTE_READ = 4096, /* bytes of a response that are considered for a quote */
  KEY_RUN = 6,       /* this many consecutive characters of the key count as a part of it */
  URL_SHOWN = 160,
};

/* ---- quoting ---- */

static bool is_printable(uint32_t cp) {
  return cp >= 0x20 && cp != 0x7f && !(cp >= 0x80 && cp < 0xa0) && cp != 0xfffd && cp != 0x2028 && cp != 0x2029 &&
         !(cp >= 0x202a && cp <= 0x202e) && !(cp >= 0x2066 && cp <= 0x2069);
}

/* Replaces each run of unprintable characters and white space by one space. */
static size_t clean(struct str text, char *out) {
  size_t n = 0;
  for (size_t i = 0; i < text.n;) {
    size_t start = i;
    uint32_t cp = utf8_next(text, &i);
    if (is_printable(cp) && cp != ' ') {
      memcpy(out + n, text.p + start, i - start);
      n += i - start;
    } else if (n && out[n - 1] != ' ') {
      out[n++] = ' ';
    }
    assert(n <= i);
  }
  return n;
}

/* Number of bytes at the start of s that are a part of the key: at least KEY_RUN, or a whole shorter key. */
static size_t key_run(struct str s, struct str key) {
  size_t longest = 0, least = key.n < KEY_RUN ? key.n : KEY_RUN;
  for (size_t k = 0; k < key.n; k++) {
    size_t n = 0;
    while (k + n < key.n && n < s.n && s.p[n] == key.p[k + n])
      n++;
    longest = n > longest ? n : longest;
  }
  return longest >= least ? longest : 0;
}

void http_quote(struct str text, struct str key, char *ret_quote, size_t size) {
  assert(size > 1);
  char cleaned[QUOTE_READ];
  text.n = text.n < QUOTE_READ ? text.n : QUOTE_READ;
  struct str rest = {cleaned, clean(text, cleaned)};
  size_t n = 0;
  /* Truncate only after the replacement: half a key would not be recognised. */
  while (rest.n && n < size - 1) {
    size_t run = key.n ? key_run(rest, key) : 0;
    struct str piece = run ? STR("[key]") : (struct str){rest.p, 1};
    size_t fits = piece.n < size - 1 - n ? piece.n : size - 1 - n;
    memcpy(ret_quote + n, piece.p, fits);
    n += fits;
    rest = str_slice(rest, run ? run : 1, rest.n);
  }
  ret_quote[utf8_cut((struct str){ret_quote, n}, n == size - 1 && rest.n ? n - 1 : n).n] = 0;
}

/* ---- errors ---- */

static void add_fix(const struct http_endpoint *endpoint, int code, struct error *err) {
  if (code == 401 || code == 403)
    (void)error_fix(err, "Check the key: the variable named by embedder.key_env must hold a key that %.*s accepts.",
                    URL_SHOWN, endpoint->url);
  else if (code == 404 && endpoint->api == HTTP_OLLAMA)
    (void)error_fix(err, "Fetch the model (ollama pull %.*s), or check embedder.url and embedder.model.",
                    STR_ARG(endpoint->model));
  else if (code == 404)
    (void)error_fix(err, "Check embedder.url (it usually ends in /v1) and embedder.model (%.*s).",
                    STR_ARG(endpoint->model));
  else if (code >= 300 && code < 400)
    (void)error_fix(err, "Redirects are not followed, so the key and the text go only to the configured host. If "
                         "you trust the new address, set embedder.url to it.");
  else if (code == 429)
    (void)error_fix(err, "The endpoint limits the request rate: wait and try again, or check the account's quota.");
  else if (code >= 400 && code < 500)
    (void)error_fix(err, "Check that the endpoint supports embedder.model (%.*s) and embedder.dims.",
                    STR_ARG(endpoint->model));
  else
    (void)error_fix(err, "The endpoint failed: try again later. Until then search works by keyword.");
}

static enum status error_answer(const struct http_endpoint *endpoint, const struct http_reply *reply, int tries,
                                struct error *err) {
  char quote[HTTP_QUOTE_SIZE], often[32] = "", wait[48] = "";
  bool redirect = reply->code >= 300 && reply->code < 400;
  http_quote(redirect ? str_from(reply->detail) : http_reply_body(reply), endpoint->key, quote, sizeof(quote));
  if (tries > 1)
    snprintf(often, sizeof(often), ", %d times", tries);
  if (reply->retry_after_s)
    snprintf(wait, sizeof(wait), " (try again in %lld s)", (long long)reply->retry_after_s);
  error_set(err, STATUS_UNAVAILABLE, "the embedding endpoint %.*s answered with status %d%s%s%s%s", URL_SHOWN,
            endpoint->url, reply->code, often, wait,
            redirect   ? ", a redirect to "
            : quote[0] ? ": "
                       : "",
            quote);
  add_fix(endpoint, reply->code, err);
  return err->code;
}

enum status http_error(const struct http_endpoint *endpoint, const struct http_reply *reply, int tries,
                       struct error *err) {
  char quote[HTTP_QUOTE_SIZE];
  assert(tries > 0);
  http_quote(str_from(reply->detail), endpoint->key, quote, sizeof(quote));
  switch (reply->outcome) {
  case HTTP_ANSWERED:
    return error_never_ok(error_answer(endpoint, reply, tries, err));
  case HTTP_NO_ANSWER:
    error_set(err, STATUS_UNAVAILABLE, "the embedding endpoint %.*s did not answer (%d %s): %s", URL_SHOWN,
              endpoint->url, tries, tries == 1 ? "try" : "tries", quote);
    return error_fix(err,
                     endpoint->api == HTTP_OLLAMA
                         ? "Check that Ollama runs (ollama serve) and that embedder.url is its address. Until then "
                           "search works by keyword."
                         : "Check embedder.url and the network. Until then search works by keyword.");
  case HTTP_BROKEN:
    error_set(err, STATUS_UNAVAILABLE, "the embedding endpoint %.*s cannot be used: %s", URL_SHOWN, endpoint->url,
              quote);
    return error_fix(err, "Check embedder.url; an https address needs a certificate that this machine trusts.");
  case HTTP_TOO_LARGE:
    error_set(err, STATUS_UNAVAILABLE, "the embedding endpoint %.*s sent more than %zu bytes", URL_SHOWN, endpoint->url,
              reply->limit);
    return error_fix(err, "That is too large for embeddings: check embedder.url.");
  case HTTP_NO_MEMORY:
    break;
  }
  return error_set(err, STATUS_NOMEM, "out of memory");
}

enum status http_error_parse(const struct http_endpoint *endpoint, struct str body, struct error *err) {
  char why[ERROR_MESSAGE_MAX / 2], fix[ERROR_FIX_MAX], quote[HTTP_QUOTE_SIZE / 2];
  bool shown = str_starts(str_from(err->message), STR("not valid JSON"));
  http_quote(str_from(err->message), endpoint->key, why, sizeof(why));
  http_quote(body, endpoint->key, quote, sizeof(quote));
  snprintf(fix, sizeof(fix), "%s", err->fix);
  error_set(err, STATUS_UNAVAILABLE, "the embedding endpoint %.*s sent an unusable response: %s%s%s", URL_SHOWN,
            endpoint->url, why, shown ? ": " : "", shown ? quote : "");
  return error_fix(err, "%s", fix);
}
