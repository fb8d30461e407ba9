/* differ.c: difference check of two texts.
 *
 * 1. Tokenize both texts (differ_token.c): words by stem, numbers by value, dates by their parts.
 * 2. Pair tokens in order by a weighted longest common subsequence; then pair equal leftovers at any position.
 * 3. Compare the gaps between pairs. If both sides of a gap have unpaired tokens, something was replaced: antonyms,
 *    numbers, dates, versions and names count by kind; a plain word counts only if the rest of the texts is equal.
 * 4. Report a negation for a pair of which only one token is negated. */
#include "core/gate/differ.h"

#include <assert.h>

#include "base/buf.h"
#include "core/gate/differ_value.h"

enum {
  WINDOW = 320, /* tokens of each side that are aligned at once */
  WEIGHT_CONTENT = 4,
  WEIGHT_GRAMMAR = 1,
  PICK_MAX = 64, /* unpaired tokens per side of a gap that are compared with each other; near texts have fewer */
};

struct texts {
  struct arena *arena;
  struct lexicon *lexicon;
  struct tokens a, b;
  uint32_t *score;                             /* table of one window: [tokens of a + 1][tokens of b + 1] */
  size_t shared, left_a, left_b;               /* content tokens: paired, unpaired in a, unpaired in b */
  struct difference found[DIFFER_ANTONYM + 1]; /* the first of each kind */
};

struct gap {
  size_t a, a_end, b, b_end;
};

const char *differ_name(enum differ what) {
  static const char *const names[] = {"none", "number", "date", "version", "name", "negation", "antonym", "meaning"};
  assert((size_t)what < ARRAY_LEN(names));
  return names[what];
}

