/* suspect_lexicon.c: words and stems of the prompt injection detector, found by hash, also in look-alike letters. */
#include "core/trust/suspect_lexicon.h"

#include <pthread.h>

#include "base/utf8.h"

enum {
  SLOTS = 32768,  /* a power of two, several times the number of words */
  STEM_LEAST = 3, /* bytes of a stem */
  WORD_MOST = 64, /* bytes; longer words are not in the lexicon */
};

struct slot {
  uint64_t hash;
  struct lexeme means; /* all 0 in a free slot */
};

static const uint64_t stem_salt = UINT64_C(0x9e3779b97f4a7c15);

static struct slot lexicon[SLOTS];

static bool is_known(struct lexeme l) { return l.classes || l.topics; }

static struct slot *slot_of(uint64_t hash) {
  size_t i = (size_t)(hash ^ hash >> 32) & (SLOTS - 1);
  while (is_known(lexicon[i].means) && lexicon[i].hash != hash)
    i = (i + 1) & (SLOTS - 1);
  return &lexicon[i];
}

static void add_words(const char *words, struct lexeme means) {
  struct str rest = str_from(words), word;
  while (str_next(&rest, ' ', &word)) {
    bool stem = str_ends(word, STR("*"));
    uint64_t hash = str_hash(STR_HASH, str_slice(word, 0, word.n - stem)) ^ (stem ? stem_salt : 0);
    struct slot *slot = slot_of(hash);
    slot->hash = hash;
    slot->means.classes |= means.classes;
    slot->means.topics |= means.topics;
  }
}

uint64_t lexicon_topics(suspect_classes classes) {
  uint64_t topics = 0;
  for (size_t i = 0; classes && i < suspect_pair_count; i++)
    if (classes & suspect_pairs[i].class)
      topics |= suspect_pairs[i].topic;
  return topics;
}

static void fill_lexicon(void) {
  for (size_t i = 0; i < suspect_word_count; i++)
    add_words(suspect_words[i].words, (struct lexeme){suspect_words[i].class, lexicon_topics(suspect_words[i].class)});
  for (size_t i = 0; i < suspect_topic_count; i++)
    add_words(suspect_topics[i].words, (struct lexeme){.topics = suspect_topics[i].topic});
}

void lexicon_prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fill_lexicon);
}

static void add_meaning(struct lexeme *l, uint64_t hash) {
  const struct slot *slot = slot_of(hash);
  l->classes |= slot->means.classes;
  l->topics |= slot->means.topics;
}

static struct lexeme meaning_of(struct str word) {
  uint64_t hash = STR_HASH;
  struct lexeme l = {0};
  if (word.n > WORD_MOST)
    return l;
  for (size_t i = 0; i < word.n; i++) {
    hash = str_hash(hash, str_slice(word, i, i + 1));
    if (i + 1 >= STEM_LEAST)
      add_meaning(&l, hash ^ stem_salt);
  }
  add_meaning(&l, hash);
  return l;
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

struct lexeme lexicon_find(struct str word) {
  char latin[WORD_MOST];
  struct lexeme l = meaning_of(word);
  if (!is_known(l) && word.n <= WORD_MOST)
    l = meaning_of(to_latin(word, latin));
  return l;
}

size_t lexicon_long_word(struct str s) {
  uint64_t hash = STR_HASH;
  size_t longest = 0;
  for (size_t n = 1; n <= s.n && n <= WORD_MOST / 2; n++) {
    hash = str_hash(hash, str_slice(s, n - 1, n));
    if (n > SPELLED_LEAST && (is_known(slot_of(hash)->means) || is_known(slot_of(hash ^ stem_salt)->means)))
      longest = n;
  }
  return longest;
}
