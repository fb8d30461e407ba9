/* suspect.c: prompt injection detector: undoes evasions, then applies the tables of suspect_words.c. */
#include "core/trust/suspect.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/trust/present.h"
#include "core/trust/suspect_decode.h"
#include "core/trust/suspect_lexicon.h"
#include "core/trust/suspect_wording.h"

enum { IDEOGRAPHIC_STOP = 0x3002 };
enum { DECODED_MOST = 1 << 16 }; /* bytes that are decoded: each decoder costs another pass */

/* ---- word rules ---- */

struct word {
  struct lexeme means;
  uint32_t sentence;
};

struct reading {
  struct arena *a;
  LIST(struct word) words;
  uint32_t sentence;  /* number of the sentence that is read */
  struct buf spelled; /* single letters in a row */
  int weights[FOUND_COUNT];
  struct str folded; /* the text, visible and folded */
};

static void add_finding(struct reading *r, enum suspect_finding what, int weight) {
  assert(what < FOUND_COUNT && weight > 0);
  if (r->weights[what] < weight)
    r->weights[what] = weight;
}

static suspect_classes add_word(struct reading *r, struct str word) {
  struct lexeme l = lexicon_find(word);
  list_push(r->a, &r->words, (struct word){l, r->sentence});
  return l.classes;
}

/* "i g n o r e a l l" is read as one word, or if that is unknown, as the long words in it. */
static void flush_spelled(struct reading *r) {
  struct str all = buf_str(&r->spelled);
  r->spelled.n = 0;
  if (all.n < SPELLED_LEAST || add_word(r, all))
    return;
  for (size_t i = 0; i < all.n;) {
    size_t n = lexicon_long_word(str_slice(all, i, all.n));
    if (n)
      add_word(r, str_slice(all, i, i + n));
    i += n ? n : 1;
  }
}

static bool is_word_char(struct str s, size_t pos) {
  if (pos >= s.n)
    return false;
  uint32_t c = utf8_next(s, &pos);
  return utf8_is_alnum(c) && !utf8_is_unspaced(c);
}

/* Length of the apostrophe at pos, plain or typographic; 0 if there is none. */
static size_t apostrophe_at(struct str s, size_t pos) {
  if (pos < s.n && s.p[pos] == '\'')
    return 1;
  return str_starts(str_slice(s, pos, s.n), STR("\xe2\x80\x99")) ? 3 : 0;
}

/* End of the word at pos; pos if there is none. Inside a word, apostrophes and letter-like punctuation belong to it. */
static size_t word_end(struct str s, size_t pos) {
  while (is_word_char(s, pos)) {
    (void)utf8_next(s, &pos);
    size_t inner = apostrophe_at(s, pos);
    if (!inner && pos < s.n)
      inner = memchr("@$!|", s.p[pos], 4) != NULL;
    if (inner && is_word_char(s, pos + inner))
      pos += inner;
  }
  return pos;
}

static struct str without_apostrophes(struct arena *a, struct str word) {
  struct buf b = BUF(a);
  if (str_find(word, STR("'"), 0) == SIZE_MAX && str_find(word, STR("\xe2\x80\x99"), 0) == SIZE_MAX)
    return word;
  for (size_t i = 0; i < word.n;) {
    size_t n = apostrophe_at(word, i);
    if (!n)
      buf_addc(&b, word.p[i]);
    i += n ? n : 1;
  }
  return buf_str(&b);
}

/* Handles apostrophes: "don't" is one word; "n'informe" and "l'utilisateur" are a short word and another one. */
static void add_elided(struct reading *r, struct str word) {
  enum { ARTICLE = 4 };
  struct lexeme l = lexicon_find(without_apostrophes(r->a, word));
  for (size_t i = 1; i <= ARTICLE && i < word.n; i++) {
    size_t n = apostrophe_at(word, i);
    if (n) {
      struct lexeme rest = lexicon_find(str_slice(word, i + n, word.n));
      l.classes |= rest.classes;
      l.topics |= rest.topics;
    }
  }
  list_push(r->a, &r->words, (struct word){l, r->sentence});
}

/* 1 at the end of a sentence, 2 at an empty line, which separates what does not belong together. */
static uint32_t sentence_ends(struct str s, size_t pos) {
  char next = pos + 1 < s.n ? s.p[pos + 1] : '\n';
  switch (s.p[pos]) {
  case '.':
  case '!':
  case '?':
    return ascii_space(next);
  case '\n':
    return next == '\n' || next == '#' || next == '-' || next == '*' ? 2 : 1;
  default:
    return 0;
  }
}

