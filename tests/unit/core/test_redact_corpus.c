/* test_redact_corpus.c: detection rate and false positives of the secret scanner: realistic keys of many vendors in
 * typical contexts, and texts without secrets. docs/security.md has the figures. */
#include <sodium.h>
#include <unistd.h>

#include "base/json.h"
#include "base/os/fs.h"
#include "core/secrets/redact.h"
#include "support/harness.h"
#include "support/keys.h"

#define CORPUS CAIRN_SOURCE_DIR "/tests/data/secrets"

/* "%" is replaced by the key. No name indicates a secret: the format of the key must suffice. */
static const char *const surroundings[] = {
    "export SERVICE_VALUE=%\n",
    "{\"user\": \"deploy\", \"value\": \"%\", \"retries\": 3}",
    "{\\\"user\\\": \\\"deploy\\\", \\\"value\\\": \\\"%\\\"}",
    "GET https://api.internal/v1/items?page=2&value=%&sort=asc",
    "Yesterday the build used %, and nobody noticed.",
    "client = Client(\"%\", timeout=30)",
    "./deploy.sh --region eu-west-1 --value % --verbose",
    "service:\n  name: api\n  value: %\n  replicas: 2\n",
    "2026-02-05T10:00:00Z INFO request value=% status=200",
    "| production | `%` | 2026-02-05 |",
    "-  value: '%'\n+  value: ''",
    "Das war %。",
};

enum { SEEDS = 20 };

static struct str load(struct arena *a, const char *name) {
  struct str text;
  struct error err;
  CHECK_OK(fs_read(a, name, 1 << 22, &text, &err), &err);
  return text;
}

/* The key is redacted and the text around it is unchanged. */
static void check_key(struct arena *a, const char *around, struct str before, struct str key) {
  struct str rest = str_from(around), left, right;
  CHECK(str_next(&rest, '%', &left));
  right = rest;
  struct str text = arena_printf(a, "%.*s%.*s%.*s%.*s", STR_ARG(left), STR_ARG(before), STR_ARG(key), STR_ARG(right));
  struct str head = arena_printf(a, "%.*s%.*s[REDACTED:", STR_ARG(left), STR_ARG(before));
  struct str tail = arena_printf(a, "]%.*s", STR_ARG(right));
  struct secret_hits hits;
  redact_find(a, text, NULL, &hits);
  struct str clean = redact_apply(a, text, &hits);
  if (hits.n != 1 || !str_starts(clean, head) || !str_ends(clean, tail))
    FAIL("%zu hits in: %.*s\nbecame: %.*s", hits.n, STR_ARG(text), STR_ARG(clean));
}

TEST(keys_of_every_vendor_are_found_in_every_context) {
  struct arena all, a;
  arena_init(&all);
  struct str rest = load(&all, CORPUS "/keys.tsv"), line, pattern, before;
  size_t keys = 0, vendors = 0;
  struct str last = STR_NONE;
  while (str_line(&rest, &line)) {
    CHECK(str_next(&line, '\t', &pattern) && str_next(&line, '\t', &before));
    const char *template = arena_cstr(&all, line);
    vendors += !str_eq(pattern, last);
    last = pattern;
    keys++;
    for (uint32_t seed = 1; seed <= SEEDS; seed++)
      for (size_t i = 0; i < ARRAY_LEN(surroundings); i++) {
        arena_init(&a);
        test_note("%s", template);
        check_key(&a, surroundings[i], before, key_make(&a, template, seed));
        arena_release(&a);
      }
  }
  CHECK(keys >= 100 && vendors >= 30);
  arena_release(&all);
}

/* Number of the texts, separated by %%, in which something is redacted. */
static size_t count_touched(struct arena *a, const struct redactor *what, struct str text, size_t least) {
  size_t texts = 0, touched = 0;
  for (size_t at = 0; at < text.n;) {
    size_t end = str_find(text, STR("\n%%\n"), at);
    struct str one = str_slice(text, at, end == SIZE_MAX ? text.n : end);
    struct secret_hits hits;
    redact_find(a, one, what, &hits);
    for (size_t i = 0; i < hits.n; i++)
      printf("%s: %.*s\n", hits.v[i].pattern, STR_ARG(one));
    touched += hits.n > 0;
    texts++;
    at = end == SIZE_MAX ? text.n : end + 4;
  }
  printf("  %zu of %zu texts redacted\n", touched, texts);
  CHECK(texts >= least);
  return touched;
}

/* Also when scanned for vault values. */
TEST(texts_without_secrets_are_not_redacted) {
  enum { KNOWN = 200 };
  struct arena a;
  arena_init(&a);
  struct strs known = {0};
  for (uint32_t seed = 0; seed < KNOWN; seed++)
    strs_push(&a, &known, key_make(&a, seed % 2 ? "<a8>" : "<a24>", 1000 + seed));
  CHECK_INT(count_touched(&a, redactor_new(&a, &known), load(&a, CORPUS "/harmless.txt"), 200), 0);
  arena_release(&a);
}

/* ---- sets by another author ----
 *
 * `open` was known while the finders were written, `apart` was not. */

