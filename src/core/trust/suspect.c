/* suspect.c: prompt injection detector: undoes evasions, then applies the tables of suspect_words.c. */
#include "core/trust/suspect.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/trust/present.h"
#include "core/trust/suspect_decode.h"
#include "core/trust/suspect_words.h"

enum {
  SLOTS = 4096,          /* size of the lexicon: a power of two, several times the number of words */
  STEM_LEAST = 3,        /* bytes of a stem */
  WORD_MOST = 64,        /* bytes; longer words are not in the lexicon */
  SPELLED_LEAST = 4,     /* single letters in a row that are read as one word */
  DECODED_MOST = 1 << 16 /* bytes that are decoded: each decoder costs another pass */
};

/* ---- lexicon: words and stems by hash ---- */

struct slot {
  uint64_t hash, classes; /* classes is 0 in a free slot */
};

static const uint64_t stem_salt = UINT64_C(0x9e3779b97f4a7c15);

static struct slot *slot_of(struct slot *slots, uint64_t hash) {
  size_t i = (size_t)(hash ^ hash >> 32) & (SLOTS - 1);
  while (slots[i].classes && slots[i].hash != hash)
    i = (i + 1) & (SLOTS - 1);
  return &slots[i];
}

static struct slot *suspect_lexicon(struct arena *a) {
  struct slot *slots = arena_array(a, struct slot, SLOTS);
  for (size_t i = 0; i < suspect_word_count; i++) {
    struct str rest = str_from(suspect_words[i].words), word;
    while (str_next(&rest, ' ', &word)) {
      bool stem = str_ends(word, STR("*"));
      uint64_t hash = str_hash(STR_HASH, str_slice(word, 0, word.n - stem)) ^ (stem ? stem_salt : 0);
      struct slot *slot = slot_of(slots, hash);
      slot->hash = hash;
      slot->classes |= suspect_words[i].class;
    }
  }
  return slots;
}

static uint64_t classes_of(struct slot *slots, struct str word) {
  uint64_t hash = STR_HASH, classes = 0;
  if (word.n > WORD_MOST)
    return 0;
  for (size_t i = 0; i < word.n; i++) {
    hash = str_hash(hash, str_slice(word, i, i + 1));
    if (i + 1 >= STEM_LEAST)
      classes |= slot_of(slots, hash ^ stem_salt)->classes;
  }
  return classes | slot_of(slots, hash)->classes;
}

/* ---- look-alike letters ---- */

/* Latin letter that the character looks like; otherwise the character itself. */
static uint32_t latin_of(uint32_t c) {
  static const struct {
    uint32_t c;
    char as;
  } like[] = {{'0', 'o'},   {'1', 'i'},   {'3', 'e'},   {'4', 'a'},   {'5', 's'},   {'7', 't'},   {'@', 'a'},
              {'$', 's'},   {'!', 'i'},   {'|', 'l'},   {0x131, 'i'}, {0x251, 'a'}, {0x261, 'g'}, {0x3b1, 'a'},
              {0x3b5, 'e'}, {0x3b9, 'i'}, {0x3ba, 'k'}, {0x3bd, 'v'}, {0x3bf, 'o'}, {0x3c1, 'p'}, {0x3c4, 't'},
              {0x3c5, 'u'}, {0x3c7, 'x'}, {0x430, 'a'}, {0x435, 'e'}, {0x43a, 'k'}, {0x43c, 'm'}, {0x43e, 'o'},
              {0x440, 'p'}, {0x441, 'c'}, {0x442, 't'}, {0x443, 'y'}, {0x445, 'x'}, {0x455, 's'}, {0x456, 'i'},
              {0x458, 'j'}, {0x501, 'd'}, {0x51b, 'q'}, {0x51d, 'w'}, {0x570, 'h'}, {0x578, 'n'}, {0x585, 'o'},
              {0x4bb, 'h'}};
  for (size_t i = 0; i < ARRAY_LEN(like); i++)
    if (like[i].c == c)
      return (unsigned char)like[i].as;
  return c;
}

static struct str to_latin(struct str word, char out[WORD_MOST]) {
  size_t n = 0;
  for (size_t i = 0; i < word.n && n + 4 <= WORD_MOST;)
    n += utf8_put(latin_of(utf8_next(word, &i)), out + n);
  return (struct str){out, n};
}

/* ---- word rules ---- */

struct reading {
  struct arena *a;
  struct slot *slots;
  LIST(uint64_t) words; /* classes of each word */
  struct buf spelled;   /* single letters in a row */
  int weights[FOUND_COUNT];
};

static void add_finding(struct reading *r, enum suspect_finding what, int weight) {
  assert(what < FOUND_COUNT && weight > 0);
  if (r->weights[what] < weight)
    r->weights[what] = weight;
}

static uint64_t word_classes(struct reading *r, struct str word) {
  char latin[WORD_MOST];
  uint64_t classes = classes_of(r->slots, word);
  if (!classes && word.n <= WORD_MOST)
    classes = classes_of(r->slots, to_latin(word, latin));
  return classes;
}

static uint64_t add_word(struct reading *r, struct str word) {
  uint64_t classes = word_classes(r, word);
  list_push(r->a, &r->words, classes);
  return classes;
}

