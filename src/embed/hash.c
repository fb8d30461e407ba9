/* hash.c: hash-v1, an embedder without weights: spelling features hashed into 256 dimensions.
 *
 * It uses only integer arithmetic. Any change here changes all vectors and needs a new model name. */
#include <assert.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "embed/embed.h"
#include "embed/vec.h"

enum {
  DIMS = 256,
  TEXT_MAX =
      64 * 1024, /* bytes; longer texts are truncated to bound memory. Callers embed chunks of about 400 tokens */
  WORD_MAX = 64, /* bytes; longer words are truncated */
  /* Weights of the features, chosen by bench/calibrate.c on stsb, mrpc and quora. */
  WEIGHT_WORD = 16,
  WEIGHT_PAIR = 3,
  WEIGHT_TRIGRAM = 6,
  WEIGHT_STOP = 2, /* for a stop word, and for its half of each pair; it has no trigrams */
  WEIGHT_CHARACTER = 6,
};

/* Common words that say little about similarity, except those that change the meaning (not, never, before). */
static const char stop_words[] =
    " a an the this that these those it its i me my we us our you your he him his she her they them their "
    "is are was were be been being am do does did done have has had having "
    "of in on at to for from by with as into about and or but if so than then there here "
    "what which who whom whose when where why how can could will would shall should may might must "
    "any some such very just also too more most ";

struct feature {
  uint64_t hash; /* 0: free slot */
  int32_t weight;
  uint32_t count;
};

struct word {
  struct str text; /* folded and stemmed */
  uint64_t hash;
  bool stop, character;
};
struct words {
  struct word *v;
  size_t n, cap;
};

struct table {
  struct feature *slots;
  size_t mask;
};

static uint64_t mix(uint64_t h) {
  h ^= h >> 33;
  h *= UINT64_C(0xff51afd7ed558ccd);
  h ^= h >> 33;
  h *= UINT64_C(0xc4ceb9fe1a85ec53);
  return h ^ h >> 33;
}

static uint64_t hash_of(struct str s, uint64_t seed) { return mix(str_hash(STR_HASH ^ mix(seed), s)) | 1; }

static bool is_stop_word(struct str w) {
  char needle[16];
  if (w.n + 2 > sizeof(needle))
    return false;
  needle[0] = needle[w.n + 1] = ' ';
  memcpy(needle + 1, w.p, w.n);
  return memmem(stop_words, sizeof(stop_words) - 1, needle, w.n + 2) != NULL;
}

/* Light stemming: "use", "uses", "used" and "using" get the same stem. */
static struct str stem(struct str w) {
  static const struct {
    struct str suffix;
    size_t keep; /* letters that must remain */
  } endings[] = {{STR_INIT("ing"), 2}, {STR_INIT("ies"), 3}, {STR_INIT("ied"), 3}, {STR_INIT("ed"), 2},
                 {STR_INIT("ly"), 4},  {STR_INIT("es"), 3},  {STR_INIT("s"), 2}};
  assert(w.n > 0);
  if (str_ends(w, STR("ss")) || str_ends(w, STR("us")) || str_ends(w, STR("is")) || !ascii_alpha(w.p[w.n - 1]))
    return w;
  for (size_t i = 0; i < ARRAY_LEN(endings); i++)
    if (w.n >= endings[i].suffix.n + endings[i].keep && str_ends(w, endings[i].suffix)) {
      w.n -= endings[i].suffix.n;
      break;
    }
  if (w.n > 3 && w.p[w.n - 1] == w.p[w.n - 2] && !memchr("lsz", w.p[w.n - 1], 3))
    w.n--;
  if (w.n > 2 && memchr("eiy", w.p[w.n - 1], 3))
    w.n--;
  return w;
}

/* Whether the character cp at s.p[i], up to `next`, continues the word before it. Dots and commas do between digits. */
static bool continues_word(struct str s, size_t i, uint32_t cp, size_t next) {
  assert(i > 0 && next > i && next <= s.n);
  if (utf8_is_alnum(cp) && !utf8_is_unspaced(cp))
    return true;
  return (cp == '.' || cp == ',') && next < s.n && ascii_digit(s.p[i - 1]) && ascii_digit(s.p[next]);
}

static void add_word(struct arena *a, struct words *out, struct str text, bool character) {
  struct word w = {.text = text, .character = character, .stop = is_stop_word(text)};
  if (!character && !w.stop)
    w.text = stem(utf8_cut(text, WORD_MAX));
  w.hash = hash_of(w.text, 1);
  list_push(a, out, w);
}

