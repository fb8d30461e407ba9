/* suspect_decode.h: decoders of simple encodings: escapes, hex, rot13, reversed text, split words.
 *
 * Each decodes the whole text, which is then checked like any other. Only findings that the original text does not have
 * count. */
#pragma once

#include "base/arena.h"

struct decoder {
  /* Returns the decoded text, absent if nothing is encoded. Linear; the result is never longer than the text. */
  struct str (*decode)(struct arena *a, struct str text);
  int least; /* findings of less weight may be accidental and do not count */
};
extern const struct decoder suspect_decoders[];
extern const size_t suspect_decoder_count;
