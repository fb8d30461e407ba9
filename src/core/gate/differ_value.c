/* differ_value.c: comparison of two numbers, dates, versions or names. */
#include "core/gate/differ_value.h"

static bool is_after_name(const struct tokens *ts, const struct token *t) {
  const struct token *before = t > ts->v ? t - 1 : NULL;
  /* Exactly one blank between them: "MAX_RETRIES=3" is not a version. */
  return before && before->text.p + before->text.n + 1 == t->text.p && t->text.p[-1] == ' ' &&
         (before->name || str_is(before->word, "version") || str_is(before->word, "release"));
}

/* A number after a name is its version: "Postgres 15". */
static bool are_versions(const struct tokens *ta, const struct token *a, const struct tokens *tb,
                         const struct token *b) {
  if (a->kind == TOKEN_VERSION || b->kind == TOKEN_VERSION)
    return a->kind != TOKEN_DATE && b->kind != TOKEN_DATE;
  return a->kind == TOKEN_NUMBER && b->kind == TOKEN_NUMBER && !a->dimension && !b->dimension && !a->spelled &&
         !b->spelled && is_after_name(ta, a) && is_after_name(tb, b);
}

static bool are_compatible_dates(const struct token *a, const struct token *b) {
  const int p[] = {a->year, a->month, a->day, a->clock}, q[] = {b->year, b->month, b->day, b->clock};
  for (size_t i = 0; i < ARRAY_LEN(p); i++)
    if (p[i] && q[i] && p[i] != q[i])
      return false;
  bool relative = (a->weekday > 7) != (b->weekday > 7); /* "today" may be a Monday */
  return !a->weekday || !b->weekday || a->weekday == b->weekday || relative;
}

bool values_compatible(const struct tokens *ta, const struct token *a, const struct tokens *tb, const struct token *b) {
  if (a->kind == TOKEN_DATE && b->kind == TOKEN_DATE)
    return are_compatible_dates(a, b);
  if (are_versions(ta, a, tb, b)) {
    struct str s = a->stem.n < b->stem.n ? a->stem : b->stem, l = a->stem.n < b->stem.n ? b->stem : a->stem;
    return str_starts(l, s) && (l.n == s.n || l.p[s.n] == '.' || l.p[s.n] == '-');
  }
  double difference = a->value - b->value, size = a->value < 0 ? -a->value : a->value;
  return a->kind == TOKEN_NUMBER && b->kind == TOKEN_NUMBER &&
         (!a->dimension || !b->dimension || a->dimension == b->dimension) && difference <= size * 1e-9 &&
         -difference <= size * 1e-9;
}

static bool is_year(const struct token *t) {
  return t->kind == TOKEN_NUMBER && t->dimension == DIMENSION_NONE && t->value >= 1900 && t->value < 2100 &&
         t->text.n == 4;
}

static bool is_money(const struct token *t) {
  return t->dimension == DIMENSION_MONEY || t->dimension == DIMENSION_EURO;
}

enum differ value_conflict(const struct tokens *ta, const struct token *a, const struct tokens *tb,
                           const struct token *b) {
  if (are_versions(ta, a, tb, b))
    return DIFFER_VERSION;
  bool money = is_money(a) && is_money(b);
  if (a->kind != b->kind || (a->dimension != b->dimension && a->dimension && b->dimension && !money))
    return DIFFER_NONE;
  return a->kind == TOKEN_DATE || (is_year(a) && is_year(b)) ? DIFFER_DATE : DIFFER_NUMBER;
}

bool is_initialism(const struct tokens *ts, size_t from, size_t to, struct str letters) {
  size_t n = 0;
  for (size_t i = from; i < to; i++) {
    if (!ts->v[i].content)
      continue;
    if (n >= letters.n || ts->v[i].word.p[0] != letters.p[n++])
      return false;
  }
  return n > 1 && n == letters.n;
}

bool is_same_path(struct str a, struct str b) {
  struct str s = a.n < b.n ? a : b, l = a.n < b.n ? b : a;
  return s.n && l.n > s.n && str_ends(l, s) && l.p[l.n - s.n - 1] == '/';
}

/* ---- replaced values ---- */

/* Words of one text that the other one replaces. */
struct run {
  const struct token *v;
  size_t n;
};

static const struct token *value_of(const struct run *r) {
  for (size_t i = 0; i < r->n; i++)
    if (r->v[i].kind != TOKEN_WORD)
      return &r->v[i];
  return NULL;
}

static struct str run_text(const struct run *r) {
  const struct str first = r->v[0].text, last = r->v[r->n - 1].text;
  return (struct str){first.p, (size_t)(last.p + last.n - first.p)};
}

/* The last word before the run, without articles. */
static struct str introduction(const struct tokens *ts, const struct run *r) {
  const struct token *t = r->v - 1;
  while (t > ts->v && word_in(t->word, "the a an our my its their"))
    t--;
  return t->word;
}

struct difference differ_replacement(struct arena *arena, struct str a, struct str b) {
  /* Several names may follow other words: "supports", "is". */
  static const char names[] = "use uses using on by with prefers prefer via";
  static const char values[] =
      "use uses using on by with prefers prefer via in at is are was to from has have of after before "
      "every costs cost takes take needs need within until run runs wants want under";
  enum { RUN_MOST = 2, BEFORE_LEAST = 1 };
  struct lexicon *l = lexicon_new(arena);
  const struct tokens ta = differ_tokenize(arena, l, a), tb = differ_tokenize(arena, l, b);
  size_t shorter = ta.n < tb.n ? ta.n : tb.n, before = 0, after = 0;
  while (before < shorter && ta.v[before].key == tb.v[before].key)
    before++;
  while (after < shorter - before && ta.v[ta.n - 1 - after].key == tb.v[tb.n - 1 - after].key)
    after++;
  struct run x = {ta.v + before, ta.n - before - after}, y = {tb.v + before, tb.n - before - after};
  if (before <= BEFORE_LEAST || x.n == 0 || y.n == 0 || x.n > RUN_MOST || y.n > RUN_MOST)
    return (struct difference){0};
  const struct token *p = value_of(&x), *q = value_of(&y);
  struct str word = introduction(&ta, &x);
  enum differ what = DIFFER_NONE;
  if (p && q && x.n == y.n && word_in(word, values) && !values_compatible(&ta, p, &tb, q))
    what = value_conflict(&ta, p, &tb, q);
  else if (!p && !q && word_in(word, names))
    what = DIFFER_NAME;
  if (what == DIFFER_NONE)
    return (struct difference){0};
  return (struct difference){what, run_text(&x), run_text(&y)};
}