static void report(struct texts *x, enum differ what, const struct token *a, const struct token *b) {
  assert(what > DIFFER_NONE && what <= DIFFER_ANTONYM);
  assert(a && b);
  if (x->found[what].what == DIFFER_NONE)
    x->found[what] = (struct difference){what, a->text, b->text};
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static bool is_unpaired(const struct token *t) { return t->content && t->partner < 0; }

static void pair(struct texts *x, size_t i, size_t j, bool moved) {
  assert(i < x->a.n && j < x->b.n);
  struct token *a = &x->a.v[i], *b = &x->b.v[j];
  assert(a->partner < 0 && b->partner < 0);
  a->partner = (int)j;
  b->partner = (int)i;
  a->moved = b->moved = moved;
}

/* ---- alignment */

/* Aligns the two ranges of w and pairs tokens below the limits. Returns the ranges after the last pair. */
static struct gap align_window(struct texts *x, struct gap w, size_t limit_a, size_t limit_b) {
  assert(w.a <= w.a_end && w.a_end <= x->a.n && w.b <= w.b_end && w.b_end <= x->b.n);
  size_t na = w.a_end - w.a, nb = w.b_end - w.b;
  assert(na <= WINDOW && nb <= WINDOW);
  uint32_t *score = x->score;
  memset(score + na * (nb + 1), 0, (nb + 1) * sizeof(*score));
  for (size_t i = na; i-- > 0;) {
    score[i * (nb + 1) + nb] = 0;
    for (size_t j = nb; j-- > 0;) {
      const struct token *a = &x->a.v[w.a + i], *b = &x->b.v[w.b + j];
      uint32_t *cell = &score[i * (nb + 1) + j], down = cell[nb + 1], right = cell[1];
      *cell = down > right ? down : right;
      uint32_t match = cell[nb + 2] + (a->content ? WEIGHT_CONTENT : WEIGHT_GRAMMAR);
      if (a->key == b->key && match > *cell)
        *cell = match;
    }
  }
  struct gap rest = {w.a, w.a_end, w.b, w.b_end};
  for (size_t i = 0, j = 0; i < na && j < nb;) {
    const uint32_t *cell = &score[i * (nb + 1) + j];
    if (*cell == cell[nb + 1]) {
      i++;
    } else if (*cell == cell[1]) {
      j++;
    } else {
      if (i >= limit_a || j >= limit_b)
        break;
      pair(x, w.a + i++, w.b + j++, false);
      rest.a = w.a + i;
      rest.b = w.b + j;
    }
  }
  return rest;
}

/* The ranges that remain without the common prefix and suffix. */
static struct gap trim_equal_ends(const struct tokens *a, const struct tokens *b) {
  struct gap g = {0, a->n, 0, b->n};
  for (; g.a < g.a_end && g.b < g.b_end && a->v[g.a].key == b->v[g.b].key; g.a++, g.b++)
    ;
  for (; g.a < g.a_end && g.b < g.b_end && a->v[g.a_end - 1].key == b->v[g.b_end - 1].key; g.a_end--, g.b_end--)
    ;
  return g;
}

static void align(struct texts *x) {
  struct gap rest = trim_equal_ends(&x->a, &x->b);
  assert(rest.a == rest.b && x->a.n - rest.a_end == x->b.n - rest.b_end);
  for (size_t i = 0; i < rest.a; i++)
    pair(x, i, i, false);
  for (size_t i = rest.a_end, j = rest.b_end; i < x->a.n; i++, j++)
    pair(x, i, j, false);
  size_t rows = smaller(rest.a_end - rest.a, WINDOW) + 1, columns = smaller(rest.b_end - rest.b, WINDOW) + 1;
  x->score = arena_array(x->arena, uint32_t, rows *columns);
  while (rest.a < rest.a_end && rest.b < rest.b_end) {
    bool last = rest.a_end - rest.a <= WINDOW && rest.b_end - rest.b <= WINDOW;
    struct gap w = rest;
    w.a_end = smaller(w.a_end, w.a + WINDOW);
    w.b_end = smaller(w.b_end, w.b + WINDOW);
    struct gap done = align_window(x, w, last ? SIZE_MAX : WINDOW / 2, last ? SIZE_MAX : WINDOW / 2);
    if (last)
      return;
    bool stuck = done.a == rest.a && done.b == rest.b;
    rest.a = stuck ? rest.a + WINDOW / 2 : done.a;
    rest.b = stuck ? rest.b + WINDOW / 2 : done.b;
  }
}

/* Pairs equal content words that are at different positions. */
static void pair_moved(struct texts *x) {
  size_t size = 16;
  while (size < x->b.n * 2)
    size *= 2;
  /* Per key, a list of unpaired tokens of b in order. Indexes are + 1; 0 ends a list. */
  struct {
    uint64_t key;
    size_t head;
    bool used;
  } *slots = arena_zalloc(x->arena, arena_mul(x->arena, size, sizeof(*slots)));
  size_t *next = arena_array(x->arena, size_t, x->b.n + 1);
  for (size_t j = x->b.n; j > 0; j--) {
    const struct token *b = &x->b.v[j - 1];
    size_t at = (size_t)b->key & (size - 1);
    if (!is_unpaired(b))
      continue;
    while (slots[at].used && slots[at].key != b->key)
      at = (at + 1) & (size - 1);
    slots[at].used = true;
    slots[at].key = b->key;
    next[j] = slots[at].head;
    slots[at].head = j;
  }
  for (size_t i = 0; i < x->a.n; i++) {
    const struct token *a = &x->a.v[i];
    size_t at = (size_t)a->key & (size - 1);
    if (!is_unpaired(a))
      continue;
    while (slots[at].used && slots[at].key != a->key)
      at = (at + 1) & (size - 1);
    if (slots[at].head) {
      pair(x, i, slots[at].head - 1, true);
      slots[at].head = next[slots[at].head];
    }
  }
}

/* The next gap between aligned pairs; starts with a zeroed gap. */
static bool next_gap(const struct texts *x, struct gap *g, bool first) {
  g->a = first ? 0 : g->a_end + 1;
  g->b = first ? 0 : g->b_end + 1;
  if (g->a > x->a.n || g->b > x->b.n)
    return false;
  for (g->a_end = g->a; g->a_end < x->a.n && (x->a.v[g->a_end].partner < 0 || x->a.v[g->a_end].moved); g->a_end++)
    ;
  for (g->b_end = g->b; g->b_end < x->b.n && (x->b.v[g->b_end].partner < 0 || x->b.v[g->b_end].moved); g->b_end++)
    ;
  assert(g->a_end < x->a.n ? x->a.v[g->a_end].partner == (int)g->b_end : g->b_end == x->b.n);
  return true;
}

/* The tokens of a gap that have no partner, at most PICK_MAX of each side. */
struct pick {
  size_t a[PICK_MAX], b[PICK_MAX], na, nb;
};

static void pick(const struct texts *x, struct gap g, bool grammar, struct pick *ret) {
  assert(g.a_end <= x->a.n && g.b_end <= x->b.n);
  ret->na = ret->nb = 0;
  for (size_t i = g.a; i < g.a_end && ret->na < PICK_MAX; i++)
    if (x->a.v[i].partner < 0 && (grammar || x->a.v[i].content))
      ret->a[ret->na++] = i;
  for (size_t j = g.b; j < g.b_end && ret->nb < PICK_MAX; j++)
    if (x->b.v[j].partner < 0 && (grammar || x->b.v[j].content))
      ret->b[ret->nb++] = j;
}

/* ---- synonyms and antonyms */

static enum relation relation_of(struct texts *x, const struct token *a, const struct token *b) {
  enum relation by_table = lexicon_relation(lexicon_senses(x->lexicon, a->stem), lexicon_senses(x->lexicon, b->stem));
  if (by_table != RELATION_NONE || !a->content || !b->content || a->kind != TOKEN_WORD || b->kind != TOKEN_WORD)
    return by_table;
  return word_relation(a->stem, b->stem);
}

/* Pairs synonyms and antonyms. Reports antonyms unless one is negated, and synonyms if one is. */
static void compare_related(struct texts *x, const struct pick *p) {
  for (size_t i = 0; i < p->na; i++)
    for (size_t j = 0; j < p->nb; j++) {
      const struct token *a = &x->a.v[p->a[i]], *b = &x->b.v[p->b[j]];
      if (a->partner >= 0 || b->partner >= 0)
        continue;
      enum relation r = relation_of(x, a, b);
      if (r == RELATION_NONE)
        continue;
      if (r == RELATION_OPPOSITE && a->negated == b->negated)
        report(x, DIFFER_ANTONYM, a, b);
      else if (r == RELATION_SAME && a->negated != b->negated)
        report(x, DIFFER_NEGATION, a, b);
      pair(x, p->a[i], p->b[j], true);
    }
}

/* ---- numbers, dates, versions */

static bool is_unpaired_value(const struct token *t) { return t->kind != TOKEN_WORD && t->partner < 0; }

/* Pass 0 pairs compatible values, pass 1 reports the rest. */
static void compare_values(struct texts *x, const struct pick *p) {
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < p->na; i++)
      for (size_t j = 0; j < p->nb; j++) {
        const struct token *a = &x->a.v[p->a[i]], *b = &x->b.v[p->b[j]];
        if (!is_unpaired_value(a) || !is_unpaired_value(b))
          continue;
        enum differ what = pass ? value_conflict(&x->a, a, &x->b, b) : DIFFER_NONE;
        if (what != DIFFER_NONE)
          report(x, what, a, b);
        if (what != DIFFER_NONE || (!pass && values_compatible(&x->a, a, &x->b, b)))
          pair(x, p->a[i], p->b[j], true);
      }
}

