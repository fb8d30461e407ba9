/* wordpiece.h: BERT's uncased WordPiece tokeniser: text in, ids of a vocabulary out.
 *
 * Text is lower-cased and canonically decomposed, and accents and controls are dropped. It is split at spaces, around
 * punctuation and around each CJK character. Each word is then split into the longest pieces of the vocabulary, with
 * "##" before all but the first. A word of more than WORDPIECE_WORD_MAX code points, or one that cannot be split, is
 * [UNK]. Invalid UTF-8 counts as U+FFFD, which is dropped. Cairn has its own Unicode tables, so ids are the same on
 * every machine. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

enum {
  WORDPIECE_WORD_MAX = 100,                      /* code points */
  WORDPIECE_WORD_BYTES = 4 * WORDPIECE_WORD_MAX, /* the same in UTF-8 */
  WORDPIECE_VOCAB_MAX = 1 << 22,                 /* entries */
};

/* Vocabulary in its binary form; points into the caller's bytes. */
struct wordpiece {
  int32_t count;              /* entries; all ids are below it */
  int32_t cls, sep, unk, pad; /* ids of the special tokens */
  const char *slots, *offsets, *strings;
  uint32_t mask, probes, strings_n, longest;
};

/* Converts vocab.txt (one entry per line; the id is the line number, from 0) to the binary form: the entries and a hash
 * table over them. The buffer must be empty. STATUS_USAGE, with the reason, if the text is not a vocabulary or lacks
 * [CLS], [SEP], [UNK] or [PAD]. */
NODISCARD enum status wordpiece_build(struct arena *a, struct str vocab_txt, struct buf *ret_blob, struct error *err);

/* Opens the binary form. Checks only lengths and the header; the rest is used in place, so the bytes must outlive
 * *ret_w. They need no alignment. STATUS_CORRUPT if it is not a vocabulary of this version. Damage after the header
 * only gives wrong ids below `count`. */
NODISCARD enum status wordpiece_init(struct wordpiece *ret_w, struct str blob, struct error *err);

/* The entry with this id as in vocab.txt; STR_NONE if there is none. */
struct str wordpiece_entry(const struct wordpiece *w, int32_t id);

/* Splits one word of 1 to WORDPIECE_WORD_MAX code points into the longest pieces from left to right. Returns their
 * number, or 0 if it cannot be split. */
int wordpiece_split(const struct wordpiece *w, struct str word, int32_t ret_pieces[WORDPIECE_WORD_MAX]);

/* Writes [CLS], the pieces of the text and [SEP]: at most max_tokens (at least 2) in all. Reads no more of the text
 * than needed. Scratch memory comes from the arena. */
void wordpiece_ids(const struct wordpiece *w, struct arena *a, struct str text, int max_tokens, int32_t *ret_ids,
                   size_t *ret_n);

/* Reads the pieces of a text incrementally. */
struct wordpiece_reader {
  const struct wordpiece *w;
  struct str text;
  size_t pos;
  size_t sigma_from; /* end of the text scanned for the context of a sigma */
  bool after_cased;  /* the last letter before sigma_from was cased */
  int points, bytes; /* length of the word; points stops at WORDPIECE_WORD_MAX + 1 */
  int marks_n;
  int pieces_n, pieces_given;
  uint32_t marks[WORDPIECE_WORD_MAX]; /* rank << 24 | code point, in canonical order */
  int32_t pieces[WORDPIECE_WORD_MAX];
  char word[WORDPIECE_WORD_BYTES];
};

void wordpiece_start(struct wordpiece_reader *r, const struct wordpiece *w, struct str text);
/* Returns up to max pieces, without [CLS] and [SEP]. Fewer than max mean the end of the text. */
size_t wordpiece_next(struct wordpiece_reader *r, int32_t *ret_ids, size_t max);