static bool is_removed(struct arena *a, yyjson_val *v) {
  struct secret_hits hits;
  struct str text = json_str(v, "text");
  redact_find(a, text, NULL, &hits);
  text = redact_apply(a, text, &hits);
  size_t i, n;
  yyjson_val *part;
  yyjson_arr_foreach(yyjson_obj_get(v, "secret"), i, n, part) {
    if (str_find(text, json_val_str(part), 0) != SIZE_MAX)
      return false;
  }
  return true;
}

/* Share of the secrets of a form that are removed. */
static double removed_share(struct arena *a, const char *set, const char *form) {
  struct str rest = load(a, arena_printf(a, CORPUS "/%s", set).p), line;
  int n = 0, removed = 0;
  while (str_line(&rest, &line)) {
    yyjson_val *v;
    struct error err;
    CHECK_OK(json_read(a, line, &v, &err), &err);
    if (!str_is(json_str(v, "form"), form))
      continue;
    bool ok = is_removed(a, v);
    if (!ok)
      printf("  missed (%.*s)\n", STR_ARG(json_str(v, "kind")));
    n++;
    removed += ok;
  }
  printf("  %s, %s: %d of %d found\n", set, form, removed, n);
  CHECK(n >= 40);
  return (double)removed / n;
}

TEST(secrets_by_another_author_are_found) {
  static const char *const sets[] = {"open.jsonl", "apart.jsonl"};
  struct arena a;
  arena_init(&a);
  for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
    CHECK(removed_share(&a, sets[i], "plain") >= 0.9);
    CHECK(removed_share(&a, sets[i], "obfuscated") >= 0.6);
  }
  arena_release(&a);
}

TEST(texts_by_another_author_are_not_redacted) {
  struct arena a;
  arena_init(&a);
  CHECK_INT(count_touched(&a, NULL, load(&a, CORPUS "/harmless-open.txt"), 100), 0);
  CHECK_INT(count_touched(&a, NULL, load(&a, CORPUS "/harmless-apart.txt"), 100), 0);
  arena_release(&a);
}

/* ---- values in two encodings ---- */

static struct str in_url(struct arena *a, struct str s) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < s.n; i++)
    if (ascii_alnum(s.p[i]))
      buf_addc(&b, s.p[i]);
    else
      buf_addf(&b, "%%%02X", (unsigned char)s.p[i]);
  return buf_str(&b);
}

static struct str in_json(struct arena *a, struct str s) {
  struct buf b = BUF(a);
  for (size_t i = 0; i < s.n; i++)
    if (strchr("\"\\/", s.p[i]))
      buf_addf(&b, "\\%c", s.p[i]);
    else if (s.p[i] == '&')
      buf_adds(&b, "\\u0026");
    else
      buf_addc(&b, s.p[i]);
  return buf_str(&b);
}

static struct str in_hex(struct arena *a, struct str s) {
  char *out = arena_alloc(a, 2 * s.n + 1);
  sodium_bin2hex(out, 2 * s.n + 1, (const uint8_t *)s.p, s.n);
  return str_from(out);
}

static struct str in_base64_as(struct arena *a, struct str s, int variant) {
  size_t n = sodium_base64_encoded_len(s.n, variant);
  char *out = arena_alloc(a, n);
  return str_from(sodium_bin2base64(out, n, (const uint8_t *)s.p, s.n, variant));
}

static struct str in_base64(struct arena *a, struct str s) {
  return in_base64_as(a, s, sodium_base64_VARIANT_ORIGINAL);
}

static struct str in_base64url(struct arena *a, struct str s) {
  return in_base64_as(a, s, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

TEST(values_in_any_two_encodings_are_found_and_nothing_else_is_redacted) {
  static struct str (*const wrap[])(struct arena *a, struct str s) = {in_url, in_json, in_hex, in_base64, in_base64url};
  static const char *const forms[] = {"<a8>", "<a3>/<a4>&<a9>", "\"<a12>\\<a3>", "<a31>+ <a17>"};
  struct arena a;
  arena_init(&a);
  for (size_t i = 0; i < ARRAY_LEN(wrap) * ARRAY_LEN(wrap) * ARRAY_LEN(forms) * SEEDS; i++) {
    struct str value = key_make(&a, forms[i / SEEDS % ARRAY_LEN(forms)], (uint32_t)(i % SEEDS + 1));
    size_t pair = i / SEEDS / ARRAY_LEN(forms);
    struct str text = wrap[pair / ARRAY_LEN(wrap)](&a, wrap[pair % ARRAY_LEN(wrap)](&a, value));
    struct strs known = {&value, 1, 1};
    struct secret_hits hits;
    text = arena_printf(&a, "They noted (%.*s), and 100%% of it\nis \\n true.", STR_ARG(text));
    redact_find(&a, text, redactor_new(&a, &known), &hits);
    test_note("pair %zu of %.*s: %.*s", pair, STR_ARG(value), STR_ARG(text));
    CHECK_STR(redact_apply(&a, text, &hits), "They noted ([REDACTED:vault_secret]), and 100% of it\nis \\n true.");
    arena_release(&a);
  }
}
