/* test_completion.c: completion candidates at the cursor. */
#include "cli/help.h"

#include "support/harness.h"

/* Lives as long as the test. */
static struct arena a;

/* The candidates, one per line, without explanations. */
static struct str offered(const char *const *words) {
  struct buf b = BUF(&a), out = BUF(&a);
  int n = 0;
  while (words[n])
    n++;
  completion_words(&b, n, words);
  struct str text = buf_str(&b), line;
  while (str_line(&text, &line)) {
    struct str word;
    CHECK(str_next(&line, '\t', &word));
    buf_addf(&out, "%.*s ", STR_ARG(word));
  }
  return buf_str(&out);
}
#define OFFERED(...) offered((const char *const[]){__VA_ARGS__, NULL})

TEST(commands) {
  CHECK_STR(OFFERED("rem"), "remember ");
  CHECK_STR(OFFERED("task", "u"), "unblock ");
  CHECK_STR(OFFERED("task", "b"), "block ");
  CHECK_STR(OFFERED("tas"), "task "); /* a family, once */
  CHECK_STR(OFFERED("--db", "x", "--json", "rem"), "remember ");
  CHECK_STR(OFFERED("help", "task", "ad"), "add ");
  CHECK_STR(OFFERED("nonsense", "x"), "");
}

TEST(options) {
  CHECK_STR(OFFERED("remember", "--headl"), "--headline ");
  CHECK_STR(OFFERED("get", "--headl"), "");
  CHECK_STR(OFFERED("get", "--js"), "--json ");
  CHECK_STR(OFFERED("remember", "--", "--js"), "");
  CHECK_STR(OFFERED("help", "--al"), "--all --all-projects ");
  CHECK_STR(OFFERED("version", "--al"), "--all-projects ");
}

TEST(values) {
  CHECK_STR(OFFERED("remember", "--severity", ""), "blocker pattern ");
  CHECK_STR(OFFERED("remember", "--severity", "=", "b"), "blocker "); /* as bash splits it */
  CHECK_STR(OFFERED("remember", "--severity", "="), "blocker pattern ");
  CHECK_STR(OFFERED("remember", "--severity=b"), "--severity=blocker ");
  CHECK_STR(OFFERED("rate", "12", ""), "up down ");
  CHECK_STR(OFFERED("rate", ""), "");
  CHECK_STR(OFFERED("--db", ""), ":files ");
  CHECK_STR(OFFERED("import", ""), ":files ");
  CHECK_STR(OFFERED("remember", "--headline", ""), "");
  CHECK_STR(OFFERED("completion", ""), "bash zsh fish ");
}

TEST(no_words_at_all) {
  struct buf b = BUF(&a);
  completion_words(&b, 0, (const char *const[]){NULL});
  CHECK(str_find(buf_str(&b), STR("remember\t"), 0) != SIZE_MAX);
}
