/* test_differ.c: difference check: contradictions are found, restatements are not. */
#include "base/buf.h"
#include "core/gate/differ.h"
#include "core/gate/differ_value.h"
#include "support/harness.h"

struct sample {
  enum differ want;
  const char *a, *b;
};

/* Checks both directions: the kind must not depend on which text was stored first. */
static void check_all(const struct sample *samples, size_t n) {
  int wrong = 0;
  for (size_t i = 0; i < n; i++) {
    struct arena arena;
    arena_init(&arena);
    struct str a = str_from(samples[i].a), b = str_from(samples[i].b);
    struct difference there = differ_check(&arena, a, b), back = differ_check(&arena, b, a);
    if (there.what != samples[i].want || back.what != samples[i].want) {
      fprintf(stderr, "want %s, got %s and back %s (\"%.*s\" / \"%.*s\")\n  %s\n  %s\n", differ_name(samples[i].want),
              differ_name(there.what), differ_name(back.what), STR_ARG(there.a), STR_ARG(there.b), samples[i].a,
              samples[i].b);
      wrong++;
    }
    arena_release(&arena);
  }
  CHECK_INT(wrong, 0);
}

TEST(numbers) {
  static const struct sample samples[] = {
      {DIFFER_NUMBER, "the limit is 5", "the limit is 50"},
      {DIFFER_NUMBER, "Retry five times before giving up", "Retry six times before giving up"},
      {DIFFER_NUMBER, "The timeout is 5 seconds", "The timeout is 5 minutes"},
      {DIFFER_NUMBER, "Keep 30 days of logs", "Keep 90 days of logs"},
      {DIFFER_NUMBER, "The upload limit is 10MB", "The upload limit is 25MB"},
      {DIFFER_NUMBER, "Requests are limited to 100 per minute", "The limit is 1,000 requests per minute"},
      {DIFFER_NUMBER, "The service listens on port 8080", "The service listens on port 8081"},
      {DIFFER_NUMBER, "Coverage must stay above 80%", "Coverage must stay above 90 %"},
      {DIFFER_NUMBER, "The pool has twenty connections", "The pool has twenty-five connections"},
      {DIFFER_NUMBER, "Set the offset to -5", "Set the offset to 5"},
      {DIFFER_NUMBER, "The budget is $20 a day", "The budget is $200 a day"},
      {DIFFER_NUMBER, "Lower the pool size from 20 to 10", "Lower the pool size from 10 to 20"},
      {DIFFER_NUMBER, "The learning rate is 0.0001", "The learning rate is 0.0002"},
      {DIFFER_NUMBER, "The quota is 1.5 TB", "The quota is 1.6 TB"},
      {DIFFER_NUMBER, "The cluster has a replica", "The cluster has three replicas"},
  };
  check_all(samples, ARRAY_LEN(samples));
}

TEST(dates_and_versions) {
  static const struct sample samples[] = {
      {DIFFER_DATE, "The freeze starts on March 3", "The freeze starts on March 4"},
      {DIFFER_DATE, "The freeze starts on 2026-03-03", "The freeze starts on 2026-03-10"},
      {DIFFER_DATE, "The freeze starts on 3 March 2026", "The freeze starts on 2026-04-03"},
      {DIFFER_DATE, "Releases go out on Tuesdays", "Releases go out on Thursdays"},
      {DIFFER_DATE, "The backup runs at 02:30", "The backup runs at 03:30"},
      {DIFFER_DATE, "Support ends in 2026", "Support ends in 2027"},
      {DIFFER_DATE, "Support ends at the end of March", "Support ends at the end of May"},
      {DIFFER_DATE, "The freeze lasts until May", "The freeze lasts until June"},
      {DIFFER_VERSION, "We run Postgres 15", "We run Postgres 17"},
      {DIFFER_VERSION, "The client needs v1.2", "The client needs v1.3"},
      {DIFFER_VERSION, "Pin libfoo to 1.2.3", "Pin libfoo to 1.2.4"},
      {DIFFER_VERSION, "CI uses Python 3.11", "CI uses Python 3.12"},
  };
  check_all(samples, ARRAY_LEN(samples));
}

