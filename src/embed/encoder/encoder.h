/* encoder.h: BERT encoder: token ids in, one float vector per text out.
 *
 * A text gets the same vector on every processor, with any number of threads, and whatever other texts are in the call.
 */
#pragma once

#include "embed/encoder/kernel.h"

/* 1 to shape.positions ids below shape.vocab, including the special tokens. */
struct encoder_text {
  const int32_t *ids;
  size_t n;
  size_t second; /* in a pair of texts: first token of the second text, whose positions start at half of the model's
                    positions; 0: one text */
};

enum { ENCODER_MAX_THREADS = 16 };

struct encoder_input {
  const struct encoder_text *texts;
  size_t n;
  const struct kernel *kernel; /* NULL: the fastest */
  size_t threads;              /* 0: thread_share(); at most ENCODER_MAX_THREADS */
};

/* Writes ret_vectors[n][dims], not normalised. The threads end before it returns. STATUS_INTERNAL if ids or lengths are
 * out of range for the model. */
NODISCARD enum status encoder_run(const struct model *m, struct arena *a, const struct encoder_input *in,
                                  float *ret_vectors, struct error *err);