static bool is_article(const struct token *t) { return t->partner < 0 && word_in(t->word, "a an"); }

static bool is_plural_count(const struct token *t) {
  return is_unpaired_value(t) && t->kind == TOKEN_NUMBER && t->dimension == DIMENSION_NONE &&
         t->class != WORD_ORDINAL && t->value >= 2;
}

/* "a man" replaced by "two men". */
static void compare_article(struct texts *x, const struct pick *p) {
  for (size_t i = 0; i < p->na; i++)
    for (size_t j = 0; j < p->nb; j++) {
      const struct token *a = &x->a.v[p->a[i]], *b = &x->b.v[p->b[j]];
      bool same_noun = p->a[i] + 1 < x->a.n && a[1].partner == (int)p->b[j] + 1;
      if (same_noun && ((is_article(a) && is_plural_count(b)) || (is_article(b) && is_plural_count(a))))
        report(x, DIFFER_NUMBER, a, b);
    }
}

/* ---- negation */

/* True if a nearby word is negated instead: "do not use npm" for "avoid npm". */
static bool is_negated_nearby(const struct tokens *own, const struct tokens *other, size_t at) {
  assert(at < own->n);
  size_t from = at > 4 ? at - 4 : 0, to = at + 5 < own->n ? at + 5 : own->n;
  for (size_t i = from; i < to; i++) {
    const struct token *t = &own->v[i];
    if (t->negated && t->clause == own->v[at].clause && (t->partner < 0 || !other->v[t->partner].negated))
      return true;
  }
  return false;
}

static void compare_negation(struct texts *x) {
  for (size_t i = 0; i < x->a.n; i++) {
    const struct token *a = &x->a.v[i], *b = a->partner < 0 ? NULL : &x->b.v[a->partner];
    if (!b || a->key != b->key || a->negated == b->negated)
      continue;
    bool balanced =
        a->negated ? is_negated_nearby(&x->b, &x->a, (size_t)a->partner) : is_negated_nearby(&x->a, &x->b, i);
    if (!balanced)
      report(x, DIFFER_NEGATION, a, b);
  }
}

/* ---- names and replaced words */