TEST(names) {
  static const struct sample samples[] = {
      {DIFFER_NAME, "Sessions are cached in Redis", "Sessions are cached in Memcached"},
      {DIFFER_NAME, "we use npm for the web client", "we use yarn for the web client"},
      {DIFFER_NAME, "alice owns the billing service", "bob owns the billing service"},
      {DIFFER_NAME, "Settings live in config.yaml", "Settings live in settings.toml"},
      {DIFFER_NAME, "Deploy to us-east-1", "Deploy to us-east-2"},
      {DIFFER_NAME, "The primary is db1.example.com", "The primary is db2.example.com"},
      {DIFFER_NAME, "Call `flush_all` before exit", "Call `flush_log` before exit"},
      {DIFFER_NAME, "The man plays a guitar", "The man plays a piano"},
      {DIFFER_NAME, "The parser is written in C++", "The parser is written in C#"},
      {DIFFER_NAME, "The account is 12345678901234567", "The account is 12345678901234568"},
      {DIFFER_NAME, "Use Postgres, MySQL is deprecated", "Use MySQL, Postgres is deprecated"},
      {DIFFER_NAME, "It works on Linux but not on macOS", "It works on macOS but not on Linux"},
      {DIFFER_NAME, "Use tabs instead of spaces", "Use spaces instead of tabs"},
      {DIFFER_NAME, "Deploy staging before production", "Deploy production before staging"},
  };
  check_all(samples, ARRAY_LEN(samples));
}

TEST(negations) {
  static const struct sample samples[] = {
      {DIFFER_NEGATION, "we use npm", "we do not use npm"},
      {DIFFER_NEGATION, "restarting fixes it", "restarting does not fix it"},
      {DIFFER_NEGATION, "The cache is invalidated on deploy", "The cache isn't invalidated on deploy"},
      {DIFFER_NEGATION, "Commit generated files", "Never commit generated files"},
      {DIFFER_NEGATION, "Run the migrations with downtime", "Run the migrations without downtime"},
      {DIFFER_NEGATION, "Use mocks in integration tests", "Stop using mocks in integration tests"},
      {DIFFER_NEGATION, "Use global variables", "Avoid global variables"},
      {DIFFER_NEGATION, "There is a staging server", "There is no staging server"},
      {DIFFER_NEGATION, "The job can run twice", "The job cannot run twice"},
      {DIFFER_NEGATION, "Merge when CI is green", "Don\xe2\x80\x99t merge when CI is green"},
      {DIFFER_NEGATION, "We use npm", "We no longer use npm. The web client moved to another tool."},
      {DIFFER_NEGATION, "It is not true that we never squash commits", "It is true that we never squash commits"},
  };
  check_all(samples, ARRAY_LEN(samples));
}

TEST(opposites) {
  static const struct sample samples[] = {
      {DIFFER_ANTONYM, "deploy on Fridays is allowed", "deploy on Fridays is forbidden"},
      {DIFFER_ANTONYM, "Feature flags are enabled by default", "Feature flags are disabled by default"},
      {DIFFER_ANTONYM, "Run the linter before the tests", "Run the linter after the tests"},
      {DIFFER_ANTONYM, "Always rebase feature branches", "Never rebase feature branches"},
      {DIFFER_ANTONYM, "Keep strict mode on", "Keep strict mode off"},
      {DIFFER_ANTONYM, "Set debug to true", "Set debug to false"},
      {DIFFER_ANTONYM, "Increase the heap size in production", "Decrease the heap size in production"},
      {DIFFER_ANTONYM, "Indent with tabs", "Indent with spaces"},
      {DIFFER_ANTONYM, "Scale the workers up at night", "Scale the workers down at night"},
      {DIFFER_ANTONYM, "The new parser is stable", "The new parser is unstable"},
      {DIFFER_ANTONYM, "The API is public", "The API is private"},
      {DIFFER_ANTONYM, "Increase the timeout", "The timeout should be decreased"},
      {DIFFER_ANTONYM, "Merging needs tests and a review", "Merging needs tests or a review"},
      {DIFFER_ANTONYM, "The user likes much detail", "The user likes little detail"},
      {DIFFER_ANTONYM, "If in doubt, delete the branch", "If in doubt, keep the branch"},
  };
  check_all(samples, ARRAY_LEN(samples));
}