/* Length of the rest of a URL. */
static size_t address_length(struct str s, size_t pos) {
  size_t end = pos;
  while (end < s.n && !ascii_space(s.p[end]) && (unsigned char)s.p[end] < 0x80 && !strchr("\"'`<>|)", s.p[end]))
    end++;
  return end - pos;
}

/* Adds the word of the lexicon at pos of a script without spaces. Returns the bytes that were read. */
static size_t skip_or_add_unspaced(struct reading *r, struct str s, size_t pos) {
  size_t from = pos, n;
  r->sentence += sentence_ends(s, pos);
  uint32_t c = utf8_next(s, &pos);
  if (c == IDEOGRAPHIC_STOP)
    r->sentence++;
  if (c < 0x80 || !utf8_is_unspaced(c) || !(n = lexicon_long_word(str_slice(s, from, s.n))))
    return pos - from;
  add_word(r, str_slice(s, from, from + n));
  return n;
}

/* Corrects the meaning of the last word, pos..end, by the characters around it. */
static void add_signs(struct reading *r, struct str s, size_t pos, size_t end, bool in_address) {
  struct lexeme *l = &r->words.v[r->words.n - 1].means;
  suspect_classes signs = suspect_signs(s, pos, end, l->classes);
  l->classes |= signs;
  l->topics |= lexicon_topics(signs);
  if (end < s.n && s.p[end] == '-') { /* user-facing, user-agent */
    l->classes &= ~CLASS(USER);
    l->topics &= ~TOPIC(USER);
  }
  if (in_address) { /* the words of an address say nothing */
    l->classes &= CLASS(DEST) | CLASS(RAW);
    l->topics &= TOPIC(DEST) | TOPIC(RAW);
  }
}

static void read_words(struct reading *r, struct str s) {
  size_t last_end = 0, address_end = 0; /* of the last word and the last URL */
  for (size_t pos = 0; pos < s.n;) {
    size_t end = word_end(s, pos);
    if (end == pos) {
      pos += skip_or_add_unspaced(r, s, pos);
      continue;
    }
    struct str word = str_slice(s, pos, end);
    size_t first = 0;
    (void)utf8_next(word, &first);
    bool single = first == word.n;
    if (r->spelled.n && (!single || pos - last_end > 1))
      flush_spelled(r);
    if (single) {
      buf_add(&r->spelled, word);
    } else {
      add_elided(r, word);
      add_signs(r, s, pos, end, pos < address_end);
      if (pos >= address_end && str_starts(str_slice(s, end, s.n), STR("://")))
        address_end = end + 3 + address_length(s, end + 3);
    }
    last_end = pos = end;
  }
  flush_spelled(r);
}

/* Classes of the words from..to, of the sentence of the lead and those next to it. */
static suspect_classes classes_between(const struct reading *r, size_t lead, size_t from, size_t to) {
  suspect_classes all = 0;
  uint32_t sentence = r->words.v[lead].sentence;
  for (size_t w = from; w <= to && w < r->words.n; w++)
    if (r->words.v[w].sentence + 1 >= sentence && r->words.v[w].sentence <= sentence + 1)
      all |= r->words.v[w].means.classes;
  return all;
}

/* "never send": negations count before the lead, other classes on both sides. */
static bool is_excluded(const struct reading *r, size_t lead, suspect_classes unless) {
  enum { CLOSE = 3 };
  if (!unless)
    return false;
  suspect_classes after = classes_between(r, lead, lead, lead + CLOSE) & ~(CLASS(NOT) | CLASS(NOBODY));
  suspect_classes before = lead ? classes_between(r, lead, lead > CLOSE ? lead - CLOSE : 0, lead - 1) : 0;
  return ((before | after) & unless) != 0;
}

static bool has_near(const struct reading *r, size_t lead, suspect_classes near) {
  enum { BEFORE = 4, AFTER = 4 };
  return !near || classes_between(r, lead, lead > BEFORE ? lead - BEFORE : 0, lead + AFTER) & near;
}

