/* test_redact_corpus.c: how much is found, and how much is touched that should not be: real-looking keys of many
 * vendors in the surroundings in which keys are lost, and texts that have nothing to hide. docs/security.md has the
 * figures. */
#include "base/fs.h"
#include "core/redact.h"
#include "support/harness.h"
#include "support/keys.h"

#define CORPUS CAIRN_SOURCE_DIR "/tests/data/secrets"

/* "%" stands for the key. No name in here tells that a secret follows: the key must be known by itself. */
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

/* The surroundings stay, the key goes. */
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

TEST(keys_of_every_vendor_are_found_in_every_surrounding) {
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

TEST(texts_without_secrets_are_not_touched) {
  struct arena a;
  arena_init(&a);
  struct str text = load(&a, CORPUS "/harmless.txt");
  size_t texts = 0, touched = 0;
  for (size_t at = 0; at < text.n;) {
    size_t end = str_find(text, STR("\n%%\n"), at);
    struct str one = str_slice(text, at, end == SIZE_MAX ? text.n : end);
    struct secret_hits hits;
    redact_find(&a, one, NULL, &hits);
    for (size_t i = 0; i < hits.n; i++)
      printf("%s: %.*s\n", hits.v[i].pattern, STR_ARG(one));
    touched += hits.n > 0;
    texts++;
    at = end == SIZE_MAX ? text.n : end + 4;
  }
  CHECK(texts >= 200);
  CHECK_INT(touched, 0);
  arena_release(&a);
}