TEST(restatements_do_not_differ) {
  static const struct sample samples[] = {
      {DIFFER_NONE, "The limit is 5", "the limit is five."},
      {DIFFER_NONE, "The limit is 1,000 requests", "The limit is 1000 requests"},
      {DIFFER_NONE, "The timeout is 2 minutes", "The timeout is 120 seconds"},
      {DIFFER_NONE, "There is a 30 second timeout", "There is a timeout of 30 seconds"},
      {DIFFER_NONE, "The job runs at 5pm", "The job runs at 17:00"},
      {DIFFER_NONE, "Send at most 5 requests", "Send no more than 5 requests"},
      {DIFFER_NONE, "The cache lives for 24h", "The cache lives for 1 day"},
      {DIFFER_NONE, "Wait 5ms between polls", "Wait 5 milliseconds between polls"},
      {DIFFER_NONE, "The freeze starts on March 3, 2026", "The freeze starts on 2026-03-03"},
      {DIFFER_NONE, "The client needs v1.2", "The client needs 1.2"},
      {DIFFER_NONE, "Guests may read reports", "Guests can read reports"},
      {DIFFER_NONE, "Never force-push to main", "Do not force push to main."},
      {DIFFER_NONE, "Avoid global variables", "Do not use global variables"},
      {DIFFER_NONE, "Deploying on Fridays is forbidden", "Deploying on Fridays is not allowed"},
      {DIFFER_NONE, "It isn't stable", "It is unstable"},
      {DIFFER_NONE, "If the tests pass, deploy", "Deploy if the tests pass"},
      {DIFFER_NONE, "In production we use Redis", "We use Redis in production"},
      {DIFFER_NONE, "Redis and Postgres run in Docker", "Postgres and Redis run in Docker"},
      {DIFFER_NONE, "The repo uses tabs", "The repository uses tabs"},
      {DIFFER_NONE, "The U.S. region is the default", "The US region is the default"},
      {DIFFER_NONE, "The tests live in src/core/test.c", "The tests live in test.c"},
      {DIFFER_NONE, "RUN THE LINTER FIRST", "run the linter first"},
      {DIFFER_NONE, "We're using the `npm` client", "we are using the npm client"},
      {DIFFER_NONE, "Organise imports by colour", "Organize imports by color"},
      {DIFFER_NONE, "The web site is slow", "The website is slow"},
      {DIFFER_NONE, "The deployment failed", "The deploy failed"},
      {DIFFER_NONE, "", "anything at all"},
      {DIFFER_NONE, "", ""},
      {DIFFER_NONE, "...", "?!"},
  };
  check_all(samples, ARRAY_LEN(samples));
}

TEST(longer_texts_do_not_differ) {
  static const struct sample samples[] = {
      {DIFFER_NONE, "The limit is 5", "The limit is 5 requests per second. The burst size is 20."},
      {DIFFER_NONE, "We use npm", "We use npm for the web client because 3 of its tools are not on other registries."},
      {DIFFER_NONE, "Sessions are cached in Redis", "Sessions are cached in Redis, with a fallback to Memcached"},
      {DIFFER_NONE, "We run Postgres 15", "We run Postgres 15.4 on db1.example.com since March 2026"},
      {DIFFER_NONE, "Restarting fixes it", "Restarting the worker fixes it. Do not delete the queue."},
      {DIFFER_NONE, "Deploy on Fridays is allowed",
       "Deploy on Fridays is allowed before noon but never after a failed build"},
  };
  check_all(samples, ARRAY_LEN(samples));
}

TEST(pieces_are_slices_of_the_inputs) {
  struct arena arena;
  arena_init(&arena);
  struct str a = STR("The upload limit is 10 MB today"), b = STR("The upload limit is 25 MB today");
  struct difference d = differ_check(&arena, b, a);
  CHECK_INT(d.what, DIFFER_NUMBER);
  CHECK_STR(d.a, "25 MB");
  CHECK_STR(d.b, "10 MB");
  CHECK(d.a.p > b.p && d.a.p + d.a.n < b.p + b.n);
  CHECK(d.b.p > a.p && d.b.p + d.b.n < a.p + a.n);
  d = differ_check(&arena, STR("same text"), STR("same text"));
  CHECK_INT(d.what, DIFFER_NONE);
  CHECK(d.a.p == NULL && d.b.p == NULL);
  arena_release(&arena);
}

