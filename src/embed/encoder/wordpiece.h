/* wordpiece.h: BERT's uncased WordPiece tokeniser: text in, ids of a vocabulary out.
 *
 * Lower case, canonical decomposition, accents and controls dropped, cut at spaces, around punctuation and around every
 * CJK character; then each word is cut into the longest pieces that the vocabulary has, "##" before all but the first.
 * A word of more than WORDPIECE_WORD_MAX code points, or one that cannot be cut, is [UNK]. Bytes that are not UTF-8
 * count as U+FFFD, which is dropped. Unicode's tables are Cairn's own, so the same text gives the same ids everywhere.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"

enum {
  WORDPIECE_WORD_MAX = 100,                      /* code points */
  WORDPIECE_WORD_BYTES = 4 * WORDPIECE_WORD_MAX, /* of them as UTF-8 */
  WORDPIECE_VOCAB_MAX = 1 << 22,                 /* entries */
};

/* A vocabulary in its stored form; it points into the bytes and owns nothing. */
struct wordpiece {
  int32_t count;              /* entries: every id is below it */
  int32_t cls, sep, unk, pad; /* ids of the special tokens */
  const char *slots, *offsets, *strings;
  uint32_t mask, probes, strings_n, longest;
};

/* The stored form of a vocabulary (vocab.txt: one entry a line, its id is the number of the line, from 0), appended to
 * an empty buffer: the entries and a hash table over them, ready for use where it lies. STATUS_USAGE, with the reason,
 * for a text that is no vocabulary or has no [CLS], [SEP], [UNK] or [PAD]. */
NODISCARD enum status wordpiece_build(struct arena *a, struct str vocab_txt, struct buf *ret_blob, struct error *err);

/* Checks lengths and the header, a few dozen bytes whatever the size of the vocabulary, and uses the rest in place: the
 * bytes must outlive *ret_w and need no alignment. STATUS_CORRUPT for what is no vocabulary of this version. Damage
 * behind the header gives wrong ids below `count`, never more. */
NODISCARD enum status wordpiece_init(struct wordpiece *ret_w, struct str blob, struct error *err);

/* The entry with this id as it stands in vocab.txt; STR_NONE when there is none. */
struct str wordpiece_entry(const struct wordpiece *w, int32_t id);

/* [CLS], the pieces of the text, [SEP]: at most max_tokens in all, which is at least 2; ret_ids has room for so many.
 * Reads no more of the text than that needs. Scratch memory comes from the arena. */
void wordpiece_ids(const struct wordpiece *w, struct arena *a, struct str text, int max_tokens, int32_t *ret_ids,
                   size_t *ret_n);

/* How many pieces the text has, [CLS] and [SEP] not counted; counting stops at max. */
size_t wordpiece_count(const struct wordpiece *w, struct arena *a, struct str text, size_t max);

/* Pieces one after the other, for texts that are read in windows. */
struct wordpiece_reader {
  const struct wordpiece *w;
  struct str text;
  size_t pos;
  size_t sigma_from; /* up to here the context of a sigma is known */
  bool after_cased;  /* ... and whether it ended with a cased letter */
  int points, bytes; /* of the word; points stops above WORDPIECE_WORD_MAX */
  int marks_n;
  int pieces_n, pieces_given;
  uint32_t marks[WORDPIECE_WORD_MAX]; /* rank << 24 | code point, in canonical order */
  int32_t pieces[WORDPIECE_WORD_MAX];
  char word[WORDPIECE_WORD_BYTES];
};

void wordpiece_start(struct wordpiece_reader *r, const struct wordpiece *w, struct str text);
/* The next pieces, at most max of them, without [CLS] and [SEP]. Fewer than max: the text is at its end. */
size_t wordpiece_next(struct wordpiece_reader *r, int32_t *ret_ids, size_t max);
