/* wordpiece_vocab.c: binary form of the vocabulary: building, opening, searching.
 *
 * All numbers are 32 bits, little endian:
 *
 *   header    magic[8], version, entries, slots, probes, longest, string bytes, [CLS], [SEP], [UNK], [PAD]
 *   slots     hash table: top 8 bits of the hash << 24 | id + 1, or 0
 *   offsets   start of each entry's string, and the end of the last one: entries + 1 numbers
 *   strings   the entries as in vocab.txt, concatenated
 *
 * A piece that continues a word is hashed without its "##" and with another start value, so one pass over the rest
 * of a word gives the hashes of all its prefixes. No search looks at more than `probes` slots in a row. */
#include <assert.h>

#include "base/utf8.h"
#include "embed/encoder/wordpiece.h"

enum { HEADER_SIZE = 48, VERSION = 1, PROBES_MAX = 64, STRINGS_MAX = 1 << 28, SLOTS_MAX = 1 << 26 };
/* Numbers of the header after the magic. */
enum { H_VERSION, H_COUNT, H_SLOTS, H_PROBES, H_LONGEST, H_STRINGS, H_CLS, H_SEP, H_UNK, H_PAD, H_WORDS };

static const char magic[8] = {'C', 'A', 'I', 'R', 'N', 'W', 'P', 'V'};
static const char *const special_names[] = {"[CLS]", "[SEP]", "[UNK]", "[PAD]"};