/* A change far beyond the first alignment window is found, in both directions, within the time limit. */
TEST(long_texts) {
  struct arena arena;
  arena_init(&arena);
  struct buf a = BUF(&arena), b = BUF(&arena);
  for (int i = 0; i < 3000; i++) {
    buf_addf(&a, "word%d ", i);
    buf_addf(&b, "word%d %s", i, i % 700 == 5 ? "indeed " : "");
  }
  CHECK_INT(differ_check(&arena, buf_str(&a), buf_str(&b)).what, DIFFER_NONE);
  buf_adds(&a, "is enabled and more follows here");
  buf_adds(&b, "is disabled and something else follows here");
  CHECK_INT(differ_check(&arena, buf_str(&a), buf_str(&b)).what, DIFFER_ANTONYM);
  CHECK_INT(differ_check(&arena, buf_str(&b), buf_str(&a)).what, DIFFER_ANTONYM);
  arena_release(&arena);
}

/* Megabyte texts in a different order, or without a common word, take linear time and memory. */
TEST(hostile_texts_take_linear_time, .slow = true) {
  struct arena arena;
  arena_init(&arena);
  struct buf xy = BUF(&arena), yx = BUF(&arena), p = BUF(&arena), q = BUF(&arena), many = BUF(&arena);
  for (int i = 0; i < 100000; i++) {
    buf_adds(&xy, i < 50000 ? "alpha " : "omega ");
    buf_adds(&yx, i < 50000 ? "omega " : "alpha ");
    buf_addf(&p, "p%d ", i);
    buf_addf(&q, "q%d ", i);
    buf_adds(&many, "billion ");
  }
  differ_check(&arena, buf_str(&xy), buf_str(&yx));
  differ_check(&arena, buf_str(&p), buf_str(&q));
  differ_check(&arena, buf_str(&p), buf_str(&xy));
  differ_check(&arena, buf_str(&many), buf_str(&xy));
  CHECK(arena.used < (size_t)1 << 30);
  arena_release(&arena);
}

TEST(names_of_kinds) {
  CHECK_STR(str_from(differ_name(DIFFER_NONE)), "none");
  CHECK_STR(str_from(differ_name(DIFFER_NUMBER)), "number");
  CHECK_STR(str_from(differ_name(DIFFER_ANTONYM)), "antonym");
}

static enum differ replacement(const char *x, const char *y) {
  struct arena arena;
  arena_init(&arena);
  struct difference d = differ_replacement(&arena, str_from(x), str_from(y));
  struct difference back = differ_replacement(&arena, str_from(y), str_from(x));
  test_note("%s | %s: %s '%.*s', '%.*s'", x, y, differ_name(d.what), STR_ARG(d.a), STR_ARG(d.b));
  CHECK_INT(d.what, back.what);
  CHECK_STR(d.a, arena_cstr(&arena, back.b));
  arena_release(&arena);
  return d.what;
}

TEST(a_replaced_value_in_an_equal_sentence) {
  CHECK_INT(replacement("We use yarn", "We use pnpm"), DIFFER_NAME);
  CHECK_INT(replacement("CI runs on GitHub Actions", "CI runs on Jenkins."), DIFFER_NAME);
  CHECK_INT(replacement("The review is on Tuesday", "The review is on Thursday"), DIFFER_DATE);
  CHECK_INT(replacement("The user prefers the dark theme", "The user prefers the light theme"), DIFFER_NAME);
  CHECK_INT(replacement("The limit is 5", "The limit is 50"), DIFFER_NUMBER);
  CHECK_INT(replacement("The limit is 5", "The limit is 5"), DIFFER_NONE);
  CHECK_INT(replacement("The exporter supports CSV", "The exporter supports Parquet"), DIFFER_NONE);
  CHECK_INT(replacement("Port 80 is open", "Port 443 is open"), DIFFER_NONE);
  CHECK_INT(replacement("Ana prefers Vim", "Ben prefers Vim"), DIFFER_NONE);
  CHECK_INT(replacement("The NAS is nearly full", "The NAS is online"), DIFFER_NONE);
  CHECK_INT(replacement("The vase is worth 400 euros", "The vase is insured for 600 euros"), DIFFER_NONE);
  CHECK_INT(replacement("", ""), DIFFER_NONE);
  CHECK_INT(replacement("use", "use x"), DIFFER_NONE);
}