static void apply_rules(struct reading *r) {
  for (size_t i = 0; i < r->words.n; i++)
    for (size_t k = 0; r->words.v[i].means.classes && k < suspect_rule_count; k++) {
      const struct suspect_rule *rule = &suspect_rules[k];
      if (!(r->words.v[i].means.classes & rule->lead) || r->weights[rule->found] >= rule->weight)
        continue;
      suspect_classes around = classes_between(r, i, i > rule->before ? i - rule->before : 0, i + rule->after);
      if ((around & rule->needs) != rule->needs)
        continue;
      if (!is_excluded(r, i, rule->unless) && has_near(r, i, rule->near))
        add_finding(r, rule->found, rule->weight);
    }
}

/* ---- clauses ---- */

/* Topics of the words of a clause, and of those next to a negation. */
struct clause {
  uint64_t all, plain, negated, lacked;
};

/* Words before and after `at`, of its sentence. */
static uint64_t topics_beside(const struct reading *r, size_t at, size_t before, size_t after) {
  uint64_t all = 0;
  uint32_t sentence = r->words.v[at].sentence;
  for (size_t w = at > before ? at - before : 0; w <= at + after && w < r->words.n; w++)
    if (w != at && r->words.v[w].sentence == sentence)
      all |= r->words.v[w].means.topics;
  return all;
}

/* A negation after an act may belong to the act (German, Japanese, Korean) or to the next one. */
static void add_to_clause(const struct reading *r, size_t at, struct clause *c) {
  enum { NOT_BEFORE = 3, NOT_AFTER = 2, WITHOUT_BEFORE = 5 };
  const uint64_t negation = TOPIC(NOT) | TOPIC(NOBODY);
  uint64_t topics = r->words.v[at].means.topics;
  if (!topics)
    return;
  bool before = topics_beside(r, at, NOT_BEFORE, 0) & negation;
  c->all |= topics;
  if (before || topics_beside(r, at, 0, NOT_AFTER) & negation)
    c->negated |= topics;
  if (!before && !(topics_beside(r, at, 0, 1) & negation))
    c->plain |= topics;
  if (topics_beside(r, at, WITHOUT_BEFORE, 0) & TOPIC(WITHOUT) || (topics | topics_beside(r, at, 0, 1)) & TOPIC(LESS))
    c->lacked |= topics;
}

static bool has_any(uint64_t topics, uint64_t any) { return !any || topics & any; }

static bool clause_matches(const struct clause *c, const struct suspect_clause *rule) {
  return has_any(c->plain, rule->does) && has_any(c->negated | c->lacked, rule->avoids) &&
         has_any(c->lacked, rule->lacks) && has_any(c->all, rule->with) && has_any(c->all, rule->also) &&
         has_any(c->all, rule->and) && !(c->all & rule->unless);
}

static void check_clause(struct reading *r, const struct clause *c) {
  for (size_t k = 0; c->all && k < suspect_clause_count; k++)
    if (r->weights[suspect_clauses[k].found] < suspect_clauses[k].weight && clause_matches(c, &suspect_clauses[k]))
      add_finding(r, suspect_clauses[k].found, suspect_clauses[k].weight);
}

/* A clause is a sentence, or CLAUSE_MOST words of a longer one. */
static void read_clauses(struct reading *r) {
  enum { CLAUSE_MOST = 40 };
  for (size_t i = 0, n = 0; i < r->words.n; i += n) {
    struct clause c = {0};
    for (n = 0; i + n < r->words.n && n < CLAUSE_MOST && r->words.v[i + n].sentence == r->words.v[i].sentence; n++)
      add_to_clause(r, i + n, &c);
    check_clause(r, &c);
  }
}

/* ---- phrases ---- */

static bool has_phrase(struct str s, struct str text, struct str then) {
  for (size_t at = str_find(s, text, 0); at != SIZE_MAX; at = str_find(s, text, at + 1)) {
    size_t from = at + text.n, to = s.n - from < SUSPECT_NEAR ? s.n : from + SUSPECT_NEAR;
    if (!then.p || str_find(str_slice(s, from, to), then, 0) != SIZE_MAX)
      return true;
  }
  return false;
}

static void read_phrases(struct reading *r, struct str s) {
  for (size_t i = 0; i < suspect_phrase_count; i++) {
    const struct suspect_phrase *p = &suspect_phrases[i];
    if (r->weights[p->found] < p->weight && has_phrase(s, str_from(p->text), str_from(p->then)))
      add_finding(r, p->found, p->weight);
  }
}

static bool has_unspaced(struct str s) {
  for (size_t i = 0; i < s.n;)
    if ((unsigned char)s.p[i] < 0x80)
      i++;
    else if (utf8_is_unspaced(utf8_next(s, &i)))
      return true;
  return false;
}