static struct words split(struct arena *a, struct str s) {
  struct words out = {0};
  for (size_t i = 0; i < s.n;) {
    size_t start = i;
    uint32_t cp = utf8_next(s, &i);
    if (utf8_is_unspaced(cp) && utf8_is_alnum(cp)) {
      add_word(a, &out, str_slice(s, start, i), true);
      continue;
    }
    if (!utf8_is_alnum(cp))
      continue;
    while (i < s.n) {
      size_t next = i;
      uint32_t c = utf8_next(s, &next);
      if (!continues_word(s, i, c, next))
        break;
      i = next;
    }
    add_word(a, &out, str_slice(s, start, i), false);
    /* Skip the rest of "don't" and "it's". */
    if (i + 1 < s.n && s.p[i] == '\'' && ascii_alpha(s.p[i + 1]))
      while (++i < s.n && ascii_alpha(s.p[i]))
        ;
  }
  return out;
}

static void add_feature(struct table *t, uint64_t hash, int32_t weight) {
  assert(hash != 0 && weight > 0);
  size_t i = (size_t)hash & t->mask;
  while (t->slots[i].hash && t->slots[i].hash != hash)
    i = (i + 1) & t->mask;
  struct feature *f = &t->slots[i];
  f->hash = hash;
  f->weight = weight;
  f->count++;
}

static void add_trigrams(struct table *t, struct str w) {
  char padded[WORD_MAX + 2];
  assert(w.n <= WORD_MAX);
  memcpy(padded + 1, w.p, w.n);
  padded[0] = '<';
  padded[w.n + 1] = '>';
  for (size_t i = 0; i + 3 <= w.n + 2; i++)
    add_feature(t, hash_of((struct str){padded + i, 3}, 3), WEIGHT_TRIGRAM);
}

static struct table collect_features(struct arena *a, const struct words *words) {
  size_t n = 0; /* upper bound of the number of features; the table is at most half full */
  for (size_t i = 0; i < words->n; i++)
    n += 2 + words->v[i].text.n;
  size_t size = 64;
  while (size < n * 2)
    size *= 2;
  struct table t = {arena_array(a, struct feature, size), size - 1};
  for (size_t i = 0; i < words->n; i++) {
    const struct word *w = &words->v[i], *before = i ? w - 1 : NULL;
    add_feature(&t, w->hash, w->character ? WEIGHT_CHARACTER : w->stop ? WEIGHT_STOP : WEIGHT_WORD);
    if (!w->character && !w->stop)
      add_trigrams(&t, w->text);
    if (before) {
      int stops = w->stop + before->stop;
      int32_t weight =
          w->character && before->character ? WEIGHT_WORD : (WEIGHT_PAIR * (2 - stops) + WEIGHT_STOP * stops) / 2;
      add_feature(&t, mix(before->hash * 3 + w->hash) | 1, weight);
    }
  }
  return t;
}

/* 16 * sqrt(count): a word that occurs four times counts double. */
static int64_t damp(uint32_t count) {
  assert(count > 0);
  uint64_t n = (uint64_t)count << 8, root = 16;
  while ((root + 1) * (root + 1) <= n)
    root++;
  return (int64_t)root;
}

static void embed_one(struct arena *a, struct str text, int8_t *ret_vector) {
  struct words words = split(a, utf8_fold(a, utf8_cut(text, TEXT_MAX)));
  struct table t = collect_features(a, &words);
  int64_t sums[DIMS] = {0};
  for (size_t i = 0; i <= t.mask; i++) {
    const struct feature *f = &t.slots[i];
    if (!f->hash)
      continue;
    int64_t value = f->weight * damp(f->count);
    /* Add each feature to two dimensions, which reduces the effect of collisions. */
    uint64_t h = mix(f->hash);
    sums[h % DIMS] += h >> 40 & 1 ? value : -value;
    sums[(h >> 16) % DIMS] += h >> 41 & 1 ? value : -value;
  }
  vec_quantise_sums(sums, DIMS, ret_vector);
}

static enum status embed(const struct embedder *e, struct arena *a, enum embed_use use, const struct str *texts,
                         size_t n, int8_t *ret_vectors, struct error *err) {
  (void)use;
  (void)err;
  assert(e->dims == DIMS);
  for (size_t i = 0; i < n; i++)
    embed_one(a, texts[i], ret_vectors + i * (size_t)e->dims);
  return STATUS_OK;
}

const struct embedder *embedder_hash(void) {
  static const struct calibration calibration = {
      .n = 5, .raw = {0.033, 0.442, 0.624, 0.978, 1.0}, .scaled = {0.0, 0.5, 0.75, 0.92, 1.0}};
  static const struct embedder hash = {.model = "hash-v1", .dims = DIMS, .calibration = &calibration, .embed = embed};
  return &hash;
}
