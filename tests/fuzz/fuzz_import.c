/* fuzz_import.c: any bytes as input of the import parsers; accepted records are stable and within the gate's limits. */
#include "base/utf8.h"
#include "core/gate/gate.h"
#include "core/memory/headline.h"
#include "core/text/text.h"
#include "op/transfer/import.h"
#include "op/transfer/record.h"
#include "support/fuzz.h"

static void fuzz_record(struct arena *a, struct str line) {
  struct record r, again;
  struct error err;
  int64_t found = 0;
  if (record_read(a, line, &r, &err) != STATUS_OK) {
    FUZZ_CHECK(err.message[0] && err.fix[0]);
    return;
  }
  struct str once = record_write(a, &r);
  FUZZ_CHECK(record_read(a, once, &again, &err) == STATUS_OK && again.kind == r.kind);
  FUZZ_CHECK(str_eq(once, record_write(a, &again)));
  bool good = record_check(a, &r, &err) == STATUS_OK;
  FUZZ_CHECK(good || (err.message[0] && err.fix[0]));
  FUZZ_CHECK(good == (record_check(a, &again, &err) == STATUS_OK));
  FUZZ_CHECK(record_scrub(a, &r, NULL, true, &found, &err) == STATUS_OK);
  int64_t left = 0;
  FUZZ_CHECK(record_scrub(a, &r, NULL, false, &left, &err) == STATUS_OK && left == 0);
  FUZZ_CHECK(record_read(a, record_write(a, &r), &again, &err) == STATUS_OK);
}

static void fuzz_graph(struct arena *a, struct str line) {
  struct graph_line g;
  struct error err;
  if (graph_read(a, line, &g, &err) != STATUS_OK) {
    FUZZ_CHECK(err.message[0] && err.fix[0]);
    return;
  }
  FUZZ_CHECK(g.relation ? g.from.n && g.to.n : g.name.n > 0);
  for (size_t i = 0; i < g.observations.n; i++)
    FUZZ_CHECK(!str_empty(str_trim(g.observations.v[i])));
  struct str slug = graph_slug(a, g.type);
  FUZZ_CHECK(slug.n <= LABEL_BYTES && utf8_check(slug) == slug.n);
  FUZZ_CHECK(!str_starts(slug, STR("-")) && !str_ends(slug, STR("-")));
}

static void fuzz_markdown(struct arena *a, struct str text) {
  struct front_matter front;
  struct sections s = {0};
  if (utf8_check(text) != text.n || (text.n && memchr(text.p, 0, text.n)))
    return;
  markdown_front(a, text, &front);
  FUZZ_CHECK(front.end <= text.n);
  markdown_split(a, text, &front, &s);
  const char *last = text.p + front.end;
  size_t line = 1;
  for (size_t i = 0; i < s.n; i++) {
    const struct section *x = &s.v[i];
    FUZZ_CHECK(x->body.n > 0 && x->body.p >= last && x->body.p + x->body.n <= text.p + text.n);
    FUZZ_CHECK(x->line >= line && utf8_check(x->body) == x->body.n);
    FUZZ_CHECK(text_count_words(x->body) <= BODY_WORDS);
    FUZZ_CHECK(text_has_letter(x->headline) && text_count_words(x->headline) <= HEADLINE_WORDS);
    FUZZ_CHECK(x->headline.n <= HEADLINE_LIMIT_BYTES && utf8_check(x->headline) == x->headline.n);
    last = x->body.p + x->body.n;
    line = x->line;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str text = {(const char *)data, size};
  struct arena a;
  arena_init(&a);
  fuzz_record(&a, text);
  fuzz_graph(&a, text);
  fuzz_markdown(&a, text);
  arena_release(&a);
  return 0;
}