static bool has_one_of(struct str s, struct str words) {
  struct str word;
  while (str_next(&words, '|', &word))
    if (str_find(s, word, 0) != SIZE_MAX)
      return true;
  return false;
}

static bool has_unspaced_phrase(struct arena *a, struct str s, const struct suspect_unspaced *p) {
  struct str words = utf8_fold(a, str_from(p->text)), word;
  struct str then = p->then ? utf8_fold(a, str_from(p->then)) : STR_NONE;
  struct str also = p->also ? utf8_fold(a, str_from(p->also)) : STR_NONE;
  struct str unless = p->unless ? utf8_fold(a, str_from(p->unless)) : STR_NONE;
  while (str_next(&words, '|', &word))
    for (size_t at = str_find(s, word, 0); at != SIZE_MAX; at = str_find(s, word, at + 1)) {
      size_t from = at + word.n, to = s.n - from < SUSPECT_NEAR ? s.n : from + SUSPECT_NEAR;
      struct str after = str_slice(s, from, to), around = str_slice(s, at > SUSPECT_NEAR ? at - SUSPECT_NEAR : 0, to);
      if ((!then.p || has_one_of(after, then)) && (!also.p || has_one_of(around, also)) &&
          (!unless.p || !has_one_of(around, unless)))
        return true;
    }
  return false;
}

static void read_unspaced(struct reading *r, struct str s) {
  if (!has_unspaced(s))
    return;
  for (size_t i = 0; i < suspect_unspaced_count; i++) {
    const struct suspect_unspaced *p = &suspect_unspaced[i];
    if (r->weights[p->found] < p->weight && has_unspaced_phrase(r->a, s, p))
      add_finding(r, p->found, p->weight);
  }
}

/* Links with data in them. An image such as "![x](https://host/?d={summary})" is fetched as soon as it is shown. */
static void read_links(struct reading *r, struct str s) {
  enum { LINK_MOST = 400 };
  for (size_t at = str_find(s, STR("](http"), 0); at != SIZE_MAX; at = str_find(s, STR("](http"), at + 1)) {
    size_t end = at;
    bool has_data = false;
    while (end < s.n && end - at < LINK_MOST && s.p[end] != ')' && s.p[end] != '\n')
      has_data |= strchr("{<$", s.p[end++]) != NULL;
    size_t open = at;
    while (open > 0 && at - open < SUSPECT_NEAR && s.p[open] != '[')
      open--;
    if (has_data)
      add_finding(r, FOUND_EXFILTRATION, open > 0 && s.p[open - 1] == '!' ? 3 : 2);
  }
}

/* ---- hidden characters ---- */

