/* suspect_wording.c: features of a text, and the weights that they have. */
#include "core/trust/suspect_wording.h"

#include <assert.h>
#include <math.h>

#include "base/buf.h"
#include "base/utf8.h"

enum {
  PIECE = 600,      /* bytes of a text that are read at once; the examples are not longer */
  PIECES_MOST = 60, /* of a text: each costs as much as a short text */
  LETTERS_LEAST = 3,
  LETTERS_MOST = 5,
};

/* ---- features ---- */

struct letters {
  uint32_t *v;
  size_t n, cap;
};

struct extraction {
  struct arena *a;
  struct letters text;
  uint64_t *seen; /* one bit per feature */
  struct wording_features *out;
};

static bool is_host_char(char c) { return ascii_alnum(c) || c == '-' || c == '.'; }

/* Length of the host name at pos, such as "files.tool.example"; 0 if there is none. Names of hosts say nothing about
 * the text, but the model would learn those of its examples. */
static size_t host_length(struct str s, size_t pos) {
  static const char *const ends[] = {"com", "org", "net", "io", "dev", "co",  "sh",   "app",     "xyz", "ai",
                                     "de",  "fr",  "es",  "it", "ru",  "cn",  "jp",   "kr",      "br",  "nl",
                                     "pl",  "eu",  "uk",  "us", "me",  "top", "site", "example", "pt"};
  size_t end = pos, dot = 0;
  if (pos > 0 && is_host_char(s.p[pos - 1]))
    return 0;
  for (; end < s.n && is_host_char(s.p[end]); end++)
    if (s.p[end] == '.' && end + 1 < s.n && ascii_alpha(s.p[end + 1]))
      dot = end;
  if (!dot)
    return 0;
  while (end > dot && s.p[end - 1] == '.')
    end--;
  bool address = (pos > 2 && memcmp(s.p + pos - 3, "://", 3) == 0) || (pos > 0 && s.p[pos - 1] == '@');
  for (size_t i = 0; i < ARRAY_LEN(ends) && !address; i++)
    address = str_is(str_slice(s, dot + 1, end), ends[i]);
  return address ? end - pos : 0;
}

static void read_letters(struct extraction *x, struct str s) {
  list_push(x->a, &x->text, ' ');
  for (size_t i = 0; i < s.n;) {
    size_t host = host_length(s, i);
    if (host) {
      i += host;
      continue;
    }
    uint32_t c = utf8_next(s, &i);
    if (utf8_is_space(c))
      c = ' ';
    if (c == ' ' && x->text.v[x->text.n - 1] == ' ')
      continue;
    list_push(x->a, &x->text, c >= '0' && c <= '9' ? '0' : c);
  }
  if (x->text.v[x->text.n - 1] != ' ')
    list_push(x->a, &x->text, ' ');
}

static uint64_t mix(uint64_t h, uint32_t c) {
  h = (h ^ c) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 29;
}

static void add(struct extraction *x, uint64_t hash) {
  uint32_t f = (uint32_t)(mix(hash, 0) >> (64 - WORDING_BITS));
  if (x->seen[f / 64] >> f % 64 & 1)
    return;
  x->seen[f / 64] |= UINT64_C(1) << f % 64;
  list_push(x->a, x->out, f);
}

/* 1 for letters of words, 2 for scripts without spaces, 3 for punctuation, 0 for blanks. */
static int class_of(uint32_t c) { return c == ' ' ? 0 : !utf8_is_alnum(c) ? 3 : utf8_is_unspaced(c) ? 2 : 1; }

static void add_words(struct extraction *x) {
  const struct letters *t = &x->text;
  uint64_t before[2] = {0};
  for (size_t i = 0, end; i < t->n; i = end) {
    int class = class_of(t->v[i]);
    uint64_t word = 1;
    for (end = i; end < t->n && class_of(t->v[end]) == class && (class != 2 || end == i); end++)
      word = mix(word, t->v[end]);
    if (class == 0)
      continue;
    add(x, word);
    if (before[0])
      add(x, mix(before[0] + 2, (uint32_t)(word >> 16)));
    if (before[1])
      add(x, mix(before[1] + 3, (uint32_t)(word >> 16)));
    before[1] = before[0];
    before[0] = word;
  }
}

static void add_sequences(struct extraction *x) {
  const struct letters *t = &x->text;
  for (size_t i = 0; i < t->n; i++) {
    uint64_t h = 4;
    bool unspaced = false;
    for (size_t n = 1; n <= LETTERS_MOST && i + n <= t->n; n++) {
      h = mix(h, t->v[i + n - 1]);
      unspaced |= class_of(t->v[i + n - 1]) == 2;
      if (n >= LETTERS_LEAST || (n == LETTERS_LEAST - 1 && unspaced))
        add(x, h);
    }
  }
}

void wording_features(struct arena *a, struct str folded, struct wording_features *ret) {
  struct extraction x = {.a = a, .seen = arena_array(a, uint64_t, WORDING_FEATURES / 64), .out = ret};
  read_letters(&x, folded);
  add_words(&x);
  add_sequences(&x);
}

/* ---- the model ---- */

__asm__(".pushsection .rodata\n.balign 4\n.global cairn_wording_model\n"
        "cairn_wording_model:\n.incbin \"" CAIRN_WORDING_FILE "\"\n.byte 0\n.popsection\n");
/* The limits of the sum of the weights, divided by the root of the number of features; then the weights. */
extern const struct {
  float like, very_like;
  int8_t weights[WORDING_FEATURES];
} cairn_wording_model __attribute__((visibility("hidden")));

static int weigh_piece(struct arena *a, struct str piece) {
  struct wording_features f = {0};
  struct arena *scratch = arena_child(a);
  int sum = 0;
  wording_features(scratch, piece, &f);
  for (size_t i = 0; i < f.n; i++)
    sum += cairn_wording_model.weights[f.v[i]];
  double score = f.n ? sum / sqrt((double)f.n) : 0;
  arena_release(scratch);
  return score > cairn_wording_model.very_like ? 3 : score > cairn_wording_model.like ? 2 : 0;
}

/* End of the piece that starts at pos: at a line break or the end of a sentence if there is one. */
static size_t piece_end(struct str s, size_t pos) {
  if (s.n - pos <= PIECE)
    return s.n;
  size_t end = pos + PIECE;
  for (size_t i = end; i > pos + PIECE / 4; i--)
    if (s.p[i - 1] == '\n' || (s.p[i - 1] == ' ' && s.p[i - 2] == '.'))
      return i;
  return pos + utf8_cut(str_slice(s, pos, s.n), PIECE).n;
}

int wording_weight(struct arena *a, struct str folded) {
  int most = 0;
  size_t pos = 0;
  for (int i = 0; i < PIECES_MOST && pos < folded.n && most < 3; i++) {
    size_t end = piece_end(folded, pos);
    int weight = weigh_piece(a, str_slice(folded, pos, end));
    most = weight > most ? weight : most;
    assert(end > pos);
    pos = end;
  }
  return most;
}
