/* test_contradictions.c: recall and precision of contradictions, measured through the regular write path with the
 * built-in embedder.
 *
 * tests/data/contradictions has pairs of texts: kind, label, first, second. The first is stored, then the second, in a
 * project of its own. Labels: `contradiction`; `same` (the same in other words); `compatible` (both hold). The
 * model was trained with open.tsv, among others. apart.tsv was written by somebody else, before the training, and not
 * used for it. docs/quality.md has the figures. */
#include "base/os/fs.h"
#include "support/cli.h"

#define FOLDER CAIRN_SOURCE_DIR "/tests/data/contradictions/"

struct pair {
  struct str kind, label, text[2];
};
struct pairs {
  struct pair *v;
  size_t n, cap;
};

static struct arena arena;

static struct pairs read_pairs(const char *file) {
  struct pairs list = {0};
  struct str text, line;
  struct error err;
  CHECK_OK(fs_read(&arena, textf(FOLDER "%s", file), 1 << 20, &text, &err), &err);
  while (str_line(&text, &line)) {
    struct pair p;
    CHECK(str_next(&line, '\t', &p.kind) && str_next(&line, '\t', &p.label) && str_next(&line, '\t', &p.text[0]) &&
          str_next(&line, '\t', &p.text[1]));
    list_push(&arena, &list, p);
  }
  return list;
}

enum { BATCH = 40 }; /* pairs per call: a call has a time limit */

static struct str batch_of(const struct pairs *pairs, size_t from) {
  struct buf b = BUF(&arena);
  for (size_t i = from; i < pairs->n && i < from + BATCH; i++)
    for (int k = 0; k < 2; k++) {
      yyjson_mut_doc *doc = json_new(&arena);
      yyjson_mut_val *o = yyjson_mut_obj(doc);
      json_put(doc, o, "project", arena_printf(&arena, "p%zu", i));
      json_put(doc, o, "text", pairs->v[i].text[k]);
      buf_add(&b, json_write(&arena, o, false));
      buf_addc(&b, '\n');
    }
  return buf_str(&b);
}

static bool has_contradiction(yyjson_val *result) { return warning(result, "contradiction"); }

struct score {
  size_t right, missed, wrong, lost;
};

static struct score measure(const char *file) {
  struct pairs pairs = read_pairs(file);
  struct str out = {0}, line;
  struct score s = {0};
  for (size_t i = 0; i < pairs.n; i++) {
    if (i % BATCH == 0)
      out = CAIRN_FED(batch_of(&pairs, i), "remember", "--batch", "-", "--json").out;
    const struct pair *p = &pairs.v[i];
    yyjson_val *second;
    struct error err;
    CHECK(str_line(&out, &line) && str_line(&out, &line));
    CHECK_OK(json_read(&arena, line, &second, &err), &err);
    bool found = has_contradiction(second), is = str_is(p->label, "contradiction");
    bool lost = !str_is(jstr(second, "action"), "stored") && !str_is(p->label, "same");
    if (found != is || lost)
      printf("  %s: %.*s | %.*s\n", lost ? "lost" : is ? "missed" : "wrong", STR_ARG(p->text[0]), STR_ARG(p->text[1]));
    s.right += found && is;
    s.missed += !found && is;
    s.wrong += found && !is;
    s.lost += lost;
  }
  printf("  %s: %zu pairs, recall %.3f, precision %.3f\n", file, pairs.n,
         (double)s.right / (double)(s.right + s.missed), (double)s.right / (double)(s.right + s.wrong));
  CHECK(pairs.n >= 100);
  return s;
}

/* Bounds in percent. */
static void check_bounds(const char *file, size_t recall, size_t precision) {
  if (!cli_use_built_in())
    return;
  struct score s = measure(file);
  CHECK_INT(s.lost, 0);
  CHECK(s.right * 100 >= (s.right + s.missed) * recall);
  CHECK(s.right * 100 >= (s.right + s.wrong) * precision);
}

TEST(contradictions_of_the_training, .seconds = 120, .slow = true) { check_bounds("open.tsv", 95, 95); }

TEST(contradictions_kept_apart, .seconds = 120, .slow = true) { check_bounds("apart.tsv", 85, 90); }

TEST(contradictions_in_plain_sentences, .seconds = 60) {
  static const struct {
    const char *first, *second;
    bool contradicts;
  } v[] = {
      {"Marta leads the payments team", "Jonas leads the payments team", true},
      {"We use yarn", "We use pnpm", true},
      {"CI runs on GitHub Actions", "CI runs on Jenkins", true},
      {"The shop uses MySQL", "The shop moved to PostgreSQL", true},
      {"The demo is on Tuesday", "The demo is on Thursday", true},
      {"The user prefers dark mode", "The user prefers light mode", true},
      {"The database lives in eu-west-1", "The database moved to us-east-1", true},
      {"The request times out after 30 seconds", "The request has a timeout of 30 seconds", false},
      {"The exporter supports CSV", "The exporter supports Parquet", false},
  };
  if (!cli_use_built_in())
    return;
  for (size_t i = 0; i < ARRAY_LEN(v); i++) {
    const char *project = textf("p%zu", i);
    test_note("%s | %s", v[i].first, v[i].second);
    OK("remember", "--project", project, v[i].first);
    CHECK_INT(has_contradiction(OK("remember", "--project", project, v[i].second)), v[i].contradicts);
  }
}