/* "web site" for "website". */
static bool has_same_letters(struct texts *x, struct gap g) {
  struct buf a = BUF(x->arena), b = BUF(x->arena);
  for (size_t i = g.a; i < g.a_end; i++)
    buf_add(&a, x->a.v[i].word);
  for (size_t j = g.b; j < g.b_end; j++)
    buf_add(&b, x->b.v[j].word);
  return a.n && str_eq(buf_str(&a), buf_str(&b));
}

/* Unpaired content tokens of a gap. */
struct rest {
  size_t na, nb;
  const struct token *a, *b;           /* first token of each side; NULL if none */
  const struct token *name_a, *name_b; /* first name of each side; NULL if none */
};

static struct rest rest_of(const struct texts *x, struct gap g) {
  struct rest r = {0};
  for (size_t i = g.a_end; i-- > g.a;)
    if (is_unpaired(&x->a.v[i])) {
      r.na++;
      r.a = &x->a.v[i];
      r.name_a = r.a->name ? r.a : r.name_a;
    }
  for (size_t j = g.b_end; j-- > g.b;)
    if (is_unpaired(&x->b.v[j])) {
      r.nb++;
      r.b = &x->b.v[j];
      r.name_b = r.b->name ? r.b : r.name_b;
    }
  return r;
}

/* True if both sides have unpaired tokens that are not the same name in another spelling. */
static bool is_replaced(struct texts *x, struct gap g, const struct rest *r) {
  return r->na && r->nb && !has_same_letters(x, g) && !is_initialism(&x->a, g.a, g.a_end, r->b->stem) &&
         !is_initialism(&x->b, g.b, g.b_end, r->a->stem) && !is_same_path(r->a->stem, r->b->stem);
}

/* A replaced name counts if the gap has at most NAMES_MAX words per side. A replaced plain word counts only if little
 * else differs: an unknown synonym is then reported as a difference, which is the cheaper error. The limits were tuned
 * on the pairs of bench/calibrate.c. */
static void compare_words(struct texts *x) {
  enum { NAMES_MAX = 3, WIDTH_MAX = 3, LOOSE_WIDTH_MAX = 2, LOOSE_PLACES_MAX = 2 };
  struct gap g = {0};
  struct rest first = {0};
  size_t places = 0, inside = 0, widest = 0, left_a = x->left_a, left_b = x->left_b;
  for (bool more = next_gap(x, &g, true); more; more = next_gap(x, &g, false)) {
    struct rest r = rest_of(x, g);
    if (!is_replaced(x, g, &r))
      continue;
    if (first.a && r.a->key == first.a->key && r.b->key == first.b->key) { /* the same replacement again */
      left_a -= r.na;
      left_b -= r.nb;
      continue;
    }
    places++;
    inside += r.na + r.nb;
    widest = larger(widest, larger(r.na, r.nb));
    first = first.a ? first : r;
    if (r.name_a && r.name_b && r.na <= NAMES_MAX && r.nb <= NAMES_MAX)
      report(x, DIFFER_NAME, r.name_a, r.name_b);
  }
  assert(left_a + left_b >= inside);
  size_t elsewhere = left_a + left_b - inside, most = larger(left_a, left_b);
  bool only_change = places == 1 && elsewhere == 0 && widest <= WIDTH_MAX && most <= x->shared;
  bool near_only =
      places >= 1 && places <= LOOSE_PLACES_MAX && elsewhere <= 1 && widest <= LOOSE_WIDTH_MAX && most * 2 <= x->shared;
  if (only_change || near_only)
    report(x, DIFFER_NAME, first.a, first.b);
}

/* ---- swapped words */

static bool is_same_run(const struct token *a, const struct token *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i].key != b[i].key)
      return false;
  return true;
}

/* Copies a range without articles and possessives, which change when a sentence is reordered. */
static struct tokens without_articles(struct arena *a, const struct tokens *ts, size_t from, size_t to) {
  struct tokens out = {0};
  for (size_t i = from; i < to; i++)
    if (!word_in(ts->v[i].word, "a an the this that these those its his her their my our your"))
      list_push(a, &out, ts->v[i]);
  return out;
}

/* True if the order of the words that these tokens join does not matter. */
static bool is_symmetric(const struct token *t, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!word_in(t[i].word, "and or with both plus"))
      return false;
  return true;
}

/* "Use A, B is old" for "Use B, A is old": names on both sides of a comma that is not part of a list. */
static bool is_across_comma(const struct token *a, size_t n, const struct token *after) {
  return n == 2 && a[0].name && a[1].name && a[0].clause != a[1].clause && after && after->clause == a[1].clause &&
         !word_in(after->word, "and or");
}

