/* bench_scrub.c: the cost of redacting secrets from a reply: ten results of a search, as `cairn search` shows them,
 * with no, 20 and 1,000 secrets in the vault.
 *
 * Usage: bench_scrub */
#include "core/secrets/redact.h"
#include "support/corpus.h"
#include "support/measure.h"

enum { RESULTS = 10, ROUNDS = 2000 };

/* The strings of the reply. */
static void make_reply(struct arena *a, struct strs *ret) {
  struct corpus c = corpus_start(7);
  for (int i = 0; i < RESULTS; i++) {
    struct str text = corpus_text(&c, a);
    strs_push(a, ret, arena_printf(a, "018f3c2a-7b1e-7%03d-9c4d-5e6f7a8b9c0d", 100 + i));
    strs_push(a, ret, arena_dup(a, (struct str){text.p, text.n < 80 ? text.n : 80}));
    strs_push(a, ret, arena_printf(a, "%.*s %.*s", STR_ARG(text), STR_ARG(corpus_text(&c, a))));
    strs_push(a, ret, STR("2026-02-05T10:00:00.000Z"));
    strs_push(a, ret, STR("2026-02-05T10:00:00.000Z"));
    strs_push(a, ret, STR("memory/demo"));
  }
}

static void measure(const struct strs *reply, size_t values, struct arena *a) {
  static struct samples times, builds;
  struct strs known = {0};
  char name[100];
  for (size_t i = 0; i < values; i++)
    strs_push(a, &known, arena_printf(a, "xK8#mq2Lw9zR-%zu-%zx", i * 7919, i * 104729));
  times.n = builds.n = 0;
  for (int round = 0; round < ROUNDS; round++) {
    struct arena scratch;
    arena_init(&scratch);
    double began = work_us();
    const struct redactor *what = redactor_new(&scratch, &known);
    double built = work_us();
    for (size_t i = 0; i < reply->n; i++) {
      struct secret_hits hits;
      redact_find(&scratch, reply->v[i], what, &hits);
      if (hits.n)
        fail("a secret in made-up text");
    }
    samples_add(&times, work_us() - built);
    samples_add(&builds, built - began);
    arena_release(&scratch);
  }
  snprintf(name, sizeof(name), "scrub ten results, %zu secrets", values);
  report(name, &times, "us", "< 60");
  snprintf(name, sizeof(name), "make ready for %zu secrets", values);
  report(name, &builds, "us", "");
}

int main(void) {
  struct arena a;
  arena_init(&a);
  struct strs reply = {0};
  make_reply(&a, &reply);
  size_t bytes = 0;
  for (size_t i = 0; i < reply.n; i++)
    bytes += reply.v[i].n;
  report_text("texts of the reply", "%zu bytes in %zu texts", bytes, reply.n);
  measure(&reply, 0, &a);
  measure(&reply, 20, &a);
  measure(&reply, 1000, &a);
  arena_release(&a);
  return 0;
}