/* Length of the longest word of the lexicon at the start of s, of more than SPELLED_LEAST bytes; 0 if there is none. */
static size_t long_word(struct reading *r, struct str s) {
  uint64_t hash = STR_HASH;
  size_t longest = 0;
  for (size_t n = 1; n <= s.n && n <= WORD_MOST / 2; n++) {
    hash = str_hash(hash, str_slice(s, n - 1, n));
    if (n > SPELLED_LEAST && (slot_of(r->slots, hash)->classes || slot_of(r->slots, hash ^ stem_salt)->classes))
      longest = n;
  }
  return longest;
}

/* "i g n o r e a l l" is read as one word, or if that is unknown, as the long words in it. */
static void flush_spelled(struct reading *r) {
  struct str all = buf_str(&r->spelled);
  r->spelled.n = 0;
  if (all.n < SPELLED_LEAST || add_word(r, all))
    return;
  for (size_t i = 0; i < all.n;) {
    size_t n = long_word(r, str_slice(all, i, all.n));
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
  uint64_t classes = word_classes(r, without_apostrophes(r->a, word));
  for (size_t i = 1; i <= ARTICLE && i < word.n; i++) {
    size_t n = apostrophe_at(word, i);
    if (n)
      classes |= word_classes(r, str_slice(word, i + n, word.n));
  }
  list_push(r->a, &r->words, classes);
}

static void read_words(struct reading *r, struct str s) {
  size_t last_end = 0; /* end of the last word */
  for (size_t pos = 0; pos < s.n;) {
    size_t end = word_end(s, pos);
    if (end == pos) {
      (void)utf8_next(s, &pos);
      continue;
    }
    struct str word = str_slice(s, pos, end);
    size_t first = 0;
    (void)utf8_next(word, &first);
    bool single = first == word.n;
    if (r->spelled.n && (!single || pos - last_end > 1))
      flush_spelled(r);
    if (single)
      buf_add(&r->spelled, word);
    else
      add_elided(r, word);
    last_end = pos = end;
  }
  flush_spelled(r);
}

static void apply_rules(struct reading *r) {
  for (size_t i = 0; i < r->words.n; i++)
    for (size_t k = 0; r->words.v[i] && k < suspect_rule_count; k++) {
      const struct suspect_rule *rule = &suspect_rules[k];
      if (!(r->words.v[i] & rule->lead) || r->weights[rule->found] >= rule->weight)
        continue;
      size_t from = i > rule->before ? i - rule->before : 0, to = i + rule->after + 1;
      uint64_t around = 0;
      for (size_t w = from; w < to && w < r->words.n; w++)
        around |= r->words.v[w];
      if ((around & rule->needs) == rule->needs)
        add_finding(r, rule->found, rule->weight);
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

/* True if one of `words` is followed closely by one of `others`. */
static bool has_words(struct str s, struct str words, struct str others) {
  struct str word;
  if (!others.p)
    return has_one_of(s, words);
  while (str_next(&words, '|', &word))
    for (size_t at = str_find(s, word, 0); at != SIZE_MAX; at = str_find(s, word, at + 1)) {
      size_t from = at + word.n, to = s.n - from < SUSPECT_NEAR ? s.n : from + SUSPECT_NEAR;
      if (has_one_of(str_slice(s, from, to), others))
        return true;
    }
  return false;
}

static void read_unspaced(struct reading *r, struct str s) {
  if (!has_unspaced(s))
    return;
  for (size_t i = 0; i < suspect_unspaced_count; i++) {
    const struct suspect_phrase *p = &suspect_unspaced[i];
    struct str then = p->then ? utf8_fold(r->a, str_from(p->then)) : STR_NONE;
    if (r->weights[p->found] < p->weight && has_words(s, utf8_fold(r->a, str_from(p->text)), then))
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

static void read_base64(struct reading *r, struct str s) {
  enum { LEAST = 24 };
  for (size_t i = 0; i < s.n;) {
    size_t end = i;
    while (end < s.n && ascii_base64(s.p[end]) >= 0)
      end++;
    struct str text = end - i >= LEAST ? decode_base64(r->a, str_slice(s, i, end)) : STR_NONE;
    if (text.p) {
      struct reading inner = {.a = r->a, .slots = r->slots, .spelled = BUF(r->a)};
      read_text(&inner, text);
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
    struct reading inner = {.a = r->a, .slots = r->slots, .spelled = BUF(r->a)};
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
  struct str s = buf_str(&b);
  read_words(r, s);
  apply_rules(r);
  read_phrases(r, s);
  read_unspaced(r, s);
  read_links(r, s);
}

static struct str verdict(struct arena *a, const struct reading *r) {
  struct buf b = BUF(a);
  int sum = 0;
  for (int i = 0; i < FOUND_COUNT; i++) {
    sum += r->weights[i];
    if (r->weights[i])
      buf_addf(&b, "%s%s", b.n ? " " : "", suspect_names[i]);
  }
  return sum >= SUSPECT_ENOUGH ? buf_str(&b) : STR_NONE;
}

struct str suspect_text(struct arena *a, struct str text) {
  struct arena *work = arena_child(a);
  struct reading r = {.a = work, .slots = suspect_lexicon(work), .spelled = BUF(work)};
  read_text(&r, text);
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