static uint32_t get32(const char *p) {
  const unsigned char *u = (const unsigned char *)p;
  return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static void put32(char *p, uint32_t v) {
  for (int i = 0; i < 4; i++)
    p[i] = (char)(v >> 8 * i & 0xff);
}

/* ---- hash ---- */

static uint32_t hash_start(bool inner) { return inner ? 0x9747b28cU : 0x811c9dc5U; }
static uint32_t hash_add(uint32_t h, char c) { return (h ^ (unsigned char)c) * 0x01000193U; }

static uint32_t hash_end(uint32_t h) {
  h ^= h >> 16;
  h *= 0x7feb352dU;
  return h ^ h >> 15;
}

static uint32_t hash_of(struct str s, bool inner) {
  uint32_t h = hash_start(inner);
  for (size_t i = 0; i < s.n; i++)
    h = hash_add(h, s.p[i]);
  return hash_end(h);
}

/* ---- search ---- */

struct str wordpiece_entry(const struct wordpiece *w, int32_t id) {
  if (id < 0 || id >= w->count)
    return STR_NONE;
  uint32_t from = get32(w->offsets + 4 * (size_t)id), to = get32(w->offsets + 4 * (size_t)id + 4);
  return from <= to && to <= w->strings_n ? (struct str){w->strings + from, to - from} : STR_NONE;
}

static struct str without_marker(struct str entry, bool *ret_inner) {
  *ret_inner = entry.n >= 2 && entry.p[0] == '#' && entry.p[1] == '#';
  return *ret_inner ? str_slice(entry, 2, entry.n) : entry;
}

/* Slot of the piece, or a free slot for it; UINT32_MAX if neither is within `probes` slots. */
static uint32_t find_slot(const struct wordpiece *w, struct str piece, bool inner, uint32_t hash) {
  assert((w->mask & (w->mask + 1)) == 0 && piece.n > 0);
  for (uint32_t i = 0; i < w->probes; i++) {
    uint32_t at = (hash + i) & w->mask, slot = get32(w->slots + 4 * (size_t)at);
    if (slot == 0)
      return at;
    if ((slot ^ hash) >> 24)
      continue;
    bool stored_inner;
    struct str stored = without_marker(wordpiece_entry(w, (int32_t)(slot & 0xffffff) - 1), &stored_inner);
    if (stored_inner == inner && str_eq(stored, piece))
      return at;
  }
  return UINT32_MAX;
}

/* Id of the piece, or -1. */
static int32_t find(const struct wordpiece *w, struct str piece, bool inner, uint32_t hash) {
  uint32_t at = find_slot(w, piece, inner, hash);
  return at == UINT32_MAX ? -1 : (int32_t)(get32(w->slots + 4 * (size_t)at) & 0xffffff) - 1;
}

int wordpiece_split(const struct wordpiece *w, struct str word, int32_t ret_pieces[WORDPIECE_WORD_MAX]) {
  uint32_t hashes[WORDPIECE_WORD_BYTES];
  int n = 0;
  assert(word.n <= WORDPIECE_WORD_BYTES && w->longest <= WORDPIECE_WORD_BYTES);
  for (size_t start = 0; start < word.n;) {
    bool inner = start > 0;
    size_t max = word.n - start < w->longest ? word.n - start : w->longest;
    uint32_t h = hash_start(inner);
    for (size_t i = 0; i < max; i++)
      hashes[i] = h = hash_add(h, word.p[start + i]);
    int32_t id = -1;
    size_t len = max;
    for (; len > 0; len--) {
      bool within = start + len < word.n && ((unsigned char)word.p[start + len] & 0xc0) == 0x80;
      if (!within && (id = find(w, str_slice(word, start, start + len), inner, hash_end(hashes[len - 1]))) >= 0)
        break;
    }
    if (id < 0 || n == WORDPIECE_WORD_MAX)
      return 0;
    assert(id < w->count && len > 0);
    ret_pieces[n++] = id;
    start += len;
  }
  return n;
}

/* ---- opening ---- */

static enum status corrupt(struct error *err, const char *what) {
  error_set(err, STATUS_CORRUPT, "the model's vocabulary is damaged: %s", what);
  return error_fix(err, "download the model file again, or convert the model again");
}

enum status wordpiece_init(struct wordpiece *ret_w, struct str blob, struct error *err) {
  if (blob.n < HEADER_SIZE || memcmp(blob.p, magic, sizeof(magic)) != 0)
    return corrupt(err, "it has no valid header");
  uint32_t h[H_WORDS];
  for (int i = 0; i < H_WORDS; i++)
    h[i] = get32(blob.p + sizeof(magic) + 4 * i);
  if (h[H_VERSION] != VERSION) {
    error_set(err, STATUS_CORRUPT, "the model's vocabulary has version %u, but this program supports version %d",
              h[H_VERSION], VERSION);
    return error_fix(err, "use a newer Cairn, or convert the model again");
  }
  bool power = h[H_SLOTS] > 0 && (h[H_SLOTS] & (h[H_SLOTS] - 1)) == 0;
  if (h[H_COUNT] == 0 || h[H_COUNT] > WORDPIECE_VOCAB_MAX || !power || h[H_SLOTS] > SLOTS_MAX ||
      h[H_PROBES] > PROBES_MAX || h[H_LONGEST] > WORDPIECE_WORD_BYTES || h[H_STRINGS] > STRINGS_MAX)
    return corrupt(err, "a number in its header is out of range");
  for (int i = H_CLS; i <= H_PAD; i++)
    if (h[i] >= h[H_COUNT])
      return corrupt(err, "a special token is not one of its entries");
  size_t slots = 4 * (size_t)h[H_SLOTS], offsets = 4 * ((size_t)h[H_COUNT] + 1);
  if (blob.n != HEADER_SIZE + slots + offsets + h[H_STRINGS])
    return corrupt(err, "its length does not match its header");
  const char *p = blob.p + HEADER_SIZE;
  *ret_w = (struct wordpiece){.count = (int32_t)h[H_COUNT],
                              .cls = (int32_t)h[H_CLS],
                              .sep = (int32_t)h[H_SEP],
                              .unk = (int32_t)h[H_UNK],
                              .pad = (int32_t)h[H_PAD],
                              .slots = p,
                              .offsets = p + slots,
                              .strings = p + slots + offsets,
                              .mask = h[H_SLOTS] - 1,
                              .probes = h[H_PROBES],
                              .strings_n = h[H_STRINGS],
                              .longest = h[H_LONGEST]};
  return STATUS_OK;
}

/* ---- building ---- */

struct build {
  struct wordpiece w; /* points into the parts below, so find_slot() works on it */
  char *slots, *offsets;
  uint32_t used; /* longest search so far */
};

static enum status not_a_vocabulary(struct error *err, const char *what) {
  error_set(err, STATUS_USAGE, "this is not the vocabulary of a BERT model: %s", what);
  return error_fix(err, "use the model's vocab.txt, which has one entry per line and includes the special tokens");
}

/* Like str_line(), but a lone CR also ends a line. */
static bool next_line(struct str *rest, struct str *ret_line) {
  if (rest->n == 0)
    return false;
  size_t i = 0;
  while (i < rest->n && rest->p[i] != '\n' && rest->p[i] != '\r')
    i++;
  *ret_line = str_slice(*rest, 0, i);
  bool two = i + 1 < rest->n && rest->p[i] == '\r' && rest->p[i + 1] == '\n';
  *rest = str_slice(*rest, i == rest->n ? i : i + 1 + two, rest->n);
  return true;
}

static enum status read_entries(struct arena *a, struct str text, struct strs *ret_entries, struct error *err) {
  struct str line;
  if (text.n > STRINGS_MAX)
    return not_a_vocabulary(err, "it is too large");
  while (next_line(&text, &line)) {
    if (utf8_check(line) != line.n) {
      error_set(err, STATUS_USAGE, "line %zu of the vocabulary is not UTF-8", ret_entries->n + 1);
      return error_fix(err, "use the model's own vocab.txt");
    }
    if (ret_entries->n == WORDPIECE_VOCAB_MAX)
      return not_a_vocabulary(err, "it has too many lines");
    strs_push(a, ret_entries, line);
  }
  return ret_entries->n ? STATUS_OK : not_a_vocabulary(err, "it is empty");
}

/* False if there is no free slot within PROBES_MAX: the table must be larger. The later of two equal entries wins, as
 * in other programs. */
static bool insert(struct build *b, int32_t id) {
  assert(id >= 0 && id < b->w.count);
  bool inner;
  struct str piece = without_marker(wordpiece_entry(&b->w, id), &inner);
  /* No word can match these. */
  if (piece.n == 0 || utf8_length(piece) > WORDPIECE_WORD_MAX)
    return true;
  uint32_t hash = hash_of(piece, inner), at = find_slot(&b->w, piece, inner, hash);
  if (at == UINT32_MAX)
    return false;
  put32(b->slots + 4 * (size_t)at, (hash & 0xff000000U) | (uint32_t)(id + 1));
  uint32_t looked_at = ((at - hash) & b->w.mask) + 1;
  b->used = looked_at > b->used ? looked_at : b->used;
  b->w.longest = piece.n > b->w.longest ? (uint32_t)piece.n : b->w.longest;
  return true;
}

/* The table is at most half full, so most searches end at the first or second slot. */
static enum status fill_slots(struct arena *a, struct build *b, struct error *err) {
  uint32_t slots = 16;
  while (slots < 2 * (uint32_t)b->w.count)
    slots *= 2;
  for (uint32_t max = 8 * slots; slots <= max; slots *= 2) {
    b->slots = arena_zalloc(a, 4 * (size_t)slots);
    b->w.slots = b->slots;
    b->w.mask = slots - 1;
    b->w.probes = PROBES_MAX;
    b->w.longest = b->used = 0;
    int32_t id = 0;
    while (id < b->w.count && insert(b, id))
      id++;
    if (id == b->w.count) {
      b->w.probes = b->used;
      return STATUS_OK;
    }
  }
  return not_a_vocabulary(err, "its entries are made to collide");
}

static enum status find_specials(const struct strs *entries, uint32_t ret_ids[4], struct error *err) {
  uint32_t ids[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
  for (size_t i = 0; i < entries->n; i++)
    for (int k = 0; k < 4; k++)
      if (str_is(entries->v[i], special_names[k]))
        ids[k] = (uint32_t)i;
  for (int k = 0; k < 4; k++) {
    if (ids[k] == UINT32_MAX) {
      error_set(err, STATUS_USAGE, "the vocabulary has no entry %s", special_names[k]);
      return error_fix(err, "only models with a BERT vocabulary (WordPiece, vocab.txt) can be used");
    }
    ret_ids[k] = ids[k];
  }
  return STATUS_OK;
}

static void write_blob(const struct build *b, const uint32_t specials[4], struct buf *out) {
  char header[HEADER_SIZE];
  memcpy(header, magic, sizeof(magic));
  uint32_t h[H_WORDS] = {VERSION,        (uint32_t)b->w.count, b->w.mask + 1, b->w.probes, b->w.longest,
                         b->w.strings_n, specials[0],          specials[1],   specials[2], specials[3]};
  for (int i = 0; i < H_WORDS; i++)
    put32(header + sizeof(magic) + 4 * i, h[i]);
  buf_add(out, (struct str){header, sizeof(header)});
  buf_add(out, (struct str){b->slots, 4 * ((size_t)b->w.mask + 1)});
  buf_add(out, (struct str){b->offsets, 4 * ((size_t)b->w.count + 1)});
  buf_add(out, (struct str){b->w.strings, b->w.strings_n});
  assert(b->w.probes <= PROBES_MAX && b->w.longest <= WORDPIECE_WORD_BYTES);
}

enum status wordpiece_build(struct arena *a, struct str vocab_txt, struct buf *ret_blob, struct error *err) {
  assert(ret_blob->n == 0);
  struct strs entries = {0};
  uint32_t specials[4] = {0};
  struct build b = {0};
  TRY(read_entries(a, vocab_txt, &entries, err));
  TRY(find_specials(&entries, specials, err));
  struct buf strings = BUF(a);
  b.offsets = arena_alloc(a, 4 * (entries.n + 1));
  for (size_t i = 0; i < entries.n; i++) {
    put32(b.offsets + 4 * i, (uint32_t)strings.n);
    buf_add(&strings, entries.v[i]);
  }
  put32(b.offsets + 4 * entries.n, (uint32_t)strings.n);
  b.w.count = (int32_t)entries.n;
  b.w.offsets = b.offsets;
  b.w.strings = buf_str(&strings).p;
  b.w.strings_n = (uint32_t)strings.n;
  TRY(fill_slots(a, &b, err));
  write_blob(&b, specials, ret_blob);
  return STATUS_OK;
}