/* "P m Q" for "Q m P": tabs instead of spaces, from 5 to 10, staging before production. */
static void compare_order(struct texts *x) {
  enum { RANGE_MAX = 64, PIECE_MAX = 3, MIDDLE_MAX = 8 };
  struct gap g = trim_equal_ends(&x->a, &x->b);
  if (g.a_end - g.a > RANGE_MAX || g.b_end - g.b > RANGE_MAX)
    return;
  const struct token *after = g.a_end < x->a.n ? &x->a.v[g.a_end] : NULL;
  struct tokens ta = without_articles(x->arena, &x->a, g.a, g.a_end);
  struct tokens tb = without_articles(x->arena, &x->b, g.b, g.b_end);
  g = trim_equal_ends(&ta, &tb);
  size_t n = g.a_end - g.a;
  if (!ta.v || !tb.v || n < 2 || n != g.b_end - g.b)
    return;
  const struct token *a = ta.v + g.a, *b = tb.v + g.b;
  bool across = is_across_comma(a, n, g.a_end < ta.n ? a + n : after);
  for (size_t p = 1; p <= PIECE_MAX && p < n; p++)
    for (size_t q = 1; q <= PIECE_MAX && p + q <= n; q++) {
      size_t middle = n - p - q;
      if (middle <= MIDDLE_MAX && (across || !is_symmetric(a + p, middle)) && is_same_run(a, b + n - p, p) &&
          is_same_run(a + n - q, b, q) && is_same_run(a + p, b + q, middle)) {
        report(x, a[0].kind == TOKEN_NUMBER ? DIFFER_NUMBER : DIFFER_NAME, a, b);
        return;
      }
    }
}

/* "tests and lint" for "tests or lint". The caller has checked that nothing else differs; otherwise it is style. */
static void compare_conjunctions(struct texts *x) {
  struct gap g = {0};
  for (bool more = next_gap(x, &g, true); more; more = next_gap(x, &g, false)) {
    if (g.a_end != g.a + 1 || g.b_end != g.b + 1)
      continue;
    const struct token *a = &x->a.v[g.a], *b = &x->b.v[g.b];
    if (!str_eq(a->word, b->word) && word_in(a->word, "and or") && word_in(b->word, "and or"))
      report(x, DIFFER_ANTONYM, a, b);
  }
}

/* ---- the check */

static void count_pairs(struct texts *x) {
  x->shared = x->left_a = x->left_b = 0;
  for (size_t i = 0; i < x->a.n; i++) {
    x->shared += x->a.v[i].content && x->a.v[i].partner >= 0;
    x->left_a += is_unpaired(&x->a.v[i]);
  }
  for (size_t j = 0; j < x->b.n; j++)
    x->left_b += is_unpaired(&x->b.v[j]);
}

static void compare_gaps(struct texts *x) {
  struct gap g = {0}, all = {0, x->a.n, 0, x->b.n};
  struct pick p;
  for (bool more = next_gap(x, &g, true); more; more = next_gap(x, &g, false)) {
    pick(x, g, true, &p); /* with grammar: "on" for "off" */
    if (!p.na || !p.nb)
      continue;
    compare_article(x, &p);
    compare_values(x, &p);
    compare_related(x, &p);
  }
  /* Reworded at another position: "increase the timeout", "the timeout should be decreased". */
  pick(x, all, false, &p);
  if (p.na < PICK_MAX && p.nb < PICK_MAX) {
    compare_values(x, &p);
    compare_related(x, &p);
  }
  count_pairs(x);
  compare_words(x);
  if (x->left_a + x->left_b == 0)
    compare_conjunctions(x);
}

struct difference differ_check(struct arena *arena, struct str a, struct str b) {
  static const enum differ order[] = {DIFFER_VERSION, DIFFER_DATE,     DIFFER_NUMBER,
                                      DIFFER_ANTONYM, DIFFER_NEGATION, DIFFER_NAME};
  if (str_cmp(a, b) > 0) { /* a fixed order makes the check symmetric: ties in the alignment resolve the same way */
    struct difference d = differ_check(arena, b, a);
    return (struct difference){d.what, d.b, d.a};
  }
  if (str_eq(a, b))
    return (struct difference){0};
  struct texts *x = arena_new(arena, struct texts);
  x->arena = arena;
  x->lexicon = lexicon_new(arena);
  x->a = differ_tokenize(arena, x->lexicon, a);
  x->b = differ_tokenize(arena, x->lexicon, b);
  align(x);
  pair_moved(x);
  compare_order(x);
  compare_negation(x);
  compare_gaps(x);
  for (size_t i = 0; i < ARRAY_LEN(order); i++)
    if (x->found[order[i]].what != DIFFER_NONE)
      return x->found[order[i]];
  return (struct difference){0};
}