/* Tag characters after a flag emoji are part of it, not hidden text. */
static void read_hidden(struct reading *r, struct str s) {
  enum { BLACK_FLAG = 0x1f3f4, SOME = 4 };
  size_t zero = 0, tags = 0, turns = 0, selectors = 0;
  bool flag = false;
  for (size_t i = 0; i < s.n;) {
    if ((unsigned char)s.p[i] < 0x80) {
      i++;
      flag = false;
      continue;
    }
    uint32_t c = utf8_next(s, &i);
    bool tag = c >= 0xe0000 && c <= 0xe007f;
    flag = c == BLACK_FLAG || (flag && tag);
    tags += tag && !flag;
    turns += (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
    zero += c == 0x200b || c == 0x2060 || c == 0xfeff || c == 0x180e;
    selectors += c >= 0xe0100 && c <= 0xe01ef;
  }
  if (tags >= SOME || selectors >= SOME)
    add_finding(r, FOUND_HIDDEN, 3);
  else if (turns || zero >= SOME)
    add_finding(r, FOUND_HIDDEN, 2);
}

/* ---- base64 ---- */

/* The decoded base64; absent if it is not text. */
static struct str decode_base64(struct arena *a, struct str code) {
  struct buf b = BUF(a);
  unsigned bits = 0;
  for (size_t i = 0; i < code.n; i++) {
    assert(ascii_base64(code.p[i]) >= 0);
    bits = (bits << 6 | (unsigned)ascii_base64(code.p[i])) & 0xffffff;
    if (i % 4)
      buf_addc(&b, (char)(bits >> (6 - 2 * (i % 4))));
  }
  struct str text = buf_str(&b);
  bool blank = false;
  for (size_t i = 0; i < text.n; i++) {
    if ((unsigned char)text.p[i] < ' ' && !ascii_space(text.p[i]))
      return STR_NONE;
    blank |= text.p[i] == ' ';
  }
  return blank && utf8_check(text) == text.n ? text : STR_NONE;
}

static void read_text(struct reading *r, struct str text);

/* Not part of read_text(): most texts that read_decoded() reads are in no language. */
static void read_wording(struct reading *r) {
  int weight = wording_weight(r->a, r->folded);
  if (weight)
    add_finding(r, FOUND_WORDING, weight);
}

static void read_base64(struct reading *r, struct str s) {
  enum { LEAST = 24 };
  for (size_t i = 0; i < s.n;) {
    size_t end = i;
    while (end < s.n && ascii_base64(s.p[end]) >= 0)
      end++;
    struct str text = end - i >= LEAST ? decode_base64(r->a, str_slice(s, i, end)) : STR_NONE;
    if (text.p) {
      struct reading inner = {.a = r->a, .spelled = BUF(r->a)};
      read_text(&inner, text);
      read_wording(&inner);
      for (int k = 0; k < FOUND_COUNT; k++)
        if (inner.weights[k] >= 2) {
          add_finding(r, (enum suspect_finding)k, inner.weights[k]);
          add_finding(r, FOUND_ENCODED, 2);
        }
    }
    i = end > i ? end : i + 1;
  }
}

/* Adds findings that only a decoded text has. FOUND_HIDDEN is checked only in the original: reversed, the tag
 * characters of a flag emoji would precede it. */
static void read_decoded(struct reading *r, struct str s) {
  for (size_t i = 0; i < suspect_decoder_count; i++) {
    const struct decoder *d = &suspect_decoders[i];
    struct str text = d->decode(r->a, utf8_cut(s, DECODED_MOST));
    if (!text.p)
      continue;
    assert(text.n <= s.n);
    struct reading inner = {.a = r->a, .spelled = BUF(r->a)};
    read_text(&inner, text);
    for (int k = 0; k < FOUND_COUNT; k++)
      if (k != FOUND_HIDDEN && inner.weights[k] >= d->least && inner.weights[k] > r->weights[k]) {
        add_finding(r, (enum suspect_finding)k, inner.weights[k]);
        add_finding(r, FOUND_ENCODED, 2);
      }
  }
}

/* ---- the check ---- */

static void read_text(struct reading *r, struct str text) {
  struct buf b = BUF(r->a);
  read_hidden(r, text);
  buf_addc(&b, '\n'); /* phrases may require a line break before them */
  buf_add(&b, utf8_fold(r->a, present_visible(r->a, text)));
  struct str s = r->folded = buf_str(&b);
  read_words(r, s);
  apply_rules(r);
  read_clauses(r);
  read_phrases(r, s);
  read_unspaced(r, s);
  read_links(r, s);
}

static struct str verdict(struct arena *a, const struct reading *r) {
  struct buf b = BUF(a);
  int sum = 0;
  for (int i = 0; i < FOUND_COUNT; i++) {
    if (!r->weights[i] || (i == FOUND_WORDING && sum >= SUSPECT_ENOUGH)) /* says less than the others */
      continue;
    sum += r->weights[i];
    buf_addf(&b, "%s%s", b.n ? " " : "", suspect_names[i]);
  }
  return sum >= SUSPECT_ENOUGH ? buf_str(&b) : STR_NONE;
}

struct str suspect_text(struct arena *a, struct str text) {
  lexicon_prepare();
  struct arena *work = arena_child(a);
  struct reading r = {.a = work, .spelled = BUF(work)};
  read_text(&r, text);
  read_wording(&r);
  read_base64(&r, text);
  read_decoded(&r, text);
  struct str names = verdict(a, &r);
  arena_release(work);
  return names;
}

struct str suspect_memory(struct arena *a, const struct memory *m) {
  struct buf b = BUF(a);
  const struct str texts[] = {m->headline,   m->body,       m->key,       m->skill_name,
                              m->root_cause, m->resolution, m->milestone, m->due};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    if (!str_empty(texts[i])) {
      buf_add(&b, texts[i]);
      buf_adds(&b, "\n\n");
    }
  for (size_t i = 0; i < memory_list_count; i++)
    for (size_t k = 0; k < list_at(m, i)->n; k++) {
      buf_add(&b, list_at(m, i)->v[k]);
      buf_addc(&b, '\n');
    }
  return suspect_text(a, buf_str(&b));
}
